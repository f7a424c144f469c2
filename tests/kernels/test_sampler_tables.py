"""The tables of the sampler: every probability is in them, and thresholds are those of the softmax."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.kernels.formulas import softmax
from riskgrad.kernels.sampler_tables import (
    outcome_tables,
    thresholds_of_preferences,
    thresholds_of_probabilities,
)
from riskgrad.mdp import FiniteMDP


def laid_out(mdp):
    parts = (mdp.offsets, mdp.probabilities, mdp.next_states, mdp.rewards, mdp.ends, mdp.start)
    return outcome_tables(*parts, mdp.horizon, mdp.discount)


def test_thresholds_leave_nothing_to_impossible_actions():
    rows = np.array([[[0.7, 0.2, 0.1, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5, 0.0]]])
    thresholds = np.empty((1, 3, 8), dtype=np.uint64)
    thresholds_of_probabilities(rows, thresholds)
    certain = 2**62
    assert thresholds[0, 0, 2:].tolist() == [certain] * 6
    assert thresholds[0, 1].tolist() == [0, 0, *[certain] * 6]
    assert thresholds[0, 2].tolist() == [0, certain // 2, certain // 2, *[certain] * 5]


@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    start=st.integers(1, 3),
    padded=st.booleans(),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=100, deadline=None)
def test_alias_tables_hold_every_probability(sizes: list[int], start: int, padded: bool, seed: int):
    rng = np.random.default_rng(seed)
    n = len(sizes)
    outcomes = []
    for size in sizes:
        chances = rng.dirichlet(np.full(size, 0.3)) + 1e-9
        chances /= chances.sum()
        outcomes.append(
            [[(float(p), int(rng.integers(n)), float(k), bool(rng.integers(2))) for k, p in enumerate(chances)]]
        )
    first = np.zeros(n)
    first[: min(start, n)] = rng.dirichlet(np.ones(min(start, n)))
    mdp = FiniteMDP.from_outcomes(outcomes, start=first, horizon=3, discount=1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("riskgrad.kernels.sampler_tables.ALWAYS_PADDED", 1 << 30 if padded else 0)
        tables, heads = laid_out(mdp)
    for s in np.flatnonzero(~mdp.terminal):
        row = int(s) * tables.stride
        begin, width = (row * int(tables.width), int(tables.width)) if heads is None else divmod(int(heads[row]), 2**32)
        law: dict[tuple[int, float], float] = defaultdict(float)
        for slot in range(begin, begin + width):
            part = int(tables.accept[slot]) / 2**32
            law[int(tables.target[2 * slot]), float(tables.reward[2 * slot])] += part / width
            law[int(tables.target[2 * slot + 1]), float(tables.reward[2 * slot + 1])] += (1.0 - part) / width
        for k in range(mdp.offsets[s], mdp.offsets[s + 1]):
            code = int(mdp.next_states[k]) * tables.stride + (2**31 if mdp.ends[k] else 0)
            assert abs(law.pop((code, float(mdp.rewards[k]))) - mdp.probabilities[k]) < width * 2.0**-32
        assert not law


@given(st.integers(1, 9), st.floats(0.0, 300.0), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_preferences_give_the_thresholds_of_their_softmax(n_actions: int, scale: float, seed: int):
    preferences = scale * np.random.default_rng(seed).normal(size=(2, 3, n_actions))
    direct, through = np.empty((2, 3, 16), dtype=np.uint64), np.empty((2, 3, 16), dtype=np.uint64)
    thresholds_of_preferences(preferences, direct)
    thresholds_of_probabilities(softmax(preferences), through)
    assert np.max(np.abs(direct.astype(float) - through.astype(float))) <= 2.0**62 * 1e-15
    assert np.all(np.diff(direct.astype(np.int64), axis=-1) >= 0)
    assert np.all(direct[..., n_actions - 1 :] == 2**62)
