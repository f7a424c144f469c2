"""The practical defaults, all in one place: what is used where the user does not say.

They do not depend on the scale of rewards. `rg.train` uses all of them; `rg.onp_sf`, `rg.offp_sf` and
`rg.score_ascent` take from here only the numbers they cannot do without, and leave what the paper's algorithms do not
have (a path, an entropy bonus, several steps per batch) off unless asked.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Practical:
    """One setting for all problems.

    Attributes:
        iterations: N where no budget is given.
        step_size: of Adam; for a policy without a density at most mu / sqrt(d), so that a step is no longer than mu.
        layered_step: longest step of a network with hidden layers, over all parameters, which multiply one another: its
            step of Adam is at most this over sqrt(d).
        on_policy_smoothing: mu of OnP-SF; its noise grows as mu falls.
        off_policy_smoothing: mu of OffP-SF; + and - share the batch, so that a small mu costs no noise.
        on_policy_directions: n of OnP-SF, at most d.
        off_policy_directions: n of OffP-SF, at most d: a full finite difference for few parameters.
        on_policy_episodes: m of OnP-SF, for each perturbed policy.
        deterministic_directions: n of OnP-SF for a policy without a density, at most d; its m is the slope M_g' of the
            measure, 1 for the mean and 10 for CVaR(0.1). Such a policy draws nothing, so that more directions tell more
            than more episodes of each.
        batch_episodes: m of OffP-SF and of the score algorithm.
        least_iterations: a budget in episodes that allows fewer with the usual m makes m smaller.
        least_episodes: but no smaller than this, which is of the batch of OffP-SF and of the score algorithm.
        least_in_tail: nor than this times the slope M_g', so that a tail holds as many episodes.
        unknown_slope: what stands for M_g' where the measure is no distortion, or has no bound.
        orthogonal: whether the directions of a block are orthogonal.
        risk_path: the part of the run over which the measure goes from the worse of two episodes to the named one.
        entropy: the bonus at the start of the run, as a part of the return's standard deviation.
        steps_per_batch: most ascent steps on one batch of the current policy.
        ess_floor: a batch is used again while its effective sample size is above this part of m.
        fixed_ess_floor: the same for a batch of another policy, which cannot be drawn afresh from the current one.
        looks: how often iterates are judged by held-out episodes, besides the first.
        held_out_share: episodes for that, as a part of those for training.
        least_held_out: but no fewer than this for each look.
        normalized_part: the part of the run over which the statistics of normalized observations move.
        first_look: episodes from which the first of these statistics are taken.
    """

    iterations: int = 200
    step_size: float = 0.1
    layered_step: float = 0.4
    on_policy_smoothing: float = 0.3
    off_policy_smoothing: float = 0.05
    on_policy_directions: int = 16
    off_policy_directions: int = 128
    on_policy_episodes: int = 100
    deterministic_directions: int = 4
    batch_episodes: int = 400
    least_iterations: int = 80
    least_episodes: int = 25
    least_in_tail: int = 2
    unknown_slope: float = 10.0
    orthogonal: bool = True
    risk_path: float = 0.5
    entropy: float = 0.3
    steps_per_batch: int = 8
    ess_floor: float = 0.9
    fixed_ess_floor: float = 0.1
    looks: int = 4
    held_out_share: float = 0.1
    least_held_out: int = 100
    normalized_part: float = 0.5
    first_look: int = 20


PRACTICAL: Final = Practical()
