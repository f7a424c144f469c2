"""Modules of the benchmarks, for tests of what they are made of."""

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"


def load_study(name):
    """Import a module of the benchmarks by its name, once in a process."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))
