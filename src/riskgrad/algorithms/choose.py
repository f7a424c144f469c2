"""Which algorithm trains: the one that was given or named, or the one that fits the measure and the policy.

A name may be followed by options, as in "score:episodes=200,steps_per_batch=4"; "auto" takes options as well.
"""

import json
from typing import Any

from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.registry import PartList
from riskgrad.risk import RiskMeasure
from riskgrad.training.algorithm import Algorithm, set_options

ALGORITHMS = PartList("algorithm", Algorithm, "riskgrad.algorithms")
FORM = "be a name such as 'score' or 'score:episodes=200', or an algorithm such as rg.Score(episodes=200)"


def choose_algorithm(given: str | Algorithm, risk: RiskMeasure, policy: Policy) -> Algorithm:
    """Give the algorithm that trains a policy on a measure; refuse one that cannot.

    "auto" is OnP-SF for a policy without a density, which can be neither scored nor reweighted; the score algorithm
    where the measure has an influence; and OffP-SF, which needs estimates only, where it has none.

    Args:
        given: an algorithm, a name with or without options, or "auto".
        risk: the measure.
        policy: what is trained.
    """
    algorithm = given if isinstance(given, Algorithm) else _read(given, risk, policy)
    if algorithm.needs_density and not policy.has_density:
        advice = "OnP-SF needs neither: rg.OnPSF() or algorithm='onp-sf'"
        raise InputError("policy", f"be random for the ratios and scores of {algorithm.name}", policy, advice)
    if algorithm.needs_influence and not risk.has_influence:
        advice = "use onp-sf or offp-sf, which need only estimates"
        raise InputError("risk", f"have an influence function for {algorithm.name}", str(risk), advice)
    return algorithm


def _read(text: str, risk: RiskMeasure, policy: Policy) -> Algorithm:
    if not isinstance(text, str):
        raise InputError("algorithm", FORM, text)
    name, _, words = text.strip().lower().partition(":")
    if name == "auto":
        name = "onp-sf" if not policy.has_density else "score" if risk.has_influence else "offp-sf"
    kind = ALGORITHMS.find(name, "or 'auto'")
    options: dict[str, Any] = {}
    for word in filter(None, words.split(",")):
        key, equals, value = word.partition("=")
        try:
            options[key.strip().replace("-", "_")] = json.loads(value)
        except json.JSONDecodeError as problem:
            raise InputError("algorithm", FORM, text) from problem
        if not equals:
            raise InputError("algorithm", FORM, text)
    return set_options(kind, options)
