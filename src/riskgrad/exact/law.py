"""The exact law of the return of a policy, by dynamic programming over (time, state, accumulated return).

An atom is an accumulated return of episodes that are in the same state at the same time, with their probability mass.
Episodes with the same time, state and accumulated return have the same future, so their mass is added. Sums that are
equal in exact arithmetic may differ in the last bits, so atoms are merged if they are within `width` of the smallest
atom of a cluster, where

    width = 2 (T + 4) eps M_r,   eps = 2^-53,   M_r = max |reward| (1 + gamma + ... + gamma^(T - 1)),   T = horizon.

An accumulated return is rounded at most T + 4 times by at most eps M_r, so equal returns are always within `width`.
If different returns differ by more than 2 `width` (integers do if T M_r < 10^14, and so do amounts in any usual unit of
money or time), then exactly the equal ones merge, and at discount 1 with integer rewards every atom is exact. If some
differ by less, they may merge too; an atom then moves by at most `width` per step, T `width` in all, which is about T^2
times the rounding of M_r itself. No risk measure that is monotone and shifts with the return changes by more.

The number of atoms limits the computation. At discount 1 with a few distinct rewards it stays small; below 1 every
history may have its own return. `TooLargeError` says how many atoms there are, and `grid=h` takes `width` = h: the
lower law merges clusters into their smallest atom, the upper law into their largest, so that

    R_lower <= R <= R_upper  on one probability space, each within (T + 1) h of R,

which is first-order stochastic dominance, and rho(lower) <= rho(R) <= rho(upper) for every monotone risk measure. An
atom moves only if others are within h of it, so that the two laws are usually much closer than 2 (T + 1) h.
"""

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from riskgrad.checks import check_count
from riskgrad.errors import InputError, TooLargeError
from riskgrad.exact.graph import PolicyEdges, check_table, graph_of, weigh_edges
from riskgrad.kernels.recursion import advance_mass, merge_atoms
from riskgrad.kinds import checks_kinds
from riskgrad.mdp import FiniteMDP
from riskgrad.types import DiscreteLaw, FloatArray, IntArray

MAX_ATOMS = 10_000_000


@dataclass(frozen=True, slots=True)
class Atoms:
    """The atoms after some steps: those of node j are begin[j]:begin[j + 1], and the last node is the sink.

    Attributes:
        values: accumulated returns, increasing within a node [n].
        masses: their probabilities [n].
        begin: where the atoms of each node begin [S + 2].
    """

    values: FloatArray
    masses: FloatArray
    begin: IntArray

    @property
    def end_atoms(self) -> tuple[FloatArray, FloatArray]:
        """The atoms (values, masses) in the sink: episodes that ended in the last of these steps."""
        return self.values[self.begin[-2] :], self.masses[self.begin[-2] :]


@overload
def return_law(
    mdp: FiniteMDP, policy_table: ArrayLike, grid: None = None, max_atoms: int = MAX_ATOMS
) -> DiscreteLaw: ...
@overload
def return_law(
    mdp: FiniteMDP, policy_table: ArrayLike, grid: float, max_atoms: int = MAX_ATOMS
) -> tuple[DiscreteLaw, DiscreteLaw]: ...
@checks_kinds
def return_law(
    mdp: FiniteMDP, policy_table: ArrayLike, grid: float | None = None, max_atoms: int = MAX_ATOMS
) -> DiscreteLaw | tuple[DiscreteLaw, DiscreteLaw]:
    """Give the law of the return of a policy.

    Args:
        mdp: the model.
        policy_table: probability of each action in each state [S, A]; rows of terminal states are ignored.
        grid: None for the exact law, or the width h of clusters for a lower and an upper law.
        max_atoms: largest number of atoms to keep at a time, 16 bytes each; more are refused.

    Returns:
        the law; with `grid`, the pair (lower, upper), between which the law lies in first-order stochastic dominance.
    """
    max_atoms = check_count("max_atoms", max_atoms)
    table = check_table(mdp, policy_table)
    if grid is None:
        return final_law(advance_atoms(mdp, table, rounding_width(mdp), max_atoms), rounding_width(mdp))
    if isinstance(grid, bool) or not isinstance(grid, int | float | np.number) or not 0.0 < grid < np.inf:
        raise InputError("grid", "be a positive number, the width of clusters in units of return", grid)
    width = max(float(grid), rounding_width(mdp))
    lower = final_law(advance_atoms(mdp, table, width, max_atoms), width)
    mirrored = final_law(advance_atoms(mdp, table, width, max_atoms, sign=-1.0), width)
    return lower, DiscreteLaw(0.0 - mirrored.values, mirrored.probabilities)


def rounding_width(mdp: FiniteMDP) -> float:
    """Give how far apart rounding can put accumulated returns that are equal; see the module docstring."""
    largest = float(np.max(np.abs(mdp.rewards))) * float(np.sum(mdp.discount ** np.arange(mdp.horizon)))
    return (mdp.horizon + 4) * float(np.finfo(np.float64).eps) * largest


def advance_atoms(
    mdp: FiniteMDP,
    table: FloatArray,
    width: float,
    max_atoms: int,
    *,
    sign: float = 1.0,
    keep: bool = False,
) -> list[Atoms]:
    """Advance the atoms of the return so far from step to step: the forward recursion.

    Args:
        mdp: the model.
        table: a checked policy table [S, A].
        width: width of clusters.
        max_atoms: largest number of atoms at a time, or in all when `keep`.
        sign: -1 mirrors all rewards, so that clusters keep their largest atom.
        keep: whether to keep all atoms, for a backward pass, rather than only those of episodes that ended.

    Returns:
        the atoms after 0, ..., T steps, of episodes that go on and of those that ended in the last of these steps.
    """
    inner, last = (weigh_edges(mdp, graph_of(mdp, last=flag), table) for flag in (False, True))
    begun = np.flatnonzero(mdp.start > 0.0)
    begin = np.searchsorted(begun, np.arange(mdp.n_states + 2)).astype(np.int64)
    atoms = Atoms(np.zeros(len(begun)), mdp.start[begun], begin)
    kept = [atoms]
    total = len(begun)
    for t in range(mdp.horizon):
        step = last if t == mdp.horizon - 1 else inner
        room = max_atoms - (total if keep else 0)
        moved = advance_mass(*_arguments(atoms, step, shifts(mdp, step, t, sign)), width, room)
        atoms = Atoms(*moved)
        total += len(atoms.values)
        if len(atoms.values) > room:
            raise _too_large(mdp, total if keep else len(atoms.values), t + 1, max_atoms)
        kept.append(atoms if keep else _only_ended(atoms))
    return kept


def shifts(mdp: FiniteMDP, step: PolicyEdges, t: int, sign: float = 1.0) -> FloatArray:
    """Give the discounted reward of each edge in step t [E]."""
    return sign * mdp.discount**t * step.reward


def final_law(kept: list[Atoms], width: float) -> DiscreteLaw:
    """Give the law of the returns of the episodes that ended in any step."""
    values = np.concatenate([atoms.end_atoms[0] for atoms in kept])
    masses = np.concatenate([atoms.end_atoms[1] for atoms in kept])
    order = np.argsort(values, kind="stable")
    return DiscreteLaw(*merge_atoms(values[order], masses[order], width))


def _arguments(
    atoms: Atoms, step: PolicyEdges, shift: FloatArray
) -> tuple[FloatArray, FloatArray, IntArray, IntArray, IntArray, FloatArray, FloatArray]:
    return atoms.values, atoms.masses, atoms.begin, step.incoming, step.source, shift, step.weight


def _only_ended(atoms: Atoms) -> Atoms:
    values, masses = atoms.end_atoms
    begin = np.zeros_like(atoms.begin)
    begin[-1] = len(values)
    return Atoms(values.copy(), masses.copy(), begin)


def _too_large(mdp: FiniteMDP, atoms: int, steps: int, max_atoms: int) -> TooLargeError:
    low, high = mdp.return_range
    width = float(f"{(high - low) / 10_000:.1g}")
    return TooLargeError(
        "the exact law",
        f"have at most {max_atoms:,} atoms (state, return)",
        f"{atoms:,} after {steps:,} of {mdp.horizon:,} steps",
        f"use return_law(..., grid={width:g}) for bounds, or raise max_atoms",
    )
