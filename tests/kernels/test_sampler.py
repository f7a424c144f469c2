"""Sampled episodes, bit for bit against a loop in plain Python that reads the same tables."""

from collections import Counter

import numpy as np
import pytest
from support.critics import make_random_model

from riskgrad.kernels import sampler
from riskgrad.kernels.sampler_tables import outcome_tables, thresholds_of_probabilities
from riskgrad.random import GOLDEN, mix

STATES, ACTIONS, HORIZON, DISCOUNT = 4, 3, 20, 0.9
KEYS = np.random.default_rng(0).integers(2**64, size=2, dtype=np.uint64)
EPISODES = 1500  # whose steps are more than fit into the first room for them
STARTS = {"one start": [0.0, 1.0, 0.0, 0.0], "many starts": [0.2, 0.3, 0.0, 0.5]}


@pytest.fixture(params=["padded", "packed"])
def layout(request, monkeypatch):
    monkeypatch.setattr("riskgrad.kernels.sampler_tables.ALWAYS_PADDED", 1 << 30 if request.param == "padded" else 0)
    return request.param


def laid_out(start):
    mdp = make_random_model(1, n_states=STATES, n_actions=ACTIONS)
    parts = mdp.offsets, mdp.probabilities, mdp.next_states, mdp.rewards, mdp.ends
    return outcome_tables(*parts, np.array(start), HORIZON, DISCOUNT)


def thresholds_of(tables, cells, policies=1):
    rows = 1 if cells is None else cells.n_cells
    chances = np.random.default_rng(2).dirichlet(np.ones(ACTIONS), size=(policies, rows * STATES))
    found = np.empty((policies, rows * STATES, tables.stride), dtype=np.uint64)
    thresholds_of_probabilities(chances, found)
    return found.ravel()


def some_cells():
    """Three cells of the return, where an edge is also a return that occurs, at early and at late times."""
    return sampler.MemoryCells(6, np.repeat([0, 3], HORIZON // 2), np.array([0.0, 1.5]))


def play(key, episode, thresholds, tables, heads, cells, first=0):
    """Give (code of the pair, reward, return before it) of each step, the return, and whether the model ended it."""
    state = int(mix(np.array([(int(key) + (episode + 1) * GOLDEN) % 2**64], dtype=np.uint64))[0])

    def number():
        nonlocal state
        state = (state + GOLDEN) % 2**64
        return int(mix(np.array([state], dtype=np.uint64))[0])

    def outcome(word, begin, width):
        slot, rest = divmod((word % 2**32) * width, 2**32)
        return 2 * (begin + slot) + int(rest >= int(tables.accept[begin + slot]))

    begin, width = int(tables.start_first), int(tables.start_width)
    code = int(tables.target[2 * begin if width == 1 else outcome(number(), begin, width)])
    steps, total, factor = [], 0.0, 1.0
    while code < 2**31 and len(steps) < HORIZON:
        cell = first
        if cells is not None:
            cell += int(cells.times[len(steps)]) + int(np.searchsorted(cells.edges, total, side="right"))
        place, word = cell * int(tables.size) + code, number()
        action = sum(int(bound) <= word >> 2 for bound in thresholds[place : place + tables.stride - 1])
        width = int(tables.width)
        begin = (code + action) * width
        if heads is not None:
            begin, width = divmod(int(heads[code + action]), 2**32)
        where = outcome(word, begin, width)
        reward = float(tables.reward[where])
        steps.append((place + action, reward, total))
        total, factor, code = total + factor * reward, factor * DISCOUNT, int(tables.target[where])
    return steps, total, code >= 2**31


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.usefixtures("layout")
def test_returns_and_lengths_are_those_of_plain_python(start):
    tables, heads = laid_out(STARTS[start])
    for cells in (None, some_cells()):
        thresholds, size = thresholds_of(tables, cells, policies=2), 2 * 40
        values, lengths = np.full(size, np.nan), np.full(size, -1)
        for begin, end in ((3, 3), (3, 4), (4, size)):
            if cells is None:
                sampler.sample_returns(begin, end, 40, KEYS, thresholds, tables, heads, values, lengths)
            else:
                sampler.sample_remembering_returns(
                    begin, end, 40, KEYS, thresholds, tables, heads, cells, values, lengths
                )
        assert np.all(lengths[:3] == -1)
        for item in range(3, size):
            p, episode = divmod(item, 40)
            first = p * (1 if cells is None else cells.n_cells)
            steps, total, _ = play(KEYS[p], episode, thresholds, tables, heads, cells, first)
            assert (values[item], lengths[item]) == (total, len(steps))


@pytest.mark.parametrize("remembers", [False, True])
@pytest.mark.usefixtures("layout")
def test_steps_and_visits_are_those_of_plain_python(remembers):
    tables, heads = laid_out(STARTS["many starts"])
    cells = some_cells() if remembers else None
    rest = thresholds_of(tables, cells), tables, heads, cells
    played = [play(KEYS[0], episode, *rest) for episode in range(EPISODES)]
    every = [step for steps, _, _ in played for step in steps]
    assert len(every) > 4096
    so_far = sampler.sample_returns_so_far(EPISODES, KEYS[0], *rest)
    assert so_far.tolist() == [before for _, _, before in every]

    values, lengths, ended = np.empty(EPISODES), np.empty(EPISODES, dtype=np.int64), np.empty(EPISODES, dtype=np.bool_)
    codes, rewards = sampler.sample_steps(0, EPISODES, KEYS[0], *rest, values, lengths, ended)
    assert list(zip(codes.tolist(), rewards.tolist(), strict=True)) == [(code, reward) for code, reward, _ in every]
    assert values.tolist() == [total for _, total, _ in played]
    assert lengths.tolist() == [len(steps) for steps, _, _ in played]
    assert ended.tolist() == [over for _, _, over in played]

    again, long, visited = np.empty(EPISODES), np.empty(EPISODES, dtype=np.int64), np.empty(EPISODES, dtype=np.int64)
    found = sampler.sample_visits(0, EPISODES, KEYS[0], *rest, again, long, visited)
    expected = [
        [(code, 1) for code, _, _ in steps] if remembers else list(Counter(code for code, _, _ in steps).items())
        for steps, _, _ in played
    ]
    assert list(zip(*(part.tolist() for part in found), strict=True)) == [visit for part in expected for visit in part]
    assert visited.tolist() == [len(part) for part in expected]
    assert np.array_equal(again, values)
    assert np.array_equal(long, lengths)


def test_no_episodes_are_no_steps():
    tables, heads = laid_out(STARTS["one start"])
    rest, none = (thresholds_of(tables, None), tables, heads, None), np.empty(0)
    assert len(sampler.sample_returns_so_far(0, KEYS[0], *rest)) == 0
    for part in sampler.sample_steps(0, 0, KEYS[0], *rest, none, none.astype(np.int64), none.astype(np.bool_)):
        assert len(part) == 0
