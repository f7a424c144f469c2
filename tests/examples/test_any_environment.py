"""Environments of other packages by `rg.train(env, risk, max_episodes=...)` alone: trained, evaluated, played.

Packages come with the extra environments; what is not installed is skipped by name, unless RISKGRAD_NEED_ENVIRONMENTS
is set. The whole budget is played by benchmarks/any_environment.py; here it is a tenth, and the gate alone plays it.
"""

import os

import gymnasium
import pytest
from support.studies import load_study

import riskgrad as rg
from riskgrad.errors import RiskgradError

study = load_study("any_environment")
TENTH = study.EPISODES // 10
SLOW = pytest.mark.skipif(not os.environ.get("RISKGRAD_NEED_LEARNING"), reason="slow; the gate runs it")


@SLOW
@pytest.mark.filterwarnings("ignore")  # of packages that are not ours
@pytest.mark.parametrize("name", study.PROBLEMS)
def test_no_other_argument_is_needed(name):
    env, module = study.PROBLEMS[name]
    if not study.is_there(module) and not os.environ.get("RISKGRAD_NEED_ENVIRONMENTS"):
        pytest.skip(f"{module} is not installed")
    if name in study.REFUSED:
        with pytest.raises(RiskgradError, match=study.REFUSED[name]) as caught:
            study.try_out(env, TENTH, evaluated=5)
        assert "\n" not in str(caught.value)
        return
    run, table, earned = study.try_out(env, TENTH, evaluated=5)
    assert run.finished
    assert [row.risk for row in table] == ["cvar:0.1", "mean"]
    assert abs(earned) < 1e12


def test_limits_are_found_where_gymnasium_has_none():
    assert rg.sources.resolve_source("Blackjack-v1").horizon == 1000
    assert gymnasium.spec("Blackjack-v1").max_episode_steps is None
