"""The algorithms: OnP-SF and OffP-SF of the paper, ascent along the score gradient, and ascent by what a critic says.

A file here is one more. Each is a frozen value whose `step` reads from top to bottom; what all share is in
`riskgrad.training`.
"""

from typing import TYPE_CHECKING

from riskgrad.training.algorithm import ALGORITHMS as ALGORITHMS
from riskgrad.training.algorithm import Algorithm as Algorithm
from riskgrad.training.algorithm import choose_algorithm as choose_algorithm

if TYPE_CHECKING:
    from riskgrad.algorithms.critic import Critic as Critic
    from riskgrad.algorithms.offp_sf import OffPSF as OffPSF
    from riskgrad.algorithms.onp_sf import OnPSF as OnPSF
    from riskgrad.algorithms.score import Score as Score
else:
    globals().update(ALGORITHMS.exports())
