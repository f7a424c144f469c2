"""Every source shows a policy its memory: exact laws, the same random numbers, threads, processes, and refusals."""

import gymnasium
import numpy as np
import pytest
from support.environments import Countdown, register
from support.memory import Walked, WithReturns, enumerate_histories, with_time

import riskgrad as rg
from riskgrad.backend import Processes
from riskgrad.errors import InputError
from riskgrad.exact import return_law
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import MLP, Greedy, TabularGibbs
from riskgrad.policy.memory import Memory, find_edges, with_memory
from riskgrad.random import Purpose, Stream
from riskgrad.sources import GymnasiumSource, TabularSource, resolve_source
from riskgrad.sources.compiled import CompiledSource
from riskgrad.testing import check_source
from riskgrad.types import Vectors

register()
STREAM = Stream(11, Purpose.EXAMPLE)
ALPHA = 1e-9  # false-alarm rate of each comparison with a law


def model(discount: float, horizon: int = 4) -> FiniteMDP:
    """Two states that go on and one that ends, a random start, and rewards of either sign."""
    outcomes = [
        [[(0.5, 1, 1.0, False), (0.25, 0, -2.0, False), (0.25, 2, 0.0, True)], [(1.0, 1, 0.5, False)]],
        [[(0.3, 0, 3.0, False), (0.7, 1, -1.0, False)], [(0.7, 1, 0.0, False), (0.3, 2, 4.0, True)]],
        [[], []],
    ]
    return FiniteMDP.from_outcomes(outcomes, start=[0.6, 0.4, 0.0], horizon=horizon, discount=discount, terminal=[2])


def remembering(mdp, kind, policy=None):
    """Give a policy with memory, and parameters at random, by which the memory matters."""
    source, plain = TabularSource(mdp), policy or TabularGibbs(mdp.n_states, mdp.n_actions)
    so_far = source.returns_so_far(plain, np.zeros(plain.dim), 300, STREAM)
    memory = Memory(kind, source.gives, mdp.horizon, mdp.discount, edges=find_edges(so_far) if kind != "time" else ())
    made = with_memory(plain, memory)
    return made, np.random.default_rng(3).normal(scale=1.5, size=made.dim)


def gap_to_law(law, values):
    """Largest difference of the distribution functions; by Massart's inequality above its bound with chance ALPHA."""
    points = np.concatenate([law.values - 1e-9, law.values + 1e-9])
    empirical = np.searchsorted(np.sort(values), points, side="right") / len(values)
    return np.max(np.abs(empirical - law.cdf(points))) / np.sqrt(np.log(2.0 / ALPHA) / (2.0 * len(values)))


@pytest.mark.parametrize("discount", [1.0, 0.7])
@pytest.mark.parametrize("kind", ["time", "return", "both"])
def test_sampled_returns_have_the_law_of_all_histories(kind, discount):
    mdp = model(discount)
    policy, theta = remembering(mdp, kind)
    law, _ = enumerate_histories(mdp, policy, theta)
    drawn = TabularSource(mdp).returns(policy, theta[None], 300_000, STREAM)
    assert gap_to_law(law, drawn.values[0]) <= 1.0
    # the test sees memory: without it the law is another one
    forgetful = TabularSource(mdp).returns(policy, np.tile(theta[:6], policy.dim // 6)[None], 300_000, STREAM)
    assert gap_to_law(law, forgetful.values[0]) > 1.0


def test_memory_of_the_time_is_a_policy_of_the_model_with_time():
    mdp = model(0.7)
    policy, theta = remembering(mdp, "time")
    wide = with_time(mdp)
    truth = return_law(wide, policy.probabilities(theta, np.arange(wide.n_states)))
    law, _ = enumerate_histories(mdp, policy, theta)
    np.testing.assert_allclose(law.mean, truth.mean, rtol=1e-13)
    np.testing.assert_allclose(law.variance, truth.variance, rtol=1e-12)
    assert gap_to_law(truth, TabularSource(mdp).returns(policy, theta[None], 200_000, STREAM).values[0]) <= 1.0


def test_memory_of_both_is_a_policy_of_the_model_with_time_and_return():
    mdp = model(1.0)
    policy, theta = remembering(mdp, "both")
    wide = WithReturns(mdp)
    truth = return_law(wide.model, policy.probabilities(theta, wide.seen(policy.memory)))
    law, _ = enumerate_histories(mdp, policy, theta)
    np.testing.assert_allclose(law.values, truth.values, rtol=1e-13)
    np.testing.assert_allclose(law.probabilities, truth.probabilities, rtol=1e-12)


@pytest.mark.parametrize("discount", [1.0, 0.7])
def test_recorded_visits_are_those_of_all_histories(discount):
    mdp = model(discount)
    policy, theta = remembering(mdp, "both")
    _, expected = enumerate_histories(mdp, policy, theta)
    m = 200_000
    batch = TabularSource(mdp).record(policy, theta, m, STREAM)
    code = batch.observations * mdp.n_actions + batch.actions
    found = np.bincount(code, weights=batch.counts, minlength=policy.dim) / m
    truth = np.zeros(policy.dim)
    for (seen, action), visits in expected.items():
        truth[seen * mdp.n_actions + action] = visits
    # each is visited at most once in an episode: Hoeffding's inequality for all of them at once
    assert np.max(np.abs(found - truth)) <= np.sqrt(np.log(2.0 * policy.dim / ALPHA) / (2.0 * m))
    np.testing.assert_allclose(batch.log_behavior, policy.log_prob(theta, batch.observations, batch.actions))
    again = TabularSource(mdp).returns(policy, theta[None], m, STREAM, [0])
    np.testing.assert_array_equal(again.values[0], batch.values)
    np.testing.assert_array_equal(again.lengths[0], batch.lengths)


def test_cells_that_are_all_alike_play_the_episodes_of_the_policy_without_memory():
    mdp = model(0.7)
    plain, source = TabularGibbs(3, 2), TabularSource(mdp)
    thetas = np.random.default_rng(0).normal(size=(3, 6))
    policy, _ = remembering(mdp, "both")
    tiled = np.tile(thetas, policy.dim // 6)
    one, other = source.returns(plain, thetas, 500, STREAM), source.returns(policy, tiled, 500, STREAM)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.lengths, other.lengths)
    first, second = source.record(plain, thetas[0], 500, STREAM), source.record(policy, tiled[0], 500, STREAM)
    np.testing.assert_array_equal(first.values, second.values)
    assert policy.memory is not None
    np.testing.assert_array_equal(
        np.bincount(policy.memory.plain(second.observations), weights=second.counts),
        np.bincount(first.observations, weights=first.counts),
    )


@pytest.mark.parametrize("kind", ["time", "return", "both"])
@pytest.mark.parametrize("made", [TabularGibbs(3, 2), MLP(3, 2, (4,)), MLP(3, 2, ())], ids=str)
def test_the_same_model_through_gymnasium_has_the_same_law(kind, made):
    mdp = model(0.7)
    policy, theta = remembering(mdp, kind, made)
    law, _ = enumerate_histories(mdp, policy, theta)
    source = GymnasiumSource(Walked(mdp), horizon=mdp.horizon, discount=mdp.discount)
    assert gap_to_law(law, source.returns(policy, theta[None], 3000, STREAM).values[0]) <= 1.0
    assert gap_to_law(law, TabularSource(mdp).returns(policy, theta[None], 100_000, STREAM).values[0]) <= 1.0
    batch = source.record(policy, theta, 500, STREAM)
    assert policy.memory is not None
    times = np.arange(len(batch.actions)) - np.repeat(batch.offsets[:-1], batch.lengths)
    cells = batch.observations // mdp.n_states
    assert kind == "return" or np.array_equal(cells // policy.memory.return_cells, times)


def test_greedy_plays_the_mode_with_memory():
    mdp = model(1.0)
    policy, theta = remembering(mdp, "both")
    sharp, _ = enumerate_histories(mdp, policy, 1e4 * theta)
    drawn = TabularSource(mdp).returns(Greedy(policy), theta[None], 100_000, STREAM).values[0]
    assert gap_to_law(sharp, drawn) <= 1.0


def test_threads_do_not_change_a_bit():
    mdp = model(0.7)
    policy, theta = remembering(mdp, "both")
    one, three = (TabularSource(mdp, threads=threads) for threads in (1, 3))
    for rows in (theta[None], np.stack([theta * k for k in range(15)])):
        np.testing.assert_array_equal(
            one.returns(policy, rows, 20_000, STREAM).values, three.returns(policy, rows, 20_000, STREAM).values
        )
    first, second = one.record(policy, theta, 50_000, STREAM), three.record(policy, theta, 50_000, STREAM)
    for name in ("values", "offsets", "observations", "actions", "counts", "log_behavior"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_processes_do_not_change_a_bit():
    here = GymnasiumSource(Countdown, horizon=6, discount=0.9)
    policy = with_memory(MLP(2, 2, (3,)), Memory("both", Vectors(2), 6, 0.9, center=2.0, spread=3.0))
    theta = np.random.default_rng(0).normal(size=policy.dim)
    with Processes(2) as two:
        there = GymnasiumSource(Countdown, horizon=6, discount=0.9, backend=two)
        np.testing.assert_array_equal(
            here.returns(policy, theta[None], 60, STREAM).values, there.returns(policy, theta[None], 60, STREAM).values
        )
        first, second = here.record(policy, theta, 60, STREAM), there.record(policy, theta, 60, STREAM)
        np.testing.assert_array_equal(
            here.returns_so_far(MLP(2, 2), np.zeros(1218), 9, STREAM),
            there.returns_so_far(MLP(2, 2), np.zeros(1218), 9, STREAM),
        )
    np.testing.assert_array_equal(first.observations, second.observations)


@pytest.mark.parametrize("env", [Countdown, "RiskgradTest/Countdown-v0"], ids=["single", "vector"])
def test_lanes_show_the_discounted_return_before_each_step(env):
    """A countdown pays 1, 2, 3 ...: what was earned before step t is known."""
    source = GymnasiumSource(env, horizon=6, discount=0.5)
    memory = Memory("both", Vectors(2), 6, 0.5)
    policy = with_memory(MLP(2, 2, ()), memory)
    batch = source.record(policy, np.zeros(policy.dim), 40, STREAM)
    times = np.arange(len(batch.actions)) - np.repeat(batch.offsets[:-1], batch.lengths)
    earned = np.concatenate([[0.0], np.cumsum(0.5 ** np.arange(6) * np.arange(1, 7))])
    np.testing.assert_array_equal(batch.observations[:, 2], (6 - times) / 6)
    np.testing.assert_allclose(batch.observations[:, 3], np.arcsinh(earned[times]), rtol=1e-14)
    np.testing.assert_allclose(source.returns_so_far(MLP(2, 2, ()), np.zeros(6), 40, STREAM), earned[times], rtol=1e-15)
    np.testing.assert_array_equal(memory.plain(batch.observations)[:, 0], times)


def compiled_pair(identifier, kind, policy_of):
    source = resolve_source(identifier, horizon=40, discount=0.95)
    assert isinstance(source, CompiledSource)
    memory = Memory(kind, source.gives, 40, 0.95, center=-1.0, spread=2.0, bumps=True)
    plain = policy_of(source)
    return source, plain, with_memory(plain, memory)


@pytest.mark.parametrize("kind", ["time", "return", "both"])
@pytest.mark.parametrize("identifier", ["CartPole-v1", "riskgrad/GuardedMaze-v0"])
@pytest.mark.parametrize("hidden", [(), (5,)])
def test_compiled_loops_write_what_memory_says(identifier, kind, hidden):
    source, plain, policy = compiled_pair(identifier, kind, lambda one: MLP(one.gives.size, one.takes.n, hidden))
    theta, memory = np.random.default_rng(2).normal(size=policy.dim), policy.memory
    assert memory is not None
    batch = source.record(policy, theta, 150, STREAM)
    times = np.arange(len(batch.actions)) - np.repeat(batch.offsets[:-1], batch.lengths)
    if identifier == "CartPole-v1":  # which pays 1 for each step
        so_far = np.concatenate([[0.0], np.cumsum(0.95 ** np.arange(40))])[times]
        shown = memory.extend(memory.plain(batch.observations), times, so_far)
        np.testing.assert_allclose(batch.observations, shown, rtol=1e-13)
    elif kind == "time":
        shown = memory.extend(memory.plain(batch.observations), times, np.zeros(len(times)))
        np.testing.assert_array_equal(batch.observations, shown)
    # weights of zero on what is remembered: the episodes of the policy without memory
    size = source.gives.size * policy.layers.widths[1]
    blind = np.concatenate(
        [theta[:size], np.zeros(memory.extra * policy.layers.widths[1]), theta[-(plain.dim - size) :]]
    )
    start = np.concatenate([theta[:size], theta[-(plain.dim - size) :]])
    np.testing.assert_array_equal(
        source.returns(policy, blind[None], 200, STREAM).lengths,
        source.returns(plain, start[None], 200, STREAM).lengths,
    )


def test_a_compiled_environment_and_gymnasium_agree():
    source, _, policy = compiled_pair("CartPole-v1", "both", lambda one: MLP(4, 2, ()))
    theta = np.random.default_rng(5).normal(size=policy.dim)
    other = resolve_source(gymnasium.make("CartPole-v1"), horizon=40, discount=0.95)
    mine, theirs = (
        one.returns(policy, theta[None], m, STREAM).values[0] for one, m in ((source, 50_000), (other, 3000))
    )
    error = np.sqrt(np.var(mine) / len(mine) + np.var(theirs) / len(theirs))
    assert abs(mine.mean() - theirs.mean()) < 6.0 * error  # false alarm 2e-9 for a normal error


def test_sources_keep_their_contract_with_memory():
    mdp = model(0.7)
    policy, _ = remembering(mdp, "both")
    pole, _, linear = compiled_pair("CartPole-v1", "both", lambda one: MLP(4, 2, ()))
    for source, each in (
        (TabularSource(mdp), policy),
        (pole, linear),
        (GymnasiumSource("CartPole-v1", 40, 0.95), linear),
    ):
        check_source(source, each)


def test_a_log_is_read_with_the_time_and_the_discounted_return_so_far():
    log = rg.LoggedEpisodes.from_arrays(
        episode_id=[7, 3, 7, 7],
        t=[0, 0, 2, 1],
        action=[1, 0, 0, 1],
        reward=[1.0, -5.0, 4.0, 2.0],
        behavior_prob=[0.5] * 4,
        state=[1, 0, 2, 1],
        discount=0.5,
    )
    memory = Memory("both", log.gives, log.horizon, 0.5, edges=(0.5, 1.5))
    policy = with_memory(TabularGibbs(3, 2), memory)
    np.testing.assert_array_equal(log.returns_so_far(policy, np.zeros(policy.dim), 1, STREAM), [0.0, 0.0, 1.0, 2.0])
    # cells (time, return): (0, 0), (0, 0), (1, 1), (2, 2)
    np.testing.assert_array_equal(log.log_for(policy).observations, [0, 1, (3 + 1) * 3 + 1, (6 + 2) * 3 + 2])
    assert log.log_for(TabularGibbs(3, 2)) is log.batch
    with pytest.raises(InputError, match="source must hold the reward of each step, for memory"):
        rg.LoggedEpisodes(log.batch, 2, 0.5).log_for(policy)


def test_what_does_not_fit_the_memory_is_refused():
    mdp = model(0.7)
    policy, theta = remembering(mdp, "both")
    with pytest.raises(
        InputError, match=r"^discount must be 0.7, by which the policy remembers the return so far, got 1.0"
    ):
        TabularSource(model(1.0)).returns(policy, theta[None], 10, STREAM)
    with pytest.raises(InputError, match="policy must remember observations of this kind"):
        TabularSource(rg.mdp.inventory(discount=0.7)).returns(policy, theta[None], 10, STREAM)

    class Silent(TabularSource):
        remembers = False

    with pytest.raises(InputError, match="policy must have no memory, which this source does not show"):
        Silent(mdp).returns(policy, theta[None], 10, STREAM)
    with pytest.raises(InputError, match="memory must be left out for a source that does not show it"):
        rg.train(Silent(mdp), "mean", memory="time", iterations=1)


def test_a_longer_model_shows_later_times_as_the_last():
    policy, theta = remembering(model(0.7), "both")
    law, _ = enumerate_histories(model(0.7, horizon=6), policy, theta)
    drawn = TabularSource(model(0.7, horizon=6)).returns(policy, theta[None], 100_000, STREAM).values[0]
    assert gap_to_law(law, drawn) <= 1.0


def test_what_is_exact_for_states_refuses_a_policy_that_remembers():
    mdp = model(1.0)
    policy, theta = remembering(mdp, "time")
    with pytest.raises(InputError, match="policy must have no memory, since its actions may depend on the state only"):
        rg.exact.gradient(mdp, policy, theta, rg.risk.Mean())


def test_a_film_shows_a_policy_with_memory():
    from riskgrad.sources.gymnasium.film import film_source, frames  # noqa: PLC0415 - drawing is slow to import

    source = film_source("FrozenLake-v1", horizon=8)
    policy = with_memory(TabularGibbs(16, 4), Memory("both", source.gives, 8, 1.0, edges=(0.5,)))
    played = source.returns(policy, np.zeros((1, policy.dim)), 2, STREAM)
    try:
        shown = frames(source, policy, np.zeros(policy.dim), STREAM, 2)
    except InputError as error:
        if "pygame" not in str(error):
            raise
        pytest.skip("pygame, by which FrozenLake draws, is not installed")
    assert len(shown) == np.sum(played.lengths) + 2
