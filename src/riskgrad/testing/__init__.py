"""Contract tests that users can run on their own parts; the project's own parts pass the same ones.

    from riskgrad.testing import check_policy, check_risk_measure, check_source
    check_risk_measure(MyMeasure())
    check_policy(MyPolicy(), observations)
    check_source(MySource(), MyPolicy())

Each raises `riskgrad.errors.ContractError`, which names the first clause that is broken.
"""

from riskgrad.testing.policy import check_policy
from riskgrad.testing.risk import check_risk_measure
from riskgrad.testing.source import check_source

__all__ = ["check_policy", "check_risk_measure", "check_source"]
