"""What a run says about itself: how sure its held-out risk is, and where its numbers stood still."""

import numpy as np
import pytest
from typer.testing import CliRunner

import riskgrad as rg
from riskgrad.cli import app
from riskgrad.run.verdict import judge_history

ALGORITHMS = [rg.Score(episodes=200), "critic"]


def gamble(chance, safe=None):
    """One step: the first action loses 1 by that chance and wins 1 otherwise; so does the second, or it is safe."""
    transition, reward = np.zeros((3, 2, 3)), np.zeros((3, 2, 3))
    transition[0, :, 1], transition[0, :, 2] = chance, 1.0 - chance
    reward[0, :, 1], reward[0, :, 2] = -1.0, 1.0
    if safe is not None:
        reward[0, 1] = safe
    transition[1:, :, 1:] = np.eye(2)[:, None]
    return rg.mdp.FiniteMDP(transition, reward, start=0, terminal=[1, 2], horizon=1, discount=1.0)


def line(risk=0.0, held_out=None, **more):
    return {"risk": risk, "held_out": held_out, "steps": 1, "gradient_norm": 1.0, **more}


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_a_flat_measure_is_told_once_also_when_resumed(algorithm, tmp_path):
    options = {"algorithm": algorithm, "iterations": 12, "held_out": 300}
    whole = rg.train(gamble(0.5), "cvar:0.1", **options)
    assert len([note for note in whole.notes if "cvar:0.1 was -1 for every policy seen" in note]) == 1
    stopped = rg.train(
        gamble(0.5), "cvar:0.1", **options, resume=tmp_path, callback=lambda told, _: told["iteration"] == 6
    )
    assert "every policy seen" in stopped.notes[-1]
    assert rg.load(tmp_path).notes == stopped.notes
    again = rg.train(gamble(0.5), "cvar:0.1", **options, resume=tmp_path)
    assert again.notes == whole.notes == rg.load(tmp_path).notes
    assert again.held_out_interval == whole.held_out_interval


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_a_policy_that_is_sure_and_learns_no_more_says_so(algorithm):
    run = rg.train(gamble(0.5, safe=0.0), "cvar:0.1", algorithm=algorithm, iterations=60, held_out=300, entropy=0.0)
    assert any("the gradient was 0, so that nothing more was learned" in note for note in run.notes), run.history[-1]


def test_held_out_values_at_one_constant_are_told():
    history = [line(risk=k, held_out=-1.0 if k % 3 == 0 else None) for k in range(9)]
    (note,) = judge_history("cvar:0.1", history, -1.0)
    assert "by held-out episodes was -1 for every policy judged" in note
    assert judge_history("cvar:0.1", history, -0.5) == []
    late = [line(risk=k, held_out=-1.0 if k > 6 else None) for k in range(9)]
    assert judge_history("cvar:0.1", late, -1.0) == []
    from_there_on = [line(risk=-1.0), *late[1:]]
    assert "from the first on" in judge_history("cvar:0.1", from_there_on, -1.0)[0]
    assert judge_history("cvar:0.1", from_there_on, -0.5) == []
    assert judge_history("cvar:0.1", [line(risk=-1.0), *[line(risk=-2.0)] * 8], -1.0) == []  # one value is no constant


def test_the_critic_tells_held_out_values_at_one_constant():
    """One batch in many has no loss at all, so that the measure was not flat; what is judged always has some."""
    run = rg.train(gamble(0.05), "cvar:0.02", algorithm=rg.Critic(episodes=40), iterations=200, held_out=600)
    assert len({told["risk"] for told in run.history}) > 1
    assert any("by held-out episodes was -1 for every policy judged, from the first on" in note for note in run.notes)


def test_what_stood_still_for_another_reason_or_too_briefly_is_not_told():
    assert judge_history("mean", [line()] * 2, None) == []
    assert judge_history("mean", [line(steps=0)] * 9, None) == []
    learned = [line(risk=k, gradient_norm=1.0, randomness=0.5) for k in range(37)]
    assert judge_history("mean", [*learned, *[line(gradient_norm=0.0, randomness=0.0)] * 4], None) == []
    assert judge_history("mean", [*learned, *[line(gradient_norm=0.0, randomness=0.4)] * 40], None) == []
    (note,) = judge_history("mean", [*learned, *[line(gradient_norm=0.0, randomness=0.0)] * 40], None)
    assert note.startswith("from iteration 37 of 77 on the policy was sure of its actions and the gradient was 0")


def test_a_model_that_foresees_other_returns_than_episodes_have_is_told():
    def told(foreseen, error=0.1, **more):
        some = {"mean": 1.0, "mean_error": error, "ess": 100.0, "foreseen": foreseen, **more}
        return judge_history("mean", [line(risk=k, **some) for k in range(20)], None)

    (note,) = told(1.4)
    assert note.startswith("the critic's model foresaw a mean of 1.4 late in the run where episodes had 1: obs")
    assert told(1.2) == []  # 4.5 of its standard errors
    assert told(1.15, error=0.05, ess=400.0) == []  # 6.7 of them, but less than a fifth of what an episode varies by
    assert told(1.0 + 1e-9, error=0.0) == []
    assert len(told(1.1, error=0.0)) == 1
    assert told(None) == []


def test_the_held_out_risk_has_an_interval_and_a_flag():
    few = rg.train(gamble(0.05), "cvar:0.1", algorithm="score", iterations=3, held_out=100)
    assert not few.held_out_reliable
    assert "it depends on about 10 of 100 episodes" in few.held_out_flag
    many = rg.train(gamble(0.05), "cvar:0.1", algorithm="score", iterations=3, held_out=4000)
    assert many.held_out_reliable
    assert many.held_out_interval is not None
    low, high = many.held_out_interval
    assert low <= many.held_out_risk <= high
    assert high - low < 0.5
    none = rg.train(gamble(0.05), "cvar:0.1", algorithm="score", iterations=3, held_out=0)
    assert (none.held_out_interval, none.held_out_flag, none.held_out_reliable) == (None, None, False)


def test_the_page_and_the_command_tell_both(tmp_path):
    run = rg.train(gamble(0.5), "cvar:0.1", algorithm="score", iterations=5, held_out=100)
    page = rg.report(run, tmp_path / "page.html", gamble(0.5), episodes=200).read_text()
    assert "cvar:0.1 was -1 for every policy seen" in page
    assert "not reliable: it depends on about 10 of 100 episodes; want 20." in page
    command = ["train", "two-roads", "--risk", "cvar:0.1", "--iterations", "2", "--held-out", "50"]
    told = " ".join(CliRunner().invoke(app, command).stdout.split())
    assert "cvar:0.1 by held-out episodes: -" in told
    assert ", 95% from -" in told
    assert "; not reliable: it depends on about 5 of 50 episodes; want 20" in told
