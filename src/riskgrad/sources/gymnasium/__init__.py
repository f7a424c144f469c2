"""Episodes of any Gymnasium environment."""
