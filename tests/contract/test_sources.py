"""Every source of episodes passes the contract that users run on their own; a broken one does not."""

import dataclasses
import importlib
import pkgutil

import numpy as np
import pytest
from support.environments import Countdown

from riskgrad import mdp, sources
from riskgrad.backend import Processes
from riskgrad.envs import compiled_twin
from riskgrad.errors import ContractError
from riskgrad.random import Stream
from riskgrad.sources import CompiledSource, GymnasiumSource, Source, TabularSource, make_policy
from riskgrad.testing import check_source

CASES = {
    "TabularSource": lambda: TabularSource(mdp.two_roads()),
    "CompiledSource": lambda: CompiledSource(compiled_twin("CartPole-v1", {}), 60),
    "GymnasiumSource": lambda: GymnasiumSource(Countdown, 20),
    "GymnasiumSource, vector": lambda: GymnasiumSource("CartPole-v1", 40, native=True),
    "GymnasiumSource, single": lambda: GymnasiumSource("CartPole-v1", 40, native=False),
}


@pytest.mark.parametrize("build", CASES.values(), ids=CASES.keys())
def test_contract(build):
    source = build()
    check_source(source, make_policy(source), episodes=60)


def test_contract_in_processes():
    with Processes(2) as backend:
        source = GymnasiumSource(Countdown, 20, backend=backend)
        check_source(source, make_policy(source), episodes=40)


def test_policies_without_a_density_are_checked_as_far_as_they_go():
    source = GymnasiumSource(Countdown, 20)
    check_source(source, make_policy(source, "deterministic"), episodes=20)


class Broken(Source):
    """A source of which one answer is put wrong."""

    def __init__(self, returns=None, record=None, return_range=None):
        self.true = TabularSource(mdp.two_roads())
        self.change_returns, self.change_record = returns, record
        self.range = return_range or self.true.return_range

    @property
    def return_range(self):
        return self.range

    def returns(self, policy, thetas, episodes, stream, pairs=None):
        if self.change_returns == "pairs":
            pairs = None
        if self.change_returns == "seed":
            stream = Stream(0, stream.purpose)
        found = self.true.returns(policy, thetas, episodes, stream, pairs)
        return self.change_returns(found) if callable(self.change_returns) else found

    def record(self, policy, theta, episodes, stream):
        batch = self.true.record(policy, theta, episodes, stream)
        return self.change_record(batch) if self.change_record else batch


def fewer(found):
    return dataclasses.replace(found, values=found.values[:, 1:], lengths=found.lengths[:, 1:])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"returns": fewer}, "exactly m episodes"),
        ({"returns": "pairs"}, "one pair"),
        ({"returns": "seed"}, "another seed"),
        ({"return_range": (-1.0, 0.0)}, "return_range"),
        ({"record": lambda b: dataclasses.replace(b, counts=b.counts + 1)}, "as many visits as steps"),
        ({"record": lambda b: dataclasses.replace(b, log_behavior=b.log_behavior - 0.5)}, "how likely"),
        (
            {"record": lambda b: dataclasses.replace(b, values=np.full_like(b.values, b.values.min()))},
            "same mean return",
        ),
    ],
)
def test_broken_sources_are_caught(changes, words):
    source = Broken(**changes)
    with pytest.raises(ContractError) as caught:
        check_source(source, make_policy(source.true), episodes=400)
    assert words in str(caught.value)


def test_every_source_is_exported_and_in_the_contract():
    found = set()
    for module in pkgutil.iter_modules(sources.__path__):
        for name, thing in vars(importlib.import_module(f"riskgrad.sources.{module.name}")).items():
            if isinstance(thing, type) and {"returns", "record"} <= set(dir(thing)) and thing is not Source:
                found.add(name)
    assert found <= set(sources.__all__), "one export line is missing"
    assert found <= {type(build()).__name__ for build in CASES.values()}, "one case above is missing"
