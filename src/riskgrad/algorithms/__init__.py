"""The algorithms: OnP-SF and OffP-SF of the paper, and ascent along the score gradient.

Each reads from top to bottom: what one iteration does is in its own file, what all share (record, checkpoints, held-out
looks, stopping) in `loop`.
"""

from riskgrad.algorithms._offp_sf import offp_sf as offp_sf
from riskgrad.algorithms._onp_sf import onp_sf as onp_sf
from riskgrad.algorithms._score_ascent import score_ascent as score_ascent
from riskgrad.algorithms.path import SquarePath as SquarePath
from riskgrad.algorithms.practical import PRACTICAL as PRACTICAL
from riskgrad.algorithms.practical import Practical as Practical

__all__ = ["PRACTICAL", "Practical", "SquarePath", "offp_sf", "onp_sf", "score_ascent"]
