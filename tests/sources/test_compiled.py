"""The compiled source: against a plain loop in Python, the same bits however it is cut, and its laws."""

from dataclasses import fields

import gymnasium
import numpy as np
import pytest

from riskgrad.envs import CompiledEnv, compiled_twin
from riskgrad.errors import InputError
from riskgrad.kernels import compile as compiling
from riskgrad.kernels import streams
from riskgrad.kernels.compile import fresh_kernel
from riskgrad.policy import (
    MLP,
    Deterministic,
    Gaussian,
    Gibbs,
    Greedy,
    LinearSoftmax,
    Normalized,
    ObservationStatistics,
    TabularGibbs,
)
from riskgrad.random import Purpose, Stream
from riskgrad.sources import CompiledSource, Source, resolve_source
from riskgrad.types import Episodes
from riskgrad.weights import log_ratios

STREAM = Stream(11, Purpose.EXAMPLE, 3)
MAZE = compiled_twin("riskgrad/GuardedMaze-v0")
POLE = compiled_twin("CartPole-v1")
SEEN = ObservationStatistics.of(np.random.default_rng(3).normal(size=(40, 4)) * [1.0, 0.3, 0.05, 2.0] + 0.1)


class Modest(CompiledEnv):
    """An environment that promises nothing of its observations."""

    dense = False  # pyright: ignore[reportAssignmentType]


def observed(env, state):
    indices, values = np.zeros(env.n_features, dtype=np.int64), np.zeros(env.n_features)
    if env.dense:
        env.observe(state, values)
        return values
    count, seen = env.observe(state, indices, values), np.zeros(env.n_features)
    seen[indices[:count]] = values[:count]
    return seen


def plain_episode(env, policy, theta, key, episode, discount, horizon):
    """Play one episode by calls of `reset`, `step`, `observe` and `policy.act`."""
    actions, stream = (np.array([word], dtype=np.uint64) for word in streams.first_words(key, episode))
    state = np.zeros(env.state_size)
    env.reset(state, stream)
    total, t, over, met, taken = 0.0, 0, False, [], []
    while not over and t < horizon:
        seen = observed(env, state)
        uniform = np.array([[streams.uniform(actions)]])
        action = int(policy.act(theta[None], np.zeros(1, dtype=np.int64), seen[None], uniform)[0])
        met, taken = [*met, seen], [*taken, action]
        reward, over = env.step(state, action, stream)
        total += discount**t * reward
        t += 1
    return total, t, met, taken


@pytest.mark.parametrize(
    ("env", "policy"),
    [
        (MAZE, LinearSoftmax(64, 4)),
        (MAZE, Greedy(LinearSoftmax(64, 4))),
        (MAZE, MLP(64, 4, hidden=(6,))),
        (MAZE, MLP(64, 4)),
        (compiled_twin("riskgrad/GuardedMaze-v0", {"observation": "position"}), MLP(2, 4, hidden=(5, 3))),
        (POLE, LinearSoftmax(4, 2)),
        (POLE, MLP(4, 2, hidden=(8, 8), activation="relu")),
        (POLE, Greedy(MLP(4, 2, hidden=(8, 8)))),
        (POLE, MLP(4, 2, hidden=(47, 40), activation="relu")),
        (POLE, Deterministic(4, 2)),
        (compiled_twin("MountainCar-v0"), LinearSoftmax(2, 3)),
        (compiled_twin("Acrobot-v1"), Deterministic(6, 3, hidden=(4,))),
        (POLE, Normalized(LinearSoftmax(4, 2), SEEN, np.inf)),
        (POLE, Normalized(MLP(4, 2, hidden=(8,)), SEEN, np.inf)),
        (POLE, Greedy(Normalized(MLP(4, 2, hidden=()), SEEN, np.inf))),
        (POLE, Normalized(Deterministic(4, 2), SEEN, np.inf)),
    ],
    ids=str,
)
def test_is_the_plain_loop(env, policy):
    source = CompiledSource(env, horizon=70, discount=0.97)
    thetas = np.random.default_rng(0).normal(size=(2, policy.dim))
    found = source.returns(policy, thetas, 3, STREAM, pairs=[4, 9])
    keys = STREAM.keys(np.array([4, 9]))
    for p in range(2):
        for e in range(3):
            total, length, _, _ = plain_episode(env, policy, thetas[p], keys[p], e, 0.97, 70)
            assert found.lengths[p, e] == length
            assert found.values[p, e] == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize(("env", "policy"), [(MAZE, LinearSoftmax(64, 4)), (POLE, MLP(4, 2, hidden=(8,)))], ids=str)
def test_record_is_what_returns_plays_for_pair_0(env, policy):
    source, theta = CompiledSource(env, discount=0.99), np.random.default_rng(1).normal(size=policy.dim)
    batch, returns = source.record(policy, theta, 40, STREAM), source.returns(policy, theta[None], 40, STREAM)
    assert isinstance(batch, Episodes)
    assert np.array_equal(batch.values, returns.values[0])
    assert np.array_equal(batch.lengths, returns.lengths[0])
    assert np.array_equal(np.diff(batch.offsets), batch.lengths)
    assert np.all(batch.counts == 1)
    key = STREAM.keys(np.array([0]))[0]
    for e in (0, 39):
        _, _, met, taken = plain_episode(env, policy, theta, key, e, 0.99, env.horizon)
        span = slice(batch.offsets[e], batch.offsets[e + 1])
        assert np.array_equal(batch.observations[span], met)
        assert np.array_equal(batch.actions[span], taken)
    assert np.array_equal(batch.log_behavior, policy.log_prob(theta, batch.observations, batch.actions))
    assert np.all(log_ratios(policy, theta[None], batch) == 0.0)


@pytest.mark.parametrize(("env", "policy"), [(MAZE, LinearSoftmax(64, 4)), (POLE, MLP(4, 2, hidden=(8,)))], ids=str)
def test_rewards_of_steps_are_those_of_the_environment_however_small_the_discount(env, policy):
    """Far more episodes than lanes, which also take over from each other; the returns have the bits of `returns`."""
    source, theta = CompiledSource(env, discount=0.5), 0.3 * np.random.default_rng(1).normal(size=policy.dim)
    steps, returns = (
        source.record_steps(policy, theta, 150, STREAM, 2),
        source.returns(policy, theta[None], 150, STREAM),
    )
    assert not np.array_equal(steps.values, returns.values[0]), "pair 2 draws its own numbers"
    np.testing.assert_array_equal(steps.values, source.returns(policy, theta[None], 150, STREAM, pairs=[2]).values[0])
    if env is POLE:
        assert np.all(steps.rewards == 1.0)
    for begin, end, value in zip(steps.offsets, steps.offsets[1:], steps.values, strict=False):
        total, factor = 0.0, 1.0
        for reward in steps.rewards[begin:end]:
            total, factor = total + factor * reward, factor * 0.5
        assert total == value
    np.testing.assert_array_equal(steps.ended, np.diff(steps.offsets) < env.horizon)


def test_rewards_late_in_a_long_episode_are_kept():
    balance = np.array([0.0, 0.1, 0.0, 0.5, 0.0, 5.0, 0.0, 5.0])  # pushes toward the side to which the pole leans
    steps = CompiledSource(POLE, discount=0.5).record_steps(LinearSoftmax(4, 2), balance, 20, STREAM)
    assert np.max(np.diff(steps.offsets)) == 500
    assert np.all(steps.rewards == 1.0)


def test_threads_blocks_and_other_rows_do_not_matter(monkeypatch):
    policy, thetas = LinearSoftmax(64, 4), np.random.default_rng(2).normal(size=(6, 256))
    alone = CompiledSource(MAZE, threads=1).returns(policy, thetas, 50, STREAM)
    monkeypatch.setattr(compiling, "WORTH_THREADS", 0.0)
    shared = CompiledSource(MAZE, threads=3)
    together = shared.returns(policy, thetas, 50, STREAM)
    assert np.array_equal(alone.values, together.values)
    assert np.array_equal(alone.lengths, together.lengths)
    assert np.array_equal(shared.returns(policy, thetas[4:5], 20, STREAM, pairs=[4]).values[0], alone.values[4, :20])
    first, second = (CompiledSource(MAZE, threads=n).record(policy, thetas[0], 60, STREAM) for n in (1, 3))
    assert np.array_equal(first.observations, second.observations)
    assert np.array_equal(first.actions, second.actions)


@pytest.mark.parametrize("policy", [LinearSoftmax(4, 2), MLP(4, 2, hidden=(8,)), MLP(4, 2, hidden=(40, 40))], ids=str)
def test_an_episode_is_the_same_in_any_lane(policy):
    """Far more episodes than lanes, then few, then one: whatever else is played, and wherever, nothing changes."""
    source, thetas = CompiledSource(POLE, threads=1), np.random.default_rng(5).normal(size=(4, policy.dim))
    many = source.returns(policy, thetas, 150, STREAM)
    for p, episodes in ((0, 150), (1, 7), (3, 1)):
        few = source.returns(policy, thetas[p : p + 1], episodes, STREAM, pairs=[p])
        assert np.array_equal(few.lengths[0], many.lengths[p, :episodes])
    batch = source.record(policy, thetas[0], 150, STREAM)
    assert np.array_equal(batch.lengths, many.lengths[0])
    # an environment that promises nothing of its observations is played lane by lane; sums round otherwise
    modest = Modest(**{field.name: getattr(POLE, field.name) for field in fields(POLE)})
    alone = CompiledSource(modest, threads=1).returns(policy, thetas, 150, STREAM)
    assert np.mean(alone.lengths == many.lengths) > 0.99


@pytest.mark.parametrize("horizon", [1, 2, 9, 23, 40, 499])
def test_every_episode_is_cut_at_the_horizon_and_none_before(horizon):
    """Lanes begin at different times, so that their episodes are cut at different ones."""
    policy, thetas = LinearSoftmax(4, 2), np.random.default_rng(6).normal(size=(5, 8))
    whole = CompiledSource(POLE, threads=1).returns(policy, thetas, 100, STREAM).lengths
    found = CompiledSource(POLE, horizon=horizon, threads=1).returns(policy, thetas, 100, STREAM).lengths
    assert np.array_equal(found, np.minimum(whole, horizon))


def test_a_pair_shares_its_noise():
    """Equal policies of one pair play the same episodes; nearby ones nearly always; other pairs others."""
    policy, source = LinearSoftmax(64, 4), CompiledSource(MAZE)
    theta, move = np.random.default_rng(3).normal(size=(2, 256))
    thetas = np.stack([theta, theta, theta, theta + 1e-9 * move])
    found = source.returns(policy, thetas, 200, STREAM, pairs=[0, 0, 1, 0]).values
    assert np.array_equal(found[0], found[1])
    assert np.mean(found[0] == found[2]) < 0.5
    assert np.mean(found[0] == found[3]) > 0.99
    assert len(np.unique(source.returns(policy, thetas[:1], 200, STREAM).lengths)) > 10


@pytest.mark.parametrize("identifier", ["CartPole-v1", "riskgrad/GuardedMaze-v0"])
def test_mean_return_and_length_are_those_of_gymnasium(identifier):
    """Within 5 standard errors of 120 episodes of Gymnasium, a fixed seed: a false-alarm rate below 1e-5 each."""
    env, source = gymnasium.make(identifier), resolve_source(identifier)
    policy = LinearSoftmax(env.observation_space.shape[0], int(env.action_space.n))
    rng = np.random.default_rng(4)
    theta, values, lengths = 0.5 * rng.normal(size=policy.dim), [], []
    observation, _ = env.reset(seed=5)
    total, t = 0.0, 0
    while len(values) < 120:
        action = int(
            policy.act(theta[None], np.zeros(1, dtype=np.int64), observation[None], rng.uniform(size=(1, 1)))[0]
        )
        observation, reward, over, cut, _ = env.step(action)
        total, t = total + reward, t + 1
        if over or cut:
            values, lengths, total, t = [*values, total], [*lengths, t], 0.0, 0
            observation, _ = env.reset()
    found = source.returns(policy, theta[None], 20_000, STREAM)
    for theirs, mine in ((values, found.values), (lengths, found.lengths)):
        assert abs(np.mean(theirs) - np.mean(mine)) < 5.0 * np.std(mine) / np.sqrt(120)
    assert np.std(found.lengths) > 0.0


def test_the_two_ways_through_the_maze():
    """Greedy hand-made policies: past the guard, round the walls, and standing still."""
    policy, source = LinearSoftmax(64, 4), CompiledSource(MAZE)
    east, north, west, south = range(4)

    def theta(rule):
        weights = np.zeros((8, 8, 4))
        for x in range(8):
            for y in range(8):
                weights[x, y, rule(x, y)] = 1.0
        return weights.ravel()

    short = theta(lambda x, y: north if x >= 6 else south if y >= 2 else east)
    # up the left side, along the top row, down the right side
    long = theta(
        lambda x, y: south if x >= 6 and y >= 2 else north if x >= 6 else east if y >= 6 else west if x >= 3 else north
    )
    still = theta(lambda x, y: west)
    found = source.returns(Greedy(policy), np.stack([short, long, still]), 20_000, STREAM).values
    means, worst = np.mean(found, axis=1), np.mean(np.sort(found, axis=1)[:, :1000], axis=1)
    assert min(means[0], means[1]) > 0.0
    assert worst[0] < -50.0
    assert worst[1] > worst[0] + 20.0
    assert means[2] == -32.0
    assert np.max(found) <= 16.0


def test_statistics_are_of_what_was_acted_on():
    source, policy = CompiledSource(POLE, horizon=40), LinearSoftmax(4, 2)
    thetas = np.random.default_rng(1).normal(size=(3, policy.dim))
    played, seen = source.returns_and_statistics(policy, thetas, 5, STREAM, [0, 7, 0], SEEN)
    same = source.returns(policy, thetas, 5, STREAM, [0, 7, 0])
    np.testing.assert_array_equal(played.values, same.values)
    np.testing.assert_array_equal(played.lengths, same.lengths)
    assert seen.count == SEEN.count + np.sum(played.lengths)
    none = ObservationStatistics.none(4)
    _, one = source.returns_and_statistics(policy, thetas[:1], 5, STREAM, [0], none)
    met = source.record(policy, thetas[0], 5, STREAM).observations
    np.testing.assert_allclose(one.mean, np.mean(met, axis=0), rtol=1e-12)
    np.testing.assert_allclose(one.std, np.std(met, axis=0), rtol=1e-12)


def test_return_range():
    assert CompiledSource(MAZE).return_range is None
    assert CompiledSource(POLE).return_range == (1.0, 500.0)
    assert CompiledSource(POLE, horizon=3, discount=0.5).return_range == (1.0, 1.75)
    assert CompiledSource(compiled_twin("MountainCar-v0")).return_range == (-200.0, -1.0)
    assert CompiledSource(compiled_twin("Acrobot-v1")).return_range == (-500.0, 0.0)


def test_a_users_own_environment_runs_without_a_loop_of_its_own():
    """A coin that pays what is drawn and ends on a head: returns and lengths are known exactly."""

    @fresh_kernel
    def reset(state, stream):
        state[0] = 0.0

    @fresh_kernel
    def step(state, action, stream):
        state[0] += 1.0
        return 2.0 if action == 1 else 0.5, streams.uniform(stream) < 0.25

    @fresh_kernel
    def observe(state, indices, values):
        indices[0], values[0] = 0, 1.0
        return 1

    coin = CompiledEnv("Coin", reset, step, observe, state_size=1, n_features=1, n_actions=2, horizon=1000)
    source = resolve_source(coin)
    found = source.returns(LinearSoftmax(1, 2), np.array([[0.0, np.log(3.0)], [50.0, 0.0]]), 20_000, STREAM)
    # geometric lengths of mean 4 and variance 12; 5 standard errors
    assert np.all(np.abs(np.mean(found.lengths, axis=1) - 4.0) < 5.0 * np.sqrt(12.0 / 20_000))
    assert np.array_equal(found.values[1], 0.5 * found.lengths[1])
    ratio = np.sum(found.values[0]) / np.sum(found.lengths[0])
    assert ratio == pytest.approx(0.75 * 2.0 + 0.25 * 0.5, abs=5.0 * 0.65 / np.sqrt(80_000))


def test_resolves_ids_and_is_a_source():
    source = resolve_source("riskgrad/GuardedMaze-v0", horizon=80, discount=0.9, threads=1)
    assert isinstance(source, CompiledSource)
    assert isinstance(source, Source)
    assert (source.horizon, source.discount, source.threads) == (80, 0.9, 1)
    assert resolve_source("CartPole-v1").env.id == "CartPole-v1"
    assert str(source) == "compiled riskgrad/GuardedMaze-v0, horizon 80, discount 0.9"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CompiledSource("CartPole-v1"), "env must be a CompiledEnv, got 'CartPole-v1'"),
        (lambda: CompiledSource(POLE, horizon=0), "horizon must be an integer of at least 1, got 0"),
        (lambda: CompiledSource(POLE, discount=1.5), r"discount must be in \(0, 1\], got 1.5"),
        (lambda: CompiledSource(POLE, threads=0), "threads must be an integer"),
        (
            lambda: CompiledSource(POLE).returns(TabularGibbs(4, 2), np.zeros((1, 8)), 1, STREAM),
            "policy must read vectors of the environment's 4 numbers",
        ),
        (
            lambda: CompiledSource(POLE).returns(
                Gibbs(lambda theta, _: theta, 2, example=np.zeros(4)), np.zeros((1, 2)), 1, STREAM
            ),
            "policy must be a LinearSoftmax, an MLP or a Deterministic policy .* pass gymnasium.make",
        ),
        (
            lambda: CompiledSource(POLE).returns(Normalized(LinearSoftmax(4, 2), SEEN), np.zeros((1, 8)), 1, STREAM),
            "policy must have no limit on normalized observations, to run compiled, .* pass gymnasium.make",
        ),
        (
            lambda: CompiledSource(POLE).returns(LinearSoftmax(4, 3), np.zeros((1, 12)), 1, STREAM),
            "policy must have the environment's actions, 2",
        ),
        (
            lambda: CompiledSource(POLE).returns(LinearSoftmax(4, 2), np.zeros(8), 1, STREAM),
            r"thetas must have shape \(P, 8\)",
        ),
        (
            lambda: CompiledSource(POLE).record(LinearSoftmax(4, 2), np.full(8, np.nan), 1, STREAM),
            "theta must be finite",
        ),
        (
            lambda: CompiledSource(POLE).returns(LinearSoftmax(4, 2), np.zeros((1, 8)), 0, STREAM),
            "episodes must be an integer of at least 1, got 0",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_continuous_policies_are_refused():
    policy = Gaussian(4, low=[-1.0], high=[1.0])
    with pytest.raises(InputError, match="policy must have discrete actions"):
        CompiledSource(POLE).returns(policy, np.zeros((1, policy.dim)), 1, STREAM)
