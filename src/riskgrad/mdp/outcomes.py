"""Outcomes of a finite model as columns, read from arrays or from nested lists."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import as_reals
from riskgrad.errors import InputError
from riskgrad.types import FloatArray, IntArray

PLAIN: Final = {bool, int, float, np.bool_, np.int64, np.float64}  # numbers of the kinds that tables mostly hold


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of a model, what may happen after each action in each state, sorted by `rows`.

    Attributes:
        n_states: S.
        n_actions: A.
        rows: s * A + a of the state s and action a of each outcome, never decreasing [K].
        probabilities: of each outcome [K].
        next_states: of each outcome [K].
        rewards: of each outcome [K].
        ends: whether the episode is over after the outcome [K].
    """

    n_states: int
    n_actions: int
    rows: IntArray
    probabilities: FloatArray
    next_states: IntArray
    rewards: FloatArray
    ends: NDArray[np.bool_]

    def pair(self, row: int) -> str:
        """Give the state and the action of a row in words, for messages."""
        return f"(state {row // self.n_actions}, action {row % self.n_actions})"


def from_arrays(transition: ArrayLike, reward: ArrayLike) -> Outcomes:
    """Read arrays [S, A, S]; entries of probability zero are dropped, and their rewards may be anything."""
    chances, payoffs = as_reals("transition", transition), as_reals("reward", reward)
    if chances.ndim != 3 or chances.shape[0] != chances.shape[2] or chances.size == 0:
        raise InputError("transition", "have shape [S, A, S]", f"shape {chances.shape}")
    if payoffs.shape != chances.shape:
        advice = (
            "repeat a reward [S, A] along the next state: np.repeat(reward[:, :, None], S, axis=2)"
            if payoffs.shape == chances.shape[:2]
            else ""
        )
        raise InputError("reward", f"have the shape of transition, {chances.shape}", f"shape {payoffs.shape}", advice)
    n_states, n_actions, _ = chances.shape
    # not "> 0": negative and NaN entries are kept, so that a later check refuses them by name
    states, actions, targets = np.nonzero(chances != 0.0)
    return Outcomes(
        n_states,
        n_actions,
        (states * n_actions + actions).astype(np.int64),
        chances[states, actions, targets],
        targets.astype(np.int64),
        payoffs[states, actions, targets],
        np.zeros(len(states), dtype=np.bool_),
    )


def from_lists(outcomes: Sequence[Any] | Mapping[int, Any]) -> Outcomes:
    """Read outcomes[s][a], a list of (probability, next state, reward, ends); dicts must have the keys 0, 1, ..."""
    states = _in_order("outcomes", outcomes)
    table = [_in_order(f"outcomes[{s}]", state) for s, state in enumerate(states)]
    n_states, n_actions = len(table), len(table[0])
    for s, actions in enumerate(table):
        if len(actions) != n_actions:
            raise InputError(f"outcomes[{s}]", f"have {n_actions} actions, like outcomes[0]", f"{len(actions)} actions")
    lists = list(chain.from_iterable(table))
    if set(map(type, lists)) != {list}:
        lists = [_as_list("outcomes", one) for one in lists]
    rows = np.repeat(np.arange(len(lists), dtype=np.int64), [len(one) for one in lists])
    flat = list(chain.from_iterable(lists))
    columns = _as_columns(flat)
    targets = np.where(np.abs(columns[:, 1]) <= n_states, columns[:, 1], -1.0).astype(np.int64)
    outside = (targets != columns[:, 1]) | (targets < 0) | (targets >= n_states)
    found = Outcomes(
        n_states, n_actions, rows, columns[:, 0].copy(), targets, columns[:, 2].copy(), columns[:, 3] != 0.0
    )
    if outside.any():
        bad = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"next state of {found.pair(int(rows[bad]))}", f"be in 0..{n_states - 1}", float(columns[bad, 1])
        )
    return found


def _as_columns(flat: list[Any]) -> FloatArray:
    """Give a list of outcomes as an array [K, 4]; refuse what is not four numbers."""
    # NumPy takes twice as long to look at tuples itself
    if set(map(type, flat)) <= {tuple, list} and set(map(len, flat)) == {4}:
        with contextlib.suppress(OverflowError):  # an integer beyond all floats
            if set(map(type, chain.from_iterable(flat))) <= PLAIN:
                return np.fromiter(chain.from_iterable(flat), np.float64, 4 * len(flat)).reshape(-1, 4)
    try:
        columns: FloatArray = as_reals("outcomes", flat)
    except InputError:
        columns = np.empty((0, 0))
    if columns.ndim != 2 or columns.shape[1] != 4:
        raise InputError("outcomes", "hold tuples (probability, next state, reward, ends)", _odd_one(flat))
    return columns


def merge_equal(outcomes: Outcomes, terminal: NDArray[np.bool_]) -> Outcomes:
    """Drop outcomes that cannot happen, merge equal outcomes of a row, and divide the probabilities by their sum."""
    happens = (outcomes.probabilities > 0.0) & ~terminal[outcomes.rows // outcomes.n_actions]
    rows, targets = outcomes.rows[happens], outcomes.next_states[happens]
    rewards = outcomes.rewards[happens] + 0.0  # turns -0.0 into 0.0, so that they count as equal
    ends = outcomes.ends[happens] | terminal[targets]
    order = np.lexsort((ends, rewards, targets, rows))
    rows, targets, rewards, ends = rows[order], targets[order], rewards[order], ends[order]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = (
        (rows[1:] != rows[:-1])
        | (targets[1:] != targets[:-1])
        | (rewards[1:] != rewards[:-1])
        | (ends[1:] != ends[:-1])
    )
    chances = np.add.reduceat(outcomes.probabilities[happens][order], new.nonzero()[0])
    rows = rows[new]
    totals = np.bincount(rows, weights=chances)
    return Outcomes(
        outcomes.n_states, outcomes.n_actions, rows, chances / totals[rows], targets[new], rewards[new], ends[new]
    )


def _in_order(name: str, table: Sequence[Any] | Mapping[int, Any]) -> list[Any]:
    if type(table) is not list and isinstance(table, Mapping):  # the second question takes longer
        missing = [key for key in range(len(table)) if key not in table]
        if missing:
            raise InputError(name, f"have the keys 0..{len(table) - 1}", f"no key {missing[0]}")
        items = [table[key] for key in range(len(table))]
    else:
        items = _as_list(name, table)
    if not items:
        raise InputError(name, "not be empty", items)
    return items


def _as_list(name: str, given: Any) -> list[Any]:
    if isinstance(given, list):  # what most tables hold
        return cast("list[Any]", given)
    if not isinstance(given, str | bytes | Mapping):
        with contextlib.suppress(TypeError):
            return list(given)
    raise InputError(name, "hold lists of outcomes, outcomes[state][action]", cast("object", given))


def _odd_one(flat: list[Any]) -> object:
    for outcome in flat:
        try:
            if as_reals("outcome", outcome).shape != (4,):
                return outcome
        except InputError:
            return outcome
    return "no outcome at all"
