"""Linear policies in MuJoCo: episodes until a return is reached, next to ARS; then averse training under noise.

    pip install "riskgrad[mujoco]" sb3-contrib
    python benchmarks/locomotion.py reach
    python benchmarks/locomotion.py reach --zoo
    python benchmarks/locomotion.py noise

`reach` trains deterministic linear policies on the mean: by OnP-SF, on HalfCheetah with the defaults of `rg.train`, and
by the ARS of sb3-contrib at its documented defaults; with --zoo at the settings that RL Zoo has for these environments,
which its documentation points to for results. The level of a run is the mean return of 64 training episodes in a row,
those of perturbed policies. The target is the best level that the median seed of ARS reaches, so that nothing is left
to choose; the table says after how many episodes each run is there. Without sb3-contrib there is no target, and only
our levels are printed.

The Swimmer has a local optimum near 50, in which long steps end: there OnP-SF takes plain steps, as in the paper.

`noise` compares training on the mean and on CVaR(0.1) as `two_parts` says, where every episode has a fault of its own:
each actuator has an offset that lasts as long as the episode, of 250 steps.
"""

import argparse
import contextlib
import importlib.util
import multiprocessing
from dataclasses import dataclass
from typing import Any, Final

import gymnasium
import numpy as np
from two_parts import Study, compare

import riskgrad as rg

LAST: Final = 64
FAULT: Final = 0.2
FAULTY_STEPS: Final = 250


@dataclass(frozen=True)
class Task:
    """How an environment is learned.

    Attributes:
        episodes: the budget of each training, of 1,000 steps each.
        normalize: whether observations are normalized, by us and by ARS as in RL Zoo.
        ours: options of `rg.train` other than the defaults.
        zoo: settings of ARS in RL Zoo.
        faulty: episodes of the two parts of training under faults.
    """

    episodes: int
    normalize: bool
    ours: dict[str, Any]
    zoo: dict[str, Any]
    faulty: tuple[int, int]


TASKS: Final = {
    "Swimmer-v5": Task(
        episodes=500,
        normalize=False,
        ours={"algorithm": rg.OnPSF(directions=8, smoothing=0.2), "step_size": 2e-4},
        zoo={"n_delta": 1, "n_top": 1, "delta_std": 0.01, "learning_rate": 0.02},
        faulty=(1_000, 2_000),
    ),
    "HalfCheetah-v5": Task(
        episodes=1_500,
        normalize=True,
        ours={},
        zoo={"n_delta": 32, "n_top": 4, "delta_std": 0.03, "learning_rate": 0.02},
        faulty=(6_000, 4_000),
    ),
}
OURS, ARS_DEFAULTS, ARS_ZOO = "OnP-SF", "ARS, defaults", "ARS, RL Zoo"


class Ended(Exception):  # noqa: N818
    """Ends a run of ARS, which has no other way to be stopped within an iteration."""


def by_onp_sf(env: str, task: Task, seed: int) -> list[float]:
    """Give the returns of training by OnP-SF, for each iteration their mean."""
    options = {"normalize": task.normalize, "held_out": 0, "max_episodes": task.episodes, **task.ours}
    run = rg.train(env, risk="mean", policy="deterministic", seed=seed, **options)
    played = np.diff([0, *(line["episodes"] for line in run.history)])
    return [line["mean"] for line, count in zip(run.history, played, strict=True) for _ in range(count)]


def by_ars(env: str, task: Task, seed: int, zoo: bool) -> list[float]:
    """Give the returns of training by the ARS of sb3-contrib, at its defaults or at the settings of RL Zoo."""
    from sb3_contrib import ARS  # noqa: PLC0415
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize  # noqa: PLC0415

    found: list[float] = []

    class Watched(ARS):
        def evaluate_candidates(self, *args: Any, **options: Any) -> Any:
            if len(found) + self.pop_size > task.episodes:
                raise Ended
            returns = super().evaluate_candidates(*args, **options)
            found.extend(returns.tolist())
            return returns

    played: Any = DummyVecEnv([lambda: gymnasium.make(env)])
    settings: dict[str, Any] = task.zoo if zoo else {}
    if zoo and task.normalize:
        played = VecNormalize(played, norm_obs=True, norm_reward=False)
    with contextlib.suppress(Ended):
        Watched("LinearPolicy", played, seed=seed, **settings).learn(10**9, log_interval=None)  # type: ignore[arg-type]
    return found


def levels(work: tuple[str, str, int]) -> np.ndarray:
    """Give the mean of the last 64 returns after each episode of a training, from the 64th on."""
    env, learner, seed = work
    task = TASKS[env]
    returns = by_onp_sf(env, task, seed) if learner == OURS else by_ars(env, task, seed, learner == ARS_ZOO)
    return np.convolve(returns, np.full(LAST, 1.0 / LAST), mode="valid")


def reach(envs: list[str], seeds: int, workers: int, zoo: bool) -> None:
    """Print the episodes that each learner needs."""
    peers = [ARS_ZOO if zoo else ARS_DEFAULTS] if importlib.util.find_spec("sb3_contrib") else []
    if not peers:
        print("sb3-contrib is not installed: no rows of ARS, and no target\n")
    learners = [OURS, *peers]
    works = [(env, learner, seed) for env in envs for learner in learners for seed in range(seeds)]
    print("| environment | learner | best level, by seed | target | episodes until then, by seed | median |")
    print("|---|---|---|---|---|---|")
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        answers = pool.imap(levels, works)
        for env in envs:
            found = {learner: [next(answers) for _ in range(seeds)] for learner in learners}
            target = float(np.median([np.max(each) for each in found[peers[0]]])) if peers else np.inf
            for learner in learners:
                print(row(env, learner, found[learner], target), flush=True)


def row(env: str, learner: str, found: list[np.ndarray], target: float) -> str:
    """Give a row of the table."""
    # a level that is the target itself may differ in its last digit
    hits = [np.flatnonzero(each >= target - 1e-9) for each in found]
    when = [LAST + int(hit[0]) if len(hit) else np.inf for hit in hits]
    best = ", ".join(f"{np.max(each):.1f}" for each in found)
    words = [f"{each:.0f}" if np.isfinite(each) else "not" for each in (*when, float(np.median(when)))]
    return f"| {env} | {learner} | {best} | {target:.1f} | {', '.join(words[:-1])} | {words[-1]} |"


class Faulty(gymnasium.ActionWrapper[Any, Any, Any]):
    """An environment whose actuators have an offset, drawn once for each episode."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        gymnasium.ActionWrapper.__init__(self, env)
        self._offset = np.zeros(env.action_space.shape or ())

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Draw the fault of the episode that begins."""
        first = self.env.reset(seed=seed, options=options)
        self._offset = self.unwrapped.np_random.normal(0.0, FAULT, self._offset.shape)
        return first

    def action(self, action: np.ndarray) -> np.ndarray:
        """Add the fault."""
        return np.clip(action + self._offset, self.action_space.low, self.action_space.high)


def faulty(env: str) -> Faulty:
    """Make an environment with faults."""
    return Faulty(gymnasium.make(env))


def noise(envs: list[str], seeds: int, workers: int) -> None:
    """Print what training on the mean and on CVaR(0.1) reaches."""
    studies = [
        Study(f"{env}, faulty", faulty, {"env": env}, FAULTY_STEPS, *task.faulty, {"normalize": task.normalize})
        for env, task in ((env, TASKS[env]) for env in envs)
    ]
    compare(studies, seeds, workers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["reach", "noise"])
    parser.add_argument("--env", choices=list(TASKS), action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--zoo", action="store_true", help="ARS at the settings of RL Zoo instead of its defaults")
    given = parser.parse_args()
    envs = given.env or list(TASKS)
    if given.what == "reach":
        reach(envs, given.seeds, given.workers, given.zoo)
    else:
        noise(envs, given.seeds, given.workers)


if __name__ == "__main__":
    main()
