"""A training gives the same bits where numpy, BLAS and the C library compute with other instructions.

Another processor is stood in for by switching off what this one has beyond the oldest: numpy's dispatched instructions
and glibc's, which then round exponentials and logarithms otherwise in the last bit, and by telling OpenBLAS which
processor it is on, whose products and factorizations then add in another order.
"""

import json
import os
import subprocess
import sys

import pytest
from support.machines import oldest

TRAINING = """
import hashlib, json
import numpy as np
import riskgrad as rg

def digest(*args, **options):
    run = rg.train(*args, **{"iterations": 4, "held_out": 0, "seed": 1, **options})
    return hashlib.sha256(np.concatenate([run.theta, run.last_theta]).tobytes()).hexdigest()[:16]

algorithms = {"score": rg.Score(episodes=60), "onp-sf": rg.OnPSF(episodes=20), "offp-sf": rg.OffPSF(episodes=60)}
found = {
    "maze": digest("riskgrad/GuardedMaze-v0", "cvar:0.05", algorithm=algorithms["score"]),
    "tanh": digest("Pendulum-v1", "cvar:0.2", horizon=20, algorithm=algorithms["offp-sf"]),
    "pole": digest("CartPole-v1", "cvar:0.2", policy="mlp", horizon=40, algorithm=algorithms["score"]),
    "critic": digest("CartPole-v1", "cvar:0.2", horizon=40, discount=0.9, algorithm=rg.Critic(episodes=8)),
    "normal critic": digest("Pendulum-v1", "dual-power:2.5", horizon=20, algorithm=rg.Critic(episodes=8)),
    "network": digest("CartPole-v1", "cvar:0.2", policy="mlp", horizon=20, algorithm=algorithms["onp-sf"]),
}
for risk in (
    "cvar:0.1", "exponential:2", "logarithmic:5", "square-root:5", "dual-power:3", "dual-power:2.5", "smooth-cvar:0.2"
):
    for name, algorithm in algorithms.items():
        found[f"{risk} by {name}"] = digest("two-roads", risk, algorithm=algorithm)
print(json.dumps(found))
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


@pytest.fixture(scope="module")
def here():
    return digests()


@pytest.mark.skipif(sys.platform != "linux", reason="the switches are those of glibc and of numpy on x86")
@pytest.mark.parametrize("processor", ["oldest", "Nehalem", "Haswell"])
def test_other_instructions_change_no_bit(here, processor):
    assert digests(**oldest() if processor == "oldest" else {"OPENBLAS_CORETYPE": processor}) == here
