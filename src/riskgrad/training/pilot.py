"""The pilot: episodes of the untrained policy, to which memory of the return is fitted before a run begins.

The range of returns is not known in advance. So the untrained policy, still without memory, plays a few hundred
episodes, and their returns so far determine the cells, or the center and the spread (see `riskgrad.policy.memory`).
These are then fixed, so that within a run each theta stands for one policy.

The episodes count in the cost, and are at most a tenth of a budget. No pilot is needed for memory of the time, for a
log, whose own returns serve, or for a policy that already has a memory, such as `run.policy` of an earlier run. The
episodes are a function of their key: a resumed run plays them again, and they are counted once.
"""

from typing import Final

from riskgrad.checks import MemoryKind
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.policy.memory import Memory, find_edges, find_scale, with_memory
from riskgrad.random import Purpose, Stream
from riskgrad.sources import Source
from riskgrad.types import States

KEY: Final = 1  # of the random numbers, so that these episodes differ from those that normalization begins with


def fit_memory(source: Source, policy: Policy, kind: MemoryKind, seed: int, episodes: int) -> tuple[Policy, int]:
    """Give the policy with the memory that was asked for, and how many episodes of a pilot that took.

    Args:
        source: where episodes come from.
        policy: the policy, without memory or with the memory that was asked for.
        kind: the kind of memory that was asked for.
        seed: the run's seed.
        episodes: how many a pilot plays, where one is needed.
    """
    own = policy.memory
    if own is not None and own.kind == kind:
        return policy, 0
    if own is not None:
        raise InputError("memory", f"be that of the policy, {own.kind!r}", kind)
    if not source.remembers:
        raise InputError("memory", "be left out for a source that does not show it", kind)
    played = 0 if kind == "time" or source.logged is not None else episodes
    return with_memory(policy, _fit(source, policy, kind, seed, episodes)), played


def _fit(source: Source, policy: Policy, kind: MemoryKind, seed: int, episodes: int) -> Memory:
    """Fit a memory to the returns so far of this many episodes, or of a log."""
    gives, horizon, discount = source.gives, source.horizon, source.discount
    if gives is None or horizon is None or discount is None:
        rule = "be left out for a source that does not say what it gives, its horizon and its discount"
        raise InputError("memory", rule, kind)
    memory = Memory(kind, gives, horizon, discount, bumps=not isinstance(gives, States) and not policy.layered)
    if kind == "time":
        return memory
    stream = Stream(seed, Purpose.OBSERVING, KEY)
    found = source.returns_so_far(policy, policy.first_theta(None, seed), episodes, stream)
    if isinstance(gives, States):
        return Memory(kind, gives, horizon, discount, edges=find_edges(found))
    center, spread = find_scale(found)
    return Memory(kind, gives, horizon, discount, center=center, spread=spread, bumps=memory.bumps)
