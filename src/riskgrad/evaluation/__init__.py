"""How sure a risk is: certified and bootstrap intervals of measures of returns, as a table."""

from riskgrad.evaluation.band import Band, law_band
from riskgrad.evaluation.bootstrap import Bootstrap, bootstrap_intervals
from riskgrad.evaluation.certified import Certified, certified_intervals
from riskgrad.evaluation.table import Row, Table, table_of_returns

__all__ = [
    "Band",
    "Bootstrap",
    "Certified",
    "Row",
    "Table",
    "bootstrap_intervals",
    "certified_intervals",
    "law_band",
    "table_of_returns",
]
