"""Checks of a finite model; an error names the argument or the state and action, the rule, and the value got."""

import importlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import are_usable, as_array, return_rule
from riskgrad.errors import InputError, TooLargeError
from riskgrad.mdp.outcomes import Outcomes
from riskgrad.types import FloatArray, IntArray

ROW_TOLERANCE = 1e-6
FEW_EDGES = 500  # a search that Python does in some tens of microseconds
MOST_OUTCOMES = 10_000_000  # most outcomes of a model that is built in Python, which takes about a microsecond each


def refuse_large(name: str, value: int, outcomes: int) -> None:
    """Refuse a size with which a model has so many outcomes that building it takes too long.

    Args:
        name: the argument, in the user's words.
        value: its value.
        outcomes: how many outcomes the model would have.
    """
    if outcomes > MOST_OUTCOMES:
        raise TooLargeError(name, f"leave at most {MOST_OUTCOMES:,} outcomes", value)


def start_distribution(start: int | ArrayLike, n_states: int) -> FloatArray:
    """Give the distribution of the first state [S] from a state or a distribution."""
    given = as_array("start", start)
    if given.ndim == 0:
        if given.dtype.kind not in "iu" or not 0 <= int(given) < n_states:
            raise InputError("start", f"be a state in 0..{n_states - 1}, or a distribution over states", start)
        first = np.zeros(n_states)
        first[int(given)] = 1.0
        return first
    if given.shape != (n_states,) or given.dtype.kind not in "iuf":
        raise InputError("start", f"be a state, or a distribution of shape ({n_states},)", f"shape {given.shape}")
    first = given.astype(np.float64)
    if not np.all(first >= 0.0):
        raise InputError("start", "not be negative or NaN", float(first[~(first >= 0.0)][0]))
    total = float(np.sum(first))
    if not abs(total - 1.0) <= ROW_TOLERANCE:
        raise InputError("start", "sum to 1", total)
    return first / total


def terminal_mask(terminal: ArrayLike, n_states: int) -> NDArray[np.bool_]:
    """Give the mask of terminal states [S] from indices or a mask."""
    given = np.atleast_1d(as_array("terminal", terminal))
    if given.dtype == np.bool_:
        if given.shape != (n_states,):
            raise InputError("terminal", f"be a mask of shape ({n_states},)", f"shape {given.shape}")
        return given.copy()
    mask = np.zeros(n_states, dtype=np.bool_)
    if given.size == 0:
        return mask
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise InputError("terminal", "hold states or be a mask", terminal)
    outside = (given < 0) | (given >= n_states)
    if outside.any():
        raise InputError("terminal", f"hold states in 0..{n_states - 1}", int(given[outside][0]))
    mask[given] = True
    return mask


def reachable_states(outcomes: Outcomes, start: FloatArray, terminal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Give the mask [S] of the states in which some policy can act if episodes are long enough."""
    sources = outcomes.rows // outcomes.n_actions
    moves = (outcomes.probabilities > 0.0) & ~outcomes.ends & ~terminal[outcomes.next_states] & ~terminal[sources]
    sources, targets = sources[moves], outcomes.next_states[moves]
    return _follow(sources, targets, start > 0.0)


def _follow(sources: IntArray, targets: IntArray, begins: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Give the mask [n] of the nodes in `begins` [n] and all that edges lead to from there, in linear time.

    Edges lead from sources, which never decrease, to targets.
    """
    n = len(begins)
    ends = np.cumsum(np.bincount(sources, minlength=n))  # of the edges of each source
    if len(targets) <= FEW_EDGES:
        return _follow_few(ends.tolist(), targets.tolist(), begins)
    csgraph: Any = importlib.import_module("scipy.sparse.csgraph")  # slow to import, and not typed
    sparse: Any = importlib.import_module("scipy.sparse")
    # one more node leads to all first ones, so that a single search is enough
    first = np.flatnonzero(begins)
    heads, offsets = np.append(targets, first), np.concatenate([[0], ends, [len(targets) + len(first)]])
    edges: Any = sparse.csr_array((np.ones(len(heads)), heads, offsets), shape=(n + 1, n + 1))
    found: Any = csgraph.breadth_first_order(edges, n, directed=True, return_predecessors=False)
    reached = np.zeros(n + 1, dtype=np.bool_)
    reached[found] = True
    return reached[:n]


def _follow_few(ends: list[int], targets: list[int], begins: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Do what `_follow` does in less time than SciPy takes to begin; edges of source s end at ends[s]."""
    reached, todo = begins.copy(), begins.nonzero()[0].tolist()
    while todo:
        source = todo.pop()
        for target in targets[ends[source - 1] if source else 0 : ends[source]]:
            if not reached[target]:
                reached[target] = True
                todo.append(target)
    return reached


def check_rows(outcomes: Outcomes, reachable: NDArray[np.bool_], terminal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Refuse rows that are no distribution, and rewards that are not usable; return the mask of terminal states [S].

    States that no episode reaches and that lack a row count as terminal; see the module docstring of `mdp.model`.
    """
    acting = ~terminal[outcomes.rows // outcomes.n_actions]
    _refuse("probability", "be at least 0", outcomes, acting & ~(outcomes.probabilities >= 0.0), outcomes.probabilities)
    possible = acting & (outcomes.probabilities > 0.0)
    bad = possible & ~are_usable(outcomes.rewards)
    rule = return_rule(float(outcomes.rewards[bad][0])) if bad.any() else ""
    _refuse("reward", rule, outcomes, bad, outcomes.rewards)
    shape = (outcomes.n_states, outcomes.n_actions)
    sums = np.bincount(outcomes.rows, weights=outcomes.probabilities, minlength=shape[0] * shape[1]).reshape(shape)
    lacking = ~terminal & (sums == 0.0).any(axis=1)
    wrong = ~(np.abs(sums - 1.0) <= ROW_TOLERANCE)
    wrong[terminal | (lacking & ~reachable)] = False
    if wrong.any():
        state, action = (int(index[0]) for index in np.nonzero(wrong))
        total = float(sums[state, action])
        advice = f"if an episode ends in state {state}, list it in terminal" if total == 0.0 else ""
        raise InputError(f"probabilities of (state {state}, action {action})", "sum to 1", total, advice)
    return terminal | (lacking & ~reachable)


def _refuse(what: str, rule: str, outcomes: Outcomes, bad: NDArray[np.bool_], values: FloatArray) -> None:
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        name = f"{what} of {outcomes.pair(int(outcomes.rows[first]))} to state {int(outcomes.next_states[first])}"
        raise InputError(name, rule, float(values[first]))
