"""Every source of episodes passes the contract that users run on their own; a broken one does not."""

import contextlib
import dataclasses

import numpy as np
import pytest
from support.environments import Countdown

from riskgrad import mdp, registry, sources
from riskgrad.backend import Patient, Processes
from riskgrad.envs import compiled_twin
from riskgrad.errors import ContractError, InputError
from riskgrad.random import Stream
from riskgrad.sources import (
    SOURCES,
    CompiledSource,
    EnvOptions,
    GymnasiumSource,
    SharedSource,
    Source,
    TabularSource,
    make_policy,
    resolve_source,
)
from riskgrad.testing import check_source

CASES = {
    "TabularSource": lambda: TabularSource(mdp.two_roads()),
    "CompiledSource": lambda: CompiledSource(compiled_twin("CartPole-v1", {}), 60),
    "SharedSource, a model": lambda: SharedSource(TabularSource(mdp.two_roads()), Patient(2)),
    "SharedSource, compiled": lambda: SharedSource(CompiledSource(compiled_twin("CartPole-v1", {}), 60), Patient(2)),
    "GymnasiumSource": lambda: GymnasiumSource(Countdown, 20),
    "GymnasiumSource, vector": lambda: GymnasiumSource("CartPole-v1", 40, native=True),
    "GymnasiumSource, single": lambda: GymnasiumSource("CartPole-v1", 40, native=False),
}


# environments that each kind of source is asked for; those that it plays are in the contract
ENVS = [
    (mdp.two_roads(), EnvOptions()),
    ("CartPole-v1", EnvOptions(horizon=40)),
    ("FrozenLake-v1", EnvOptions(horizon=20, discount=0.9)),
    (Countdown(), EnvOptions(horizon=20)),
]


def envs_for(kind):
    """Give the environments above, and one of each class that a kind of source alone plays, made without arguments."""
    yield from ENVS
    for own in kind.plays:
        with contextlib.suppress(TypeError):
            yield own(), EnvOptions()


def offered():
    """Give each source that some kind makes of some environment."""
    for kind in SOURCES.parts():
        for env, options in envs_for(kind):
            source = kind.from_env(env, options)
            if source is not None:
                yield pytest.param(source, id=f"{kind.__name__}, {env}")


@pytest.mark.parametrize("source", list(offered()))
def test_contract_by_environment(source):
    check_source(source, make_policy(source), episodes=60)


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

    remembers = True

    def __init__(self, returns=None, record=None, return_range=None, so_far=None):
        self.true = TabularSource(mdp.two_roads())
        self.change_returns, self.change_record, self.change_so_far = returns, record, so_far
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

    def returns_so_far(self, policy, theta, episodes, stream):
        so_far = self.true.returns_so_far(policy, theta, episodes, stream)
        return self.change_so_far(so_far) if self.change_so_far else so_far


def fewer(found):
    return dataclasses.replace(found, values=found.values[:, 1:], lengths=found.lengths[:, 1:])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"returns": fewer}, "exactly m episodes"),
        ({"returns": "pairs"}, "one pair"),
        ({"returns": "seed"}, "another seed"),
        ({"return_range": (-1.0, 0.0)}, "return_range"),
        ({"so_far": lambda y: y[1:]}, "tells each step"),
        ({"so_far": lambda y: y + 1.0}, "begins at 0"),
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
    """A log has no episodes to play: it is in tests/sources/test_logged.py."""
    for kind in SOURCES.parts():
        assert getattr(sources, kind.__name__) is kind
        assert kind.__name__ in sources.__all__
        assert kind.name, "listings call it by its name"
        played = any(kind.from_env(env, options) is not None for env, options in envs_for(kind))
        why = "nothing above is played by it: let `plays` name a class that is made without arguments, or add to ENVS"
        assert played or kind.__name__ in ("LoggedEpisodes", "SharedSource"), why


class Coins:
    """An environment of nobody else's."""


class CoinSource(Source):
    """Plays coins, as a finite model."""

    name = "coins"
    returns = record = None  # pyright: ignore[reportAssignmentType]

    @classmethod
    def from_env(cls, env, options):  # noqa: ARG003
        return cls() if isinstance(env, Coins) else None


def test_a_registered_source_is_asked_for_environments():
    with pytest.raises(InputError, match="env must be a Gymnasium id"):
        resolve_source(Coins())
    registry.register(CoinSource)
    try:
        assert isinstance(resolve_source(Coins()), CoinSource)
        assert isinstance(resolve_source(Coins), CoinSource)
        assert isinstance(resolve_source("CartPole-v1"), CompiledSource)
    finally:
        SOURCES.forget(CoinSource)
