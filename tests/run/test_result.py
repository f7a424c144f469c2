import numpy as np
import pytest

import riskgrad as rg
from riskgrad.errors import InputError, StorageError
from riskgrad.policy import Gibbs, TabularGibbs
from riskgrad.run import Run
from riskgrad.run.result import policy_facts


def example(policy):
    rng = np.random.default_rng(1)
    return Run(
        theta=rng.normal(size=6),
        random_theta=rng.normal(size=6),
        last_theta=rng.normal(size=6),
        history=({"iteration": 0, "risk": 0.1, "ess": None},),
        episodes_used=1200,
        held_out_episodes=200,
        held_out_risk=1.5,
        settings={"algorithm": "offp_sf", "risk": "cvar:0.1", "policy": policy_facts(policy)},
        notes=("a note",),
        finished=True,
        given_policy=policy,
    )


def test_a_saved_run_comes_back_to_the_bit(tmp_path):
    run = example(TabularGibbs(2, 3))
    run.save(tmp_path / "run.rg")
    again = rg.load(tmp_path / "run.rg")
    for name in ("theta", "random_theta", "last_theta"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
        assert not getattr(again, name).flags.writeable
    for name in ("history", "episodes_used", "held_out_episodes", "held_out_risk", "settings", "notes", "finished"):
        assert getattr(again, name) == getattr(run, name)
    np.testing.assert_array_equal(
        again.policy.probabilities(again.theta, np.arange(2)), run.policy.probabilities(run.theta, np.arange(2))
    )


def test_a_policy_made_of_code_is_given_again(tmp_path):
    policy = Gibbs(lambda theta, _: theta[:2], 6)
    example(policy).save(tmp_path / "run.rg")
    again = rg.load(str(tmp_path / "run.rg"))
    with pytest.raises(InputError, match=r"rg.load\(path, policy=...\)"):
        _ = again.policy
    assert rg.load(tmp_path / "run.rg", policy=policy).policy is policy
    with pytest.raises(InputError, match="policy must have 6 parameters"):
        rg.load(tmp_path / "run.rg", policy=TabularGibbs(2, 2))


def test_nothing_to_load_gets_one_line(tmp_path):
    with pytest.raises(StorageError, match="no checkpoint of a run is in this folder"):
        rg.load(tmp_path)
    with pytest.raises(StorageError, match="cannot read"):
        rg.load(tmp_path / "nothing")


def test_it_prints_what_it_is():
    assert (
        repr(example(TabularGibbs(2, 3))) == "<Run: offp_sf on cvar:0.1, finished after 1 iterations and 1200 episodes>"
    )
