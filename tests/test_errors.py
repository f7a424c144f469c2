"""Messages are one line with the name, the rule, the value and what to do; errors survive a trip between processes."""

import pickle

import numpy as np
import pytest

from riskgrad import errors


def test_one_line():
    line = str(errors.InputError("alpha", "be in (0, 0.5]", np.float64(0.9), "it is the mass of the bad tail"))
    assert line == "alpha must be in (0, 0.5], got 0.9; it is the mass of the bad tail"
    long = str(errors.InputError("values", "be short", np.arange(10_000)))
    assert "\n" not in long
    assert len(long) < 200


def test_nearest_name():
    error = errors.UnknownNameError("risk", "cvr", ["mean", "cvar"])
    assert str(error) == "risk must be one of cvar, mean, got 'cvr'; did you mean 'cvar'?"
    assert error.nearest == "cvar"
    assert errors.UnknownNameError("risk", "zzz", ["mean"]).nearest is None


def test_a_misspelled_keyword_names_the_function_and_the_nearest_word():
    errors.refuse_unknown_keyword("rg.train", ["iterations"], ["iterations", "seed"])
    with pytest.raises(TypeError) as caught:
        errors.refuse_unknown_keyword("rg.train", ["iteratons"], ["iterations", "seed"])
    assert str(caught.value) == "rg.train has no keyword 'iteratons'; did you mean 'iterations'?"
    with pytest.raises(errors.KeywordError, match=r"rg\.train has no keyword 'zzz'; it has iterations, seed"):
        errors.refuse_unknown_keyword("rg.train", ["zzz"], ["seed", "iterations"])


@pytest.mark.parametrize(
    "error",
    [
        errors.InputError("a", "b", 3, "d"),
        errors.UnknownNameError("risk", "cvr", ["cvar"]),
        errors.TooLargeError("atoms", "fit", 10**9),
        errors.ContractError("broken"),
        errors.KeywordError("rg.train has no keyword 'a'"),
    ],
)
def test_pickling_keeps_the_message(error):
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert str(copy) == str(error)
    assert isinstance(copy, errors.RiskgradError)
