"""Sharpening the kept policy: its preferences are multiplied by a factor, or its normal spread is divided by it.

A policy must try actions to learn, so training leaves it a little random where a deterministic one would do better. The
last iterate is therefore also tried with its preferences times 2, 4, 8 and 16, in a short run with fewer of these. The
factor that is best in the learned model is kept, unless held-out episodes clearly prefer another one, or the iterate
that was judged late in the run. Where no model was learned, as for a network, held-out episodes alone decide.
"""

import math
from typing import Final

import numpy as np

from riskgrad.risk import RiskMeasure
from riskgrad.training.problem import Problem
from riskgrad.training.progress import Iterate, Progress
from riskgrad.types import FloatArray

FACTORS: Final = (1.0, 2.0, 4.0, 8.0, 16.0)
FEW_FACTORS: Final = (1.0, 4.0)
CLEAR: Final = 2.0  # a difference of more than this many standard errors is not due to chance


def sharpen(problem: Problem, progress: Progress) -> None:
    """Set the best iterate: the last one, sharpened by one of the factors, or the one judged late in the run."""
    policy, theta = progress.now
    # the iterate judged before plays the same held-out episodes again, which are not counted again
    candidates: dict[float | None, Iterate] = {}
    for factor in _choose_factors(problem, progress):
        sharper = policy.sharpen(theta, factor)
        if sharper is not None or factor == 1.0:
            candidates[factor] = Iterate(policy, theta if sharper is None else sharper)
            progress.episodes += problem.judging_episodes
            progress.held_out_episodes += problem.judging_episodes
    if progress.best_judgment is not None:
        candidates[None] = progress.best
    returns: dict[float | None, FloatArray] = {
        factor: problem.play_held_out(*iterate) for factor, iterate in candidates.items()
    }
    chosen: float | None = progress.state.sharpness
    if progress.state.critic is None:
        for factor, values in returns.items():
            if excels(problem.risk, values, returns[chosen]):
                chosen = factor
    else:
        judgments = {factor: problem.judge_returns(values) for factor, values in returns.items()}
        chosen = max(judgments, key=lambda factor: (judgments[factor].risk, judgments[factor].mean))
    progress.best, progress.best_judgment = candidates[chosen], problem.judge_returns(returns[chosen])
    if chosen is None:
        progress.remarks.append("the policy of an earlier iteration was kept, which held-out episodes preferred")
    elif chosen > 1.0:
        progress.remarks.append(f"the kept policy is the last one, sharper by a factor of {chosen:g}")


def _choose_factors(problem: Problem, progress: Progress) -> tuple[float, ...]:
    """Give the factors that held-out episodes compare; there are fewer in a short run."""
    if progress.state.critic is not None:
        return FACTORS if problem.judgments > len(FACTORS) else FEW_FACTORS
    return FACTORS if problem.judgments > 1 else (progress.state.sharpness,)


def best_factor(risks: dict[float, float]) -> float:
    """Give the smallest factor with the largest risk; 1 where that risk is not finite."""
    return float(max(risks, key=lambda factor: (risks[factor], -factor))) if np.isfinite(max(risks.values())) else 1.0


def excels(risk: RiskMeasure, values: FloatArray, others: FloatArray) -> bool:
    """Say whether returns [m] are better than others [m] by more than chance.

    Episodes i of both have the same random numbers. The difference of the estimates is compared with twice its standard
    error, which is estimated from the differences of the influences of these pairs.
    """
    difference = float(risk.estimate(values)) - float(risk.estimate(others))
    shares = risk.influence(values) - risk.influence(others)
    return difference > CLEAR * float(np.std(shares)) / math.sqrt(len(values))
