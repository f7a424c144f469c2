"""Episodes of Gymnasium environments: fair, keyed, cut where they should be, the same on any number of processes."""

import gymnasium
import numpy as np
import pytest
from support.environments import Countdown, CountdownVector, Noise, Odd, register
from support.training import train_plainly

import riskgrad as rg
from riskgrad.backend import Processes, Serial
from riskgrad.errors import EpisodeError, InputError
from riskgrad.kernels.formulas import softmax
from riskgrad.mdp import FiniteMDP, from_gymnasium
from riskgrad.policy import MLP, Deterministic, Gaussian, Greedy, Normalized, ObservationStatistics, TabularGibbs
from riskgrad.random import Purpose, Stream, environment_seeds, episode_words
from riskgrad.sources import GymnasiumSource, Source
from riskgrad.sources.gymnasium.blocks import Batch, EpisodeBlock, cut_for_workers, shrinking_edges
from riskgrad.weights import log_ratios

STREAM = Stream(11, Purpose.TRAINING, 3)
LAKE = TabularGibbs(16, 4)
# the usual good policy of the slippery lake, followed with probability 0.87
LAKE_THETA = 3.0 * np.eye(4)[[0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]].ravel()
COIN = MLP(1, 2, ())


def same(a, b):
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(a.lengths, b.lengths)


def lake_truth():
    """Exact mean and spread of the return and of the length."""
    env = gymnasium.make("FrozenLake-v1").unwrapped
    table = softmax(LAKE_THETA.reshape(16, 4))
    ones = {s: {a: [(p, t, 1.0, end) for p, t, _, end in row] for a, row in rows.items()} for s, rows in env.P.items()}
    timed = FiniteMDP.from_outcomes(ones, env.initial_state_distrib, horizon=100)
    return rg.exact.return_law(from_gymnasium("FrozenLake-v1"), table), rg.exact.return_law(timed, table)


def deviations(sample, law):
    return abs(np.mean(sample) - law.mean) / np.sqrt(law.variance / sample.size)


def test_fair_where_the_first_to_finish_are_not():
    """Means agree with the exact law within 4 standard errors; those of the naive scheme do not.

    A false alarm of either mean has a chance of 1 in 16,000. The naive scheme has 40 environments play episode after
    episode and counts the first 10 that finish: falls are short and walks to the goal long, so that its mean return is
    0.12 and its mean length 7, where 0.27 and 25 are right. It is 7 and 18 standard errors away, give or take 0.7: the
    test would let it pass once in 30,000 times.
    """
    source = GymnasiumSource("FrozenLake-v1")
    assert isinstance(source, Source)
    assert source.horizon == 100
    played = source.returns(LAKE, LAKE_THETA[None].repeat(80, axis=0), 40, STREAM)
    returns, lengths = lake_truth()
    assert deviations(played.values, returns) < 4.0
    assert deviations(played.lengths, lengths) < 4.0
    naive_values, naive_lengths = [], []
    for rows in range(0, 80, 40):
        for first in range(0, 40, 2):
            # row = an environment of the naive scheme, column = its episodes one after the other
            part = slice(rows, rows + 40), slice(first, first + 2)
            finished = np.argsort(np.cumsum(played.lengths[part], axis=1), axis=None, kind="stable")[:10]
            naive_values.append(played.values[part].ravel()[finished])
            naive_lengths.append(played.lengths[part].ravel()[finished])
    assert deviations(np.array(naive_values), returns) > 4.0
    assert deviations(np.array(naive_lengths), lengths) > 4.0


def test_blocks_for_workers_shrink_and_miss_nobody():
    for total, workers in ((1, 2), (5, 4), (64, 2), (1000, 3), (7, 1)):
        edges = shrinking_edges(total, workers)
        sizes = np.diff(edges)
        assert (edges[0], edges[-1]) == (0, total)
        assert np.all(sizes >= 1)
        assert np.all(np.diff(sizes) <= 0)
        assert len(sizes) >= min(workers, total)
        # no worker waits for more than a small block of another
        assert workers == 1 or sizes[-1] <= 8
    assert len(shrinking_edges(7, 1)) == 2
    pieces = cut_for_workers(40, STREAM, np.arange(3), 2)
    for lot, places in pieces:
        block = EpisodeBlock.of(Batch(LAKE, np.arange(3 * 64.0).reshape(3, 64)), lot)
        np.testing.assert_array_equal(block.thetas[lot.rows][:, 0], 64.0 * (places // 40))
        assert len(block.thetas) == len(np.unique(lot.rows))
    assert np.concatenate([places for _, places in pieces]).tolist() == list(range(120))


def test_numbers_are_those_of_the_key_and_nothing_else():
    thetas = np.random.default_rng(0).normal(size=(3, COIN.dim))
    source = GymnasiumSource(Noise, horizon=50)
    all_rows = source.returns(COIN, thetas, 7, STREAM)
    same(all_rows, GymnasiumSource(Noise, horizon=50, lanes=1).returns(COIN, thetas, 7, STREAM))
    same(all_rows, GymnasiumSource(Noise(), horizon=50).returns(COIN, thetas, 7, STREAM))
    same(all_rows, GymnasiumSource(Noise, horizon=50, backend=Serial()).returns(COIN, thetas, 7, STREAM))
    alone = source.returns(COIN, thetas[2:], 4, STREAM, pairs=[2])
    np.testing.assert_array_equal(alone.values[0], all_rows.values[2, :4])
    assert np.all(all_rows.values != source.returns(COIN, thetas, 7, Stream(11, Purpose.TRAINING, 4)).values)
    assert len(np.unique(all_rows.values)) == 21


def test_a_pair_shares_environment_and_action_noise():
    thetas = np.random.default_rng(0).normal(size=(2, COIN.dim))
    source = GymnasiumSource(Noise, horizon=50)
    played = source.returns(COIN, thetas[[0, 1, 0, 1]], 20, STREAM, pairs=[0, 1, 0, 1])
    np.testing.assert_array_equal(played.values[:2], played.values[2:])
    near = source.returns(COIN, np.stack([thetas[0], thetas[0] + 1e-3]), 200, STREAM, pairs=[0, 0]).values
    far = source.returns(COIN, np.stack([thetas[0], thetas[0] + 1e-3]), 200, STREAM).values
    assert np.var(near[0] - near[1]) < 0.05 * np.var(far[0] - far[1])


def test_action_noise_knows_nothing_of_the_environment():
    """A fair coin's actions and the numbers shown: |correlation| < 4.5 / sqrt(4000), false alarm 1 in 10^5."""
    batch = GymnasiumSource(Noise, horizon=50).record(COIN, np.zeros(COIN.dim), 400, STREAM)
    assert len(batch.actions) == 4000
    assert abs(np.corrcoef(batch.actions, batch.observations[:, 0])[0, 1]) < 4.5 / np.sqrt(4000)
    streams = episode_words(STREAM.keys(np.arange(50)), 40)
    seeds = environment_seeds(streams)
    assert seeds.min() >= 0
    assert seeds.max() < 2**31
    assert len(np.unique(seeds)) == seeds.size
    # neighbors are not each other's seeds plus one
    assert not np.any(np.diff(seeds, axis=1) == 1)


@pytest.mark.parametrize("truncates", [False, True])
def test_both_ends_count_and_so_does_the_horizon(truncates):
    policy, theta = MLP(2, 2, ()), np.zeros((1, 6))
    options = {"longest": 9, "truncates": truncates}
    played = GymnasiumSource(Countdown, horizon=100, env_options=options).returns(policy, theta, 60, STREAM)
    assert set(played.lengths.ravel()) == set(range(1, 10))
    np.testing.assert_array_equal(played.values, played.lengths * (played.lengths + 1) / 2)
    cut = GymnasiumSource(Countdown, horizon=4, env_options=options).returns(policy, theta, 60, STREAM)
    np.testing.assert_array_equal(cut.lengths, np.minimum(played.lengths, 4))
    small = GymnasiumSource(Countdown, 100, 0.5, env_options=options).returns(policy, theta, 60, STREAM)
    expected = [np.sum(0.5 ** np.arange(n) * (1 + np.arange(n))) for n in played.lengths.ravel()]
    np.testing.assert_allclose(small.values.ravel(), expected, rtol=1e-14)


def test_the_time_limit_is_ours():
    source = GymnasiumSource("Pendulum-v1")
    assert source.horizon == 200
    assert GymnasiumSource("Pendulum-v1", horizon=300).horizon == 300
    longer = GymnasiumSource("Pendulum-v1", horizon=210)
    policy = Gaussian(3, source.takes.low, source.takes.high)
    assert np.all(longer.returns(policy, np.zeros((1, policy.dim)), 2, STREAM).lengths == 210)
    inner = gymnasium.wrappers.TransformReward(gymnasium.make("Pendulum-v1", max_episode_steps=30), lambda r: -r)
    wrapped = GymnasiumSource(inner)
    assert wrapped.horizon == 30
    assert np.all(wrapped.returns(policy, np.zeros((1, policy.dim)), 2, STREAM).values > 0.0)
    assert GymnasiumSource(Countdown).horizon == 1000


def test_a_factory_that_wraps_one_environment_has_one_lane():
    one, policy = Countdown(), MLP(2, 2, ())
    thetas = np.zeros((1, 6))
    expected = GymnasiumSource(Countdown, horizon=20).returns(policy, thetas, 9, STREAM)
    for wrap in (lambda: one, lambda: gymnasium.wrappers.TimeLimit(one, 20), lambda: gymnasium.Wrapper(one)):
        same(GymnasiumSource(wrap, horizon=20).returns(policy, thetas, 9, STREAM), expected)


def test_recorded_visits_are_those_of_the_episodes():
    policy = MLP(2, 2, (4,))
    theta = np.random.default_rng(1).normal(size=policy.dim)
    source = GymnasiumSource(Countdown, horizon=7)
    batch = source.record(policy, theta, 25, STREAM)
    same(source.returns(policy, theta[None], 25, STREAM, pairs=[0]), _row(batch))
    np.testing.assert_array_equal(np.diff(batch.offsets), batch.lengths)
    for e in range(25):
        seen = batch.observations[batch.offsets[e] : batch.offsets[e + 1]]
        np.testing.assert_array_equal(seen[:, 0], np.arange(batch.lengths[e]))
        assert batch.lengths[e] == min(seen[0, 1], 7)
    np.testing.assert_array_equal(log_ratios(policy, theta[None], batch), np.zeros((1, 25)))
    ratios = np.exp(log_ratios(policy, theta[None] + 0.1, batch))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.3)


def _row(batch):
    return rg.types.Returns(batch.values[None], batch.lengths[None])


def test_greedy_plays_the_mode():
    policy = MLP(1, 2, ())
    theta = np.array([[0.0, 0.0, 0.0, 0.5]])  # action 1 with probability 0.62
    greedy = GymnasiumSource(Noise, horizon=50, greedy=True).returns(policy, theta, 5, STREAM)
    source = GymnasiumSource(Noise, horizon=50)
    same(greedy, source.returns(Greedy(policy), theta, 5, STREAM))
    same(greedy, source.returns(Deterministic(1, 2), theta, 5, STREAM))
    assert np.all(greedy.values > source.returns(policy, theta, 5, STREAM).values)
    with pytest.raises(InputError, match="be random"):
        source.record(Deterministic(1, 2), theta[0], 2, STREAM)


def test_vector_form_is_fair_and_shares_pairs():
    """Mean length of CartPole, both ways: within 4 standard errors of their difference (false alarm 1 in 16,000)."""
    policy, thetas = MLP(4, 2, ()), np.random.default_rng(0).normal(size=(4, 10))
    vector, single = GymnasiumSource("CartPole-v1"), GymnasiumSource("CartPole-v1", native=False)
    assert vector.native
    assert not single.native
    a, b = (source.returns(policy, thetas, 250, STREAM) for source in (vector, single))
    error = np.sqrt((np.var(a.lengths, axis=1) + np.var(b.lengths, axis=1)) / 250)
    assert np.all(np.abs(np.mean(a.lengths, axis=1) - np.mean(b.lengths, axis=1)) < 4.0 * error)
    np.testing.assert_array_equal(a.values, a.lengths)
    pairs = vector.returns(policy, thetas[[0, 1, 2, 0, 1]], 30, STREAM, pairs=[5, 6, 7, 5, 6])
    np.testing.assert_array_equal(pairs.values[:2], pairs.values[3:])
    assert np.any(pairs.values[0] != pairs.values[2])
    short = GymnasiumSource("CartPole-v1", horizon=12).returns(policy, thetas, 250, STREAM)
    np.testing.assert_array_equal(short.lengths, np.minimum(a.lengths, 12))
    batch = vector.record(policy, thetas[0], 20, STREAM)
    np.testing.assert_array_equal(log_ratios(policy, thetas[:1], batch), np.zeros((1, 20)))
    np.testing.assert_array_equal(np.diff(batch.offsets), batch.lengths)


@pytest.mark.parametrize("native", [True, False])
def test_an_episode_cut_at_the_horizon_has_not_ended(native):
    policy, theta = MLP(4, 2, ()), np.zeros(10)
    cut = GymnasiumSource("CartPole-v1", horizon=5, native=native).record_steps(policy, theta, 20, STREAM)
    assert np.all(np.diff(cut.offsets) == 5)
    assert not np.any(cut.ended)
    fallen = GymnasiumSource("CartPole-v1", native=native).record_steps(policy, theta, 20, STREAM)
    assert np.max(np.diff(fallen.offsets)) < 500
    assert np.all(fallen.ended)


def test_vector_form_without_automatic_resets(monkeypatch):
    """SingleLanes are reset by mask, never stepped after their end; one episode of each counts."""
    register()
    made = []
    start = CountdownVector.__init__
    monkeypatch.setattr(CountdownVector, "__init__", lambda self, **kw: (start(self, **kw), made.append(self))[0])
    source = GymnasiumSource("RiskgradTest/Countdown-v0")
    assert source.native
    policy = MLP(2, 2, ())
    batch = source.record(policy, np.zeros(6), 200, STREAM)
    assert made[-1].num_envs == 200
    assert made[-1].masked > 0
    assert set(batch.lengths) == set(range(1, 10))
    np.testing.assert_array_equal(batch.values, batch.lengths * (batch.lengths + 1) / 2)
    assert np.all(batch.observations[batch.offsets[:-1], 1] == batch.lengths)
    # every length has the same chance: 9 cells, chi-square 26.1 is 1 in 1,000
    assert np.sum((np.bincount(batch.lengths, minlength=10)[1:] - 200 / 9) ** 2) / (200 / 9) < 26.1


def test_vector_form_that_shows_what_is_not_finite(monkeypatch):
    register()
    seen = CountdownVector._seen
    monkeypatch.setattr(CountdownVector, "_seen", lambda self: np.where(self.ages[:, None] > 1, np.nan, seen(self)))
    source = GymnasiumSource("RiskgradTest/Countdown-v0")
    with pytest.raises(EpisodeError, match=r"\(vector\) failed at step 2 of .*: an observation is not finite"):
        source.returns(MLP(2, 2, ()), np.zeros((2, 6)), 20, STREAM)


def test_vector_form_with_rows_of_another_length(monkeypatch):
    register()
    seen = CountdownVector._seen
    monkeypatch.setattr(CountdownVector, "_seen", lambda self: seen(self)[:, :1])
    source = GymnasiumSource("RiskgradTest/Countdown-v0")
    with pytest.raises(EpisodeError, match=r"\(vector\) failed at step 0 of .* its space has shape \(20, 2\)"):
        source.returns(MLP(2, 2, ()), np.zeros((1, 6)), 20, STREAM)


def test_vector_blocks_do_not_favor_lanes(monkeypatch):
    """Blocks smaller than the work: every episode is played once, and pairs stay together."""
    monkeypatch.setattr("riskgrad.sources.gymnasium.blocks.MOST_VECTOR_LANES", 8)
    register()
    source = GymnasiumSource("RiskgradTest/Countdown-v0")
    policy = MLP(2, 2, ())
    for m in (3, 20):
        played = source.returns(policy, np.zeros((5, 6)), m, STREAM, pairs=[0, 1, 2, 0, 1])
        assert np.all(played.lengths >= 1)
        np.testing.assert_array_equal(played.values, played.lengths * (played.lengths + 1) / 2)
        np.testing.assert_array_equal(played.values[:2], played.values[3:])
    assert len(np.unique(played.values, axis=0)) == 3


@pytest.fixture(scope="module")
def two():
    with Processes(2) as backend:
        yield backend


def test_processes_change_no_number(two):
    policy = Gaussian(3, [-2.0], [2.0], (4,))
    thetas = np.random.default_rng(0).normal(size=(3, policy.dim))
    here = GymnasiumSource("Pendulum-v1", horizon=20)
    there = GymnasiumSource("Pendulum-v1", horizon=20, backend=two)
    pairs = [0, 1, 0]
    same(here.returns(policy, thetas, 5, STREAM, pairs), there.returns(policy, thetas, 5, STREAM, pairs))
    a, b = (source.record(policy, thetas[0], 6, STREAM) for source in (here, there))
    for name in ("values", "lengths", "offsets", "observations", "actions", "counts", "log_behavior"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    before = ObservationStatistics.of(np.random.default_rng(1).normal(size=(9, 3)))
    acting = Normalized(policy, before)
    one, seen = here.returns_and_statistics(acting, thetas, 5, STREAM, None, before)
    many, seen_there = there.returns_and_statistics(acting, thetas, 5, STREAM, None, before)
    same(one, many)
    np.testing.assert_array_equal(seen.mean, seen_there.mean)
    np.testing.assert_array_equal(seen.squares, seen_there.squares)


def test_a_failure_in_a_process_says_where(two):
    source = GymnasiumSource(Odd, horizon=9, env_options={"oddity": "raises"}, backend=two)
    with pytest.raises(EpisodeError, match=r"Odd failed at step 2 of the episode with seed .* by policy row 0: "):
        source.returns(MLP(2, 2, ()), np.zeros((3, 6)), 2, STREAM)


def test_processes_and_the_vector_form(two):
    policy, thetas = MLP(4, 2, ()), np.random.default_rng(0).normal(size=(4, 10))
    here, there = GymnasiumSource("CartPole-v1"), GymnasiumSource("CartPole-v1", backend=two)
    pairs = [0, 1, 0, 1]
    same(here.returns(policy, thetas, 50, STREAM, pairs), there.returns(policy, thetas, 50, STREAM, pairs))


def test_statistics_are_of_what_was_acted_on():
    policy = MLP(2, 2, ())
    source = GymnasiumSource(Countdown, horizon=7)
    batch = source.record(policy, np.zeros(6), 30, STREAM)
    none = ObservationStatistics.none(2)
    played, seen = source.returns_and_statistics(policy, np.zeros((1, 6)), 30, STREAM, [0], none)
    np.testing.assert_array_equal(played.values[0], batch.values)
    assert seen.count == len(batch.observations)
    np.testing.assert_allclose(seen.mean, np.mean(batch.observations, axis=0), rtol=1e-12)
    np.testing.assert_allclose(seen.std, np.std(batch.observations, axis=0), rtol=1e-12)
    with pytest.raises(InputError, match="statistics must be of vectors"):
        source.returns_and_statistics(policy, np.zeros((1, 6)), 2, STREAM, None, ObservationStatistics.none(3))


def test_trains_on_numbers_and_choices():
    """Noise pays for action 1: a few steps of OnP-SF find it."""
    source = GymnasiumSource(Noise, horizon=50)
    run = train_plainly(
        rg.OnPSF,
        source,
        MLP(1, 2, ()),
        "mean",
        iterations=8,
        directions=4,
        episodes=8,
        step_size=0.5,
        seed=0,
        held_out=0,
    )
    after = source.returns(MLP(1, 2, ()), run.last_theta[None], 100, STREAM).values
    assert np.mean(after) > 2.9  # a fair coin earns 2.5, action 1 always 5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GymnasiumSource("NoSuchEnvironment-v0"), "env must be an environment that gymnasium.make can build"),
        (lambda: GymnasiumSource(3), "env must be a Gymnasium id, a class or factory, or an environment"),
        (lambda: GymnasiumSource(lambda: 3, horizon=3), "env must give a gymnasium.Env when it is called, got 'int'"),
        (lambda: GymnasiumSource(Noise(), horizon=3, env_options={"a": 1}), "env_options must come with an id"),
        (
            lambda: GymnasiumSource(Noise, horizon=3, env_options={"a": 1}),
            "env must be an environment that can be built",
        ),
        (lambda: GymnasiumSource(Noise, horizon=0), "horizon must be an integer of at least 1"),
        (lambda: GymnasiumSource(Noise, horizon=3, discount=0.0), "discount must be in"),
        (
            lambda: GymnasiumSource(Noise, horizon=3, backend=2),
            "backend must be a name such as 'processes:4', or a Backend",
        ),
        (lambda: GymnasiumSource(Noise, horizon=3, native=True), "native must be None"),
        (lambda: GymnasiumSource(Noise(), horizon=3, backend=Processes(2)), "env must be made anew in each process"),
        (
            lambda: GymnasiumSource(lambda **_: Noise(), horizon=3, backend=Processes(2)),
            "env must be found by its name",
        ),
        (lambda: _plays(MLP(1, 3, ())), "policy must have the environment's actions, 2"),
        (lambda: _plays(Gaussian(1, [0.0], [1.0])), "policy must have discrete actions"),
        (lambda: GymnasiumSource(Noise, horizon=3).returns(COIN, np.zeros(4), 3, STREAM), "thetas must have shape"),
        (
            lambda: GymnasiumSource("Pendulum-v1").returns(MLP(3, 2, ()), np.zeros((1, 8)), 3, STREAM),
            "actions of 1 numbers",
        ),
    ],
)
def test_refuses_in_one_line(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def _plays(policy):
    return GymnasiumSource(Noise, horizon=3).returns(policy, np.zeros((1, policy.dim)), 3, STREAM)
