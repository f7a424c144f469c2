"""Small training runs and the bits that they end with."""
