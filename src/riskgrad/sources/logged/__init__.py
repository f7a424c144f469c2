"""Logged episodes: reading a log and checking it."""
