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
        if isinstance(self.observation_space, spaces.MultiDiscrete):
            place = int(np.clip(13.0 + 2.0 * self.place, 0, 25))
            return np.array([place, 25 - place, self.age])
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


def a_rehearsal(risk, monkeypatch, iteration=0, discount=1.0, steps=4, **more):
    """An iteration of a training, with the critic as it was fitted at its end."""
    made = []
    keep = Rehearsal.__init__

    def remember(self, *given):
        keep(self, *given)
        made.append(self)

    monkeypatch.setattr(Rehearsal, "__init__", remember)
    options = {**FAST, "iterations": iteration + 1, "horizon": steps, "discount": discount, **more}
    rg.train(lambda: Walk(steps=steps), risk, **options)
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


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_for_the_mean_the_gradient_is_that_of_plain_generalized_advantages(monkeypatch, discount):
    """By rewards and values of what is to come alone; step t counts discount^t, as its reward does in the return."""
    one = a_rehearsal("mean", monkeypatch, iteration=3, discount=discount, step_size=1e-3, entropy=0.0)
    batch, critic, visits, start = one.batch, one._critic, one._visits, one._start
    to_come = np.mean(critic.quantiles(visits.inputs), axis=1)
    advantages = np.zeros(len(to_come))
    for first, last in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        following, total = 0.0, 0.0
        for t in range(last - 1, first - 1, -1):
            total = batch.rewards[t] + discount * following - to_come[t] + discount * 0.8 * total
            following, advantages[t] = to_come[t], discount ** (t - first) * total
    advantages = (advantages - np.mean(advantages)) / np.std(advantages)
    assert np.max(np.abs(advantages)) < 4.0  # none is clipped here
    policy = start.policy.inner
    seen = start.policy.rescale(batch.observations)
    plain = policy.score_sum(start.theta, seen, batch.actions, advantages / len(advantages))
    one._quantiles, one._epochs, one._steps = critic.quantiles(visits.inputs), 1, 0  # the first step, of one minibatch
    one.climb(one.weigh_steps(), trust=1.0)
    assert one._steps == 1
    step = one._problem.ascent.scale_step(one._left).step_size
    np.testing.assert_allclose((one._now.theta - start.theta) / step, plain, rtol=0.0, atol=1e-10)


def test_no_iteration_leads_further_than_it_is_trusted_to(monkeypatch):
    """The step after which a minibatch is found too far is the last one; without trust the policy goes much further."""
    far = []
    for trust in (1e-4, 3e-3, 1e9):
        one = a_rehearsal("mean", monkeypatch, steps=20, step_size="adam:0.001", algorithm=rg.Critic(8, trust=trust))
        start, now, seen = one._start, one._now, one._shown
        before, after = (start.policy.inner.probabilities(each.theta, seen) for each in (start, now))
        far.append(float(np.mean(np.sum(before * np.log(before / after), axis=1))))
    assert far[0] < 1e-3 < far[1] < 1e-2 < far[2]


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


ANYWHERE = {  # an environment of each kind of source
    "compiled": ("CartPole-v1", {}),
    "played": ("Pendulum-v1", {"horizon": 20, "memory": "both"}),
    "native": (lambda: rg.sources.GymnasiumSource("CartPole-v1", 40, native=True), {}),
    "mixed": (lambda: Walk(spaces.MultiDiscrete([2, 2]), MIXED), {"horizon": 4}),
}


def environment(name):
    env, options = ANYWHERE[name]
    return (env() if name == "native" else env), {**FAST, **options}


@pytest.mark.parametrize(
    ("name", "stops"), [("compiled", (0,)), ("compiled", (1, 4)), ("played", (3,)), ("native", (2,)), ("mixed", (3,))]
)
def test_stopped_and_resumed_it_ends_as_if_never_stopped(tmp_path, name, stops):
    env, options = environment(name)
    whole = rg.train(env, "cvar:0.25", **options)
    for stop in stops:
        rg.train(env, "cvar:0.25", **options, resume=tmp_path, callback=stopping_after(stop))
    again = rg.train(env, "cvar:0.25", **options, resume=tmp_path)
    np.testing.assert_array_equal(again.theta, whole.theta)
    np.testing.assert_array_equal(again.last_theta, whole.last_theta)
    assert again.history == whole.history
    assert again.notes == whole.notes


def test_threads_and_processes_change_no_digit():
    one, two = (rg.train("CartPole-v1", "mean", **FAST, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.last_theta, two.last_theta)
    assert one.history == two.history
    env, options = environment("played")
    options["iterations"] = 2
    serial, shared = (rg.train(env, "mean", **options, backend=who) for who in ("serial", "processes:2"))
    np.testing.assert_array_equal(serial.last_theta, shared.last_theta)
    assert serial.history == shared.history


def test_a_native_vector_form_shared_by_processes_gives_the_same_digits():
    ends = []
    for who in ("serial", "processes:2"):
        source = rg.sources.GymnasiumSource("CartPole-v1", 40, native=True, backend=who)
        ends.append(rg.train(source, "mean", **{**FAST, "iterations": 2}))
    np.testing.assert_array_equal(ends[0].last_theta, ends[1].last_theta)
    assert ends[0].history == ends[1].history


STEPS = {
    "choice": spaces.Discrete(3),
    "choices": spaces.MultiDiscrete([2, 2]),
    "numbers": spaces.Box(0.0, 2.0, (1,), np.float64),
}
SEEN = {
    "box": None,
    "many digits": spaces.MultiDiscrete([26, 26, 26]),  # too many combinations for a table
    "digits": spaces.MultiDiscrete([26, 26, 5]),
    "mixed": MIXED,
}


@pytest.mark.parametrize(
    ("seen", "actions", "memory"),
    [
        *((seen, actions, None) for seen in ("box", "many digits", "mixed") for actions in STEPS),
        ("digits", "numbers", None),
        *(("mixed", actions, "both") for actions in STEPS),
    ],
)
def test_any_actions_and_observations(actions, seen, memory):
    def make():
        return Walk(STEPS[actions], SEEN[seen])

    run = rg.train(make, "mean", max_episodes=400, horizon=4, seed=1, memory=memory)
    assert run.settings.algorithm == "critic"
    found = rg.evaluate(run, make, "mean", 200, horizon=4).rows[0].value
    assert found > -4.5  # at random it is -6 to -8, the best is -1.3


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
