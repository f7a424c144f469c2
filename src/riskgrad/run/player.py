"""A trained policy that acts step by step: it gets observations and rewards, and returns actions.

    player = run.player()
    player.reset()                          an episode begins
    action = player.act(observation)        what to do
    player.observe(reward)                  what that earned; memory needs it before the next action

It keeps what a policy with memory remembers, with the run's own discount. Actions are drawn with random numbers from a
seed: episode e of a player uses those of episode e that `rg.evaluate(..., seed=seed)` plays on a Gymnasium environment.
"""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.checks import check_flag, check_theta
from riskgrad.errors import InputError
from riskgrad.kernels.streams import fill_uniforms
from riskgrad.kinds import checks_calls
from riskgrad.policy import Greedy, Policy
from riskgrad.random import GOLDEN, Purpose, Stream, mix
from riskgrad.run.translation import Translator, check_reads
from riskgrad.sources.gymnasium.readings import as_reward


@checks_calls
class RunPlayer:
    """Acts by a policy in one episode after the other.

    Args:
        policy: the policy that acts.
        theta: its parameters [d].
        seed: the seed of the actions that are drawn.
        greedy: take the likeliest action instead of drawing one.
        env: an environment, whose spaces say how observations are read and actions written.
        translator: reads observations and writes actions where no environment is given; without both, observations and
            actions are those of the policy itself: states and choices numbered from 0, and vectors.
    """

    def __init__(
        self,
        policy: Policy,
        theta: ArrayLike,
        *,
        seed: int = 0,
        greedy: bool = False,
        env: "gymnasium.Env[Any, Any] | None" = None,
        translator: Translator | None = None,
    ) -> None:
        self._policy = Greedy(policy) if check_flag("greedy", greedy) else policy
        self._thetas = check_theta(theta, policy.dim)[np.newaxis]
        self._key = Stream(seed, Purpose.EVALUATION).keys(np.zeros(1, dtype=np.int64))
        asked = translator if env is None else Translator(env.observation_space, env.action_space)
        self._translator = asked
        self._episode = -1
        self._stream = np.zeros(1, dtype=np.uint64)
        self._time, self._total, self._factor, self._waiting = 0, 0.0, 1.0, False

    def reset(self) -> None:
        """Begin the next episode, and clear the memory."""
        self._episode += 1
        with np.errstate(over="ignore"):
            self._stream = mix(self._key + np.uint64(self._episode + 1) * np.uint64(GOLDEN))
        self._time, self._total, self._factor, self._waiting = 0, 0.0, 1.0, False

    def act(self, obs: Any) -> Any:
        """Give an action for the environment: an integer for a choice, otherwise an array.

        Args:
            obs: one observation, as the environment shows it.
        """
        memory = self._policy.memory
        if self._episode < 0:
            raise InputError("player", "be reset before it acts", "no episode", "call player.reset()")
        if self._waiting and memory is not None:
            rule = "be told the reward of its last action before the next one"
            raise InputError("player", rule, f"none of step {self._time}", "call player.observe(reward)")
        seen, _ = self._translator.read(obs) if self._translator is not None else (_as_batch(obs), True)
        check_reads(self._policy, seen, obs)
        if len(seen) != 1:
            raise InputError("obs", "be one observation, of the episode that is played", obs, "run.act takes a batch")
        if memory is not None:
            seen = memory.extend(seen, np.array([self._time]), np.array([self._total]))
        uniforms = np.empty((1, self._policy.noise_size))
        fill_uniforms(self._stream, uniforms)
        actions = self._policy.execute(self._policy.act(self._thetas, np.zeros(1, dtype=np.int64), seen, uniforms))
        self._waiting = True
        if self._translator is not None:
            return self._translator.write(actions, single=True)
        return int(actions[0]) if actions.ndim == 1 else actions[0]

    def observe(self, reward: float) -> None:
        """Take note of the reward of the last action."""
        try:
            earned = as_reward(reward)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError("reward", "be a number", reward) from error
        if not self._waiting:
            raise InputError("player", "act before it is told a reward", reward, "call player.act(observation)")
        if not np.isfinite(earned):
            raise InputError("reward", "be finite", reward)
        memory = self._policy.memory
        self._total += self._factor * earned
        self._factor *= 1.0 if memory is None else memory.discount
        self._time, self._waiting = self._time + 1, False


def _as_batch(obs: Any) -> NDArray[Any]:
    """Give a state as an array [1], or a vector of k numbers as an array [1, k]."""
    found = np.asarray(obs)
    if found.ndim == 0 and found.dtype.kind in "iu":
        return found.reshape(1).astype(np.int64)
    return np.asarray(found, dtype=np.float64).reshape(1, -1)
