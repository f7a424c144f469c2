import gymnasium
import numpy as np
import pytest
from support.training import train_briefly

import riskgrad as rg
from riskgrad.errors import InputError, UnknownNameError
from riskgrad.sources import TabularSource

MDP = rg.mdp.two_roads()
QUICK = {"iterations": 3, "episodes": 50, "held_out": 20}


def worth(run, risk):
    return rg.exact.value(MDP, run.policy, run.theta, rg.risk.parse(risk))


def test_averse_and_neutral_training_take_different_roads():
    averse = rg.train(MDP, risk="cvar:0.1", iterations=80, seed=1)
    neutral = rg.train(MDP, risk="mean", iterations=80, seed=1)
    # exact: the best mean is -22.8 with a CVaR of -66, the best CVaR is -30 with a mean of -28
    assert worth(averse, "cvar:0.1") > -32.0
    assert worth(neutral, "mean") > -23.3
    assert worth(neutral, "cvar:0.1") < -60.0


def test_what_is_optimized_on_the_way_is_said():
    averse, neutral = (rg.train(MDP, risk, algorithm="score", iterations=4) for risk in ("cvar:0.1", "mean"))
    assert any("(1 - w) dual-power:2 + w cvar:0.1" in note for note in averse.notes)
    assert any("entropy bonus of" in note for note in averse.notes)
    assert averse.settings.risk_path == "square:0.5"
    assert not any("(1 - w)" in note for note in neutral.notes)
    plain = rg.train(MDP, risk="cvar:0.1", iterations=4, schedule="paper")
    assert plain.notes == ()
    assert (plain.settings.own["steps_per_batch"], plain.settings.own["ess_floor"]) == (1, 0.0)


def test_auto_takes_the_critic_where_there_is_an_influence_and_the_score_for_a_soft_one_hot():
    class Median(rg.risk.RiskMeasure):
        attitude = "mixed"

        def estimate(self, values, weights=None):
            return np.median(np.broadcast_to(values, np.shape(weights if weights is not None else values)), axis=-1)

        def value(self, law):
            return float(law.quantile(0.5))

    assert train_briefly(MDP, risk="cvar:0.1", **QUICK).settings.algorithm == "critic"
    assert rg.train(MDP, "cvar:0.1", iterations=2, schedule="paper").settings.algorithm == "score"
    maze = rg.train("riskgrad/GuardedMaze-v0", "cvar:0.1", iterations=2, held_out=10).settings
    assert (maze.algorithm, maze.policy, maze.normalize) == ("score", "linear", False)
    pole = rg.train("CartPole-v1", "cvar:0.1", iterations=2, held_out=10).settings
    assert (pole.algorithm, pole.policy, pole.normalize) == ("critic", "mlp:64,64,std=1", True)
    assert (pole.risk_path, pole.step_size) == ("levels:0.5", "adam:0.002")
    paper = rg.train("CartPole-v1", "cvar:0.1", iterations=2, schedule="paper").settings
    assert (paper.algorithm, paper.policy, paper.normalize) == ("score", "linear", False)
    assert train_briefly(MDP, risk=Median(), **QUICK).settings.algorithm == "offp-sf"


@pytest.mark.parametrize("algorithm", ["onp-sf", "offp-sf", "score", "OnP-SF"])
def test_every_algorithm_can_be_named(algorithm):
    run = train_briefly(MDP, risk="dual-power:2", algorithm=algorithm, **QUICK)
    assert run.settings.algorithm == algorithm.lower()
    assert len(run.history) == 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("score:episodes=50", rg.Score(episodes=50)),
        (
            "offp-sf: episodes=50, steps-per-batch=2,orthogonal=false",
            rg.OffPSF(episodes=50, steps_per_batch=2, orthogonal=False),
        ),
        ("onp-sf:directions=3,episodes=10,smoothing=0.2", rg.OnPSF(directions=3, episodes=10, smoothing=0.2)),
        ("auto:episodes=50", rg.Critic(episodes=50)),
    ],
)
def test_a_name_with_options_is_the_value_with_these_fields(text, value):
    options = {"iterations": 2, "held_out": 20, "seed": 3}
    named, given = (rg.train(MDP, "cvar:0.1", algorithm=one, **options) for one in (text, value))
    np.testing.assert_array_equal(named.last_theta, given.last_theta)
    assert named.history == given.history
    assert named.settings == given.settings


def test_an_id_an_environment_a_factory_a_model_and_a_source_are_the_same_thing():
    options = {"risk": "cvar:0.1", "horizon": 30, **QUICK}
    named = train_briefly("CliffWalking-v1", **options)
    made = gymnasium.make("CliffWalking-v1")
    model = rg.mdp.from_gymnasium("CliffWalking-v1", horizon=30)
    runs = [
        train_briefly(made, **options),
        train_briefly(lambda: gymnasium.make("CliffWalking-v1"), **options),
        train_briefly(model, **{**options, "horizon": None}),
        train_briefly(TabularSource(model, threads=1), **{**options, "horizon": None}),
    ]
    made.close()
    for run in runs:
        np.testing.assert_array_equal(run.last_theta, named.last_theta)
    assert (named.settings.env, named.settings.horizon) == ("CliffWalking-v1", 30)
    slippery = train_briefly("CliffWalking-v1", env_options={"is_slippery": True}, **options)
    assert slippery.settings.env_options == {"is_slippery": True}
    assert slippery.history != named.history


@pytest.mark.parametrize("algorithm", ["onp-sf", "offp-sf", "score"])
@pytest.mark.parametrize("budget", [5_000, 23_456])
def test_a_budget_in_episodes_is_used_and_never_exceeded(algorithm, budget):
    run = train_briefly(MDP, risk="mean", algorithm=algorithm, max_episodes=budget, episodes=100)
    assert run.episodes_used <= budget
    one_more = run.episodes_used / len(run.history)
    assert run.episodes_used > 0.9 * budget - 2 * one_more


@pytest.mark.parametrize(
    ("risk", "budget", "episodes"),
    [
        ("mean", 2_000, 25),  # the least
        ("cvar:0.01", 2_000, 200),  # two episodes in the tail
        ("mean", 22_000, 250),  # room for 80 iterations and a tenth for the looks
        ("cvar:0.1", 100_000, 400),  # the usual batch
    ],
)
def test_a_small_budget_makes_small_batches(risk, budget, episodes):
    assert rg.train(MDP, risk=risk, max_episodes=budget).settings.own["episodes"] == episodes


@pytest.mark.parametrize(("risk", "episodes"), [("mean", 1), ("cvar:0.1", 10), ("mean-variance:0.5", 10)])
def test_a_deterministic_policy_is_tried_in_few_episodes_and_short_steps(risk, episodes):
    run = rg.train("CartPole-v1", risk=risk, policy="deterministic", iterations=1, horizon=5, held_out=0)
    assert (run.settings.own["directions"], run.settings.own["episodes"]) == (4, episodes)
    # the first step of Adam moves every coordinate by its step size, so that the move is as long as the smoothing
    assert np.linalg.norm(run.last_theta) <= run.settings.own["smoothing"] * (1.0 + 1e-9)


def test_a_few_hundred_episodes_teach_something():
    run = rg.train(MDP, risk="mean", max_episodes=1_000, seed=1)
    # exact: -27.9 for the policy it starts from, -22.8 for the best; the one batch of 400 that fits leads to -26.7
    assert worth(run, "mean") > -24.0


def test_a_run_goes_through_a_file_and_a_folder(tmp_path):
    run = train_briefly(MDP, risk="cvar:0.1", folder=tmp_path / "run", **QUICK)
    run.save(tmp_path / "run.rg")
    for again in (rg.load(tmp_path / "run"), rg.load(tmp_path / "run.rg")):
        np.testing.assert_array_equal(again.theta, run.theta)
        assert again.history == run.history
        assert again.settings == run.settings
        assert again.notes == run.notes


def test_the_same_seed_gives_the_same_run_on_any_number_of_threads():
    runs = [
        train_briefly(MDP, risk="cvar:0.1", threads=threads, iterations=3, episodes=40_000, seed=6)
        for threads in (1, 2)
    ]
    np.testing.assert_array_equal(runs[0].last_theta, runs[1].last_theta)
    assert runs[0].history == runs[1].history


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iterations": 3, "max_episodes": 100}, "iterations and max_episodes must not both be given"),
        (
            {"max_episodes": 10},
            "max_episodes must allow one iteration and the episodes that judge it, 125 episodes, got 10",
        ),
        ({"max_episodes": 1000, "schedule": "paper"}, "max_episodes must not be given with the paper's schedule"),
        ({"algorithm": "score", "smoothing": 0.1}, "smoothing must be an option of the algorithm score"),
        ({"algorithm": "onp-sf", "steps_per_batch": 2}, "steps_per_batch must be an option of the algorithm onp-sf"),
        ({"step_size": -1.0}, "step_size must be positive"),
        ({"algorithm": "offp-sf", "smoothing": 2.0}, r"smoothing must be in \(0, 1\]"),
        ({"theta": [np.nan] * 8}, "theta must be finite"),
    ],
)
def test_bad_input_gets_one_line(options, message):
    with pytest.raises(InputError, match=message) as caught:
        train_briefly(MDP, risk="mean", **options)
    assert "\n" not in str(caught.value)


def test_unknown_names_list_what_there_is_and_the_nearest():
    known = sorted(rg.algorithms.ALGORITHMS.by_name())
    assert {"critic", "offp-sf", "onp-sf", "score"} <= set(known)
    words = f"algorithm must be one of {', '.join(known)}, got 'offpsf'; did you mean 'offp-sf'.*'auto'"
    with pytest.raises(UnknownNameError, match=words):
        rg.train(MDP, risk="mean", algorithm="offpsf")
    with pytest.raises(UnknownNameError, match="did you mean 'cvar'"):
        rg.train(MDP, risk="cvarr:0.1")


def test_an_environment_without_a_horizon_gets_a_thousand_steps_and_a_note():
    run = rg.train("CliffWalking-v1", risk="mean", algorithm="score:episodes=3", iterations=1, held_out=0)
    assert any("cut after 1,000 steps, since the environment has no limit of its own" in note for note in run.notes)


def test_what_is_no_environment_gets_one_line():
    with pytest.raises(InputError, match="env must be"):
        rg.train(42, risk="mean")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("step_size", [0.1], "step_size must be a number, got \\[0.1\\]"),
        ("checkpoint_seconds", "x", "checkpoint_seconds must be a number, got 'x'"),
        ("checkpoint_seconds", -1.0, "checkpoint_seconds must be finite and not negative, got -1.0"),
    ],
)
def test_an_option_of_the_wrong_kind_is_one_line(option, value, message):
    with pytest.raises(InputError, match=message):
        rg.train("two-roads", "mean", iterations=1, **{option: value})
