"""Every random stream of the project: a key (seed, purpose, iteration, pair, episode) becomes numbers.

No number depends on the order in which work is done. A run that is split over threads, processes or machines, or killed
and resumed, asks for the same keys and so sees the same numbers; nothing has to be saved of a generator's state.

A key is used in two ways:

- `Stream.generator(...)` gives a NumPy generator, for unit vectors, bootstrap resamples, environments.
- `Stream.keys(...)` gives one 64-bit word per pair, for compiled samplers. They derive each episode's stream from it:
  episode e of a pair with key k starts SplitMix64 at `mix(k + (e + 1) * GOLDEN)`, so that the two policies of a +- pair
  see the same numbers (common random numbers) and no two episodes share a stream.

Besides the key, the versions of the packages determine the numbers; a run records them.
"""

import platform
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib.metadata import version
from typing import Final

import numpy as np
from numpy.typing import NDArray

import riskgrad
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls
from riskgrad.types import IntArray

GOLDEN: Final = 0x9E3779B97F4A7C15  # what SplitMix64 adds to its state for each number
FACTORS: Final = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)  # by which it mixes the bits of a state
PACKAGES: Final = ("numpy", "scipy", "numba", "gymnasium")
ENVIRONMENT: Final = 0xD1B54A32D192ED03  # separates the stream of an environment from that of the actions


class Purpose(IntEnum):
    """What a stream is for; two purposes never share a number. The values are part of what a seed means."""

    DIRECTIONS = 1
    TRAINING = 2
    HELD_OUT = 3
    EVALUATION = 4
    BOOTSTRAP = 5
    RESERVOIR = 6
    INITIAL = 7
    EXAMPLE = 8
    OBSERVING = 9
    REHEARSING = 10
    ACTING = 11
    CHECKING = 12


@checks_calls
@dataclass(frozen=True, slots=True)
class Stream:
    """The random numbers of one iteration for one purpose; within it, each pair and episode has its own.

    Equal keys give equal numbers, different keys give independent ones.

    Attributes:
        seed: the run's seed, a non-negative integer of any size.
        purpose: what the numbers are for.
        iteration: the iteration k of the run.
        first: the episode that counts as number 0, where only a part of them is played.
    """

    seed: int
    purpose: Purpose
    iteration: int = 0
    first: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise InputError("seed", "be a non-negative integer", self.seed)

    def generator(self, pair: int = 0, episode: int = 0) -> np.random.Generator:
        """Give the NumPy generator of one pair and episode."""
        return np.random.Generator(np.random.PCG64(self._sequence(pair, self.first + episode)))

    def keys(self, pairs: IntArray) -> NDArray[np.uint64]:
        """Give one 64-bit key per row, for compiled samplers; rows of one pair get the same key.

        Args:
            pairs: the pair of each row [P], not negative.

        Returns:
            keys [P].
        """
        base = self._sequence().generate_state(1, np.uint64)[0]
        with np.errstate(over="ignore"):
            keys = mix(base + (pairs.astype(np.uint64) + np.uint64(1)) * np.uint64(GOLDEN))
            return keys + np.uint64(self.first) * np.uint64(GOLDEN)

    def _sequence(self, *rest: int) -> np.random.SeedSequence:
        key = (int(self.purpose), int(self.iteration), *(int(part) for part in rest))
        return np.random.SeedSequence(int(self.seed), spawn_key=key)


def mix(word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of 64-bit words as SplitMix64 does: one to one, each output bit depending on every input bit."""
    with np.errstate(over="ignore"):
        word = (word ^ (word >> np.uint64(30))) * np.uint64(FACTORS[0])
        word = (word ^ (word >> np.uint64(27))) * np.uint64(FACTORS[1])
        return word ^ (word >> np.uint64(31))


def episode_words(keys: NDArray[np.uint64], episodes: int) -> NDArray[np.uint64]:
    """Give the 64-bit word at which the stream of each episode begins [P, m], from the keys of the rows [P].

    Episode e of key k begins at mix(k + (e + 1) * GOLDEN). Its t-th number is mix(word + (t + 1) * GOLDEN).
    """
    steps = (np.arange(episodes, dtype=np.uint64) + np.uint64(1)) * np.uint64(GOLDEN)
    with np.errstate(over="ignore"):
        return mix(keys[:, None] + steps)


def environment_seeds(words: NDArray[np.uint64]) -> IntArray:
    """Give a seed below 2^31 for the environment of each episode, independent of the stream of the actions."""
    return (mix(words ^ np.uint64(ENVIRONMENT)) >> np.uint64(33)).astype(np.int64)


def current_versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that decide the numbers, and the kind of machine."""
    found = {"python": platform.python_version(), "riskgrad": riskgrad.__version__}
    packages = {name: _version_of(name) for name in PACKAGES}
    return {**found, **packages, "platform": f"{platform.system()} {platform.machine()}"}


@cache
def _version_of(package: str) -> str:
    """Give the version of a package, read from the disk once, since that takes half a millisecond."""
    return version(package)


def changed_versions(before: dict[str, str], now: dict[str, str]) -> str:
    """Say which versions differ between two times, as a note for a run that goes on; empty if none does."""
    words = [f"{name} {now[name]} (before: {before[name]})" for name in now if before.get(name, now[name]) != now[name]]
    return f"went on with {', '.join(words)}: its numbers may differ from those of an unbroken run" if words else ""
