"""The rules of the house: small files and functions, options that are named in few places, one home for each name."""

import ast
import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest

from riskgrad.registry import part_lists

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "riskgrad"
FILES = sorted(SOURCE.rglob("*.py"))

# an option is written once, where its facts are; besides that it is named where it acts
IN_SIX = (
    "held_out",
    "entropy",
    "risk_path",
    "steps_per_batch",
    "ess_floor",
    "normalize",
    "reuse_batch",
    "common_random_numbers",
    "max_episodes",
)
IN_TWELVE = ("smoothing", "directions")

COMMANDS = {"evaluate", "compare", "experiment", "frontier", "report"}  # public functions that are commands as well
LOOPS = {"play", "reset", "step", "observe"}  # what every compiled environment has, as functions that numba compiles
SHARED_NAMES = COMMANDS | LOOPS

STEMS = (
    *("capital", "categor", "discret", "emphas", "factor", "general", "initial", "local", "maxim", "memor", "minim"),
    *("normal", "optim", "organ", "parametr", "penal", "random", "real", "recogn", "regular", "serial", "special"),
    *("standard", "summar", "util", "vector", "visual"),
)
BRITISH = (
    r"behaviour",
    r"colour",
    r"favour",
    r"neighbour",
    r"honour",
    r"centre[ds]?\b",
    r"licence",
    r"catalogue",
    r"artefact",
    r"modell(?:ed|ing)",
    r"labell(?:ed(?!by\b)|ing)",  # aria-labelledby is HTML's
    r"travell(?:ed|ing|er)",
    r"cancell(?:ed|ing)",
    rf"(?:{'|'.join(STEMS)})is(?:e|ed|es|er|ers|ing|ation)\b",
    r"analys(?:e|ed|ing)\b",
    r"grey\b",
    r"\bprogrammes?\b",
    r"\btowards\b",
    r"\bmaths\b",
    r"\bwhilst\b",
    r"\bmisspelt\b",
    r"\bspelt\b",
    r"\blearnt\b",
)

TEN = 10  # lines of code that stand in two places are one place too many
WRITTEN = {".py", ".md", ".html", ".css", ".toml", ".yml"}


def named(path):
    return str(path.relative_to(ROOT))


def in_lines(offenders):
    return "\n" + "\n".join(offenders)


def functions(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_file_is_long():
    lines = {path: len(path.read_text().splitlines()) for path in FILES}
    long = [f"{named(path)}: {count} lines" for path, count in lines.items() if count > 350]
    assert not long, in_lines(long)


def test_no_function_is_long():
    long = [
        f"{named(path)}: {node.name}, {size} lines"
        for path in FILES
        if path.parent.name != "kernels"
        for node, size in functions(path)
        if size > 60
    ]
    assert not long, in_lines(long)


def test_an_algorithm_is_short():
    files = sorted((SOURCE / "algorithms").glob("*.py"))
    assert len(files) > 3
    lines = {path: len(path.read_text().splitlines()) for path in files}
    long = [f"{named(path)}: {count} lines" for path, count in lines.items() if count > 120]
    assert not long, in_lines(long)


@pytest.mark.parametrize(("word", "most"), [(word, 6) for word in IN_SIX] + [(word, 12) for word in IN_TWELVE])
def test_an_option_is_named_in_few_files(word, most):
    places = [named(path) for path in FILES if re.search(rf"\b{word}\b", path.read_text())]
    assert 0 < len(places) <= most, f"{word} is named in {len(places)} files:" + in_lines(places)


def test_every_name_has_one_home():
    homes = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                homes[node.name].append(named(path))
    twice = {name: places for name, places in homes.items() if len(set(places)) > 1 and not name.startswith("__")}
    assert not SHARED_NAMES - set(twice), "exceptions that nothing needs"
    offenders = [f"{name}: {', '.join(places)}" for name, places in sorted(twice.items()) if name not in SHARED_NAMES]
    assert not offenders, in_lines(offenders)


ABLE = {"algorithm", "ascent", "backend", "measure", "policy", "rho", "risk", "source"}  # what declares its abilities
INPUT = {"src/riskgrad/sources/gymnasium/film.py"}  # refuses what a user gives, and takes one kind of source only


def is_guess(node, parts):
    """Say whether a call finds out what a part can do from its class or its attributes."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
        return False
    asked = node.args[0].attr if isinstance(node.args[0], ast.Attribute) else getattr(node.args[0], "id", "")
    if node.func.id in ("getattr", "hasattr"):
        return asked.lstrip("_") in ABLE
    kinds = {one.id for one in ast.walk(node.args[-1]) if isinstance(one, ast.Name)}
    return node.func.id in ("isinstance", "issubclass") and not kinds.isdisjoint(parts)


def test_abilities_are_declared_and_not_guessed():
    parts = {part.__name__ for parts in part_lists() for part in parts.parts() if inspect.isclass(part)}
    assert {"MLP", "GymnasiumSource", "CVaR", "Processes", "OnPSF"} <= parts
    for guess in ("isinstance(one.source, GymnasiumSource | Mean)", "hasattr(self._policy, 'network')"):
        assert is_guess(ast.parse(guess, mode="eval").body, parts)
    found = [
        f"{named(path)}:{node.lineno}: {ast.unparse(node)}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if named(path) not in INPUT and is_guess(node, parts)
    ]
    assert not found, in_lines(found)


def code_lines(path):
    """Give the lines of a file that do or say something, with their numbers: no comments, imports or parameters."""
    passed_over = re.compile(r"\s*(?:#|from \S+ import|import |\w+: .*,$|[\])},]*$)")
    numbered = enumerate(path.read_text().splitlines(), start=1)
    return [(number, line.strip()) for number, line in numbered if not passed_over.match(line)]


def test_nothing_is_written_twice():
    homes = defaultdict(list)
    for path in FILES:
        lines = code_lines(path)
        for i in range(len(lines) - TEN + 1):
            homes[tuple(text for _, text in lines[i : i + TEN])].append(f"{named(path)}:{lines[i][0]}")
    assert len(homes) > 10_000
    assert not (twice := [" ~ ".join(places) for places in homes.values() if len(places) > 1]), in_lines(twice)


def test_numba_is_known_in_its_folder_alone():
    known = re.compile(r"^\s*(?:import|from) (?:numba|llvmlite)\b", flags=re.M)
    found = [path for path in FILES if known.search(path.read_text())]
    assert len(found) > 3
    assert {path.parent for path in found} == {SOURCE / "kernels"}, in_lines(map(named, found))


def test_spelling_is_american():
    folders = ("src", "docs", "tests", "benchmarks", "examples", ".github")
    written = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in WRITTEN]
    texts = sorted({*written, *ROOT.glob("*.md"), *ROOT.glob("*.toml"), *ROOT.glob("*.yml")} - {Path(__file__)})
    british = re.compile("|".join(BRITISH), flags=re.IGNORECASE)
    assert len(british.findall("Behaviour is normalised and analysed; two analyses, otherwise, at a size.")) == 3
    found = [
        f"{named(path)}:{number}: {match[0]}"
        for path in texts
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        for match in british.finditer(line)
    ]
    assert not found, in_lines(found)
