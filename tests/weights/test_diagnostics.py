"""What weights are worth: known answers, scale, and the edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskgrad.errors import InputError
from riskgrad.weights import diagnose, normalized_weights, raw_weights

LOGS = st.lists(st.floats(-50.0, 50.0), min_size=1, max_size=30)


def test_known_answer():
    found = diagnose(np.log([[1.0, 1.0, 1.0, 1.0], [0.5, 0.5, 2.0, 1.0]]))
    assert found.effective_sample_size == pytest.approx([4.0, 16.0 / 5.5], rel=1e-14)
    assert found.largest_weight == pytest.approx([0.25, 0.5], rel=1e-14)
    assert found.mean_weight == pytest.approx([1.0, 1.0], rel=1e-14)
    assert found.mean_weight_error == pytest.approx([0.0, np.std([0.5, 0.5, 2.0, 1.0], ddof=1) / 2.0], abs=1e-14)
    assert found.support_violations.tolist() == [0, 0]


@given(LOGS, st.floats(-600.0, 600.0))
@settings(max_examples=100, deadline=None)
def test_only_proportions_matter_but_to_the_mean(logs: list[float], shift: float):
    here, there = diagnose(logs), diagnose(np.array(logs) + shift)
    assert there.effective_sample_size == pytest.approx(here.effective_sample_size, rel=1e-9)
    assert there.largest_weight == pytest.approx(here.largest_weight, rel=1e-9)
    assert np.log(there.mean_weight) == pytest.approx(np.log(here.mean_weight) + shift, abs=1e-9)
    assert normalized_weights(np.array(logs) + shift) == pytest.approx(normalized_weights(logs), rel=1e-9)


@given(LOGS)
@settings(max_examples=100, deadline=None)
def test_bounds(logs: list[float]):
    found, m = diagnose(logs), len(logs)
    assert 1.0 - 1e-9 <= found.effective_sample_size[0] <= m * (1.0 + 1e-9)
    assert 1.0 / m - 1e-9 <= found.largest_weight[0] <= 1.0
    assert np.sum(normalized_weights(logs)) == pytest.approx(1.0, rel=1e-12)
    assert np.mean(raw_weights(logs)) == pytest.approx(found.mean_weight[0], rel=1e-12)
    assert np.isnan(found.mean_weight_error[0]) == (m == 1)


def test_ratios_beyond_the_range_of_doubles():
    logs = np.array([2000.0, 2000.0 + np.log(3.0), -5000.0])
    assert normalized_weights(logs) == pytest.approx([0.25, 0.75, 0.0], rel=1e-12)
    found = diagnose(logs)
    assert found.effective_sample_size[0] == pytest.approx(1.6, rel=1e-12)
    assert found.mean_weight[0] == np.inf
    assert raw_weights([1000.0, -1000.0]).tolist() == [np.inf, 0.0]


def test_edges_of_the_support():
    found = diagnose([[0.0, np.inf, 0.0], [-np.inf, -np.inf, -np.inf], [np.inf, np.inf, np.inf], [0.0, -np.inf, 0.0]])
    assert found.support_violations.tolist() == [1, 0, 3, 0]
    assert found.effective_sample_size == pytest.approx([2.0, 0.0, 0.0, 2.0])
    assert found.mean_weight[[0, 1, 3]] == pytest.approx([1.0, 0.0, 2.0 / 3.0])
    assert np.isnan(found.mean_weight[2])
    assert found.largest_weight[[0, 3]] == pytest.approx([0.5, 0.5])
    assert np.all(np.isnan(found.largest_weight[[1, 2]]))
    assert found.mean_weight_error[3] == pytest.approx(1.0 / 3.0)


def test_bad_input_is_refused_in_one_line():
    for call, line in [
        (lambda: normalized_weights([0.0, np.inf]), "log_ratios must be below infinity, got 1 infinite ones"),
        (lambda: normalized_weights([[0.0], [-np.inf]]), "log_ratios must leave some weight to every row"),
        (lambda: diagnose([]), "log_ratios must have shape [..., m]"),
        (lambda: diagnose([0.0, np.nan]), "log_ratios must not be NaN"),
    ]:
        with pytest.raises(InputError) as caught:
            call()
        assert line in str(caught.value)
