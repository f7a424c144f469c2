"""How good a policy can be on the problems of `risky_problems`: the search for the best, and a bound on it.

    python benchmarks/best_policies.py [part of a name ...]

Prints a Markdown table. A policy sees the state of the model alone, as the one that is trained does. The bound is the
best value of a policy that also knows the time and what was earned so far. By the dual of the measure,

    CVaR(alpha) = max over z of E[z - (z - R)^+ / alpha],   J - lambda V = max over m of E[R - lambda (R - m)^2],

it is a dynamic program over (time, state, what is missing to z), which gives all z at once; rewards are integers, so
that it is exact. Where time is in the state and the return so far follows from it, the program's policy sees no more
than the state does, and the bound is met. A dual power is a mixture of CVaR over all levels, and its bound, the mixture
of the best of each, is a loose one; in short models whose state tells all, every law that no other dominates is listed.

Elsewhere many ascents along the exact gradient are tried: to the measure alone, from the mean and from the worse of two
episodes; from the uniform policy and from random ones. The best few are made deterministic if that is better, and
improved state by state, by every other action and by drawing between two. Where time is in the state no policy that
draws is better than all others, since each measure here is convex in the law.
"""

import sys
import time
from dataclasses import dataclass
from typing import Final

import numpy as np
from lattice import Lattice, sweep
from risky_problems import CHOSEN, SET_ASIDE, RiskyProblem, model_of, share, value_of

import riskgrad as rg
from riskgrad.distortion import DistortionFunction, DualPower
from riskgrad.mdp import FiniteMDP
from riskgrad.risk import RiskMeasure
from riskgrad.types import DiscreteLaw, FloatArray, IntArray

OFFSETS: Final = 8  # parts of a unit at which the m of mean-variance is tried; the bound is right within lambda / 256
LEVELS: Final = 2_000  # of CVaR, of which a dual power is a mixture
FEW_STEPS: Final = 8  # up to which all laws that no other dominates are listed
STEPS: Final = 100  # of an ascent
WORK: Final = 3e6  # cells (time, state, return) over which random starts may go in all, 3 to 300 times
PROBES: Final = 800  # most single changes that one search state by state may try
MET: Final = 0.01  # share of the gap that a bound may lie above a policy which is called the best


@dataclass(frozen=True)
class Bound:
    """The best value of a policy that knows time and return, and the policy itself where the state tells both.

    Attributes:
        value: the bound.
        actions: the action in each state [S], where the state tells time and return; else None.
    """

    value: float
    actions: IntArray | None


def bound_of(mdp: FiniteMDP, risk: str) -> Bound:
    """Give the best value with full memory; see the module docstring."""
    rho, lattice = rg.risk.parse(risk), Lattice.of(mdp, room=False)
    low, high = (int(end) for end in mdp.return_range)
    targets = np.arange(low, high + 1)
    # what may be missing to a target, whatever was earned so far
    missing = np.arange(low - int(lattice.most[-1, 0]), high - int(lattice.least[-1, 0]) + 1)
    if rho.function is not None:
        alphas = np.array([rho.bad_tail]) if rho.bad_tail else np.arange(1, LEVELS + 1) / LEVELS
        short, kept = solve(lattice, targets - missing[0], final := -np.maximum(missing, 0).astype(np.float64))
        tails = targets + short / alphas[:, None]  # of each level and target, never above the best CVaR
        if rho.bad_tail is None and lattice.told and len(lattice.acting) <= FEW_STEPS:
            laws = undominated_laws(lattice)
            return Bound(max(rho.value(DiscreteLaw(targets[law > 0.0], law[law > 0.0])) for law in laws), None)
        if rho.bad_tail is None:
            slopes = rho.function.derivative(1.0 - np.arange(LEVELS + 1) / LEVELS)
            masses = alphas * (slopes[:-1] - slopes[1:])
            return Bound(float(np.sum(masses / np.sum(masses) * np.max(tails, axis=1))), None)
        begin = int(targets[np.argmax(tails)] - missing[0])
        return Bound(float(np.max(tails)), read_actions(lattice, kept, final, begin) if kept else None)
    best = Bound(-np.inf, None)
    for part in np.arange(OFFSETS) / OFFSETS:
        final = -(missing + part) - (rho.variance_price or 0.0) * (missing + part) ** 2
        short, kept = solve(lattice, targets - missing[0], final)
        top = int(np.argmax(targets + part + short))
        if targets[top] + part + short[top] > best.value:
            actions = read_actions(lattice, kept, final, int(targets[top] - missing[0])) if kept else None
            best = Bound(float(targets[top] + part + short[top]), actions)
    return best


def solve(lattice: Lattice, places: IntArray, final: FloatArray) -> tuple[FloatArray, dict[int, FloatArray]]:
    """Run the program with the values `final` [W] of what is missing at the end.

    Returns:
        the best value for each target, whose places in [0, W) are given; and the values [W] of each state, if it tells
        the time and what was earned, else none.
    """
    mdp = lattice.mdp
    now, later = np.zeros((2, mdp.n_states, len(final)))
    kept: dict[int, FloatArray] = {}
    for t in range(mdp.horizon - 1, -1, -1):
        ends = np.ones_like(mdp.ends) if t == mdp.horizon - 1 else mdp.ends
        columns = (mdp.offsets, mdp.probabilities, mdp.next_states, lattice.rewards, ends)
        sweep(lattice.acting[t], *columns, mdp.n_actions, final, later, now)
        now, later = later, now
        if lattice.told:
            kept |= {int(s): later[s].copy() for s in lattice.acting[t]}
    return np.tensordot(mdp.start, later[:, places], axes=1), kept


def read_actions(lattice: Lattice, kept: dict[int, FloatArray], final: FloatArray, begin: int) -> IntArray:
    """Read the best action of each state off a program's values, for the one target whose place is `begin`."""
    mdp = lattice.mdp
    actions = np.zeros(mdp.n_states, dtype=np.int64)
    for t, states in enumerate(lattice.acting):
        for s in states:
            at = begin - int(lattice.least[t, s])
            totals = np.zeros(mdp.n_actions)
            for a in range(mdp.n_actions):
                for k in range(mdp.offsets[s * mdp.n_actions + a], mdp.offsets[s * mdp.n_actions + a + 1]):
                    left, over = at - int(lattice.rewards[k]), mdp.ends[k] or t == mdp.horizon - 1
                    totals[a] += mdp.probabilities[k] * (final[left] if over else kept[int(mdp.next_states[k])][left])
            actions[s] = int(np.argmax(totals))
    return actions


def undominated_laws(lattice: Lattice) -> FloatArray:
    """Give the laws of all deterministic policies that no other's dominates [n, targets], from the last state back.

    Only for models in which the state tells the time and what was earned: then a law that is dominated after some
    state is so at the start, and no monotone measure is the worse for leaving it out.
    """
    mdp = lattice.mdp
    low, high = (int(end) for end in mdp.return_range)
    laws: dict[int, FloatArray] = {}
    for t in range(mdp.horizon - 1, -1, -1):
        for s in lattice.acting[t]:
            found: list[FloatArray] = []
            for pair in range(s * mdp.n_actions, (s + 1) * mdp.n_actions):
                sums = np.zeros((1, high - low + 1))
                for k in range(mdp.offsets[pair], mdp.offsets[pair + 1]):
                    if mdp.ends[k] or t == mdp.horizon - 1:
                        after = np.eye(high - low + 1)[[lattice.least[t, s] + lattice.rewards[k] - low]]
                    else:
                        after = laws[int(mdp.next_states[k])]
                    sums = (sums[:, None] + mdp.probabilities[k] * after[None]).reshape(-1, high - low + 1)
                found.append(sums)
            every = np.unique(np.round(np.concatenate(found), 13), axis=0)
            above = np.cumsum(every[:, ::-1], axis=1)
            beaten = [
                np.any(np.all(above >= row - 1e-12, axis=1) & np.any(above > row + 1e-10, axis=1)) for row in above
            ]
            laws[int(s)] = every[~np.array(beaten)]
    (begin,) = np.flatnonzero(mdp.start > 0.0)
    return laws[int(begin)] / np.sum(laws[int(begin)], axis=1, keepdims=True)


def softmax(logits: FloatArray) -> FloatArray:
    raised = np.exp(logits - np.max(logits, axis=1, keepdims=True))
    return raised / np.sum(raised, axis=1, keepdims=True)


def ascend(
    lattice: Lattice, rho: RiskMeasure, logits: FloatArray, steps: int, start: DistortionFunction | str | None
) -> tuple[float, FloatArray]:
    """Climb the exact natural gradient by steps of a given size in KL; give the best value and its table [S, A].

    Args:
        lattice: the model.
        rho: the measure.
        logits: where to begin [S, A].
        steps: how many.
        start: "mean" or the distortion from which the measure comes in the first half; None for none.
    """
    best, found = -np.inf, softmax(logits)
    for k in range(steps):
        weight = min(1.0, 2.0 * k / steps)
        along = rho if start is None else rho.along(weight, None if start == "mean" else start)
        table = np.maximum(softmax(logits), 1e-9)
        table /= np.sum(table, axis=1, keepdims=True)
        law, slopes = lattice.slopes(table, along)
        counts = lattice.visits()
        if (weight == 1.0 or start is None) and rho.value(law) > best:
            best, found = rho.value(law), table
        advantage = slopes - np.sum(table * slopes, axis=1, keepdims=True)
        advantage = np.where(counts[:, None] > 1e-12, advantage / np.maximum(counts, 1e-12)[:, None], 0.0)
        size = np.sum((counts / np.sum(counts))[:, None] * table * advantage**2)
        if size <= 1e-18:
            break
        scale = np.sqrt(2.0 * 0.05 * 0.02 ** (k / steps) / size)
        logits = logits + np.clip(scale * advantage, -2.0, 2.0)
        logits = np.maximum(logits - np.max(logits, axis=1, keepdims=True), -25.0)
    return best, found


def improve(
    lattice: Lattice, rho: RiskMeasure, table: FloatArray, probes: int, *, draw: bool
) -> tuple[float, FloatArray]:
    """Make a table deterministic if that is better, then change it state by state while that helps.

    Args:
        lattice: the model.
        rho: the measure.
        table: where to begin [S, A].
        probes: most changes to try.
        draw: whether to try drawing between two actions as well.
    """
    eye = np.eye(lattice.mdp.n_actions)
    best, table = max(
        ((rho.value(lattice.return_law(one)), one) for one in (table, eye[np.argmax(table, axis=1)])),
        key=lambda pair: pair[0],
    )
    before = -np.inf
    while best > before + 1e-9 * max(1.0, abs(best)) and probes > 0:
        before = best
        lattice.return_law(table)
        counts = lattice.visits()
        for state in np.argsort(-counts, kind="stable"):
            if counts[state] <= 1e-9 or probes <= 0:
                break
            rows = list(eye)
            if draw:
                rows += [(1.0 - part) * table[state] + part * row for row in eye for part in (0.05, 0.3)]
            for row in rows:
                trial = table.copy()
                trial[state] = row
                value, probes = rho.value(lattice.return_law(trial)), probes - 1
                if value > best + 1e-12:
                    best, table = value, trial
    return best, table


def search(lattice: Lattice, rho: RiskMeasure, starts: int) -> FloatArray:
    """Give the policy table [S, A] with the best value that was found.

    Args:
        lattice: the model.
        rho: the measure.
        starts: ascents that begin at random; those from the uniform policy come on top.
    """
    rng, shape = np.random.default_rng(0), (lattice.mdp.n_states, lattice.mdp.n_actions)
    paths: list[DistortionFunction | str | None] = [None, "mean", DualPower(2.0)][: 2 + (rho.function is not None)]
    begins = [(np.zeros(shape), path) for path in paths]
    begins += [(2.0 * rng.normal(size=shape), paths[i % len(paths)]) for i in range(starts)]
    found = [ascend(lattice, rho, logits, STEPS, path) for logits, path in begins]
    found.sort(key=lambda pair: -pair[0])
    better = [improve(lattice, rho, table, PROBES, draw=not lattice.timed) for _, table in found[:2]]
    return max(better, key=lambda pair: pair[0])[1]


def study(problem: RiskyProblem) -> str:
    """Give the line of one problem; all values in it are those of `riskgrad.exact`, but for the bound."""
    begun = time.perf_counter()
    mdp, rho = model_of(problem), rg.risk.parse(problem.risk)
    bound = bound_of(mdp, problem.risk)
    if bound.actions is None:
        lattice = Lattice.of(mdp)
        table = search(lattice, rho, starts=int(np.clip(WORK / lattice.cells, 3, 300)))
    else:
        table = np.eye(mdp.n_actions)[bound.actions]
    uniform = np.full((mdp.n_states, mdp.n_actions), 1.0 / mdp.n_actions)
    start, neutral, best = (value_of(problem, one) for one in (uniform, mean_table(mdp), table))
    certified = bound.value - best <= MET * (best - start)
    return (
        f"| {problem.name} | {problem.risk} | {mdp.n_states * mdp.n_actions} | {mdp.horizon} "
        f"| {'yes' if Lattice.of(mdp, room=False).timed else 'no'} | {start:.4f} | {neutral:.4f} "
        f"| {(neutral - start) / (best - start):.2f} | {best:.4f} | {bound.value:.4f} | {'yes' if certified else 'no'} "
        f"| {share(problem, best):.4f} | {time.perf_counter() - begun:.0f} |"
    )


def mean_table(mdp: FiniteMDP) -> FloatArray:
    """Give the table [S, A] of the best mean: by a program where the state tells the time, else by search."""
    if not Lattice.of(mdp, room=False).timed:
        return search(Lattice.of(mdp), rg.risk.Mean(), starts=0)
    rows = np.repeat(np.arange(mdp.n_states * mdp.n_actions), np.diff(mdp.offsets))
    each = np.zeros((mdp.n_states, mdp.n_actions))
    for _ in range(mdp.horizon):
        later = mdp.rewards + np.where(mdp.ends, 0.0, np.max(each, axis=1)[mdp.next_states])
        each = np.bincount(rows, mdp.probabilities * later, minlength=each.size).reshape(each.shape)
    return np.eye(mdp.n_actions)[np.argmax(each, axis=1)]


def main() -> None:
    columns = ("problem", "risk", "d", "T", "time in the state", "uniform", "best for the mean", "its share", "best")
    columns += ("bound", "met", "stored share", "s")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    wanted = sys.argv[1:]
    for problem in CHOSEN + SET_ASIDE:
        if not wanted or any(word in problem.name for word in wanted):
            print(study(problem), flush=True)


if __name__ == "__main__":
    main()
