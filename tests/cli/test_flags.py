"""In a shell, messages, notes and tables speak of flags, not of arguments of Python."""

import json

import pytest
from gymnasium import spaces
from support.environments import Spaced

import riskgrad as rg
from riskgrad.cli import main
from riskgrad.cli.flags import own_facts
from riskgrad.cli.wording import flags_of, name_flags
from riskgrad.errors import InputError
from riskgrad.settings import Options, facts_of

SHORT = ("--iterations", "1", "--algorithm", "score:episodes=4", "--held-out", "4")


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("see horizon=", "see --horizon"),
        ("patience=5 ends it; give iterations= or max_episodes=100,", None),
        ("try rg.Critic(bootstrap=False) or memory", "try --no-bootstrap or memory"),
        ("try rg.Critic(bootstrap=True)", "try --bootstrap"),
        ("train here, with backend='serial'", "train here, with --backend 'serial'"),
        ("pass folder=, or nothing=3 and rg.Other(thing=3)", "pass --out, or nothing=3 and rg.Other(thing=3)"),
        (
            "such as 'score:episodes=200', or an algorithm such as rg.Score(episodes=200)",
            "such as 'score:episodes=200'",
        ),
        ("step_size=0.1; risk_path=square:0.5", "--step-size 0.1; --risk-path square:0.5"),
    ],
)
def test_arguments_are_written_as_flags(words, written):
    assert name_flags(words, "train") == (written or "--patience 5 ends it; give --iterations or --max-episodes 100,")


def refuse(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_a_folder_that_is_taken_is_told_in_flags(capsys, tmp_path):
    rg.train("two-roads", "mean", iterations=1, algorithm="score:episodes=4", held_out=4, folder=tmp_path / "run")
    said = refuse(capsys, "train", "two-roads", "--risk", "mean", *SHORT, "--out", tmp_path / "run")
    assert said.startswith("riskgrad: --out must not hold a run already, got ")
    assert said.endswith("; pass --resume to go on with it\n")
    again = ("--out", tmp_path / "run", "--resume", "--risk", "mean", "--seed", "3")
    said = refuse(capsys, "train", "two-roads", *SHORT, *again)
    assert said.startswith(
        "riskgrad: --seed must be what the run began with, got 3; it was 0; begin a new run; in Python "
    )
    assert "None" not in refuse(capsys, "train", "two-roads", "--memory", "x")


def test_an_evaluation_asks_for_the_range_by_its_flag(capsys, tmp_path, monkeypatch):
    env = Spaced(spaces.Discrete(3), spaces.Discrete(2), 1)
    rg.train(env, "mean", horizon=2, iterations=1, algorithm="score:episodes=4", held_out=4).save(tmp_path / "run.rg")
    monkeypatch.setattr("riskgrad._evaluate.resolve_source", lambda _, **options: rg.sources.GymnasiumSource(env, 2))
    words = ["evaluate", str(tmp_path / "run.rg"), "two-roads", "--episodes", "20"]
    with pytest.raises(SystemExit):
        main(words)
    assert "(1) no certified interval: the range of the return is not known; give --return-range low high\n" in (
        capsys.readouterr().out
    )
    with pytest.raises(SystemExit):
        main([*words, "--return-range", "-9", "9"])
    assert "no certified interval" not in capsys.readouterr().out
    assert refuse(capsys, *words, "--return-range", "9", "-9").startswith(
        "riskgrad: --return-range must be two finite "
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("train two-roads --risk", "option '--risk' requires an argument; see riskgrad train --help"),
        ("evaluate x --return-range 3,1", "option '--return-range' requires 2 arguments; see riskgrad evaluate --help"),
        ("train two-roads --env-option a=1", "--env-option must be what the environment takes, got 'a=1'; got an "),
        ("bounds two-roads --plot x.foo", "--plot must end in .svg, .png or .pdf, got 'x.foo'"),
        ("frontier two-roads --plot x.foo", "--plot must end in .svg, .png or .pdf, got 'x.foo'"),
        (
            "experiment two-roads --risk mean --risk mean",
            "--risk must be at least one measure, and different ones, got mean, mean",
        ),
        ("experiment two-roads --seed -1", "--seed must be an integer of at least 0, got -1"),
        ("experiment two-roads --fresh-seed -1", "--fresh-seed must be an integer of at least 0, got -1"),
        ("experiment two-roads --fresh-episodes 1", "--fresh-episodes must be an integer of at least 2, got 1"),
        ("frontier two-roads --fresh-episodes 1", "--fresh-episodes must be an integer of at least 2, got 1"),
        (
            "train two-roads --normalize",
            (
                "--normalize must not be given where observations are states, got '--normalize'; leave it out, or pass "
                "--no-normalize"
            ),
        ),
        (
            "train two-roads --algorithm onp-sf --trust 0.1",
            (
                "--trust must be an option of the algorithm onp-sf, to which it was given, got 0.1; it has "
                "--directions, --smoothing, --episodes, --common-random-numbers, --orthogonal"
            ),
        ),
        (
            "frontier two-roads --risk cvar:0.1",
            (
                "--risk must be the name of a measure with one number, such as 'cvar', got 'cvar:0.1'; its numbers are "
                "--levels"
            ),
        ),
        ("frontier two-roads --risk mean", "--risk must be the name of a measure with one number"),
        ("frontier two-roads --levels 0.1,0.1", "--levels must be different, got 0.1, 0.1"),
    ],
)
def test_a_mistake_is_told_in_words_of_the_shell(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = refuse(capsys, *words.split())
    assert told.startswith(f"riskgrad: {said}"), told
    assert told.count("\n") == 1
    assert not any(word in told for word in ("env_options", "common_random_numbers", "levels=", "riskgrad --help"))
    assert list(tmp_path.iterdir()) == []


def test_the_range_is_two_words_in_the_help(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main(["evaluate", "--help"])
    assert "--return-range" in (told := capsys.readouterr().out)
    assert "LOW HIGH" in told


def test_python_speaks_of_arguments(tmp_path):
    one, other = (rg.train(env, "mean", iterations=1) for env in ("two-roads", "ruin"))
    with pytest.raises(InputError, match=r"give all of them one with env=$"):
        rg.compare([one, other])


@pytest.mark.parametrize("command", ["train", "experiment", "frontier"])
def test_all_options_of_training_are_flags_of_what_trains(command):
    """The same flags, made from the same declarations, with the algorithms' own."""
    flags, own = flags_of(command), {name for name, facts in own_facts().items() if facts.flag is not None}
    wanted = {name for name, facts in facts_of(Options).items() if facts.flag is not None} | own
    assert wanted <= flags.keys()
    assert {"episodes", "directions", "env_options"} <= wanted
    for name in wanted - {"env_options"}:
        assert flags[name] == f"--{name.replace('_', '-')}"
    assert flags["env_options"] == "--env-option"


@pytest.mark.parametrize(
    "words",
    [
        "experiment two-roads --risk mean --seeds 1 --seed 3 --fresh-seed 5",
        "frontier two-roads --levels 0.2 --seed 3",
    ],
)
def test_episodes_are_those_of_training_where_something_is_trained(words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = "--algorithm score --episodes 7 --max-episodes 100 --held-out 10 --fresh-episodes 60 --backend serial --json"
    with pytest.raises(SystemExit) as ended:
        main([*words.split(), *few.split(), "--out", "x"])
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["episodes"], found["seed"]) == (60, 5 if words.startswith("experiment") else 3)
    run = rg.load("x/mean/seed-3" if words.startswith("experiment") else "x/mean")
    assert (run.settings.own["episodes"], run.settings.seed) == (7, 3)
    assert 80 < run.episodes_used <= 100
    told = refuse(capsys, *words.split(), *few.split(), "--iterations", "2")
    assert "--iterations and --max-episodes must not both be given" in told
