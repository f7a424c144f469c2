"""Strings become measures and measures become strings."""

import pytest

import riskgrad as rg
from riskgrad.errors import InputError, UnknownNameError

R, D = rg.risk, rg.distortion


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("mean", R.Mean()),
        ("cvar:0.1", R.CVaR(0.1)),
        (" CVaR:0.05:seeking ", R.CVaR(0.05, attitude="seeking")),
        ("smooth-cvar:0.1", R.SmoothCVaR(0.1)),
        ("smooth-cvar:0.1:0.02", R.SmoothCVaR(0.1, 0.02)),
        ("mean-variance:0.5", R.MeanVariance(0.5)),
        ("mean-variance:0.5:seeking", R.MeanVariance(0.5, attitude="seeking")),
        ("dual-power:2", R.Distortion(D.DualPower(2.0))),
        ("dual-power:2:seeking", R.Distortion(D.DualPower(2.0, attitude="seeking"))),
        ("dual-power:2:averse", R.Distortion(D.DualPower(2.0))),
        ("identity", R.Distortion(D.Identity())),
        ("logarithmic:1e3", R.Distortion(D.Logarithmic(1000.0))),
    ],
)
def test_known_strings(text, measure):
    assert R.parse(text) == measure
    assert R.parse(str(measure)) == measure
    assert R.parse(measure) is measure


@pytest.mark.parametrize("name", sorted(R.builders()))
def test_every_example_parses_and_comes_back(name):
    measure = R.parse(R.builders()[name][1])
    assert R.parse(str(measure)) == measure
    assert measure.attitude in ("averse", "neutral"), "nobody gets a seeking measure by default"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("cvr:0.1", UnknownNameError, "did you mean 'cvar'?"),
        ("var", UnknownNameError, "risk must be one of cvar, dual-power"),
        ("cvar", InputError, "risk must look like 'cvar:0.1', got 'cvar'"),
        ("cvar:x1", InputError, "risk must look like 'cvar:0.1', got 'cvar:x1'"),
        ("cvar:0.1:0.2:0.3", InputError, "risk must look like 'cvar:0.1'"),
        ("cvar:0.95", InputError, "did you mean 0.05?"),
        ("mean:seeking", InputError, "risk must look like 'mean'"),
        ("mean:2", InputError, "risk must look like 'mean'"),
        ("dual-power:2:avers", UnknownNameError, "did you mean 'averse'?"),
        ("mean-variance:-1", InputError, 'say attitude="seeking" if that is meant'),
        ("", InputError, "be a string such as 'cvar:0.1'"),
        (7, InputError, "be a string such as 'cvar:0.1' or a risk measure, got 7"),
    ],
)
def test_bad_strings(text, error, words):
    with pytest.raises(error) as caught:
        R.parse(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_estimators_are_refused():
    for build in (
        lambda e: R.CVaR(0.1, estimator=e),
        lambda e: R.Mean(estimator=e),
        lambda e: R.MeanVariance(1, estimator=e),
    ):
        with pytest.raises(UnknownNameError, match="estimator must be one of"):
            build("selfnormalized")
    with pytest.raises(InputError, match=r"wrap your own in rg\.distortion\.Custom"):
        R.Distortion(lambda s: s)
