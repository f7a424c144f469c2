"""The law of the return in a learned model, and what each action gains under a utility.

    T steps   S states   A actions   rows of a policy's table: S, or S for each cell of its memory

A graph has a node for each (time, state, return so far) that the model can reach, the return at knots between which
everything is linear. One sweep forward gives the law of the return under a policy; one sweep backward gives Q - V for
a utility of the return, averaged over the visits to each row of the policy's table.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from riskgrad.critic.log import Block
from riskgrad.critic.outcomes import OutcomeModel
from riskgrad.kernels import value_layout, value_sweeps
from riskgrad.kernels.compile import contiguous
from riskgrad.kernels.knots import place_knots, sort_by_time
from riskgrad.kernels.outcome_counts import returns_so_far
from riskgrad.policy import Policy
from riskgrad.types import FloatArray, IntArray

KNOTS: Final = 128  # of each time
FEWEST_KNOTS: Final = 16
END_KNOTS: Final = 512  # of the final return
ASTRAY: Final = 0.2  # share of random actions of a policy that goes astray
ASTRAY_WEIGHT: Final = 1e-3  # of where it gets to
MOST_EDGES: Final = 1 << 20  # nodes times what can follow them; more make knots fewer
ENOUGH_KNOTS: Final = 64  # of each time; fewer mislead in long episodes, each of whose steps rounds
STRETCH: Final = 8  # times as many edges are swept over for so many


@dataclass(frozen=True)
class Gains:
    """The result of a sweep backward.

    Attributes:
        values: expected utility from each node; the sweeper's own, until its next sweep backward.
        gains: Q - V of each action, averaged over the visits to each row [rows, A]; 0 where there are none.
        visits: expected visits to each row in an episode [rows].
    """

    values: FloatArray
    gains: FloatArray
    visits: FloatArray


class ValueGraph:
    """A learned model with the return so far in its state.

    Args:
        model: what followed what.
        horizon: T.
        discount: of the returns.
        recent: recent batches, which say where the chances are.
        straight: whether every utility is a straight line, so that few knots are enough.
        policy: whose memory says which row of its table is read where; without one there is a row for each state.

    Attributes:
        model: as given.
        exact: whether no return is rounded to a knot.
        edges: nodes times the groups of outcomes that can follow.
        mean_length: of recent episodes.
        known: which actions were met in each state, by rows [rows, A].
        ends: knots of the final return [E].
        layout: nodes and outcomes as kernels read them.
    """

    def __init__(
        self,
        model: OutcomeModel,
        horizon: int,
        discount: float,
        recent: list[Block],
        straight: bool = False,
        policy: Policy | None = None,
    ) -> None:
        self.model, self._policy, self._discount = model, policy, discount
        n_states, n_actions = model.counts.shape
        self._powers = _powers(discount, horizon)
        begins, sums, returns, self.mean_length = _sort_recent(recent, horizon, discount)
        self._low, self._high = value_layout.find_ranges(
            horizon,
            n_states,
            n_actions,
            self._powers,
            model.groups,
            model.group_rewards,
            model.firsts,
            model.nexts,
            model.starts,
        )
        self._recent = (begins, sums, returns)
        self._lay_out(FEWEST_KNOTS if straight else KNOTS, END_KNOTS)
        if self.edges > MOST_EDGES and not straight:
            knots = KNOTS * MOST_EDGES / self.edges
            self._lay_out(int(max(knots, min(ENOUGH_KNOTS, STRETCH * knots), FEWEST_KNOTS)), END_KNOTS)
        memory = None if policy is None else policy.memory
        self.known = np.tile(model.counts > 0.0, (1 if memory is None else memory.cells, 1))

    def _lay_out(self, most: int, most_ends: int) -> None:
        model, horizon = self.model, len(self._powers)
        n_states, n_actions = model.counts.shape
        self.exact, offsets, knots, self.ends = place_knots(
            self._powers, np.unique(model.group_rewards), *self._recent, self._low, self._high, most, most_ends
        )
        lo, hi = np.empty(horizon * n_states, dtype=np.int64), np.empty(horizon * n_states, dtype=np.int64)
        node = np.zeros(horizon * n_states + 1, dtype=np.int64)
        layout = value_layout.Layout(
            horizon=horizon,
            n_states=n_states,
            n_actions=n_actions,
            powers=self._powers,
            groups=model.groups,
            group_rewards=model.group_rewards,
            firsts=model.firsts,
            nexts=model.nexts,
            chances=model.chances,
            starts=model.starts,
            knot_offsets=offsets,
            knots=knots,
            knot_slopes=_slopes(knots, offsets),
            ends=self.ends,
            end_slopes=_slopes(self.ends, np.array([0, len(self.ends)])),
            lo=lo,
            hi=hi,
            node=node,
            cells=self._find_cells(offsets, knots),
        )
        value_layout.find_windows(layout)
        widths = np.where(hi < 0, 0, hi - lo + 1)
        node[1:] = np.cumsum(widths)
        per_state = model.groups[n_actions::n_actions] - model.groups[:-1:n_actions]
        self.edges = int(np.sum(widths.reshape(horizon, n_states) * per_state))
        self.layout = layout

    def _find_cells(self, offsets: IntArray, knots: FloatArray) -> IntArray:
        memory = None if self._policy is None else self._policy.memory
        if memory is None:
            return np.zeros(len(knots), dtype=np.int64)
        times = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return memory.find_cells(times, knots)

    def among_known(self, table: FloatArray) -> FloatArray:
        """Give the probabilities of the actions that were seen [rows, A]; the model knows no others."""
        chances = np.where(self.known, table, 0.0)
        return chances / np.maximum(np.sum(chances, axis=1, keepdims=True), 1e-300)

    def read_values(self, gains: Gains, block: Block) -> FloatArray:
        """Give V at each step of a batch [N], between the knots of its time."""
        times, sums = _sums_of(block, self._discount)
        found = np.empty(len(sums))
        states = contiguous(block.states, np.int64)
        value_sweeps.read_values(self.layout, gains.values, states, times, sums, found)
        return found


class Sweeper:
    """Sweeps over a graph, for one ascent at a time; several may sweep over one graph at once.

    Args:
        graph: the model.
    """

    def __init__(self, graph: ValueGraph) -> None:
        nodes = int(graph.layout.node[-1])
        self.graph = graph
        self._mass, self._astray, self._law = np.empty(nodes), np.zeros(nodes), np.empty(len(graph.ends))
        self._values = np.empty(nodes)

    def law(self, table: FloatArray) -> FloatArray:
        """Give the chance of each final knot [E] under the chances of actions [rows, A]."""
        graph = self.graph
        value_sweeps.sweep_forward(graph.layout, graph.among_known(table), self._mass, self._law)
        return self._law / np.sum(self._law)

    def gains(self, table: FloatArray, utility: FloatArray, tails: tuple[float, float]) -> Gains:
        """Give what each action gains over the policy, after `law` was asked for the same policy.

        Args:
            table: chances of actions [rows, A].
            utility: of each final knot [E].
            tails: its slope below the first knot and above the last.
        """
        graph, values, sums = self.graph, self._values, np.empty(table.shape)
        weights, visits = np.empty(len(table)), np.empty(len(table))
        acting = graph.among_known(table)
        value_sweeps.sweep_backward(
            graph.layout, acting, utility, tails, self._mass, self._astray, values, sums, weights, visits
        )
        gains = np.where(graph.known, sums / np.maximum(weights, 1e-300)[:, None], 0.0)
        return Gains(values, gains, visits)

    def go_astray(self, table: FloatArray) -> None:
        """Let `gains` also see, with a small weight, where the policy would get to by taking random actions at times.

        A row that the policy hardly ever visits would otherwise never learn what to do, and so never become worth a
        visit.
        """
        graph = self.graph
        mixed = (1.0 - ASTRAY) * table + ASTRAY / table.shape[1]
        value_sweeps.sweep_forward(graph.layout, graph.among_known(mixed), self._astray, self._law)
        self._astray *= ASTRAY_WEIGHT


def _sums_of(block: Block, discount: float) -> tuple[IntArray, FloatArray]:
    times, sums = np.empty(len(block.states), dtype=np.int64), np.empty(len(block.states))
    returns_so_far(discount, block.offsets, block.rewards, times, sums)
    return times, sums


def _sort_recent(recent: list[Block], horizon: int, discount: float) -> tuple[IntArray, FloatArray, FloatArray, float]:
    """Give returns so far by time, where each time begins, final returns, and the mean length of episodes."""
    parts = [_sums_of(block, discount) for block in recent]
    times, sums = (np.concatenate(part) for part in zip(*parts, strict=True))
    begins, by_time = sort_by_time(horizon, times, sums)
    powers = _powers(discount, horizon)
    finals: list[FloatArray] = []
    for block, (when, before) in zip(recent, parts, strict=True):
        last = block.offsets[1:] - 1
        finals.append(before[last] + powers[when[last]] * block.rewards[last])
    returns = np.sort(np.concatenate(finals))
    return begins, by_time, returns, len(sums) / len(returns)


def _powers(discount: float, horizon: int) -> FloatArray:
    """Give the discount to the power of t, by products [T]."""
    factors = np.full(horizon, discount)
    factors[0] = 1.0
    return np.asarray(np.cumprod(factors), dtype=np.float64)


def _slopes(knots: FloatArray, offsets: IntArray) -> FloatArray:
    """Give 1 over the gap to the next knot, 0 for the last one of each time."""
    slopes = np.zeros(len(knots))
    gaps = np.diff(knots)
    slopes[:-1] = 1.0 / np.where(gaps > 0.0, gaps, 1.0)
    slopes[offsets[1:] - 1] = 0.0
    return slopes
