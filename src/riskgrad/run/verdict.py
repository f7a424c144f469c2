"""Notes at the end of a run: where its numbers stopped changing, and what to try.

At most one of these notes is given, the first that holds: the measure was the same for all policies, held-out episodes
could not tell iterates apart, or the policy stopped learning. A run that has converged stops changing too; the last
note allows for that.

Another note is given where a learned model expects clearly different returns than the episodes have: the model takes
observations for states, and in this environment they do not determine what follows.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

from riskgrad.types import Line

FEWEST: Final = 5  # the fewest lines of a history that notes are based on
STANDING: Final = 0.25  # the last part of a run in which nothing changes; the fading bonus stops many at the very end
NO_GRADIENT: Final = 1e-9  # a gradient of at most this part of the largest one in the run counts as 0
CLEARLY: Final = 6.0  # a model misleads if it is wrong by more than this many standard errors,
APART: Final = 0.2  # and by more than this many standard deviations of the return
ROUNDING: Final = 1e-6  # of the mean return; a smaller difference is due to rounding
NO_ENTROPY: Final = 1e-6  # a randomness of at most this part of the largest one in the run counts as 0


def judge_history(risk: str, history: Sequence[Line], held_out: float | None, patience: int | None = None) -> list[str]:
    """Give the notes on a history; none where its numbers kept changing and the learned model was right.

    Args:
        risk: the name of the measure.
        history: a line for each iteration.
        held_out: the risk of the kept policy by held-out episodes, or None.
        patience: the patience of the run, or None.
    """
    if len(history) < FEWEST:
        return []
    still = (
        _find_flat(risk, history)
        or _find_constant(risk, history, held_out)
        or _find_standstill(risk, history, patience)
    )
    return [found for found in (still, _find_misled(history)) if found]


def _find_flat(risk: str, history: Sequence[Line]) -> str | None:
    values = _column(history, "risk")
    moved = any(line.get("steps") != 0 for line in history)
    if not moved or len(values) < len(history) or len(set(values)) > 1:
        return None
    return (
        f"{risk} was {values[0]:.6g} for every policy seen, so it could not tell one from another; try a milder "
        f"measure first (a larger alpha, the mean, or a longer path), more entropy, or memory"
    )


def _find_constant(risk: str, history: Sequence[Line], held_out: float | None) -> str | None:
    values = _column(history, "held_out")
    if history[0].get("held_out") is None:
        # where only late iterates are judged, the run may have converged before: compare with the first batch
        values = [history[0].get("risk"), *values]
    if held_out is None or len(values) < 2 or {*values, held_out} != {held_out}:
        return None
    return (
        f"{risk} by held-out episodes was {held_out:.6g} for every policy judged, from the first on, so that the mean "
        f"alone decided which is kept; try a milder measure first (a larger alpha or a longer path), or judging by "
        f"more episodes"
    )


def _find_standstill(risk: str, history: Sequence[Line], patience: int | None) -> str | None:
    gradient, randomness = (max(_column(history, name), default=0.0) for name in ("gradient_norm", "randomness"))
    gone = [_has_stopped(line, gradient, randomness) for line in history]
    since = len(gone) - next((n for n, stands in enumerate(reversed(gone)) if not stands), len(gone))
    if len(gone) - since < max(FEWEST, math.ceil(STANDING * len(gone))):
        return None
    sure = "the policy was sure of its actions and " if "randomness" in history[-1] else ""
    less = max(FEWEST, since // 2)
    advice = f"patience={less} ends such a run earlier; " if patience is None or less < patience else ""
    return (
        f"from iteration {since:,} of {len(gone):,} on {sure}the gradient was 0, so that nothing more was learned: "
        f"{risk} was {history[-1]['risk']:.6g} there; {advice}"
        f"if better is possible, try more entropy, another path, memory or another seed"
    )


def _find_misled(history: Sequence[Line]) -> str | None:
    """Give a note if the means of late batches clearly differ from those that a learned model foresaw."""
    lines = [line for line in history if line.get("foreseen") is not None and line.get("mean_error") is not None]
    late = lines[-max(FEWEST, math.ceil(STANDING * len(history))) :]
    if len(late) < FEWEST:
        return None
    foreseen, means = sum(line["foreseen"] for line in late), sum(line["mean"] for line in late)
    error = math.sqrt(sum(line["mean_error"] ** 2 for line in late))
    deviation = sum(line["mean_error"] * math.sqrt(line["ess"]) for line in late)  # of one episode
    rounding = ROUNDING * sum(abs(line["mean"]) for line in late)
    if abs(means - foreseen) <= max(CLEARLY * error, APART * deviation) + rounding:
        return None
    return (
        f"the critic's model foresaw a mean of {foreseen / len(late):.6g} late in the run where episodes "
        f"had {means / len(late):.6g}: observations may not determine what follows; "
        f"try rg.Critic(bootstrap=False) or memory"
    )


def _has_stopped(line: Line, gradient: float, randomness: float) -> bool:
    norm = line.get("gradient_norm")
    sure = line.get("randomness", 0.0)
    return norm is not None and norm <= NO_GRADIENT * gradient and sure is not None and sure <= NO_ENTROPY * randomness


def _column(history: Sequence[Line], name: str) -> list[Any]:
    return [line[name] for line in history if line.get(name) is not None]
