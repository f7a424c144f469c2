"""Games of whole episodes side by side, as Gymnasium environments: rules are written once, over lanes.

A `LaneGame` is a vector environment in plain NumPy, so that 100,000 episodes take seconds. `OneLane` is the same game
as a single environment, for whoever steps one at a time. `register_game` gives an id to both.
"""

from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import Space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Info = dict[str, Any]


class LaneGame(VectorEnv[Any, Any, Any]):
    """Plays an episode in each of L lanes; a lane whose episode is over waits until a mask resets it.

    Attributes:
        steps: after which an episode is over, at the latest.
        seen: the space of an observation.
        moves: the space of an action.
        age: steps played [L].
    """

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.DISABLED}
    steps: ClassVar[int]
    seen: ClassVar[Space[Any]]
    moves: ClassVar[Space[Any]]

    def __init__(self, num_envs: int = 1, max_episode_steps: int | None = None) -> None:
        self.num_envs = num_envs
        self.limit = self.steps if max_episode_steps is None else max_episode_steps
        self.single_observation_space, self.single_action_space = self.seen, self.moves
        self.observation_space, self.action_space = (batch_space(each, num_envs) for each in (self.seen, self.moves))
        self.age = np.zeros(num_envs, dtype=np.int64)
        self.begin(np.ones(num_envs, dtype=np.bool_))

    @abstractmethod
    def begin(self, lanes: Flags) -> None:
        """Put the lanes of a mask [L] where an episode begins."""

    @abstractmethod
    def play(self, actions: NDArray[Any]) -> tuple[Floats, Flags]:
        """Take a step in all lanes; give the rewards [L], and which episodes have come to an end of their own [L].

        `age` counts this step already.
        """

    @abstractmethod
    def observe(self) -> NDArray[Any]:
        """Give what is seen [L, k]."""

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[NDArray[Any], Info]:
        """Begin an episode in all lanes, or in those of `options["reset_mask"]`."""
        VectorEnv.reset(self, seed=seed)
        lanes = np.ones(self.num_envs, dtype=np.bool_) if options is None else options["reset_mask"]
        self.age[lanes] = 0
        self.begin(lanes)
        return self.observe(), {}

    def step(self, actions: NDArray[Any]) -> tuple[NDArray[Any], Floats, Flags, Flags, Info]:
        """Take a step in all lanes."""
        self.age += 1
        rewards, over = self.play(np.asarray(actions))
        return self.observe(), rewards, over, ~over & (self.age >= self.limit), {}


class OneLane(gymnasium.Env[Any, Any]):
    """A game with a single lane, as a single environment; its time limit is that of `gymnasium.make`.

    Args:
        game: which.
        options: of the game.
    """

    def __init__(self, game: type[LaneGame], **options: Any) -> None:
        self.game = game(**options)
        self.observation_space, self.action_space = game.seen, game.moves

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:  # noqa: ARG002
        """Begin an episode."""
        gymnasium.Env.reset(self, seed=seed)
        self.game.np_random = self.np_random
        return self.game.reset()[0][0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Take a step."""
        seen, rewards, over, _, _ = self.game.step(np.asarray(action)[np.newaxis])
        return seen[0], float(rewards[0]), bool(over[0]), False, {}


def register_game(name: str, game: type[LaneGame], **options: Any) -> str:
    """Register a game with its vector form, and give its id."""
    full = f"riskgrad-benchmarks/{name}"
    gymnasium.register(
        full, partial(OneLane, game), max_episode_steps=game.steps, vector_entry_point=game, kwargs=options
    )
    return full
