"""Rules for one step uphill: the paper's constant step and Adam; a new file in this folder adds another rule."""

from typing import TYPE_CHECKING

from riskgrad.ascent.base import ASCENTS as ASCENTS
from riskgrad.ascent.base import Ascent as Ascent
from riskgrad.ascent.base import Moments as Moments
from riskgrad.ascent.base import parse_ascent as parse_ascent

if TYPE_CHECKING:
    from riskgrad.ascent.adam import Adam as Adam
    from riskgrad.ascent.constant import ConstantStep as ConstantStep
else:
    globals().update(ASCENTS.exports())
