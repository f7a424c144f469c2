"""Nothing that a file says leads to an import: a stranger's run can be opened, reported and compared."""

import sys

import gymnasium
import numpy as np
import pytest

import riskgrad as rg
from riskgrad.cli import main
from riskgrad.errors import InputError, RiskgradError
from riskgrad.making import refuse_import
from riskgrad.run.checkpoint import SLOTS
from riskgrad.run.container import read_container, write_container

EVIL = "evil_module"
NAMES = [
    f"{EVIL}:Foo-v0",
    f"{EVIL}:CartPole-v1",
    f"{EVIL}.inner:Foo-v0",
    f"{EVIL}:{EVIL}:Foo-v0",
    f"{EVIL}:space/Foo-v0",
    f"space/{EVIL}:Foo-v0",
    f"os:{EVIL}:Foo-v0",
    f".{EVIL}:Foo-v0",
    f":{EVIL}:Foo-v0",
    f"{EVIL}:",
    f"{EVIL}:two-roads",
    EVIL,
]


class Watch:
    """Who stands first in the line of importers and notes what evil is asked for."""

    def __init__(self):
        self.asked = []

    def find_spec(self, name, path=None, target=None):
        del path, target
        if EVIL in name:
            self.asked.append(name)


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Give the marker that the evil module writes when it is imported, and the watch of what was asked for."""
    marker, home = tmp_path / "marker", tmp_path / "home"
    home.mkdir()
    (home / f"{EVIL}.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(home)
    watch = Watch()
    monkeypatch.setattr(sys, "meta_path", [watch, *sys.meta_path])
    yield marker, watch
    sys.modules.pop(EVIL, None)
    assert not marker.exists()
    assert watch.asked == []


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("honest") / "run"
    rg.train("two-roads", "cvar:0.1", algorithm="offp-sf:episodes=20", iterations=2, held_out=20, folder=folder)
    return folder


def forged(honest, folder, change):
    """Copy a run with other facts and right checksums."""
    folder.mkdir(exist_ok=True)
    (folder / "history.jsonl").write_bytes((honest / "history.jsonl").read_bytes())
    for slot in (name for name in SLOTS if (honest / name).exists()):
        arrays, facts = read_container(honest / slot)
        write_container(folder / slot, arrays, change(facts))
    return folder


def called(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return ended.value.code, said.err


def named(name):
    return lambda facts: {**facts, "settings": {**facts["settings"], "env": name}}


@pytest.mark.usefixtures("evil")
@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_names_a_module_is_read_and_refused_where_it_would_be_played(honest, name, tmp_path, capsys):
    folder, page = forged(honest, tmp_path / "run", named(name)), tmp_path / "page.html"
    run = rg.load(folder)
    run.save(tmp_path / "one.rg")
    for place in (folder, tmp_path / "one.rg"):
        code, said = called(capsys, "report", place, "--out", page, "--episodes", 20)
        assert code == 2
        assert said.count("\n") == 1
        assert "env must" in said
        assert called(capsys, "compare", place, folder, "--episodes", 20)[0] == 2
    for call in (lambda: rg.report(run, page), lambda: rg.compare([run, run])):
        with pytest.raises(InputError, match="env must"):
            call()
    assert called(capsys, "evaluate", folder, "two-roads", "--episodes", 20)[0] == 0


@pytest.mark.usefixtures("evil")
def test_the_line_says_what_to_do(honest, tmp_path, capsys):
    folder = forged(honest, tmp_path / "run", named(NAMES[0]))
    code, said = called(capsys, "report", folder, "--out", tmp_path / "page.html")
    assert code == 2
    assert "importing its module runs code" in said
    assert "name it yourself with --env" in said


@pytest.mark.usefixtures("evil")
def test_where_the_user_names_another_environment_the_one_in_the_file_is_still_not_made(honest, tmp_path):
    folder = forged(honest, tmp_path / "run", named(NAMES[0]))
    assert rg.report(folder, tmp_path / "page.html", "two-roads", episodes=20).exists()


@pytest.mark.usefixtures("evil")
def test_no_word_of_a_run_is_imported(honest, tmp_path):
    """Each string of the facts of a run in turn, and each key of its settings, says the evil name."""
    _, facts = read_container(honest / SLOTS[0])
    places, draw = list(strings(facts)), np.random.default_rng(3)
    for place in [*places, *(("settings", key) for key in facts["settings"])]:
        name = NAMES[draw.integers(len(NAMES))]
        folder = forged(honest, tmp_path / "run", lambda old, where=place, to=name: replaced(old, where, to))
        try:
            run = rg.load(folder)
            _ = run.policy, run.risk, run.notes
            rg.compare([run, run], episodes=4)
        except (RiskgradError, TypeError, ValueError, AttributeError, KeyError):
            pass  # facts of the wrong kind are another matter than code


@pytest.mark.usefixtures("evil")
@pytest.mark.parametrize("name", NAMES)
def test_a_config_imports_nothing(name, tmp_path, capsys):
    path = tmp_path / "run.toml"
    for key in ("env", "risk", "policy", "algorithm", "step-size", "risk-path", "memory", "backend"):
        first = "" if key == "env" else 'env = "two-roads"\n'
        path.write_text(f"{first}iterations = 1\nepisodes = 4\n{key} = {name!r}\n")
        code, said = called(capsys, "train", "--config", path)
        assert code == 2, (key, said)
        assert said.count("\n") == 1


def test_the_users_own_word_is_followed_and_what_is_imported_runs_nothing(tmp_path, monkeypatch, honest, capsys):
    (tmp_path / "trusted_module.py").write_text(
        "import gymnasium\n"
        "cliff = 'gymnasium.envs.toy_text:CliffWalkingEnv'\n"
        "gymnasium.register(id='Trusted-v0', entry_point=cliff, max_episode_steps=9)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    name = "trusted_module:Trusted-v0"
    with pytest.raises(InputError, match="registered already"):
        refuse_import(name, "")
    config = tmp_path / "run.toml"
    config.write_text(f"env = '{name}'\niterations = 1\nepisodes = 4\nheld-out = 4\nalgorithm = 'offp-sf'\n")
    code, said = called(capsys, "train", "--config", config, "--out", tmp_path / "run")
    assert (code, "riskgrad train trusted_module:Trusted-v0 --config" in said) == (2, True)
    try:
        assert called(capsys, "train", name, "--config", config, "--out", tmp_path / "run")[0] == 0
        assert rg.load(tmp_path / "run").settings.env == name
        assert rg.report(tmp_path / "run", tmp_path / "page.html", episodes=20).exists()
    finally:
        gymnasium.registry.pop("Trusted-v0", None)
        sys.modules.pop("trusted_module", None)


def strings(value, path=()):
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from strings(one, (*path, key))
    elif isinstance(value, list):
        for key, one in enumerate(value):
            yield from strings(one, (*path, key))


def replaced(value, path, name):
    if not path:
        return name
    if isinstance(value, dict):
        return {**value, path[0]: replaced(value.get(path[0]), path[1:], name)}
    return [replaced(one, path[1:], name) if key == path[0] else one for key, one in enumerate(value)]
