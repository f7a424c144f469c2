"""An iteration with a critic of quantiles: its gains, its ascent, and environments that are hard on it."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import riskgrad as rg
from riskgrad.critic.quantiles import QuantileCritic
from riskgrad.errors import LearningError, RiskgradError
from riskgrad.policy import MLP, Gaussian, LinearSoftmax, Normalized, ObservationStatistics
from riskgrad.policy.base import Policy
from riskgrad.training.rehearsal import Rehearsal

FAST = {"algorithm": rg.Critic(episodes=8), "iterations": 6, "held_out": 10, "seed": 3}


class Walk(gymnasium.Env):
    """Four steps on a line; the action is a step, and the reward says how far from 0 it ended, times a factor."""

    def __init__(self, actions=None, seen=None, factor=1.0, steps=4, reward=None):
        self.action_space = actions or spaces.Discrete(3)
        self.observation_space = seen or spaces.Box(-np.inf, np.inf, (1,), np.float64)
        self.factor, self.steps, self.reward = factor, steps, reward

    def show(self):
        if isinstance(self.observation_space, spaces.Dict):
            return {"place": np.array([self.place]), "left": int(self.steps - self.age > 1)}
        return np.array([self.place])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.place, self.age = float(self.np_random.normal()), 0
        return self.show(), {}

    def step(self, action):
        self.age += 1
        self.place += float(np.sum(action)) - 1.0
        reward = -abs(self.place) * self.factor if self.reward is None else self.reward
        return self.show(), reward, self.age == self.steps, False, {}


MIXED = spaces.Dict({"place": spaces.Box(-np.inf, np.inf, (1,), np.float64), "left": spaces.Discrete(2)})


def a_rehearsal(risk, monkeypatch, iteration=0, discount=1.0, steps=4):
    """The first iteration of a training, before it climbs."""
    made = []
    keep = Rehearsal.__init__

    def remember(self, *given):
        keep(self, *given)
        made.append(self)

    monkeypatch.setattr(Rehearsal, "__init__", remember)
    rg.train(lambda: Walk(steps=steps), risk, **{**FAST, "iterations": iteration + 1}, horizon=steps, discount=discount)
    return made[iteration]


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_for_the_mean_gains_are_those_of_an_ordinary_actor_critic(monkeypatch, discount):
    one = a_rehearsal("mean", monkeypatch, iteration=3, discount=discount)
    batch, critic, visits = one.batch, one._critic, one._visits
    lengths = np.diff(batch.offsets)
    values = visits.so_far + visits.scale * np.mean(critic.quantiles(visits.inputs), axis=1)
    expected = np.zeros(len(values))
    for episode, (first, last) in enumerate(zip(batch.offsets[:-1], batch.offsets[1:], strict=True)):
        # rewards in units of the start: r_t + V(x_{t+1}) - V(x_t) of what is still to come is a difference of these
        ahead = np.append(values[first + 1 : last], batch.values[episode])
        total = 0.0
        for t in range(lengths[episode] - 1, -1, -1):
            total = ahead[t] - values[first + t] + 0.8 * total
            expected[first + t] = total
    expected = (expected - np.mean(expected)) / np.std(expected)
    assert np.max(np.abs(expected)) < 4.0  # none is clipped here
    # the critic was fitted after its gains were read, so that they are read again
    one._quantiles = critic.quantiles(visits.inputs)
    np.testing.assert_allclose(one.weigh_steps(), expected, atol=1e-10)


def test_without_foresight_the_gain_of_a_step_is_what_its_episode_brought_less_a_value(monkeypatch):
    """The value does not depend on the action, so that a wrong critic adds no bias; here it is as wrong as can be."""
    one = a_rehearsal("cvar:0.25", monkeypatch)
    wrong = np.random.default_rng(0).normal(size=one._quantiles.shape)
    one._quantiles = wrong
    utility = one.utility
    values = one._critic.values(one._visits, utility, wrong)
    raw = np.repeat(utility.at(one.batch.values), np.diff(one.batch.offsets)) - values
    found = one.weigh_steps(decay=1.0)
    centered = (raw - np.mean(raw)) / np.std(raw)
    within = np.abs(centered) < 3.0
    fit = np.polyfit(centered[within], found[within], 1)
    np.testing.assert_allclose(np.polyval(fit, centered[within]), found[within], atol=1e-9)


@pytest.mark.parametrize(
    "policy",
    [MLP(2, 3, (5,)), MLP(2, (2, 3), (4,)), Gaussian(2, [-1.0, -2.0], [1.0, 2.0], (5,)), LinearSoftmax(2, 3)],
    ids=repr,
)
def test_the_first_step_is_along_the_gains_times_the_scores(policy):
    rng = np.random.default_rng(1)
    theta, seen = rng.normal(size=policy.dim), rng.normal(size=(30, 2))
    normalized = Normalized(policy, ObservationStatistics.of(seen))
    actions = policy.act(theta[None], np.zeros(30, dtype=np.int64), seen, rng.uniform(size=(30, policy.noise_size)))
    scores, entropies = rng.normal(size=30), rng.uniform(size=30)
    for one, at in ((policy, seen), (normalized, seen)):
        found = one.linearize(theta, at, actions)
        usual = Policy.linearize(one, theta, at, actions)
        np.testing.assert_allclose(found.log_probs, usual.log_probs, rtol=1e-12)
        np.testing.assert_allclose(found.pull(scores, entropies), usual.pull(scores, entropies), rtol=1e-9, atol=1e-12)


def stopping_after(iteration):
    return lambda line, _theta: line["iteration"] == iteration


@pytest.mark.parametrize("stops", [(0,), (3,), (1, 4)])
def test_stopped_and_resumed_it_ends_as_if_never_stopped(tmp_path, stops):
    whole = rg.train("CartPole-v1", "cvar:0.25", **FAST)
    for stop in stops:
        rg.train("CartPole-v1", "cvar:0.25", **FAST, resume=tmp_path, callback=stopping_after(stop))
    again = rg.train("CartPole-v1", "cvar:0.25", **FAST, resume=tmp_path)
    np.testing.assert_array_equal(again.theta, whole.theta)
    np.testing.assert_array_equal(again.last_theta, whole.last_theta)
    assert again.history == whole.history
    assert again.notes == whole.notes


def test_threads_and_processes_change_no_digit():
    one, two = (rg.train("CartPole-v1", "mean", **FAST, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.last_theta, two.last_theta)
    options = {**FAST, "iterations": 2, "horizon": 20}
    serial, shared = (rg.train("Pendulum-v1", "mean", **options, backend=who) for who in ("serial", "processes:2"))
    np.testing.assert_array_equal(serial.last_theta, shared.last_theta)
    assert serial.history == shared.history


@pytest.mark.parametrize("memory", [None, "both"])
@pytest.mark.parametrize(
    ("actions", "seen"),
    [
        (spaces.Discrete(3), None),
        (spaces.MultiDiscrete([2, 2]), None),
        (spaces.Box(0.0, 2.0, (1,), np.float64), None),
        (spaces.Discrete(3), MIXED),
    ],
    ids=["choice", "choices", "numbers", "mixed"],
)
def test_any_actions_and_observations(actions, seen, memory):
    run = rg.train(lambda: Walk(actions, seen), "cvar:0.25", **FAST, horizon=4, memory=memory)
    assert run.settings.algorithm == "critic"
    assert np.all(np.isfinite(run.theta))
    assert not np.array_equal(run.theta, run.random_theta) or run.history[0]["steps"] > 0


def test_it_learns_to_stay():
    """The start is seen, so that the best return is known: the first step leads within half of 0, and it stays."""
    run = rg.train(Walk, "mean", max_episodes=3_000, horizon=4, seed=0)
    found = rg.evaluate(run, Walk, risk="mean", episodes=500, horizon=4).rows[0].value
    assert found > -1.7  # at random it is -7.6; the best is about -1.3


@pytest.mark.parametrize(
    ("env", "steps"),
    [({"reward": 0.0}, 4), ({"reward": 2.5}, 4), ({"steps": 1}, 1), ({"factor": 1e-9}, 4), ({"factor": 1e9}, 4)],
    ids=["no rewards", "constant returns", "one step", "tiny rewards", "large rewards"],
)
def test_what_gives_little_to_learn_from_gives_a_sound_result(env, steps):
    run = rg.train(lambda: Walk(**env), "cvar:0.25", **FAST, horizon=steps)
    assert np.all(np.isfinite(run.theta))
    assert all(np.isfinite(line["critic_loss"]) for line in run.history)


def test_constant_returns_leave_the_policy_as_it_began():
    run = rg.train(lambda: Walk(reward=2.5), "mean", **{**FAST, "entropy": 0.0}, horizon=4)
    start = rg.train(lambda: Walk(reward=2.5), "mean", **{**FAST, "entropy": 0.0, "iterations": 1}, horizon=4)
    np.testing.assert_array_equal(run.last_theta, start.last_theta)


def test_rewards_of_one_scale_or_another_teach_the_same():
    ends = [rg.train(lambda f=f: Walk(factor=f), "mean", **FAST, horizon=4).last_theta for f in (1.0, 1024.0)]
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_a_reward_that_is_not_finite_is_one_line(reward):
    with pytest.raises(RiskgradError, match="finite"):
        rg.train(lambda: Walk(reward=reward), "mean", **FAST, horizon=4)


def test_rewards_beyond_what_squares_can_hold_are_one_line():
    with pytest.raises(
        LearningError, match=r"^a return of size .* is too large .*: scale rewards and observations down$"
    ):
        rg.train(lambda: Walk(factor=1e200), "mean", **FAST, horizon=4)


def test_a_loss_that_is_no_number_is_one_line(monkeypatch):
    monkeypatch.setattr(QuantileCritic, "fit", lambda self, *_: (self, float("nan")))
    with pytest.raises(LearningError, match=r"^at iteration 0 the critic's loss was nan: scale"):
        rg.train(Walk, "mean", **FAST, horizon=4)
