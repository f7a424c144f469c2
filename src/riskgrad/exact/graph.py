"""A finite model as a graph, along whose edges a policy moves probability mass.

The nodes are the states and one more, the sink, to which episodes go when they are over. An edge is a distinct (state,
node, reward): all outcomes that lead from a state to a node with a reward share it, whatever the action, and under a
policy its weight is the sum of their chances. Edges are sorted by the node to which they lead, since mass is summed
node by node.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import as_reals
from riskgrad.errors import InputError
from riskgrad.mdp import FiniteMDP
from riskgrad.types import FloatArray, IntArray

ROW_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Graph:
    """The edges of a model, whatever the policy.

    Attributes:
        n_states: S; node S is the sink.
        source: where each edge begins [E].
        reward: the reward of each edge [E].
        incoming: edges into node j are incoming[j]:incoming[j + 1] [S + 2].
        outcome_edge: the edge of each outcome of the model [K].
    """

    n_states: int
    source: IntArray
    reward: FloatArray
    incoming: IntArray
    outcome_edge: IntArray


@dataclass(frozen=True, slots=True)
class PolicyEdges:
    """The edges that a policy can take, as a step of the recursion needs them.

    Attributes:
        edges: their indices in the graph [E'].
        source: where each edge begins [E'].
        reward: the reward of each edge [E'].
        weight: the chance of each edge, given its source; positive [E'].
        incoming: edges into node j are incoming[j]:incoming[j + 1] [S + 2].
    """

    edges: IntArray
    source: IntArray
    reward: FloatArray
    weight: FloatArray
    incoming: IntArray


@lru_cache(maxsize=16)
def graph_of(mdp: FiniteMDP, last: bool) -> Graph:
    """Give the edges of a step; in the `last` step before the horizon every edge leads to the sink.

    Models are frozen, so recent graphs are cached: a search over policies builds them once.
    """
    sources = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets)) // mdp.n_actions
    ends = np.ones_like(mdp.ends) if last else mdp.ends
    targets = np.where(ends, mdp.n_states, mdp.next_states)
    order = np.lexsort((mdp.rewards, sources, targets))
    target, source, reward = targets[order], sources[order], mdp.rewards[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (target[1:] != target[:-1]) | (source[1:] != source[:-1]) | (reward[1:] != reward[:-1])
    outcome_edge = np.empty(len(order), dtype=np.int64)
    outcome_edge[order] = np.cumsum(new) - 1
    incoming = np.searchsorted(target[new], np.arange(mdp.n_states + 2)).astype(np.int64)
    return Graph(mdp.n_states, source[new].astype(np.int64), reward[new], incoming, outcome_edge)


def weigh_edges(mdp: FiniteMDP, graph: Graph, table: FloatArray) -> PolicyEdges:
    """Give the edges that a policy table [S, A] can take, with their weights."""
    chances = mdp.probabilities * np.repeat(table.ravel(), np.diff(mdp.offsets))
    weight = np.bincount(graph.outcome_edge, weights=chances, minlength=len(graph.source)).astype(np.float64)
    used = np.flatnonzero(weight > 0.0)
    incoming = np.searchsorted(used, graph.incoming).astype(np.int64)
    return PolicyEdges(used.astype(np.int64), graph.source[used], graph.reward[used], weight[used], incoming)


def check_table(mdp: FiniteMDP, policy_table: ArrayLike) -> FloatArray:
    """Give the policy table [S, A]; refuse rows that are no distribution, except those of terminal states."""
    table = as_reals("policy_table", policy_table)
    if table.shape != (mdp.n_states, mdp.n_actions):
        raise InputError("policy_table", f"have shape {(mdp.n_states, mdp.n_actions)}", f"shape {table.shape}")
    acting = ~mdp.terminal
    sums = np.sum(table, axis=1)
    wrong = acting & ~(np.all(table >= 0.0, axis=1) & (np.abs(sums - 1.0) <= ROW_TOLERANCE))
    if np.any(wrong):
        state = int(np.flatnonzero(wrong)[0])
        if np.all(table[state] >= 0.0):
            raise InputError(f"probabilities of state {state} in policy_table", "sum to 1", float(sums[state]))
        raise InputError(f"row {state} of policy_table", "not be negative or NaN", table[state].tolist())
    return np.where(acting[:, None], table / np.where(acting, sums, 1.0)[:, None], 0.0)
