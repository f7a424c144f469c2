"""One step uphill: the paper's constant step and Adam; a file here is one more."""

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
