"""What a policy bought: risk measures on fresh episodes, with certified and bootstrap intervals, as a table."""

from riskgrad.evaluation._evaluate import Risks, evaluate, play_options, table_of_returns
from riskgrad.evaluation.band import Band, law_band
from riskgrad.evaluation.bootstrap import Bootstrap, bootstrap_intervals
from riskgrad.evaluation.certified import Certified, certified_intervals
from riskgrad.evaluation.table import Row, Table

__all__ = [
    "Band",
    "Bootstrap",
    "Certified",
    "Risks",
    "Row",
    "Table",
    "bootstrap_intervals",
    "certified_intervals",
    "evaluate",
    "law_band",
    "play_options",
    "table_of_returns",
]
