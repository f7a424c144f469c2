"""The pilot: episodes of the untrained policy, by which memory of the return is fitted before a run begins.

Nothing is known of the range of returns. So the policy that was asked for, still without memory and as it starts,
plays a few hundred episodes, and the returns so far that it meets say where cells begin, or what the center and the
spread are (see `riskgrad.policy.memory`). They are then fixed: within a run theta means one policy.

The episodes count in the cost, at most a tenth of a budget. Memory of the time needs none, nor does a log, whose own
returns serve, nor a policy that comes with a memory, such as `run.policy` of an earlier run. They are a function of
their key: a run that goes on plays them again, and they are counted once.
"""

from typing import Final

from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.policy.memory import Memory, MemoryKind, find_edges, find_scale, with_memory
from riskgrad.random import Purpose, Stream
from riskgrad.settings import TrainOptions
from riskgrad.sources import Source
from riskgrad.types import States

PILOT_EPISODES: Final = 400
MOST_OF_BUDGET: Final = 0.1
LEAST_EPISODES: Final = 20
KEY: Final = 1  # tells its episodes from those that normalization begins with


def fit_memory(source: Source, policy: Policy, options: TrainOptions) -> tuple[Policy, int]:
    """Give the policy with the memory that was asked for, and how many episodes of a pilot that took."""
    kind, own = options.memory, policy.memory
    if kind is None or (own is not None and own.kind == kind):
        return policy, 0
    if own is not None:
        raise InputError("memory", f"be that of the policy, {own.kind!r}", kind)
    gives = source.gives
    if gives is None or not source.remembers:
        raise InputError("memory", "be left out for a source that does not show it", kind)
    plays = kind != "time" and source.logged is None
    episodes = count_pilot(options.max_episodes) if plays else 0
    return with_memory(policy, _fit(source, policy, kind, options.seed, episodes)), episodes


def count_pilot(budget: int | None) -> int:
    """Give the episodes of a pilot within a budget in episodes, if there is one."""
    most = PILOT_EPISODES if budget is None else int(MOST_OF_BUDGET * budget)
    return max(LEAST_EPISODES, min(PILOT_EPISODES, most))


def _fit(source: Source, policy: Policy, kind: MemoryKind, seed: int, episodes: int) -> Memory:
    """Fit a memory to the returns so far of these episodes, or of a log."""
    gives, horizon, discount = source.gives, source.horizon, source.discount
    if gives is None or horizon is None or discount is None:
        raise InputError("memory", "be left out for a source that does not say its horizon and discount", kind)
    memory = Memory(kind, gives, horizon, discount, bumps=not isinstance(gives, States) and not policy.layered)
    if kind == "time":
        return memory
    stream = Stream(seed, Purpose.OBSERVING, KEY)
    found = source.returns_so_far(policy, policy.first_theta(None, seed), episodes, stream)
    if isinstance(gives, States):
        return Memory(kind, gives, horizon, discount, edges=find_edges(found))
    center, spread = find_scale(found)
    return Memory(kind, gives, horizon, discount, center=center, spread=spread, bumps=memory.bumps)
