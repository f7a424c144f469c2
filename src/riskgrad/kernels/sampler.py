"""The compiled sampler of episodes of a tabular model, from thresholds of policies and outcomes of the model.

A step costs one 64-bit number of SplitMix64: its first 62 bits choose the action, its low 32 bits the outcome (see
`sampler_tables`). Each step waits for the one before it, so that a single episode leaves the processor idle for most of
the time; `sample_returns` plays five episodes in five places, one step each per turn, and a place that becomes free
takes the next episode. An episode is a function of the model, the policy, the pair's key and the episode's index alone.
"""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.arrays import FLOAT, INTEGER, ZERO, full_array, full_integers, full_words, resize
from riskgrad.kernels.compile import helper, inline_helper, kernel
from riskgrad.kernels.sampler_tables import ENDS, OutcomeTables
from riskgrad.kernels.streams import STEP, Words, mix_word
from riskgrad.types import FloatArray, IntArray

PLACES = 5
N_PLACES = cast("int", np.int64(PLACES))
FIRST_SIZE = cast("int", np.int64(4096))  # steps or visits for which there is space at first
WORD = np.uint64(0xFFFFFFFF)
ONE = np.uint64(1)
NONE, NEVER = np.uint64(0), np.uint64(1 << 62)
# the lowest place of each set of places, whose bits are the index
LOWEST = np.array([0] + [(places & -places).bit_length() - 1 for places in range(1, 1 << PLACES)], dtype=np.int64)


class MemoryCells(NamedTuple):
    """Cells of time and return so far, each of which has thresholds of its own; see `riskgrad.policy.memory`.

    Attributes:
        n_cells: how many there are.
        times: the first cell of each time [T].
        edges: where each cell of the return begins, except the first, increasing.
    """

    n_cells: int
    times: IntArray
    edges: FloatArray


@helper
def _first_state(key: np.uint64, episode: int, tables: OutcomeTables) -> tuple[np.uint64, np.uint64]:
    """Give the random state and the code of the first state of an episode."""
    state = mix_word(key + (np.uint64(episode) + ONE) * STEP)
    if tables.start_width == ONE:
        return state, np.uint64(tables.target[np.uint64(2) * tables.start_first])
    state += STEP
    scaled = (mix_word(state) & WORD) * tables.start_width
    slot = tables.start_first + (scaled >> np.uint64(32))
    return state, np.uint64(tables.target[(slot << ONE) + np.uint64((scaled & WORD) >= np.uint64(tables.accept[slot]))])


@inline_helper
def _draw_step(
    state: np.uint64,
    code: np.uint64,
    policy: np.uint64,
    thresholds: Words,
    tables: OutcomeTables,
    heads: Words | None,
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Draw an action and an outcome.

    Args:
        state: random state.
        code: code of the current state.
        policy: where the thresholds of the policy begin.
        thresholds: of all policies, flat.
        tables: the model.
        heads: where each row of the model begins and its number of slots, or None (see `sampler_tables`).

    Returns:
        random state, code of (state, action), index of the outcome, its target.
    """
    state += STEP
    number = mix_word(state)
    for level in range(len(tables.levels)):
        half = ONE << np.uint64(len(tables.levels) - 1 - level)
        code += half * np.uint64((number >> np.uint64(2)) >= thresholds[policy + code + half - ONE])
    if heads is None:
        # one multiplication scales the low bits and finds the row
        scaled = ((code << np.uint64(32)) | (number & WORD)) * tables.width
        slot = scaled >> np.uint64(32)
    else:
        head = heads[code]
        scaled = (number & WORD) * (head & WORD)
        slot = (head >> np.uint64(32)) + (scaled >> np.uint64(32))
    outcome = (slot << ONE) + np.uint64((scaled & WORD) >= np.uint64(tables.accept[slot]))
    return state, code, outcome, np.uint64(tables.target[outcome])


@inline_helper
def _advance_places(
    clock: np.uint64,
    until: np.uint64,
    states: Words,
    codes: Words,
    policies: Words,
    totals: FloatArray,
    factors: FloatArray,
    thresholds: Words,
    tables: OutcomeTables,
    heads: Words | None,
) -> np.uint64:
    """Advance all places together until an episode ends or the clock is at `until`; give the clock.

    The five places are written out one by one, so that their state stays in registers.
    """
    x0, x1, x2, x3, x4 = states[0], states[1], states[2], states[3], states[4]
    s0, s1, s2, s3, s4 = codes[0], codes[1], codes[2], codes[3], codes[4]
    p0, p1, p2, p3, p4 = policies[0], policies[1], policies[2], policies[3], policies[4]
    v0, v1, v2, v3, v4 = totals[0], totals[1], totals[2], totals[3], totals[4]
    f0, f1, f2, f3, f4 = factors[0], factors[1], factors[2], factors[3], factors[4]
    reward, discount = tables.reward, tables.discount
    while True:
        x0, _, i0, s0 = _draw_step(x0, s0, p0, thresholds, tables, heads)
        x1, _, i1, s1 = _draw_step(x1, s1, p1, thresholds, tables, heads)
        x2, _, i2, s2 = _draw_step(x2, s2, p2, thresholds, tables, heads)
        x3, _, i3, s3 = _draw_step(x3, s3, p3, thresholds, tables, heads)
        x4, _, i4, s4 = _draw_step(x4, s4, p4, thresholds, tables, heads)
        v0 += f0 * reward[i0]
        v1 += f1 * reward[i1]
        v2 += f2 * reward[i2]
        v3 += f3 * reward[i3]
        v4 += f4 * reward[i4]
        f0 *= discount
        f1 *= discount
        f2 *= discount
        f3 *= discount
        f4 *= discount
        clock += ONE
        if (s0 | s1 | s2 | s3 | s4) >= ENDS or clock == until:
            break
    states[0], states[1], states[2], states[3], states[4] = x0, x1, x2, x3, x4
    codes[0], codes[1], codes[2], codes[3], codes[4] = s0, s1, s2, s3, s4
    totals[0], totals[1], totals[2], totals[3], totals[4] = v0, v1, v2, v3, v4
    factors[0], factors[1], factors[2], factors[3], factors[4] = f0, f1, f2, f3, f4
    return clock


@kernel
def sample_returns(
    begin: int,
    end: int,
    episodes: int,
    keys: Words,
    thresholds: Words,
    tables: OutcomeTables,
    heads: Words | None,
    values: FloatArray,
    lengths: IntArray,
) -> None:
    """Sample the episodes begin:end of all P * m, counted policy by policy, into flat values and lengths [P * m]."""
    states, codes, policies = full_words(N_PLACES, NONE), full_words(N_PLACES, NONE), full_words(N_PLACES, NONE)
    born, item = full_words(N_PLACES, NEVER), full_integers(N_PLACES, ZERO)
    totals, factors = full_array(N_PLACES, 0.0), full_array(N_PLACES, 1.0)
    clock, upcoming, busy = np.uint64(0), begin, 0
    p, e = begin // episodes, begin % episodes
    free = np.uint64((1 << PLACES) - 1)
    while True:
        while free != np.uint64(0):
            place = LOWEST[free]
            free &= free - ONE
            if born[place] != NEVER:
                values[item[place]], lengths[item[place]] = totals[place], clock - born[place]
                busy -= 1
            # a place without an episode goes on from state 0, and its results are not read
            codes[place], born[place] = np.uint64(0), NEVER
            if upcoming < end:
                states[place], codes[place] = _first_state(keys[p], e, tables)
                policies[place] = np.uint64(p) * tables.size
                totals[place], factors[place] = 0.0, 1.0
                item[place], born[place] = upcoming, clock
                busy, upcoming, e = busy + 1, upcoming + 1, e + 1
                if e == episodes:
                    p, e = p + 1, 0
        if busy == 0:
            return
        oldest = born[0]
        for place in range(1, PLACES):
            oldest = min(oldest, born[place])
        clock = _advance_places(
            clock, oldest + tables.horizon, states, codes, policies, totals, factors, thresholds, tables, heads
        )
        for place in range(PLACES):
            over = np.uint64(codes[place] >= ENDS) | np.uint64(clock - born[place] == tables.horizon)
            free |= over << np.uint64(place)


@inline_helper
def _find_cell(cells: MemoryCells, length: np.uint64, total: float) -> np.uint64:
    """Give the cell of a time, `length`, and a return so far, `total`."""
    low, high = 0, len(cells.edges)
    while low < high:
        middle = (low + high) // 2
        if cells.edges[middle] <= total:
            low = middle + 1
        else:
            high = middle
    return np.uint64(cells.times[np.int64(length)] + low)


@kernel
def sample_remembering_returns(
    begin: int,
    end: int,
    episodes: int,
    keys: Words,
    thresholds: Words,
    tables: OutcomeTables,
    heads: Words | None,
    cells: MemoryCells,
    values: FloatArray,
    lengths: IntArray,
) -> None:
    """Sample returns of policies with memory, one episode at a time; thresholds are [P, cells, S, 2^L], flat."""
    for item in range(begin, end):
        p, e = item // episodes, item % episodes
        state, code = _first_state(keys[p], e, tables)
        total, factor, length = 0.0, 1.0, np.uint64(0)
        first = np.uint64(p * cells.n_cells)
        while code < ENDS and length < tables.horizon:
            place = (first + _find_cell(cells, length, total)) * tables.size
            state, _, outcome, code = _draw_step(state, code, place, thresholds, tables, heads)
            total += factor * tables.reward[outcome]
            factor *= tables.discount
            length += ONE
        values[item], lengths[item] = total, length


@kernel
def sample_returns_so_far(
    episodes: int,
    key: np.uint64,
    thresholds: Words,
    tables: OutcomeTables,
    heads: Words | None,
    cells: MemoryCells | None,
) -> FloatArray:
    """Sample episodes of one policy and give the return so far before each step, episode by episode."""
    found, used = np.empty(FIRST_SIZE, FLOAT), ZERO
    for e in range(episodes):
        state, code = _first_state(key, e, tables)
        total, factor, length = 0.0, 1.0, np.uint64(0)
        while code < ENDS and length < tables.horizon:
            if used == len(found):
                found = resize(found, 2 * used)
            found[used] = total
            used += 1
            place = np.uint64(0)
            if cells is not None:
                place = _find_cell(cells, length, total) * tables.size
            state, _, outcome, code = _draw_step(state, code, place, thresholds, tables, heads)
            total += factor * tables.reward[outcome]
            factor *= tables.discount
            length += ONE
    return resize(found, used)


@kernel
def sample_visits(
    begin: int,
    end: int,
    key: np.uint64,
    thresholds: Words,
    tables: OutcomeTables,
    heads: Words | None,
    cells: MemoryCells | None,
    values: FloatArray,
    lengths: IntArray,
    visited: IntArray,
) -> tuple[IntArray, IntArray]:
    """Sample the episodes begin:end of one policy and keep what they visited.

    It fills the entries begin:end of values, lengths and visited [m], the number of visits kept: one for each different
    pair (state, action). With cells of memory the state is cell * S + s, and each step is a visit of its own, as few of
    the many pairs recur.

    Returns:
        codes of the pairs (state, action), episode by episode in the order of their first visit, and their counts.
    """
    codes, counts, used = np.empty(FIRST_SIZE, INTEGER), np.empty(FIRST_SIZE, INTEGER), ZERO
    where = full_integers(np.int64(tables.size), ZERO - 1)  # where a pair was last written
    for e in range(begin, end):
        first = used
        state, code = _first_state(key, e, tables)
        total, factor, length = 0.0, 1.0, np.uint64(0)
        while code < ENDS and length < tables.horizon:
            place = np.uint64(0)
            if cells is not None:
                place = _find_cell(cells, length, total) * tables.size
            state, pair, outcome, code = _draw_step(state, code, place, thresholds, tables, heads)
            total += factor * tables.reward[outcome]
            factor *= tables.discount
            length += ONE
            if where[pair] < first or cells is not None:
                if used == len(codes):
                    codes, counts = resize(codes, 2 * used), resize(counts, 2 * used)
                where[pair], codes[used], counts[used] = used, place + pair, 0
                used += 1
            counts[where[pair]] += 1
        values[e], lengths[e], visited[e] = total, length, used - first
    return resize(codes, used), resize(counts, used)


@kernel
def sample_steps(
    begin: int,
    end: int,
    key: np.uint64,
    thresholds: Words,
    tables: OutcomeTables,
    heads: Words | None,
    cells: MemoryCells | None,
    values: FloatArray,
    lengths: IntArray,
    ended: NDArray[np.bool_],
) -> tuple[IntArray, FloatArray]:
    """Sample the same episodes begin:end of one policy as `sample_visits`, and keep their steps in order.

    It fills the entries begin:end of values, lengths and ended [m], whether the model ended the episode.

    Returns:
        codes of the pairs (state, action) and rewards of the steps; with cells of memory the state is cell * S + s.
    """
    codes, rewards, used = np.empty(FIRST_SIZE, INTEGER), np.empty(FIRST_SIZE, FLOAT), ZERO
    for e in range(begin, end):
        state, code = _first_state(key, e, tables)
        total, factor, length = 0.0, 1.0, np.uint64(0)
        while code < ENDS and length < tables.horizon:
            place = np.uint64(0)
            if cells is not None:
                place = _find_cell(cells, length, total) * tables.size
            state, pair, outcome, code = _draw_step(state, code, place, thresholds, tables, heads)
            reward = tables.reward[outcome]
            total += factor * reward
            factor *= tables.discount
            length += ONE
            if used == len(codes):
                codes, rewards = resize(codes, 2 * used), resize(rewards, 2 * used)
            codes[used], rewards[used] = place + pair, reward
            used += 1
        values[e], lengths[e], ended[e] = total, length, code >= ENDS
    return resize(codes, used), resize(rewards, used)
