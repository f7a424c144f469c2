"""Counts of outcomes: a hash table from (state and action, next state, reward) to how often this outcome occurred.

    S states   A actions   N steps   K outcomes met so far

Outcomes are stored in the order in which they are first met, and the slots of the hash table hold their places in this
order. So the counts are a function of the steps that were counted and of their order, whatever the number of slots.
"""

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.compile import helper, kernel
from riskgrad.kernels.streams import STEP, mix_word
from riskgrad.types import FloatArray, IntArray

EMPTY = -1


@helper
def _find_slot(
    slots: IntArray, pair: int, after: int, bits: np.int64, pairs: IntArray, nexts: IntArray, rewards: NDArray[np.int64]
) -> np.int64:
    """Give the slot that holds an outcome, or the empty one where it belongs."""
    mask = len(slots) - 1
    word = mix_word(mix_word(np.uint64(pair) * STEP + np.uint64(after)) ^ np.uint64(bits))
    slot = np.int64(word >> np.uint64(1)) & mask
    while slots[slot] != EMPTY:
        place = slots[slot]
        if pairs[place] == pair and nexts[place] == after and rewards[place] == bits:
            return slot
        slot = (slot + 1) & mask
    return slot


@kernel
def fill_slots(slots: IntArray, used: int, pairs: IntArray, nexts: IntArray, rewards: NDArray[np.int64]) -> None:
    """Enter the first `used` outcomes into empty slots, whose number is a power of 2."""
    for place in range(used):
        slots[_find_slot(slots, pairs[place], nexts[place], rewards[place], pairs, nexts, rewards)] = place


@kernel
def count_steps(
    sign: int,
    n_states: int,
    n_actions: int,
    horizon: int,
    offsets: IntArray,
    ended: NDArray[np.bool_],
    states: IntArray,
    actions: IntArray,
    bits: NDArray[np.int64],
    shares: FloatArray,
    slots: IntArray,
    used: int,
    pairs: IntArray,
    nexts: IntArray,
    rewards: NDArray[np.int64],
    counts: FloatArray,
) -> int:
    """Add the steps of a batch to the counts, or subtract them; give how many different outcomes have been met.

    What follows the last step of an episode that was cut is not known: S + 1 stands for it. It also stands for what
    follows every step at the horizon: if only those were known that the environment ended there, ends would seem
    likelier than they are.

    Args:
        sign: 1 to add, -1 to subtract.
        n_states: S, which stands for the end of an episode as the next state.
        n_actions: A.
        horizon: T; 0 where it is not known.
        offsets: where episodes begin [m + 1].
        ended: whether the environment ended the episode [m].
        states: state at each step [N].
        actions: action at each step [N].
        bits: bits of the reward of each step [N].
        shares: how much of each step is counted [N].
        slots: slots of the hash table, more than there are outcomes.
        used: number of outcomes met before.
        pairs: state * A + action of each outcome [room].
        nexts: where each led, S for the end, S + 1 where that is not known [room].
        rewards: bits of the reward of each [room].
        counts: how often each occurred [room].
    """
    for e in range(len(ended)):
        begin, end = offsets[e], offsets[e + 1]
        for k in range(begin, end):
            last = k + 1 == end
            pair, after = states[k] * n_actions + actions[k], n_states + 1
            if not last:
                after = states[k + 1]
            elif ended[e] and k + 1 - begin != horizon:
                after = n_states
            slot = _find_slot(slots, pair, after, bits[k], pairs, nexts, rewards)
            if slots[slot] == EMPTY:
                slots[slot], pairs[used], nexts[used], rewards[used] = used, pair, after, bits[k]
                used += 1
            counts[slots[slot]] += sign * shares[k]
    return used


@kernel
def returns_so_far(discount: float, offsets: IntArray, rewards: FloatArray, times: IntArray, sums: FloatArray) -> None:
    """Fill times [N] and sums [N]: the time of each step in its episode, and the discounted return before it."""
    for e in range(len(offsets) - 1):
        total, factor = 0.0, 1.0
        for k in range(offsets[e], offsets[e + 1]):
            times[k], sums[k] = k - offsets[e], total
            total += factor * rewards[k]
            factor *= discount
