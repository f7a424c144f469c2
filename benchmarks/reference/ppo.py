"""PPO of Stable-Baselines3 at its defaults on a problem of `learning_problems`, one seed.

    python ppo.py NAME SEED EPISODES STEPS SECONDS

It learns until it has played so many episodes or steps, or so many seconds of one core, whichever is first.
The policy is then tested on fresh episodes with the likeliest actions, as Stable-Baselines3 does by default. It prints
as JSON the returns, how many episodes, steps and seconds it learned, and after how many episodes the mean return of the
last `n` episodes was first at the problem's level, n being those that ended in one batch of 2,048 steps.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor

sys.path.insert(0, str(Path(__file__).parents[1]))
from learning_problems import CHOSEN, SET_ASIDE, EnvProblem

MOST_TESTED, LANES = 10_000, 50


class Limits(BaseCallback):
    """Ends learning at the first limit, and notes the returns of each batch."""

    def __init__(self, episodes: int, seconds: float) -> None:
        BaseCallback.__init__(self)
        self.most, self.until = episodes, time.process_time() + seconds
        self.returns: list[float] = []
        self.batches: list[tuple[int, float]] = []
        self._seen = 0

    def _on_step(self) -> bool:
        self.returns += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
        return len(self.returns) < self.most and time.process_time() < self.until

    def _on_rollout_end(self) -> None:
        last = self.returns[self._seen :]
        if last:
            self.batches.append((len(self.returns), sum(last) / len(last)))
        self._seen = len(self.returns)


def make(problem: EnvProblem) -> gymnasium.Env[Any, Any]:
    """Make the environment of a problem."""
    return gymnasium.make(problem.env) if isinstance(problem.env, str) else problem.env()


def test(model: PPO, problem: EnvProblem, seed: int) -> list[float]:
    """Give the returns of fresh episodes, played side by side so that the network is asked once for many."""
    envs = [make(problem) for _ in range(LANES)]
    returns: list[float] = []
    while len(returns) < min(problem.tested, MOST_TESTED):
        begins = [env.reset(seed=10**6 * (seed + 1) + len(returns) + lane)[0] for lane, env in enumerate(envs)]
        busy, totals = dict(enumerate(begins)), np.zeros(LANES)
        while busy:
            actions = model.predict(gather(list(busy.values())), deterministic=True)[0]
            for lane, action in zip(list(busy), actions, strict=True):
                busy[lane], reward, terminated, truncated, _ = envs[lane].step(action)
                totals[lane] += float(reward)
                if terminated or truncated:
                    del busy[lane]
        returns += totals.tolist()
    return returns


def gather(seen: list[Any]) -> Any:
    """Put observations of several lanes together, part by part."""
    if isinstance(seen[0], dict):
        return {part: np.stack([each[part] for each in seen]) for part in seen[0]}
    return np.stack(seen)


def main() -> None:
    name, seed, episodes, steps, seconds = sys.argv[1], *(int(word) for word in sys.argv[2:])
    torch.set_num_threads(1)
    problem = {each.name: each for each in (*CHOSEN, *SET_ASIDE)}[name]
    env, limits = Monitor(make(problem)), Limits(episodes, seconds)
    parts = isinstance(env.observation_space, gymnasium.spaces.Dict)
    model = PPO("MultiInputPolicy" if parts else "MlpPolicy", env, seed=seed, device="cpu")
    began = time.process_time()
    model.learn(steps, callback=limits)
    taken = time.process_time() - began
    level = float("inf") if problem.level is None else problem.level
    print(
        json.dumps(
            {
                "episodes": len(limits.returns),
                "steps": model.num_timesteps,
                "seconds": round(taken, 1),
                "first": next((played for played, mean in limits.batches if mean >= level), None),
                "returns": test(model, problem, seed),
            }
        )
    )


if __name__ == "__main__":
    main()
