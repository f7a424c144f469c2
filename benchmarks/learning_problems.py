"""Environments that are no tables, with a measure and a budget each: to choose a learner on, and to judge it.

Defaults and designs are chosen on `CHOSEN` alone; `SET_ASIDE` is for one last look. A result is told as its share of
the way from a start, mostly random play, to an aim: the most there is, what is published, or what a rule of thumb
reaches. So a share may be above 1. Nothing here imports riskgrad, so that peers can read it, too.
"""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import learning_aside as aside
import learning_envs as envs


@dataclass(frozen=True)
class EnvProblem:
    """An environment, a measure and a budget.

    Attributes:
        name: what it is called in tables.
        env: an id, or what makes the environment.
        risk: the measure, as `rg.risk.parse` reads it.
        episodes: the budget of training.
        start: what random play is worth, or doing nothing in trading, on the mountain and in the maze.
        aim: what counts as all of the way.
        origin: whose the aim is.
        tested: fresh episodes that a trained policy is judged by.
        level: a mean return; how many episodes it takes until a batch has it is told.
        also: other measures that are told of what was trained on this one.
        needs: what has to be installed, as it is imported.
    """

    name: str
    env: str | Callable[[], gymnasium.Env[Any, Any]]
    risk: str
    episodes: int
    start: float
    aim: float
    origin: str
    tested: int = 1_000
    level: float | None = None
    also: tuple[str, ...] = ()
    needs: str | None = None

    @property
    def playable(self) -> bool:
        """Whether what it needs is installed."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None

    def share(self, value: float) -> float:
        """Give how far a value is from the start to the aim."""
        return (value - self.start) / (self.aim - self.start)


def make_empty_room() -> gymnasium.Env[Any, Any]:
    """Make the empty room of five by five as an image of small integers; it ends after 100 steps of its own accord."""
    from minigrid.wrappers import ImgObsWrapper  # noqa: PLC0415

    return ImgObsWrapper(gymnasium.make("MiniGrid-Empty-5x5-v0"))


MOST, RULE, BEST = "the most there is", "a rule of thumb", "the best policy of the finite model"
SOLVED, GOOD, SRM = "counts as solved", "good play", "published, QR-SRM, at a discount of 0.99"
TAILS = ("cvar:0.5", "cvar:0.2")  # QR-SRM, trained on the mean: 1.43, and in these 0.03 and -1.36

CHOSEN = (
    EnvProblem("CartPole-v1", "CartPole-v1", "mean", 600, 22.5, 500.0, MOST, level=475.0),
    EnvProblem("Pendulum-v1", "Pendulum-v1", "mean", 1_000, -1_230.0, -180.0, GOOD, also=("cvar:0.1",)),
    EnvProblem("Pendulum-v1, averse", "Pendulum-v1", "cvar:0.1", 1_000, -1_740.0, -350.0, GOOD),
    EnvProblem("MiniGrid-Empty-5x5", make_empty_room, "mean", 5_000, 0.20, 0.955, MOST, needs="minigrid"),
    EnvProblem("MountainCarContinuous-v0", "MountainCarContinuous-v0", "mean", 2_000, 0.0, 90.0, SOLVED, 300),
    EnvProblem("LunarLander-v3", "LunarLander-v3", "mean", 4_000, -180.0, 200.0, SOLVED, 500, needs="Box2D"),
    EnvProblem("betting, wheel", envs.WHEEL, "cvar:0.2", 50_000, -53.5289, 42.3826, BEST, 100_000),
    EnvProblem("betting, stakes", envs.STAKES, "cvar:0.2", 50_000, -100.0, 74.1205, BEST, 100_000),
    EnvProblem("Trading", envs.TRADING, "mean", 100_000, 0.0, 1.71, MOST, 100_000, also=TAILS),
    EnvProblem(
        "Trading, averse", envs.TRADING, "cvar:0.5", 100_000, 0.0, 0.27, SRM, 100_000, also=("mean", "cvar:0.2")
    ),
    EnvProblem(
        "GuardedMaze-v0",
        "riskgrad/GuardedMaze-v0",
        "cvar:0.05",
        88_000,
        -32.0,
        -6.7,
        "published, CeSoR",
        50_000,
        also=("mean", "cvar:0.1"),
    ),
)

SET_ASIDE = (
    EnvProblem("Acrobot-v1", "Acrobot-v1", "mean", 1_000, -497.0, -100.0, SOLVED),
    EnvProblem("MountainCar-v0", "MountainCar-v0", "mean", 3_000, -200.0, -110.0, SOLVED),
    EnvProblem("lake, one-hot", aside.LAKE, "mean", 20_000, 0.016, 0.7442, MOST, 10_000),
    EnvProblem("hedge", aside.HEDGE, "cvar:0.1", 20_000, -23.23, -4.37, RULE, 100_000),
    EnvProblem("store", aside.STORE, "cvar:0.1", 10_000, -303.1, 93.6, RULE, 20_000),
    EnvProblem("passage", aside.PASSAGE, "cvar:0.1", 20_000, -33.14, 10.72, RULE, 20_000),
    EnvProblem("dosing, in parts", aside.DOSING, "dual-power:2", 5_000, -18.13, -10.22, RULE, 10_000),
    EnvProblem("quote", aside.QUOTE, "mean-variance:0.02", 50_000, -0.26, 0.586, RULE, 500_000),
    EnvProblem("reservoir", aside.RESERVOIR, "cvar:0.05", 5_000, -2_021.0, -23.4, RULE, 20_000),
)
