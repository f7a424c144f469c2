"""Every sampled algorithm, killed at calls to the disk and at random moments, resumes to the bit."""

import os

import pytest
from support.studies import load_study

STOPPING = load_study("stopping")
SLOW = pytest.mark.skipif(not os.environ.get("RISKGRAD_NEED_RELIABILITY"), reason="slow; the gate runs it")


@SLOW
@pytest.mark.no_cover
@pytest.mark.parametrize("name", STOPPING.CASES)
def test_killed_anywhere_and_resumed_ends_as_if_never_killed(tmp_path, name):
    at_calls, at_moments, wrong = STOPPING.kill_all(name, tmp_path, every=10, moments=2)
    assert at_calls > 0, "it was killed"
    assert at_moments <= 2
    assert wrong == 0
