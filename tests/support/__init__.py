"""Independent truths that tests hold the project against."""
