"""Flags and a file that mean the same thing, and the file that every kept run writes."""

import inspect
import shlex
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riskgrad as rg
from riskgrad.algorithms import ALGORITHMS
from riskgrad.ascent import Adam, ConstantStep, parse_ascent
from riskgrad.cli import main
from riskgrad.cli.train import config_keys
from riskgrad.errors import InputError
from riskgrad.run.config import CANNOT, flag_values, write_toml
from riskgrad.settings import facts_of


def called(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


def same(a, b):
    one, other = rg.load(a), rg.load(b)
    np.testing.assert_array_equal(one.last_theta, other.last_theta)
    np.testing.assert_array_equal(one.theta, other.theta)
    assert one.history == other.history
    assert one.settings == other.settings


VALUES = st.recursive(
    st.text() | st.integers() | st.booleans() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), VALUES, max_size=6))
def test_what_is_written_reads_back_as_the_same(values):
    assert tomllib.loads(write_toml(values)) == values


def test_numbers_keep_their_kind_and_what_toml_lacks_is_refused():
    again = tomllib.loads(write_toml({"a": 1.0, "b": 1, "c": True, "d": float("inf"), "e": 1e-30}))
    assert [type(one) for one in again.values()] == [float, int, bool, float, float]
    with pytest.raises(InputError, match="what TOML can hold"):
        write_toml({"a": None})


MANY = (
    "two-roads --risk dual-power:3 --algorithm offp-sf --iterations 3 --seed 5 --step-size adam:0.2,clip=3 "
    "--smoothing 0.1 --directions 6 --episodes 60 --steps-per-batch 2 --risk-path 0.3 --entropy 0.1 --held-out 40"
)
OPTIONS = (
    "FrozenLake-v1 --iterations 2 --env-option is_slippery=false --env-option map_name=null --env-option "
    """'desc=["SF","FG"]' --episodes 20"""
)


@pytest.mark.parametrize(
    "words",
    [
        "two-roads --iterations 4",
        MANY,
        "two-roads --algorithm onp-sf --schedule paper --iterations 2 --risk mean",
        "CartPole-v1 --policy mlp --max-episodes 300 --horizon 20 --discount 0.9 --normalize --risk cvar:0.2:seeking",
        OPTIONS,
    ],
    ids=["plain", "many", "paper", "compiled", "options"],
)
def test_a_kept_run_is_repeated_by_its_file(words, tmp_path, capsys):
    code, _, errors = called(capsys, "train", *shlex.split(words), "--out", tmp_path / "a")
    assert code == 0, errors
    code, _, errors = called(capsys, "train", "--config", tmp_path / "a" / "config.toml", "--out", tmp_path / "b")
    assert code == 0, errors
    same(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "config.toml").read_bytes() == (tmp_path / "b" / "config.toml").read_bytes()


def test_a_run_from_python_is_repeated_by_its_file(tmp_path, capsys):
    options = {"step_size": Adam(0.2, mean_decay=0.5), "policy": rg.policy.TabularGibbs(5, 2), "risk_path": None}
    policy = rg.train("two-roads", "mean", iterations=1).policy
    run = rg.train("two-roads", rg.risk.CVaR(0.2), iterations=3, folder=tmp_path / "a", **{**options, "policy": policy})
    code, _, errors = called(capsys, "train", "--config", tmp_path / "a" / "config.toml", "--out", tmp_path / "b")
    assert code == 0, errors
    same(tmp_path / "a", tmp_path / "b")
    np.testing.assert_array_equal(rg.load(tmp_path / "b").theta, run.theta)


def test_what_a_file_cannot_hold_is_said_and_refused(tmp_path, capsys):
    roads = rg.mdp.two_roads()
    theta = np.zeros(rg.train("two-roads", "mean", iterations=1).theta.size)
    rg.train(roads, rg.risk.CVaR(0.1, estimator="paper"), iterations=1, theta=theta, folder=tmp_path / "a")
    path = tmp_path / "a" / "config.toml"
    listed = tomllib.loads(path.read_text())[CANNOT]
    assert [words.split(":")[0].split(" ")[0] for words in listed] == ["env", "risk", "theta"]
    code, _, errors = called(capsys, "train", "two-roads", "--config", path)
    assert code == 2
    assert "repeat the run from Python" in errors
    assert len(errors.strip().splitlines()) == 1


def test_flags_win_over_the_file_and_options_add_up(tmp_path, capsys):
    path = tmp_path / "run.toml"
    path.write_text(
        'env = "FrozenLake-v1"\nrisk = "mean"\niterations = 3\nseed = 3\nepisodes = 20\nrisk-path = 0.5\n'
        "[env-option]\nis_slippery = true\nmap_name = '4x4'\n"
    )
    words = ("--seed", 4, "--max-episodes", 400, "--env-option", "is_slippery=false", "--out", tmp_path / "a")
    code, _, errors = called(capsys, "train", "--config", path, *words)
    assert code == 0, errors
    found = rg.load(tmp_path / "a").settings
    assert (found.seed, found.risk, found.env, found.own["episodes"]) == (4, "mean", "FrozenLake-v1", 20)
    assert found.env_options == {"is_slippery": False, "map_name": "4x4"}
    assert found.risk_path == "0.5"
    code, _, errors = called(capsys, "train", "two-roads", "--config", path, "--out", tmp_path / "b")
    assert code == 2, "the options are for another environment"
    assert "--env-option must be what the environment takes" in errors


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_episodes = 3", "did you mean 'max-episodes'?"),
        ("config = 'x'", "a key of"),
        ("iterations = 'ten'", "iterations in run.toml must be a whole number, got 'ten'"),
        ("iterations = true", "iterations in run.toml must be a whole number, got True"),
        ("iterations = 1.5", "iterations in run.toml must be a whole number, got 1.5"),
        ("smoothing = '0.1'", "smoothing in run.toml must be a number"),
        ("normalize = 1", "normalize in run.toml must be true or false"),
        ("risk = 0.1", "risk in run.toml must be a string"),
        ("out = 3", "out in run.toml must be a string"),
        ("step-size = []", "step-size in run.toml must be a string or a number"),
        ("env-option = [1]", "env-option in run.toml must be a table, or a list of strings"),
        ("risk-path = 'cube:0.5'", "risk-path must be auto, none"),
        ("step-size = 'adm:0.5'", "did you mean 'adam'?"),
        ("env = ", "run.toml must be TOML"),
        (None, "cannot read run.toml: no such file"),
    ],
)
def test_mistakes_are_one_line_naming_file_and_key(text, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "run.toml").write_text(text)
    code, _, errors = called(capsys, "train", "two-roads", "--config", "run.toml")
    assert code == 2
    assert said in errors
    assert len(errors.strip().splitlines()) == 1


def test_every_flag_is_an_argument_and_every_key_a_flag():
    flags = set(config_keys())
    arguments = set(inspect.signature(rg.train).parameters)
    own = {name for kind in ALGORITHMS.parts() for name, facts in facts_of(kind).items() if facts.flag is not None}
    named = {
        "env-option": "env_options",
        "out": "folder",
        "tensorboard": "callback",
        "json": "callback",
        "seeds": "seed",
    }
    for flag in flags:
        assert named.get(flag, flag.replace("-", "_")) in arguments | own
    left = {flag.replace("-", "_") for flag in flags} | {"env_options", "theta", "folder", "callback"}
    assert arguments - left == {"checkpoint_seconds", "progress"}, "an argument of rg.train without a flag"
    assert own <= left, "an option of an algorithm without a flag"
    assert {"risk-path", "normalize", "env-option", "smoothing", "steps-per-batch", "reuse-batch"} <= flags


def test_every_flag_is_an_option_of_the_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, told, _ = called(capsys, "train", "--help")
    assert code == 0
    shown = {word.strip(",") for word in told.split() if word.startswith("--")}
    for flag in set(config_keys()) - {"env"}:
        assert f"--{flag}" in shown or f"--{flag}/--no-{flag}" in shown, flag


@pytest.mark.parametrize("algorithm", [rg.OnPSF(), rg.OffPSF(reuse_batch=True), rg.Score(steps_per_batch=3)])
def test_every_option_in_force_is_among_what_repeats_a_run(algorithm):
    run = rg.train("two-roads", "mean", algorithm=algorithm, iterations=1, held_out=10)
    told = flag_values(run.settings)
    assert set(told) <= set(config_keys())
    for name, value in run.settings.own.items():
        assert name == "behavior" or told[name.replace("_", "-")] == value


@pytest.mark.parametrize("ascent", [Adam(0.1), Adam(0.25, clip=5.0, mean_decay=0.0), ConstantStep(1e-7, clip=2.5)])
def test_ascents_are_named_by_strings(ascent):
    assert parse_ascent(str(ascent)) == ascent


@pytest.mark.parametrize("text", ["adam:x", "adam:0.1,clip", "adam", "constant:-1", "adam:0.1,clop=3"])
def test_other_strings_are_refused(text):
    with pytest.raises(InputError, match="step_size"):
        parse_ascent(text)


def test_a_number_alone_is_a_constant_step():
    assert parse_ascent("0.5") == ConstantStep(0.5)
    run = rg.train("two-roads", "mean", iterations=1, step_size="adam:0.3")
    assert run.settings.step_size == "adam:0.3"
