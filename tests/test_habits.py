"""The project's habits: one version, declared dependencies, a gate that shows what it should and always ends."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import riskgrad
from riskgrad.random import current_versions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DISTRIBUTIONS = {"PIL": "pillow"}  # where a module and what is installed have different names


def name_of(requirement):
    return re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower()


def declared(*extras):
    groups = [PROJECT["project"]["dependencies"]]
    groups += [PROJECT["project"]["optional-dependencies"][extra] for extra in extras]
    return {name_of(requirement) for group in groups for requirement in group}


def imported(folder):
    """What the Python files of a folder import and is neither of Python nor ours: {distribution: a file}."""
    ours = {"riskgrad", *(place.name for place in (ROOT / "tests").iterdir() if place.is_dir())}
    found = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            for module in modules_of(node):
                top = module.split(".")[0]
                if top not in sys.stdlib_module_names and top not in ours:
                    found[DISTRIBUTIONS.get(top, top).lower()] = str(path.relative_to(ROOT))
    return found


def modules_of(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module or ""]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return [str(node.args[0].value)] if called in ("import_module", "importorskip") else []
    return []


def test_the_version_stands_once():
    assert PROJECT["project"]["dynamic"] == ["version"]
    home = ROOT / PROJECT["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{riskgrad.__version__}"' in home.read_text()
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.M)[1] == riskgrad.__version__
    versions = re.findall(r"^## (\d\S*)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    assert (versions[0], versions[-1]) == (riskgrad.__version__, "0.1.0")
    assert current_versions()["riskgrad"] == riskgrad.__version__


@pytest.mark.parametrize(
    ("folder", "extras"),
    [
        ("src", ("torch", "tensorboard", "onnx", "notebook", "ray")),
        ("tests", tuple(PROJECT["project"]["optional-dependencies"])),
    ],
)
def test_what_is_imported_is_declared(folder, extras):
    undeclared = {name: path for name, path in imported(folder).items() if name not in declared(*extras)}
    assert undeclared == {}


def test_what_is_declared_is_imported():
    assert declared() - set(imported("src")) == set()


def test_every_test_has_a_time_limit(pytestconfig):
    assert 0 < float(pytestconfig.getini("timeout")) <= 300


def test_the_gate_checks_types_of_tests_and_shows_coverage():
    gate = (ROOT / ".ci" / "run").read_text()
    assert "basedpyright --project tests" in gate
    assert "--cov" in gate


def test_the_workflow_runs_the_gate_on_every_python_that_is_promised():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "run: bash .ci/run" in workflow
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert re.findall(r'"(3\.\d+)"', workflow) == promised
    assert PROJECT["project"]["requires-python"] == f">={promised[0]}"


def test_hooks_before_a_commit_are_those_of_the_gate():
    hooks = re.findall(r"entry: (.*)", (ROOT / ".pre-commit-config.yaml").read_text())
    gate = (ROOT / ".ci" / "run").read_text().replace(" --check .", "").replace("check .", "check").splitlines()
    assert hooks == [".venv/bin/ruff format", ".venv/bin/ruff check", ".venv/bin/basedpyright"]
    assert set(hooks) <= set(gate)


@pytest.mark.parametrize("name", ["SECURITY.md", "CONTRIBUTING.md", ".github/pull_request_template.md"])
def test_pages_for_contributors_point_to_files_that_exist(name):
    text = (ROOT / name).read_text()
    for target in re.findall(r"\]\((?!http)([^)#]+)", text):
        assert (ROOT / name).parent.joinpath(target).exists(), target


def test_every_study_has_a_page_with_its_command_and_a_line_in_the_overview():
    folder = ROOT / "benchmarks"
    overview = (folder / "README.md").read_text()
    assert len(overview.splitlines()) < 40, "one screen"
    studies = [path for path in sorted(folder.glob("*.py")) if f"python benchmarks/{path.name}" in path.read_text()]
    assert len(studies) > 10
    for script in studies:
        page = folder / f"{script.stem}.md" if script.stem != "practical" else ROOT / "docs" / "practical.md"
        assert re.search(rf"^    (\w+=\S+ )?python benchmarks/{script.name}", page.read_text(), flags=re.M)
        assert re.search(rf"\]\([^)]*\b{page.name}\): `{script.name}", overview), script.name
    assert {path.stem for path in folder.glob("*.md")} - {"README"} == {path.stem for path in studies} - {"practical"}
