"""A wrong input gets one clear line: the name, the rule, the value got, what to do; never a traceback."""

import contextlib
import io

import numpy as np
import pytest
from gymnasium import spaces
from support.environments import Toss

import riskgrad as rg
from riskgrad.cli import main
from riskgrad.errors import InputError, KeywordError, RiskgradError, StorageError
from riskgrad.evaluation import table_of_returns
from riskgrad.run.container import read_container, write_container
from riskgrad.settings import TrainOptions, facts_of

QUICK = {"algorithm": "offp-sf:episodes=4", "iterations": 1, "held_out": 4}
RETURNS = np.arange(30.0)


def train(**options):
    return rg.train("two-roads", "cvar:0.5", **{**QUICK, **options})


def called(*words):
    """Call the command line; give the code, and what it wrote on either side."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines") / "run"
    train(folder=folder)
    return folder


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rg.train("two-roads", 5), "risk must be a string such as 'cvar:0.1' or a risk measure, got 5"),
        (lambda: train(callback=5), "callback must be a function of .*, got 5"),
        (lambda: train(callback=[print, 5]), "callback must be a function of .*, got 5"),
        (lambda: train(algorithm=rg.OnPSF(smoothing="a")), "smoothing must be a number, got 'a'"),
        (lambda: train(policy=5), "policy must be a policy, or the name of one such as 'mlp', got 5"),
        (lambda: train(folder=5), "folder must be a path, got 5"),
        (lambda: train(folder="a\0b"), "folder must be a path"),
        (lambda: rg.load(None), "path must be a path, got None"),
        (lambda: rg.load("a\0b"), "path must be a path"),
        (
            lambda: table_of_returns(RETURNS, ["mean"], 5),
            r"return_range must be two finite numbers \(low, high\), got 5",
        ),
        (lambda: table_of_returns(RETURNS, ["mean"], (1, 2, 3)), "return_range must be two finite"),
        (lambda: table_of_returns(RETURNS, ["mean"], "ab"), "return_range must be real numbers"),
        (lambda: table_of_returns(RETURNS, 5), "measures must be a list of risk measures, got 5"),
        (lambda: table_of_returns(RETURNS, []), r"measures must be at least one risk measure, got \[\]"),
        (lambda: rg.Critic(bootstrap=3), "bootstrap must be True or False, got 3"),
        (lambda: rg.OnPSF(common_random_numbers="no"), "common_random_numbers must be True or False, got 'no'"),
        (lambda: train(algorithm="onp-sf:orthogonal=3"), "orthogonal must be True or False, got 3"),
        (lambda: rg.Score(reuse_batch=1), "reuse_batch must be True or False, got 1"),
        (lambda: train(seed="x"), "seed must be an integer, got 'x'"),
        (lambda: train(seed=True), "seed must be an integer, got True"),
        (lambda: train(threads=0), "threads must be an integer of at least 1, got 0"),
        (
            lambda: train(callback=lambda line: None),
            r"callback must take two arguments, \(line, theta\), got <function",
        ),
        (lambda: train(callback=[print, lambda: None]), "callback must take two arguments"),
        (lambda: rg.evaluate(5, "two-roads"), "run must be a run, its folder or file, or a pair"),
        (
            lambda: rg.train("two-roads", "mean", algorithm="onp-sf:direction=3"),
            "direction must be an option of the algorithm onp-sf, to which it was given, got 3; did you mean",
        ),
        (lambda: table_of_returns([[1.0]], ["mean"]), "values must be one vector"),
        (
            lambda: rg.risk.Mean().estimate([[1.0, 2.0], [3.0]]),
            "values must be an array of one shape, got rows of diff",
        ),
        (
            lambda: rg.risk.Mean().estimate([10**400]),
            r"values must fit into 64 bits, got an integer of about 2\*\*1329",
        ),
        (lambda: rg.train(".x:y", "mean"), "env must be an environment that gymnasium.make can build, got '.x:y'"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(InputError, match=words) as told:
        call()
    assert str(told.value).isprintable()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: train(directions=4),
            "'directions'; it is an option of offp-sf, onp-sf: algorithm='offp-sf:directions=4'",
        ),
        (
            lambda: train(algorithm=rg.OnPSF(), directions=4),
            "option of onp-sf, offp-sf: algorithm='onp-sf:directions=4'",
        ),
        (lambda: train(reuse_batch=True), "option of offp-sf, score: algorithm='offp-sf:reuse_batch=true'"),
        (lambda: train(behavior=("policy", [0.0])), "algorithm='offp-sf:behavior=...'"),
        (lambda: train(lr=0.1), "rg.train has no keyword 'lr'; did you mean 'step_size'?"),
        (lambda: train(total_timesteps=10), "rg.train has no keyword 'total_timesteps'; did you mean 'max_episodes'?"),
        (lambda: train(foo=1), "rg.train has no keyword 'foo'; it has algorithm, backend, callback"),
        (
            lambda: rg.experiment("two-roads", ["mean"], directions=4),
            "rg.experiment has no keyword 'directions'; it is an",
        ),
        (
            lambda: rg.frontier("two-roads", "cvar", lr=0.1),
            "rg.frontier has no keyword 'lr'; did you mean 'step_size'?",
        ),
        (lambda: rg.train("two-roads"), "rg.train: missing a required argument: 'risk'; it takes env, risk, algorithm"),  # pyright: ignore[reportCallIssue]
        (lambda: rg.train("two-roads", "mean", 3), "rg.train: too many positional arguments; it takes env, risk, algo"),  # pyright: ignore[reportCallIssue]
        (rg.risk.CVaR, "rg.risk.CVaR: missing a required argument: 'alpha'; it takes alpha, attitude"),
        (rg.evaluate, "rg.evaluate: missing a required argument: 'run'; it takes run, env, risk"),
        (lambda: rg.mdp.FiniteMDP([1], [1], horizon=3), "rg.mdp.FiniteMDP: missing a required argument: 'start'"),  # pyright: ignore[reportCallIssue]
    ],
)
def test_wrong_keywords_and_missing_arguments(call, words):
    with pytest.raises(KeywordError) as told:
        call()
    assert words in str(told.value)


def test_a_word_of_another_library_stands_for_one_option():
    options = facts_of(TrainOptions)
    words = [word for facts in options.values() for word in facts.also]
    assert len(words) == len(set(words)) > 10
    assert not set(words) & set(options)


@pytest.mark.parametrize("space", ["observation_space", "action_space"])
@pytest.mark.parametrize("kind", [spaces.Discrete(10**12), spaces.MultiDiscrete([10**12, 2])])
def test_a_space_that_no_memory_holds(space, kind):
    env = type("Huge", (Toss,), {space: kind})
    inputs = space == "observation_space" and isinstance(kind, spaces.MultiDiscrete)  # digits, of a vector
    refused = "policy must be named for more than 10,000 inputs" if inputs else "must have at most 100,000,000 param"
    with pytest.raises(InputError, match=refused):
        rg.train(env, "mean", horizon=3, **QUICK)


@pytest.mark.parametrize("code", ["raise ValueError('a\\nb')", "import sys; sys.exit(3)", "def (", "1 / 0"])
def test_a_module_that_fails_when_it_is_imported(code, tmp_path, monkeypatch):
    (tmp_path / "failing_module.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"can build, got 'failing_module:Foo-v0'; \w+Error|SystemExit"):
        rg.train("failing_module:Foo-v0", "mean")
    code, _, said = called("train", "failing_module:Foo-v0")
    assert (code, said.count("\n")) == (2, 1)


@pytest.mark.parametrize("name", ["x" * 300, "file/in/the/way", "/proc/nothing/here"])
def test_folders_that_cannot_be(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    for call in (lambda: train(folder=name), lambda: train(resume=name), lambda: rg.load(name)):
        with pytest.raises(StorageError, match=r"cannot (write|read)") as told:
            call()
        assert str(told.value).isprintable()
    with pytest.raises(InputError, match="path must be a Parquet file"):
        rg.LoggedEpisodes.from_parquet(name)


@pytest.mark.parametrize("page", ["/proc/nothing/page.html", "way/page.html", "folder.html"])
def test_a_report_that_cannot_be_written(kept, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "way").write_text("")
    (tmp_path / "folder.html").mkdir()
    code, _, said = called("report", kept, "--out", page, "--episodes", 20)
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith(f"riskgrad: cannot write {page}: ")
    with pytest.raises(StorageError, match="choose a place that can be written"):
        rg.report(kept, page, episodes=20)


def test_names_in_brackets_are_names(kept, tmp_path):
    folder = tmp_path / "[/b] [/red]" / "[red]run[b"
    code, out, _ = called("train", "two-roads", "--iterations", 1, "--algorithm", "offp-sf", "--out", folder)
    assert code == 0
    assert f"Kept in {folder}; " in out
    code, out, said = called("compare", folder, kept, "--episodes", 20)
    assert (code, said) == (0, "")
    assert "run against [red]run[b" in out
    code, out, said = called("report", folder, "--out", tmp_path / "[b]page.html", "--episodes", 20)
    assert (code, said) == (0, "")
    assert "[b]page.html (" in out


@pytest.mark.parametrize("word", ["a\x1b[31mb", "a\nb", "a\x07", "\ud800"])
def test_control_characters_never_reach_the_terminal(word, kept, tmp_path):
    for words in (["train", word], ["train", "two-roads", "--risk", word], [word], ["report", kept, "--title", word]):
        code, out, said = called(*words)
        assert (code, said.count("\n")) == (2, 1)
        assert (out + said).strip().isprintable()
    arrays, facts = read_container(next(kept.glob("checkpoint-*.rg")))
    facts = {**facts, "remarks": [f"note {word}"], "history": []}
    write_container(tmp_path / "run.rg", arrays, {**facts, "settings": {**facts["settings"], "env": word}})
    with pytest.raises(RiskgradError) as told:
        rg.report(tmp_path / "run.rg", tmp_path / "page.html")
    assert str(told.value).isprintable()


@pytest.mark.parametrize(
    "change",
    [
        {"episodes": "many"},
        {"episodes": -1},
        {"episodes": 10**30},
        {"finished": "yes"},
        {"remarks": "none"},
        {"remarks": [5]},
        {"versions": []},
        {"settings": []},
        {"settings": {"risk": 5}},
        {"settings": {"seed": "a"}},
        {"settings": {"policy_facts": 3}},
        {"settings": {"return_range": [1]}},
        {"history": 3},
        {"history": [5]},
        {"history": [{"iteration": 0, "risk": "low"}]},
        {"history": [{"iteration": None}]},
    ],
)
def test_changed_facts_in_a_whole_file(change, kept, tmp_path):
    arrays, facts = read_container(next(kept.glob("checkpoint-*.rg")))
    facts = {**facts, "history": []}
    write_container(tmp_path / "run.rg", arrays, facts)
    assert rg.load(tmp_path / "run.rg").policy.dim == arrays["theta"].size
    settings = {**facts["settings"], **change.get("settings", {})} if change.get("settings") else change.get("settings")
    changed = {**facts, **change, **({} if settings is None else {"settings": settings})}
    write_container(tmp_path / "run.rg", arrays, changed)
    with pytest.raises(StorageError, match=r"run\.rg does not hold a run: |of the history in .*run\.rg"):
        rg.load(tmp_path / "run.rg")


@pytest.mark.parametrize(
    "recipe", [None, 5, {}, {"n_states": 10**12, "n_actions": 3}, {"n_states": "a", "n_actions": []}]
)
def test_a_policy_that_cannot_be_rebuilt(recipe, kept, tmp_path):
    arrays, facts = read_container(next(kept.glob("checkpoint-*.rg")))
    strange = {**facts["settings"], "policy_facts": {**facts["settings"]["policy_facts"], "recipe": recipe}}
    write_container(tmp_path / "run.rg", arrays, {**facts, "history": [], "settings": strange})
    run = rg.load(tmp_path / "run.rg")
    with pytest.raises(RiskgradError):
        _ = run.policy
