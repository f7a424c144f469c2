"""Tests that read the news of several trainings."""

from contextlib import nullcontext


def telling(tell):
    """A `Watch` that passes the news of trainings, pairs (label, line), to a function."""
    return lambda count: nullcontext(tell)
