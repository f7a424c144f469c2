"""The package loads lazily and quickly, exports what it says, and its imports point one way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from support.order import ORDER

import riskgrad

SOURCE = Path(riskgrad.__file__).parent


# the options name types of parts that stand after them, for annotations alone
FOR_ANNOTATIONS = {"settings"}


def modules():
    return sorted(SOURCE.rglob("*.py"))


def part_of(path):
    relative = path.relative_to(SOURCE).with_suffix("")
    return relative.parts[0]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    part = part_of(path)
    if part == "__init__":
        return
    assert part in ORDER, f"{part} has no place in the flow"
    tree = ast.parse(path.read_text())
    told = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    annotations = {id(inner) for node in told for inner in ast.walk(node)} if part in FOR_ANNOTATIONS else set()
    for node in ast.walk(tree):
        if id(node) in annotations:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("riskgrad"):
            names = [node.module.split(".")[1]] if "." in node.module else [alias.name for alias in node.names]
            for name in names:
                assert ORDER.index(name) <= ORDER.index(part), f"{part} imports {name}, which comes after it"


def test_every_public_name_is_there():
    assert riskgrad.__all__ == list(riskgrad._HOMES)
    assert dir(riskgrad) == sorted(riskgrad.__all__)
    for name in riskgrad.__all__:
        assert getattr(riskgrad, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'cvar'"):
        _ = riskgrad.cvar


def loaded_after(code):
    heavy = ["numba", "matplotlib", "gymnasium", "torch", "pyarrow", "scipy", "typer", "rich", "ray"]
    script = f"{code}\nimport sys\nprint(*[m for m in {heavy!r} if m in sys.modules])"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()


def test_nothing_heavy_is_imported_until_needed():
    assert loaded_after("import riskgrad") == []
    assert loaded_after("import riskgrad as rg; rg.risk.parse('cvar:0.1').estimate([1.0, 2.0])") == []


def test_import_takes_under_half_a_second():
    """Processor time, the best of five: what other work on the machine cannot change much."""
    script = "import time; t = time.process_time(); import riskgrad; riskgrad.risk; print(time.process_time() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    assert min(times) < 0.5
