"""How sharp the kept policy is: the same preferences, times a factor.

A softmax learns from what it tries, so that it is left a little random where a sure policy would do better. The last
iterate is therefore also tried with its preferences times 2, 4, 8 and 16. The factor that is best in the learned model
is taken, unless held-out episodes clearly prefer another one, or the iterate that was judged late in the run.
"""

from typing import Final

import numpy as np

from riskgrad.training.judging import excels, look_at_returns
from riskgrad.training.problem import Problem
from riskgrad.training.progress import Iterate, Progress
from riskgrad.types import FloatArray

FACTORS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)


def sharpen(problem: Problem, progress: Progress) -> None:
    """Choose what is kept: the last iterate by one of the factors, or the one that was judged late in the run."""
    policy, theta = progress.now
    # what was judged before plays the same held-out episodes again, which cost nothing new
    candidates: dict[float | None, Iterate] = {} if progress.best_look is None else {None: progress.best}
    for factor in FACTORS if problem.looks > 1 else (progress.state.sharpness,):
        sharper = policy.sharpen(theta, factor)
        if sharper is not None or factor == 1.0:
            candidates[factor] = Iterate(policy, theta if sharper is None else sharper)
            progress.episodes += problem.look_size
            progress.held_out_episodes += problem.look_size
    returns: dict[float | None, FloatArray] = {
        factor: problem.play_held_out(*iterate) for factor, iterate in candidates.items()
    }
    chosen: float | None = progress.state.sharpness
    for factor, values in returns.items():
        if excels(problem.risk, values, returns[chosen]):
            chosen = factor
    progress.best, progress.best_look = candidates[chosen], look_at_returns(problem, returns[chosen])
    if chosen is None:
        progress.notes.append("the policy of an earlier iteration was kept, which held-out episodes clearly preferred")
    elif chosen > 1.0:
        progress.notes.append(f"the kept policy is the last one with its preferences times {chosen:g}")


def best_factor(risks: dict[float, float]) -> float:
    """Give the factor of the largest risk; the smallest such factor."""
    return float(max(risks, key=lambda factor: (risks[factor], -factor))) if np.isfinite(max(risks.values())) else 1.0
