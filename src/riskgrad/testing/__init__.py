"""Contract tests that users can run on their own parts; the project's own parts pass the same ones.

from riskgrad.testing import check_risk_measure
check_risk_measure(MyMeasure())
"""

from riskgrad.testing.risk import check_risk_measure

__all__ = ["check_risk_measure"]
