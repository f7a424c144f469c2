"""The tables that the compiled sampler reads: outcomes of the model, and thresholds of the policies.

    S states   A actions   P policies   K outcomes   L = log2 of A, rounded up   a state's code is s * 2^L

Outcomes depend on the model alone, so they are laid out once, as alias tables: each (state, action) has a row of slots
of equal chance, and each slot holds at most two outcomes and the point at which the second begins. An outcome then
costs one multiplication and one comparison, however many there are. In a small model, or where it takes no more
slots than there are outcomes, all rows are padded to the longest, which saves the sampler a read (`heads` is None);
otherwise `heads` says where each row begins, in its high 32 bits, and how many slots it has, in its low 32 bits.

Actions depend on the policy, so they are drawn by inverse CDF: thresholds in [0, 2^62] are compared with the first 62
bits of the number drawn. Thresholds take next to no time to prepare, and nearby policies turn the same number into the
same action nearly always, on which common random numbers rely; with alias tables over actions they would not.

Precision. A threshold is right within the rounding of a double. An outcome uses the low 32 bits of the same number: its
probability is right within 2^-32 for each slot that holds a part of it. What has probability 0 is never drawn, and what
has probability 1 always is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskgrad.kernels.arrays import FLOAT, INTEGER
from riskgrad.kernels.compile import as_contiguous, inline_kernel, kernel
from riskgrad.kernels.elementary import exp
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray, IntArray

ENDS = np.uint64(1 << 31)  # the bit of a target that says that the episode is over
CERTAIN = np.uint64(1 << 62)  # the threshold that no number reaches
ALWAYS_PADDED = 1 << 15  # slots that fit into the processor's cache, so that padding up to so many costs nothing


class OutcomeTables(NamedTuple):
    """A model as the sampler reads it.

    Attributes:
        levels: a tuple of L zeros; its length is part of its type, so that the search for an action is unrolled.
        stride: codes per state, 2^L.
        size: codes of the whole model, S * 2^L.
        width: slots per row where all rows are padded to one length, otherwise 0.
        accept: the part of each slot that belongs to its first outcome, in units of 2^-32 [slots].
        target: code of the next state, with the bit `ENDS`, of the two outcomes of each slot [2 * slots].
        reward: reward of the two outcomes of each slot [2 * slots].
        start_first: first slot of the row of start states.
        start_width: number of slots of that row; a start that is certain has one and draws no number.
        horizon: steps after which an episode ends.
        discount: discount.
    """

    levels: tuple[int, ...]
    stride: int
    size: np.uint64
    width: np.uint64
    accept: NDArray[np.uint32]
    target: NDArray[np.uint32]
    reward: FloatArray
    start_first: np.uint64
    start_width: np.uint64
    horizon: np.uint64
    discount: float


def outcome_tables(
    offsets: IntArray,
    probabilities: FloatArray,
    next_states: IntArray,
    rewards: FloatArray,
    ends: NDArray[np.bool_],
    start: FloatArray,
    horizon: int,
    discount: float,
) -> tuple[OutcomeTables, Words | None]:
    """Lay out a model for the sampler.

    Args:
        offsets: outcomes of action a in state s are offsets[s * A + a]:offsets[s * A + a + 1] [S * A + 1].
        probabilities: chance of each outcome [K].
        next_states: where it leads [K].
        rewards: its reward [K].
        ends: whether it ends the episode [K].
        start: chance that an episode begins in each state [S].
        horizon: steps after which an episode ends.
        discount: discount.

    Returns:
        the tables, and `heads` [S * 2^L], or None where rows are padded.
    """
    n_states = len(start)
    n_actions = (len(offsets) - 1) // n_states
    levels = max(1, (n_actions - 1).bit_length())
    stride = 1 << levels
    counts = np.zeros((n_states, stride), dtype=np.int64)
    counts[:, :n_actions] = np.diff(offsets).reshape(n_states, n_actions)
    width = int(np.max(counts))
    padded = counts.size * width <= max(ALWAYS_PADDED, len(rewards))
    rows = np.full(counts.size, width) if padded else counts.ravel()
    firsts = np.concatenate([[0], np.cumsum(rows)])
    starts = np.flatnonzero(start > 0.0)
    slots = int(firsts[-1])
    accept = np.zeros(slots + len(starts), dtype=np.uint32)
    target = np.zeros((slots + len(starts), 2), dtype=np.uint32)
    reward = np.zeros((slots + len(starts), 2))

    codes = (next_states * stride).astype(np.uint32) | np.where(ends, np.uint32(ENDS), np.uint32(0))
    begins = np.concatenate([[0], np.cumsum(counts.ravel())])
    chances, earned = as_contiguous(probabilities, np.float64), as_contiguous(rewards, np.float64)
    _fill_rows(begins, firsts, chances, codes, earned, accept, target, reward)
    _fill_rows(
        np.array([0, len(starts)]),
        np.array([slots, slots + len(starts)]),
        start[starts],
        (starts * stride).astype(np.uint32),
        np.zeros(len(starts)),
        accept,
        target,
        reward,
    )
    tables = OutcomeTables(
        levels=(0,) * levels,
        stride=stride,
        size=np.uint64(counts.size),
        width=np.uint64(width if padded else 0),
        accept=accept,
        target=target.ravel(),
        reward=reward.ravel(),
        start_first=np.uint64(slots),
        start_width=np.uint64(len(starts)),
        horizon=np.uint64(horizon),
        discount=discount,
    )
    heads = None if padded else (firsts[:-1].astype(np.uint64) << np.uint64(32)) | rows.astype(np.uint64)
    return tables, heads


@kernel
def _fill_rows(
    begins: IntArray,
    firsts: IntArray,
    probabilities: FloatArray,
    codes: NDArray[np.uint32],
    rewards: FloatArray,
    accept: NDArray[np.uint32],
    target: NDArray[np.uint32],
    reward: FloatArray,
) -> None:
    """Make the alias table of every row (Vose's method): pair each slot that is not full with one that overflows.

    Row r has the outcomes begins[r]:begins[r + 1] and the slots firsts[r]:firsts[r + 1], at least as many.
    """
    for row in range(len(begins) - 1):
        begin, count = begins[row], begins[row + 1] - begins[row]
        first, width = firsts[row], firsts[row + 1] - firsts[row]
        if count == 0:
            continue
        total = 0.0
        for i in range(count):
            total += probabilities[begin + i]
        mass, other = np.empty(width, FLOAT), np.empty(width, INTEGER)
        light, heavy = np.empty(width, INTEGER), np.empty(width, INTEGER)
        n_light, n_heavy = 0, 0
        for i in range(width):
            mass[i] = probabilities[begin + i] / total * width if i < count else 0.0
            other[i] = i
            if mass[i] < 1.0:
                light[n_light] = i
                n_light += 1
            else:
                heavy[n_heavy] = i
                n_heavy += 1
        while n_light > 0 and n_heavy > 0:
            n_light -= 1
            i, j = light[n_light], heavy[n_heavy - 1]
            other[i] = j
            mass[j] -= 1.0 - mass[i]
            if mass[j] < 1.0:
                n_heavy -= 1
                light[n_light] = j
                n_light += 1
        for i in range(width):
            # a slot of padding is empty, so it always finds a partner, to which the whole slot then belongs
            mine, partner = i if i < count else other[i], other[i]
            slot = first + i
            accept[slot] = np.uint32(np.int64(min(mass[i] * 4294967296.0 + 0.5, 4294967295.0)))
            target[slot, 0], target[slot, 1] = codes[begin + mine], codes[begin + partner]
            reward[slot, 0], reward[slot, 1] = rewards[begin + mine], rewards[begin + partner]


@inline_kernel
def _set_thresholds(weights: FloatArray, thresholds: Words) -> None:
    """Turn one state's probabilities [A], of any total, into its thresholds [2^L]."""
    total = 0.0
    for a in range(len(weights)):
        total += weights[a]
    scale = 4611686018427387904.0 / total
    reached = 0.0
    for a in range(len(thresholds)):
        reached += weights[a] if a < len(weights) else 0.0
        # when no probability is left for the actions after this one, none of them is ever drawn
        thresholds[a] = CERTAIN if reached == total else np.uint64(np.int64(reached * scale))


@kernel
def thresholds_of_preferences(preferences: FloatArray, thresholds: Words) -> None:
    """Turn preferences h [P, S, A] of Gibbs policies into thresholds [P, S, 2^L]."""
    n_policies, n_states, n_actions = preferences.shape
    exponents = np.empty(n_states * n_actions, FLOAT)
    weights = exponents.reshape(n_states, n_actions)
    for p in range(n_policies):
        for s in range(n_states):
            top = preferences[p, s, 0]
            for a in range(1, n_actions):
                top = max(top, preferences[p, s, a])
            for a in range(n_actions):
                weights[s, a] = preferences[p, s, a] - top
        for i in range(len(exponents)):  # a flat loop, which the compiler runs several at a time
            exponents[i] = exp(exponents[i])
        for s in range(n_states):
            _set_thresholds(weights[s], thresholds[p, s])


@kernel
def thresholds_of_probabilities(probabilities: FloatArray, thresholds: Words) -> None:
    """Turn probabilities [P, S, A] into thresholds [P, S, 2^L]."""
    for p in range(len(probabilities)):
        for s in range(probabilities.shape[1]):
            _set_thresholds(probabilities[p, s], thresholds[p, s])
