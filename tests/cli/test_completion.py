"""Shells complete commands and flags."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(("line", "expected"), [("riskgrad tr", "train"), ("riskgrad train --ten", "--tensorboard")])
def test_words_are_completed(line, expected):
    more = {"_RISKGRAD_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    words = [sys.executable, "-m", "riskgrad.cli"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **more})
    assert done.stdout.split() == [expected], done.stderr
