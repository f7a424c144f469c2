"""The algorithms: OnP-SF and OffP-SF of the paper, ascent along the score gradient, and ascent along a critic's gains.

Each algorithm is a file of this folder, a frozen value with a method `step`; what they share is in `riskgrad.training`.
"""

from typing import TYPE_CHECKING

from riskgrad.training.algorithm import ALGORITHMS as ALGORITHMS
from riskgrad.training.algorithm import Algorithm as Algorithm

if TYPE_CHECKING:
    from riskgrad.algorithms.critic import Critic as Critic
    from riskgrad.algorithms.offp_sf import OffPSF as OffPSF
    from riskgrad.algorithms.onp_sf import OnPSF as OnPSF
    from riskgrad.algorithms.score import Score as Score
else:
    globals().update(ALGORITHMS.exports())
