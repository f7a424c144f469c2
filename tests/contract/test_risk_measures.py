"""Every measure passes the contract that users run on their own; a broken one fails; every class is in every list."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import riskgrad as rg
from riskgrad import distortion, risk
from riskgrad.distortion import DistortionFunction
from riskgrad.errors import ContractError, InputError
from riskgrad.risk import RiskMeasure
from riskgrad.testing import check_risk_measure

EXAMPLES = [example for _, example in risk.builders().values()]
OTHERS = [
    risk.Mean(estimator="unbiased"),
    risk.MeanVariance(0.7, estimator="unbiased"),
    risk.MeanVariance(0.7, estimator="paper"),
    risk.CVaR(0.2, estimator="paper"),
    risk.Distortion(distortion.Exponential(2), estimator="paper"),
    risk.Distortion(distortion.Custom(lambda s: s**1.5)),
    risk.Blend(risk.CVaR(0.17), 0.5),
    risk.CVaR(0.17).along(0.5),
    risk.MeanVariance(1.0).along(0.25),
]


def seeking():
    """Give the seeking form of every example that has one."""
    for example in EXAMPLES:
        with contextlib.suppress(InputError):
            yield risk.parse(f"{example}:seeking")


@pytest.mark.parametrize("measure", [*map(risk.parse, EXAMPLES), *seeking(), *OTHERS], ids=str)
def test_contract(measure):
    check_risk_measure(measure)


def test_measures_with_an_attitude_to_choose_are_there_in_both():
    assert len(list(seeking())) >= 8
    assert {measure.attitude for measure in seeking()} == {"seeking"}


@pytest.mark.parametrize("measure", [*map(risk.parse, EXAMPLES), *seeking()], ids=str)
def test_a_measure_that_a_string_builds_is_written_as_a_string_that_builds_it(measure):
    assert risk.parse(str(measure)) == measure


def test_a_measure_that_no_string_can_express_is_written_as_it_is():
    @dataclass(frozen=True)
    class Scaled(Median):
        scale: Callable[[float], float]
        name, example = "scaled", "scaled:2"

    assert str(Scaled(abs)).endswith("Scaled(scale=<built-in function abs>)")


def test_a_name_without_an_example_is_refused():
    with pytest.raises(ContractError, match="Nameless must have, beside its name, an example"):
        type("Nameless", (Median,), {"name": "nameless"})
    with pytest.raises(ContractError, match="an example: a string that builds one"):
        type("Nameless", (DistortionFunction,), {"name": "nameless"})


class Median(RiskMeasure):
    """A user's own measure: one class with estimate and value."""

    attitude = "mixed"
    axioms = frozenset(["translation", "homogeneity", "monotonicity"])

    def estimate(self, values, weights=None):
        sample = risk.check_sample(values, weights)
        table = np.broadcast_to(sample.values, (*sample.shape, sample.size))
        shares = np.ones_like(table) if sample.weights is None else np.broadcast_to(sample.weights, table.shape)
        order = np.argsort(table, axis=-1)
        mass = np.cumsum(np.take_along_axis(shares, order, -1), axis=-1)
        first = np.argmax(mass >= 0.5 * mass[..., -1:], axis=-1)[..., np.newaxis]
        return np.take_along_axis(np.take_along_axis(table, order, -1), first, -1)[..., 0]

    def value(self, law):
        return float(law.quantile(0.5))


def test_a_users_own_measure_passes_and_has_a_path():
    check_risk_measure(Median())
    assert Median().along(0.5).estimate([0.0, 0.0, 3.0]) == pytest.approx(0.5)
    assert not Median().along(0.5).has_influence
    assert risk.Blend(risk.CVaR(0.1), 0.5).has_influence
    with pytest.raises(InputError, match="have an influence function"):
        Median().influence([1.0, 2.0])


def broken(**changes):
    return type("Broken", (Median,), changes)()


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (broken(axioms=frozenset(["comonotone-additivity", "direction"]), attitude="averse"), "declared averse"),
        (broken(value=lambda self, law: law.mean), "value of a law is"),
        (broken(estimate=lambda self, values, weights=None: np.asarray(values)[..., 0]), "permuted"),
        (broken(estimate=lambda self, values, weights=None: np.median(values, axis=-1)), "ValueError"),
        (
            broken(
                estimate=lambda self, v, w=None: np.sum(np.asarray(v) * (1 if w is None else w), -1),
            ),
            "translation",
        ),
        (broken(estimate=lambda self, v, w=None: np.mean(v)), "shape (2, 3)"),
        (
            broken(has_influence=True, influence=lambda self, v, w=None: np.asarray(v)),
            "influence gives slope",
        ),
        (broken(influence=lambda self, v, w=None: np.asarray(v)), "declares has_influence = False"),
    ],
)
def test_broken_measures_are_caught(measure, words):
    with pytest.raises(ContractError) as caught:
        check_risk_measure(measure)
    assert words in str(caught.value)


@pytest.mark.parametrize(("folder", "parts"), [(distortion, distortion.DISTORTIONS), (risk, risk.MEASURES)])
def test_every_final_class_of_a_folder_is_one_of_its_names(folder, parts):
    assert {name: getattr(folder, name) for name in parts.exports()} == parts.exports()
    assert set(parts.by_name()) <= set(risk.builders())


def test_one_class_adds_a_measure_and_a_distortion_to_every_list():
    @dataclass(frozen=True)
    class Cubic(DistortionFunction):
        name, example, attitude = "cubic", "cubic", "averse"
        slope_bound, curvature_bound = 3.0, 6.0  # pyright: ignore[reportAssignmentType]

        def at(self, s):
            return s**3

        def slope_at(self, s):
            return 3.0 * s**2

        def bend_at(self, s):
            return 6.0 * s

        def dual(self):
            return distortion.Custom(lambda s: 1.0 - (1.0 - s) ** 3, attitude="seeking")

    class NamedMedian(Median):
        name, example = "median", "median"

    rg.register(Cubic)
    rg.register(NamedMedian)
    try:
        for name, kind in (("cubic", risk.Distortion), ("median", NamedMedian)):
            measure = risk.parse(name)
            assert isinstance(measure, kind)
            assert name in risk.builders()
            check_risk_measure(measure)
        assert str(risk.parse("cubic")) == "cubic"
        with pytest.raises(InputError, match="be new among the names of risk"):
            rg.register(type("Other", (Median,), {"name": "median", "example": "median"}))
    finally:
        distortion.DISTORTIONS.forget(Cubic)
        risk.MEASURES.forget(NamedMedian)
    with pytest.raises(InputError, match="risk must be one of"):
        risk.parse("median")
