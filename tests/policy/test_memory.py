"""Memory as a value: what it shows, what it takes back, how it is fitted and stored, and to whom it is given."""

import json

import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.policy import MLP, Deterministic, Gaussian, Greedy, LinearSoftmax, Normalized, SharedTable, TabularGibbs
from riskgrad.policy.base import describe_policy, rebuild_policy
from riskgrad.policy.memory import Memory, find_edges, find_scale, with_memory
from riskgrad.testing import check_policy
from riskgrad.types import States, Vectors

CELLS = Memory("both", States(5), 4, 0.9, edges=(-1.5, 0.5, 3.0))
NUMBERS = Memory("both", Vectors(3), 10, 1.0, center=2.0, spread=4.0, bumps=True)


def test_cells_are_time_then_return_then_state():
    seen = CELLS.extend(np.array([3, 0, 4, 2]), np.array([0, 1, 3, 9]), np.array([0.0, -2.0, 0.5, 7.0]))
    np.testing.assert_array_equal(
        seen, [(0 * 4 + 1) * 5 + 3, (1 * 4 + 0) * 5, (3 * 4 + 2) * 5 + 4, (3 * 4 + 3) * 5 + 2]
    )
    np.testing.assert_array_equal(CELLS.plain(seen), [3, 0, 4, 2])
    assert CELLS.gives(States(5)) == CELLS.shows == States(5 * 16)


@pytest.mark.parametrize(("kind", "cells"), [("time", 4), ("return", 1), ("both", 4)])
def test_only_what_is_remembered_has_cells(kind, cells):
    memory = Memory(kind, States(5), 4, 1.0)
    assert memory.cells == cells
    shown = memory.extend(np.zeros(4, dtype=np.int64), np.arange(4), np.zeros(4))
    assert len(set(shown.tolist())) == cells


def test_a_long_horizon_has_64_cells_of_equal_length():
    cells = Memory("time", States(1), 200, 1.0).find_cells(np.arange(200), np.zeros(200))
    assert set(np.bincount(cells)) == {3, 4}
    assert cells.max() == 63
    np.testing.assert_array_equal(np.sort(cells), cells)


def test_numbers_are_the_share_left_and_the_scaled_return():
    seen = np.arange(6.0).reshape(2, 3)
    shown = NUMBERS.extend(seen, np.array([0, 7]), np.array([2.0, -6.0]))
    assert shown.shape == (2, 3 + 2 * 6)
    np.testing.assert_array_equal(NUMBERS.plain(shown), seen)
    np.testing.assert_allclose(shown[:, 3], [1.0, 0.3])
    np.testing.assert_allclose(shown[:, 9], np.arcsinh([0.0, -2.0]), rtol=1e-15)
    np.testing.assert_allclose(shown[0, 10:], np.exp(-0.5 * np.arange(-2.0, 3.0) ** 2), rtol=1e-15)
    np.testing.assert_allclose(shown[0, 4:9], np.exp(-0.5 * np.arange(4.0, -1.0, -1.0) ** 2), rtol=1e-15)
    assert NUMBERS.gives(Vectors(3)) == Vectors(15)


def test_times_beyond_the_horizon_are_shown_as_the_last():
    plain = Memory("time", Vectors(1), 10, 1.0)
    np.testing.assert_array_equal(plain.extend(np.zeros((2, 1)), np.array([10, 50]), np.zeros(2))[:, 1], [0.0, 0.0])


@pytest.mark.parametrize("memory", [CELLS, NUMBERS, Memory("return", States(2), 7, 0.25, edges=(0.1 + 0.2,))])
def test_a_recipe_makes_it_again(memory):
    assert Memory.from_recipe(json.loads(json.dumps(memory.recipe(), allow_nan=False))) == memory


def test_few_returns_have_a_cell_each_whatever_their_rounding():
    sums = np.concatenate([np.cumsum(np.full(9, 0.1)), 0.1 * np.arange(10)])
    edges = find_edges(np.tile(sums, 3))
    np.testing.assert_allclose(edges, 0.1 * np.arange(9) + 0.05)
    assert find_edges([4.0, 4.0]) == ()


def test_many_returns_have_cells_of_about_equal_mass_and_a_frequent_one_takes_a_single_cell():
    returns = np.concatenate([np.zeros(50_000), np.random.default_rng(0).normal(size=50_000)])
    edges = np.array(find_edges(returns))
    masses = np.diff(np.concatenate([[0], np.sort(np.searchsorted(np.sort(returns), edges)), [len(returns)]]))
    assert 28 <= len(masses) <= 32
    assert np.sort(masses)[-1] > 50_000  # that of 0
    assert np.sort(masses)[-2] < 5 * np.median(masses)
    assert np.all(np.diff(edges) > 0.0)


def test_the_scale_is_robust_and_never_zero():
    assert find_scale(np.full(10, 3.0)) == (3.0, 1.0)
    center, spread = find_scale(np.append(np.linspace(-1.0, 1.0, 1001), 1e9))
    assert abs(center) < 0.01
    assert spread == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("policy", "memory"),
    [
        (TabularGibbs(5, 2), CELLS),
        (SharedTable(5, 2), CELLS),
        (MLP(5, 2, ()), CELLS),
        (LinearSoftmax(3, 2, feature_bound=1.0), NUMBERS),
        (MLP(3, 2, (4,)), NUMBERS),
        (Deterministic(3, 2), NUMBERS),
        (Gaussian(3, [-1.0], [2.0]), NUMBERS),
    ],
)
def test_a_policy_with_memory_is_one_of_its_kind(policy, memory):
    made = with_memory(policy, memory)
    assert policy.memory is None
    assert type(made) is type(policy)
    assert memory.shows in made.reads
    assert made.feature_norm is None or isinstance(memory.observations, States)
    rng = np.random.default_rng(0)
    plain = rng.integers(0, 5, 6) if isinstance(memory.observations, States) else rng.normal(size=(6, 3))
    seen = memory.extend(plain, np.arange(6) % 4, rng.normal(size=6))
    check_policy(made, seen)
    for each in (made, Greedy(made)):
        assert each.memory == memory
    again = rebuild_policy(json.loads(json.dumps(describe_policy(made))))
    assert again is not None
    assert again.memory == memory
    assert describe_policy(again) == describe_policy(made)


def test_normalization_keeps_the_memory_through_a_file():
    seen = rg.policy.ObservationStatistics.of(np.random.default_rng(0).normal(size=(9, 15)))
    policy = Normalized(with_memory(MLP(3, 2, ()), NUMBERS), seen)
    again = rebuild_policy(json.loads(json.dumps(describe_policy(policy))))
    assert again is not None
    assert again.memory == NUMBERS == again.inner.memory  # pyright: ignore[reportOptionalMemberAccess]
    assert describe_policy(again) == describe_policy(policy)


def test_a_policy_of_a_users_function_is_refused_in_one_line():
    policy = rg.policy.Gibbs(lambda theta, _: theta, 2)
    with pytest.raises(InputError, match=r"^policy must be one that memory can be given to, got Gibbs") as caught:
        rg.train(rg.mdp.two_roads(), "mean", policy=policy, memory="both", iterations=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", ["foo", 3, True, "Both"])
def test_no_other_kind_of_memory_is_taken(bad):
    with pytest.raises(InputError, match=r"^memory must be one of both, return, time, got"):
        rg.train(rg.mdp.two_roads(), "mean", memory=bad, iterations=1)


def test_cells_share_a_row_and_have_one_of_their_own():
    policy = with_memory(SharedTable(5, 2), CELLS)
    assert (policy.dim, SharedTable(5, 2).dim) == ((5 + 80) * 2, 10)
    theta = np.random.default_rng(0).normal(size=policy.dim)
    summed = np.tile(theta[:10], 16) + theta[10:]
    table, seen = TabularGibbs(80, 2), np.arange(80)
    np.testing.assert_allclose(policy.probabilities(theta, seen), table.probabilities(summed, seen), rtol=1e-14)
    actions, scale = seen % 2, np.cos(np.arange(80.0))
    own = table.score_sum(summed, seen, actions, scale)
    shared = own.reshape(16, 10).sum(axis=0)
    np.testing.assert_allclose(policy.score_sum(theta, seen, actions, scale), np.concatenate([shared, own]), atol=1e-14)
    # the bounds are those of the features: two ones for each action
    assert policy.score_bounds == pytest.approx((2.0, 1.0))
    assert SharedTable(5, 2).score_bounds == pytest.approx(TabularGibbs(5, 2).score_bounds)
