"""The compiled sampler: exact laws, streams, threads, what it never draws, and what it refuses."""

import itertools
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from riskgrad.errors import InputError
from riskgrad.mdp import FiniteMDP
from riskgrad.policy import Gibbs, LinearGibbs, TabularGibbs
from riskgrad.random import GOLDEN, Purpose, Stream, mix
from riskgrad.sources import Source, TabularSource

STREAM = Stream(7, Purpose.EXAMPLE)


def small_mdp(*, discount: float = 0.9, horizon: int = 3) -> FiniteMDP:
    """Three states that go on and one that ends; random rewards, a random start, an outcome that ends anywhere."""
    outcomes = [
        [[(0.5, 1, 1.0, False), (0.25, 1, -2.0, False), (0.25, 3, 0.0, True)], [(1.0, 2, 0.5, False)]],
        [[(0.1, 0, 3.0, False), (0.9, 2, -1.0, False)], [(0.7, 1, 0.0, False), (0.3, 0, 4.0, True)]],
        [[(1 / 3, 0, 1.0, False), (1 / 3, 1, 2.0, False), (1 / 3, 2, 3.0, False)], [(1.0, 3, 7.0, True)]],
        [[], []],
    ]
    return FiniteMDP.from_outcomes(
        outcomes, start=[0.6, 0.0, 0.4, 0.0], horizon=horizon, discount=discount, terminal=[3]
    )


def uneven_mdp() -> FiniteMDP:
    """One row of 60 outcomes among rows of one; five actions."""
    many = [(1 / 60, 1 + k % 2, float(k), False) for k in range(60)]
    outcomes = [[many] + [[(1.0, 1, -1.0, False)]] * 4, [[(1.0, 0, 0.5, False)]] * 5, [[(1.0, 2, 0.0, True)]] * 5]
    return FiniteMDP.from_outcomes(outcomes, start=0, horizon=4, discount=1.0)


def enumerated(mdp: FiniteMDP, table: np.ndarray) -> dict[tuple[float, int], float]:
    """P(return, length) by walking every path."""
    law: dict[tuple[float, int], float] = defaultdict(float)

    def walk(state: int, t: int, total: float, chance: float) -> None:
        for action in range(mdp.n_actions):
            row = state * mdp.n_actions + action
            for k in range(mdp.offsets[row], mdp.offsets[row + 1]):
                reached = chance * table[state, action] * mdp.probabilities[k]
                value = total + mdp.discount**t * mdp.rewards[k]
                if reached == 0.0:
                    continue
                if mdp.ends[k] or t + 1 == mdp.horizon:
                    law[round(value, 9), t + 1] += reached
                else:
                    walk(int(mdp.next_states[k]), t + 1, value, reached)

    for state in np.flatnonzero(mdp.start):
        walk(int(state), 0, 0.0, float(mdp.start[state]))
    return law


def played(mdp: FiniteMDP, table: np.ndarray, key: int, episode: int) -> tuple[float, int]:
    """One episode from the documented reading of its numbers, in plain Python: the kernel's twin."""
    source = TabularSource(mdp)
    tables, heads = source._tables, source._heads
    state = int(mix(np.array([(key + (episode + 1) * GOLDEN) % 2**64], dtype=np.uint64))[0])

    def number() -> int:
        nonlocal state
        state = (state + GOLDEN) % 2**64
        return int(mix(np.array([state], dtype=np.uint64))[0])

    def outcome(word: int, first: int, width: int) -> int:
        scaled = (word % 2**32) * width
        slot = first + (scaled >> 32)
        return 2 * slot + int(scaled % 2**32 >= int(tables.accept[slot]))

    where = 2 * int(tables.start_first)
    if tables.start_width > 1:
        where = outcome(number(), int(tables.start_first), int(tables.start_width))
    code, total, factor, length = int(tables.target[where]), 0.0, 1.0, 0
    while code < 2**31 and length < mdp.horizon:
        word = number()
        s = code // tables.stride
        sums = np.cumsum(table[s])
        action = min(int(np.searchsorted(sums[:-1] * 2.0**62, word >> 2, side="right")), mdp.n_actions - 1)
        row = s * tables.stride + action
        head = row * int(tables.width) << 32 | int(tables.width) if heads is None else int(heads[row])
        where = outcome(word, head >> 32, head % 2**32)
        total, factor, length = total + factor * tables.reward[where], factor * mdp.discount, length + 1
        code = int(tables.target[where])
    return total, length


def random_table(seed: int, mdp: FiniteMDP) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(mdp.n_actions), size=mdp.n_states)


@pytest.fixture(params=["padded", "packed"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both layouts of the outcomes, whatever the size of the model."""
    monkeypatch.setattr("riskgrad.kernels.sampler_tables.ALWAYS_PADDED", 1 << 30 if request.param == "padded" else 0)
    return request.param


def test_source_is_a_source():
    assert isinstance(TabularSource(small_mdp()), Source)
    assert TabularSource(small_mdp()).return_range == small_mdp().return_range


@pytest.mark.parametrize("mdp", [small_mdp(), small_mdp(discount=1.0, horizon=9), uneven_mdp()])
def test_episodes_are_the_documented_function_of_their_stream(mdp: FiniteMDP, layout: str):
    assert (TabularSource(mdp)._heads is None) == (layout == "padded")
    table = random_table(1, mdp)
    found = TabularSource(mdp, threads=1).returns_from_tables(table[None], 300, STREAM, pairs=[5])
    key = int(STREAM.keys(np.array([5]))[0])
    expected = [played(mdp, table, key, episode) for episode in range(300)]
    assert found.lengths[0].tolist() == [length for _, length in expected]
    assert found.values[0].tolist() == [value for value, _ in expected]


# chi-square at a fixed seed: a correct sampler fails one of these with probability 6e-4
@pytest.mark.parametrize("mdp", [small_mdp(), small_mdp(discount=1.0, horizon=4), uneven_mdp()])
@pytest.mark.usefixtures("layout")
def test_law_of_return_and_length_is_exact(mdp: FiniteMDP):
    table = random_table(2, mdp)
    law = enumerated(mdp, table)
    m = 400_000
    found = TabularSource(mdp).returns_from_tables(table[None], m, STREAM)
    seen: dict[tuple[float, int], int] = defaultdict(int)
    values, counts = np.unique(np.stack([np.round(found.values[0], 9), found.lengths[0]]), axis=1, return_counts=True)
    for (value, length), count in zip(values.T, counts, strict=True):
        seen[value, int(length)] += int(count)
    assert set(seen) <= set(law)
    common = [key for key in law if law[key] * m >= 10.0]
    observed, expected = np.array([seen[key] for key in common]), np.array([law[key] * m for key in common])
    rest = m - np.sum(expected)
    statistic = np.sum((observed - expected) ** 2 / expected)
    if rest > 10.0:
        statistic += (m - np.sum(observed) - rest) ** 2 / rest
    assert len(common) > 5
    assert statistic < stats.chi2.ppf(1 - 1e-4, len(common))


def test_what_has_no_chance_never_happens_and_what_is_certain_always_does():
    steps = [[[(1.0, min(s + 1, 3), float(a), False)] for a in range(4)] for s in range(4)]
    mdp = FiniteMDP.from_outcomes(steps, start=0, horizon=50, discount=1.0)
    source = TabularSource(mdp)
    for action in range(4):
        table = np.zeros((1, 4, 4))
        table[..., action] = 1.0
        assert np.all(source.returns_from_tables(table, 20_000, STREAM).values == 50.0 * action)
    # the running sum 0.7 + 0.2 + 0.1 rounds below 1; the action behind it has no chance all the same
    table = np.tile([[0.7, 0.2, 0.1, 0.0]], (1, 4, 1))
    assert np.max(source.returns_from_tables(table, 20_000, STREAM).values) <= 100.0


def policies() -> list:
    features = np.random.default_rng(3).normal(size=(4, 2, 3))
    return [TabularGibbs(4, 2), LinearGibbs(features), Gibbs(lambda theta, s: theta[:2] * (s + 1.0), 2)]


@pytest.mark.parametrize("policy", policies())
def test_bits_do_not_depend_on_threads_blocks_or_company(policy, monkeypatch: pytest.MonkeyPatch):
    mdp = small_mdp(discount=0.97, horizon=20)
    thetas = np.random.default_rng(4).normal(size=(6, policy.dim))
    pairs = np.array([0, 1, 2, 0, 1, 2])
    whole = TabularSource(mdp, threads=1).returns(policy, thetas, 101, STREAM, pairs)
    monkeypatch.setattr("riskgrad.kernels.compile.WORTH_THREADS", 0.0)
    threaded = TabularSource(mdp, threads=3).returns(policy, thetas, 101, STREAM, pairs)
    monkeypatch.setattr("riskgrad.sources.tabular.LARGEST_TABLE", 1)
    alone = TabularSource(mdp, threads=2).returns(policy, thetas, 101, STREAM, pairs)
    fewer = TabularSource(mdp, threads=2).returns(policy, thetas[4:5], 37, STREAM, [1])
    for other in (threaded, alone):
        assert np.array_equal(whole.values, other.values)
        assert np.array_equal(whole.lengths, other.lengths)
    assert np.array_equal(whole.values[4:5, :37], fewer.values)


@pytest.mark.parametrize("policy", policies())
def test_record_plays_the_same_episodes_and_keeps_their_visits(policy, monkeypatch: pytest.MonkeyPatch):
    mdp = small_mdp(discount=0.97, horizon=20)
    theta = np.random.default_rng(5).normal(size=policy.dim)
    returns = TabularSource(mdp, threads=1).returns(policy, theta[None], 500, STREAM)
    monkeypatch.setattr("riskgrad.kernels.compile.WORTH_THREADS", 0.0)
    batches = [TabularSource(mdp, threads=threads).record(policy, theta, 500, STREAM) for threads in (1, 3)]
    for name in ("values", "lengths", "offsets", "observations", "actions", "counts", "log_behavior"):
        assert np.array_equal(getattr(batches[0], name), getattr(batches[1], name))
    batch = batches[0]
    assert np.array_equal(batch.values, returns.values[0])
    assert np.array_equal(batch.lengths, returns.lengths[0])
    assert np.array_equal(np.add.reduceat(batch.counts, batch.offsets[:-1]), batch.lengths)
    assert np.array_equal(batch.log_behavior, policy.log_prob(theta, batch.observations, batch.actions))
    for begin, end in itertools.pairwise(batch.offsets):
        visits = list(zip(batch.observations[begin:end], batch.actions[begin:end], strict=True))
        assert len(set(visits)) == len(visits)


def test_recorded_visits_grow_past_their_first_room():
    mdp = FiniteMDP.from_outcomes(
        [[[(1.0, s + 1, 1.0, s == 2999)]] for s in range(3000)] + [[[]]], start=0, horizon=3000
    )
    batch = TabularSource(mdp).record(TabularGibbs(3001, 1), np.zeros(3001), 2, STREAM)
    assert batch.observations.tolist() == [*range(3000), *range(3000)]
    assert batch.counts.tolist() == [1] * 6000


def test_pairs_share_their_numbers_and_others_do_not():
    mdp = small_mdp(horizon=20)
    policy = TabularGibbs(4, 2)
    thetas = np.zeros((3, 8))
    found = TabularSource(mdp).returns(policy, thetas, 200, STREAM, [0, 1, 0])
    assert np.array_equal(found.values[0], found.values[2])
    assert not np.array_equal(found.values[0], found.values[1])
    apart = TabularSource(mdp).returns(policy, thetas, 200, STREAM)
    assert not np.array_equal(apart.values[0], apart.values[2])
    later = TabularSource(mdp).returns(policy, thetas, 200, Stream(7, Purpose.EXAMPLE, 1))
    assert not np.array_equal(apart.values, later.values)


def test_common_random_numbers_cut_the_noise_of_a_difference():
    mdp = small_mdp(horizon=20)
    rng = np.random.default_rng(6)
    theta, direction = rng.normal(size=8), 0.02 * rng.normal(size=8)
    both = np.stack([theta + direction, theta - direction])
    source, policy = TabularSource(mdp), TabularGibbs(4, 2)
    common = source.returns(policy, both, 20_000, STREAM, [0, 0]).values
    apart = source.returns(policy, both, 20_000, STREAM).values
    assert np.var(common[0] - common[1]) < 0.1 * np.var(apart[0] - apart[1])


def test_moments_agree_with_a_plain_simulation_under_gymnasium():
    gym = pytest.importorskip("gymnasium")
    from riskgrad.mdp import from_gymnasium  # noqa: PLC0415

    rng = np.random.default_rng(8)
    for identifier, options in (
        ("FrozenLake-v1", {"map_name": "8x8"}),
        ("CliffWalking-v1", {"is_slippery": True, "max_episode_steps": 40}),
    ):
        env = gym.make(identifier, **options)
        horizon = options.get("max_episode_steps", 100)
        mdp = from_gymnasium(identifier, horizon=horizon, discount=1.0, **options)
        table = random_table(9, mdp)
        theirs = np.array([_gym_episode(env, table, rng, seed) for seed in range(1500)])
        ours = TabularSource(mdp).returns_from_tables(table[None], 200_000, STREAM)
        values, lengths = ours.values[0], ours.lengths[0]
        # four two-sided tests and a Kolmogorov one per model at 1e-4 each: a false alarm in 1e-3 of seeds
        for mine, other in ((values, theirs[:, 0]), (lengths, theirs[:, 1])):
            assert abs(np.mean(mine) - np.mean(other)) <= 3.9 * np.std(mine) / np.sqrt(len(other))
            squares = (mine - np.mean(mine)) ** 2
            assert abs(np.mean(squares) - np.var(other)) <= 3.9 * np.std(squares) / np.sqrt(len(other)) + 1e-12
        assert stats.ks_2samp(lengths, theirs[:, 1], method="asymp").pvalue > 1e-4


def _gym_episode(env, table: np.ndarray, rng: np.random.Generator, seed: int) -> tuple[float, int]:
    state, _ = env.reset(seed=seed)
    total, length, over = 0.0, 0, False
    sums = np.cumsum(table, axis=1)
    while not over:
        action = min(int(np.searchsorted(sums[state], rng.random())), table.shape[1] - 1)
        state, reward, terminated, truncated, _ = env.step(action)
        total, length, over = total + float(reward), length + 1, terminated or truncated
    return total, length


POLICY = TabularGibbs(4, 2)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda s: s.returns(POLICY, np.zeros((2, 7)), 5, STREAM), "theta must have shape"),
        (lambda s: s.returns(POLICY, np.zeros(8), 5, STREAM), "thetas must have shape (P, 8)"),
        (lambda s: s.returns(POLICY, np.full((1, 8), np.nan), 5, STREAM), "theta must be finite, got nan"),
        (lambda s: s.returns(POLICY, np.zeros((1, 8)), 0, STREAM), "episodes must be an integer of at least 1, got 0"),
        (lambda s: s.returns(POLICY, np.zeros((1, 8)), 2.5, STREAM), "episodes must be an integer"),
        (lambda s: s.returns(POLICY, np.zeros((2, 8)), 5, STREAM, [0]), "pairs must be 2 integers"),
        (lambda s: s.returns(POLICY, np.zeros((1, 8)), 5, STREAM, [-1]), "pairs must be 1 integers"),
        (
            lambda s: s.returns(TabularGibbs(5, 2), np.zeros((1, 10)), 5, STREAM),
            "policy must read states, of which the environment has 4",
        ),
        (
            lambda s: s.returns(LinearGibbs(np.ones((4, 3, 2))), np.zeros((1, 2)), 5, STREAM),
            "policy must have the environment's actions, 2",
        ),
        (lambda s: s.record(POLICY, np.zeros(8), 0, STREAM), "episodes must be an integer of at least 1, got 0"),
        (lambda s: s.record(POLICY, np.zeros((1, 8)), 3, STREAM), "theta must be one vector"),
        (lambda s: s.returns_from_tables(np.ones((1, 4, 3)), 3, STREAM), "tables must have shape (P, 4, 2)"),
        (
            lambda s: s.returns_from_tables(np.zeros((1, 4, 2)), 3, STREAM),
            "sum to 1 in state 0 (row 0), got [0.0, 0.0]",
        ),
        (lambda s: s.returns_from_tables([[[1.5, -0.5]] * 4], 3, STREAM), "got [1.5, -0.5]"),
        (lambda _: TabularSource(small_mdp(), threads=0), "threads must be an integer of at least 1, got 0"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, line: str):
    with pytest.raises(InputError) as caught:
        call(TabularSource(small_mdp()))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
