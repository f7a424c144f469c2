"""A training gives the same bits where numpy and the C library compute with other instructions.

Another processor is stood in for by switching off what this one has beyond the oldest: numpy's dispatched instructions,
and glibc's. Both then round exponentials and logarithms otherwise in the last bit.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

TRAINING = """
import hashlib, json, sys
import numpy as np
import riskgrad as rg

def digest(run):
    return hashlib.sha256(np.concatenate([run.theta, run.last_theta]).tobytes()).hexdigest()[:16]
short = {"iterations": 6, "algorithm": "score:episodes=60", "held_out": 0, "seed": 1}
sphere = {**short, "algorithm": "offp-sf:episodes=60"}
table = rg.train("two-roads", "cvar:0.1", **short)
maze = rg.train("riskgrad/GuardedMaze-v0", "cvar:0.05", **short)
tanh = rg.train("Pendulum-v1", "cvar:0.2", horizon=20, **sphere)
pole = rg.train("CartPole-v1", "cvar:0.2", policy="mlp", horizon=40, **short)
print(json.dumps([digest(run) for run in (table, maze, tanh, pole)]))
"""


def digests(**environment):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRAINING],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the switches are those of glibc and of numpy on x86")
def test_other_instructions_change_no_bit():
    core = np._core._multiarray_umath
    on = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    older = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(on),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2_Usable,-FMA_Usable,-AVX2,-FMA",
    }
    assert digests(**older) == digests()
