"""Training runs over all algorithms, sources, measures and policies end at the bits that are kept beside this file."""

import json
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from digests.cases import all_cases
from digests.run import STORED, digest

LINUX_ON_X86 = sys.platform == "linux" and platform.machine() == "x86_64"


@pytest.mark.skipif(not LINUX_ON_X86, reason="the digests are of the oldest instructions of x86-64, as glibc has them")
def test_every_run_ends_at_the_stored_bits():
    script = Path(__file__).with_name("run.py")
    done = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    found, stored = json.loads(done.stdout), json.loads(STORED.read_text())
    gone, new = sorted(set(stored) - set(found)), sorted(set(found) - set(stored))
    differ = [
        f"{name}: {', '.join(part for part in kept if kept[part] != found[name][part])}"
        for name, kept in stored.items()
        if name in found and kept != found[name]
    ]
    assert not gone + new + differ, "\n" + "\n".join([*differ, f"not run: {gone}", f"not stored: {new}"])


def test_another_seed_ends_at_other_bits():
    case = next(case for case in all_cases() if case.name == "default-offp-sf-two_roads")
    again, other = digest(case), digest(replace(case, options={**case.options, "seed": 77}))
    assert again == digest(case)
    assert all(again[part] != other[part] for part in ("theta", "last_theta", "random_theta", "history"))


def test_every_case_has_a_name_of_its_own():
    names = [case.name for case in all_cases()]
    assert len(set(names)) == len(names)
