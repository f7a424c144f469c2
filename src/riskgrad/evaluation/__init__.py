"""How certain estimates are: tables of certified and bootstrap intervals, and statistics over seeds."""

from riskgrad.evaluation.band import Band, law_band
from riskgrad.evaluation.bootstrap import Bootstrap, bootstrap_intervals
from riskgrad.evaluation.certified import Certified, certified_intervals
from riskgrad.evaluation.seeds import (
    Aggregate,
    aggregate_seeds,
    compare_seeds,
    improvement_probability,
    interquartile_mean,
)
from riskgrad.evaluation.table import Row, Table, table_of_returns

__all__ = [
    "Aggregate",
    "Band",
    "Bootstrap",
    "Certified",
    "Row",
    "Table",
    "aggregate_seeds",
    "bootstrap_intervals",
    "certified_intervals",
    "compare_seeds",
    "improvement_probability",
    "interquartile_mean",
    "law_band",
    "table_of_returns",
]
