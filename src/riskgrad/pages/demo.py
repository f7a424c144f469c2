# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""The demonstration: one maze, two trainings, and how their policies differ.

In the guarded maze the short way to the goal passes a cell where a guard sometimes stands and takes a high price. A
policy trained on the mean takes the short way; one trained on the mean of the worst twentieth of episodes takes the
long way. Both trainings call `riskgrad.train` with only the environment, the measure and the seed.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from riskgrad._train import train
from riskgrad.envs import maze
from riskgrad.pages.floor_map import Walks, draw_walks, walks_of
from riskgrad.pages.page import render_page
from riskgrad.pages.played import EPISODES, PlayedRun, play_runs
from riskgrad.pages.prose import percent, write
from riskgrad.pages.style import inline_svg, make_figure
from riskgrad.risk import CVaR
from riskgrad.run import Run
from riskgrad.run.files import write_text

ENV: Final = "riskgrad/GuardedMaze-v0"
RISKS: Final = {"neutral": "mean", "averse": "cvar:0.05"}
TAIL: Final = 0.05
TITLE: Final = "The guarded maze"


@dataclass(frozen=True, eq=False)
class Walker:
    """A trained policy, the returns of its fresh episodes, and its walks through the maze.

    Attributes:
        played: the run and the returns of its fresh episodes.
        walks: further episodes, position by position.
    """

    played: PlayedRun
    walks: Walks

    @property
    def guarded_share(self) -> float:
        """The share of walks that pass the guarded cell."""
        return self.walks.through(maze.GUARDED)

    @property
    def mean(self) -> float:
        """The mean return."""
        return float(self.played.values.mean())

    @property
    def worst(self) -> float:
        """The mean return of the worst twentieth of the episodes."""
        return float(CVaR(TAIL).estimate(self.played.values))


Watch = Callable[[str], AbstractContextManager[Callable[..., Any] | None]]


def watch_nothing(name: str) -> AbstractContextManager[None]:
    """Give a context that watches nothing."""
    del name
    return nullcontext()


def train_both(seed: int, watch: Watch = watch_nothing, **options: Any) -> dict[str, Run]:
    """Train the neutral and the averse policy, one after the other.

    Args:
        seed: the seed of both runs.
        watch: maps the name of a run to a context in which it is trained, and which gives its callback.
        options: keywords for `riskgrad.train`, such as a smaller budget.
    """
    runs: dict[str, Run] = {}
    for name, risk in RISKS.items():
        with watch(name) as callback:
            runs[name] = train(ENV, risk, seed=seed, callback=callback, progress=False, **options)
    return runs


def walk_both(runs: Mapping[str, Run], seed: int, episodes: int = EPISODES) -> dict[str, Walker]:
    """Play both policies on the same fresh episodes, and record walks of each."""
    found: dict[str, Walker] = {}
    for one in play_runs(runs, episodes=episodes, seed=seed):
        walks = walks_of(one, seed=seed)
        if walks is not None:
            found[one.name] = Walker(one, walks)
    return found


def write_page(walkers: Mapping[str, Walker], path: Path, seed: int) -> Path:
    """Write the page about both policies."""
    page = render_page([walker.played for walker in walkers.values()], title=TITLE, seed=seed)
    write_text(path, page)
    return path


def tell_lesson(walkers: Mapping[str, Walker]) -> list[str]:
    """Give what the policies learned in plain sentences."""
    neutral, averse = walkers["neutral"], walkers["averse"]
    mean, worst = averse.mean - neutral.mean, averse.worst - neutral.worst
    traded = "gives up" if mean < 0.0 else "gains"
    changed = "better" if worst > 0.0 else "worse"
    first = f"{_tenths(neutral.mean)} on average, and {_tenths(neutral.worst)} on its worst days (1 in 20)"
    second = f"{_tenths(averse.mean)} on average, and {_tenths(averse.worst)} on its worst days"
    third = f"{traded} {_tenths(abs(mean))} on average, and its worst days are {_tenths(abs(worst))} {changed}"
    return [
        f"Trained on the mean, the policy {_tell_where(neutral)}: it returns {first}.",
        f"Trained on its worst days, it {_tell_where(averse)}: {second}.",
        f"So it {third}.",
    ]


def draw_both(walkers: Mapping[str, Walker], path: Path) -> Path:
    """Draw the walks of both policies side by side, as an SVG file that follows the reader's light or dark scheme."""
    page, axes = make_figure(9.6, 5.5, columns=len(walkers))
    page.set_layout_engine("constrained", w_pad=0.14, h_pad=0.14, wspace=0.02)
    for index, (axis, walker) in enumerate(zip(axes, walkers.values(), strict=True)):
        draw_walks(axis, walker.walks, index)
        axis.set_title(f"trained on {walker.played.about}", fontsize=11, fontweight="bold", loc="left", pad=8)
        facts = [f"mean {_tenths(walker.mean)}", f"worst 5%: {_tenths(walker.worst)}"]
        words = " \N{MIDDLE DOT} ".join([*facts, f"{percent(walker.guarded_share)} pass the guard"])
        axis.set_xlabel(words, fontsize=11.5, loc="left", labelpad=7)
    write_text(path, _standalone_svg(inline_svg(page, "maze")))
    return path


def _standalone_svg(svg: str) -> str:
    """Turn the figure of a page into the text of an SVG file, with the page's colors and a background."""
    style = files("riskgrad.pages").joinpath("templates/report.css").read_text(encoding="utf-8")
    colors = style[: style.index("* {")]
    opening, rest = re.split(r"(?<=>)", svg, maxsplit=1)
    width, height = opening.split('viewBox="0 0 ')[1].split('"')[0].split()
    opening = opening.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" ')
    look = "svg { color: var(--ink); } text { fill: currentColor; font-family: system-ui, sans-serif !important; }"
    ground = '<rect width="100%" height="100%" rx="12" style="fill: var(--card)"/>'
    return f"{opening}\n<style>\n{colors}{look}\n</style>\n{ground}{rest}\n"


def _tell_where(walker: Walker) -> str:
    if walker.guarded_share > 0.5:
        return f"takes the short way past the guard in {percent(walker.guarded_share)} of its walks"
    return f"goes round the guard in {percent(1.0 - walker.guarded_share)} of its walks"


def _tenths(value: float) -> str:
    return write(round(value, 1))
