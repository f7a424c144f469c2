"""What the reference of the docs lists, as docs/prepare.py reads it from the code; needs no mkdocs."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reference"


def load_prepare():
    """Load docs/prepare.py, which is no module of a package."""
    made = importlib.util.spec_from_file_location("docs_prepare", ROOT / "docs" / "prepare.py")
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


prepare = load_prepare()


def list_names():
    """Give every name that a marker of the reference stands for, page by page."""
    markers = (found for page in sorted(PAGES.glob("*.md")) for found in prepare.NAMES.finditer(page.read_text()))
    return [name for found in markers for name in prepare.names_of(found["home"], found["chosen"])]
