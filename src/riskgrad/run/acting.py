"""Acting with a policy without memory: observations in, actions out, in the form that its environment uses.

Actions are drawn with random numbers from the run's seed, in the order of the calls: a run that is loaded again draws
the same actions again.
"""

from typing import Any

import numpy as np

from riskgrad.checks import check_flag
from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.random import Purpose, Stream
from riskgrad.run.translation import Translator, check_reads
from riskgrad.types import FloatArray


class Actor:
    """Acts by a policy, on one observation or on a batch.

    Args:
        policy: the policy that acts; refused if it has memory.
        theta: its parameters [d].
        translator: reads observations and writes actions of the environment.
        seed: of the actions that are drawn.
    """

    def __init__(self, policy: Policy, theta: FloatArray, translator: Translator, seed: int) -> None:
        if policy.memory is not None:
            advice = "player = run.player() is told rewards: player.reset(), player.act(obs), player.observe(reward)"
            raise InputError("policy", "have no memory for run.act, which is told no rewards", policy.memory, advice)
        self._policy, self._thetas, self._translator = policy, theta[np.newaxis], translator
        self._draws = Stream(seed, Purpose.ACTING).generator()

    def act(self, obs: Any, greedy: bool | None) -> Any:
        """Give an action, or actions for a batch; see `Run.act`."""
        likeliest = greedy is not None and check_flag("greedy", greedy)
        batch, single = self._translator.read(obs)
        check_reads(self._policy, batch, obs)
        uniforms = None if likeliest else self._draws.random((len(batch), self._policy.noise_size))
        rows = np.zeros(len(batch), dtype=np.int64)
        actions = self._policy.execute(self._policy.act(self._thetas, rows, batch, uniforms))
        return self._translator.write(actions, single)
