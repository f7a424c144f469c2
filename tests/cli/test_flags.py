"""In a shell, messages, notes and tables speak of flags, not of arguments of Python."""

import pytest
from gymnasium import spaces
from support.environments import Spaced

import riskgrad as rg
from riskgrad.cli import main
from riskgrad.cli.shared import name_flags

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
