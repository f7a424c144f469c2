# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""The demonstration: one model, two trainings, and what risk-sensitivity bought.

A commuter drives over a pass (short, with a rare rockfall) or through a valley (long and safe). Trained on the mean,
the policy takes the pass; trained on the mean of the worst tenth, it takes the valley. The model is finite, so that the
law of the return of both policies, and hence their risk, is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from riskgrad._train import train
from riskgrad.exact import return_law
from riskgrad.mdp.models import MODELS
from riskgrad.report.page import write_report
from riskgrad.report.style import AVERSE, COLOURS, figure, save
from riskgrad.risk import parse
from riskgrad.run import Run
from riskgrad.types import DiscreteLaw

MODEL = "two-roads"
RISKS = {"neutral": "mean", "averse": "cvar:0.1"}
MEASURES = ("mean", "cvar:0.1", "cvar:0.01", "dual-power:3", "mean-variance:0.1")
PALETTE = {"neutral": COLOURS[1], "averse": AVERSE}
ITERATIONS = 150


@dataclass(frozen=True)
class Outcome:
    """A trained policy with the exact law of its return.

    Attributes:
        run: the training.
        law: the law of the return.
        valley: how often the policy chooses the valley on leaving home.
    """

    run: Run
    law: DiscreteLaw
    valley: float


def trained(seed: int, progress: Callable[[str, int], Callable[..., None]] | None = None) -> dict[str, Outcome]:
    """Train the neutral and the averse policy.

    Args:
        seed: of both runs.
        progress: given a name and the number of iterations, gives the callback of that run.
    """
    model = MODELS[MODEL]()
    outcomes: dict[str, Outcome] = {}
    for name, risk in RISKS.items():
        callback = None if progress is None else progress(name, ITERATIONS)
        run = train(MODEL, risk=risk, iterations=ITERATIONS, seed=seed, callback=callback)
        if not run.finished:
            raise KeyboardInterrupt  # a training stops politely when asked to; the demonstration stops with it
        table = run.policy.probabilities(run.theta, np.arange(model.n_states))
        outcomes[name] = Outcome(run, return_law(model, table), float(table[0, 1]))
    return outcomes


def risk_table(outcomes: dict[str, Outcome]) -> list[tuple[str, float, float]]:
    """Each measure with its exact value for the neutral and for the averse policy."""
    laws = outcomes["neutral"].law, outcomes["averse"].law
    return [(text, parse(text).value(laws[0]), parse(text).value(laws[1])) for text in MEASURES]


def report(outcomes: dict[str, Outcome], path: Path, seed: int) -> Path:
    """Write the page about both policies."""
    runs = {name: outcome.run for name, outcome in outcomes.items()}
    return write_report(runs, path, seed=seed, title="Two roads to work")


def draw(outcomes: dict[str, Outcome], path: Path) -> Path:
    """Draw how both policies' days fall out, and how the averse one learned."""
    page, (left, right) = figure(11.0, 4.2, columns=2)
    _draw_laws(left, outcomes)
    history = outcomes["averse"].run.history
    for key, label, colour in (("mean", "mean", COLOURS[1]), ("risk", "CVaR(0.1)", AVERSE)):
        points = [(line["episodes"], line[key]) for line in history if line.get(key) is not None]
        right.plot(*zip(*points, strict=True), color=colour, linewidth=1.6, label=label)
    right.set(
        xlabel="episodes",
        ylabel="estimate (minutes)",
        title="The averse policy learns: it gives up some mean for the bad days",
    )
    right.legend(frameon=False, fontsize=9)
    return save(page, path)


def _draw_laws(axis: Axes, outcomes: dict[str, Outcome]) -> None:
    for offset, (name, outcome) in zip((-0.9, 0.9), outcomes.items(), strict=True):
        law, colour = outcome.law, PALETTE[name]
        axis.bar(
            law.values + offset, law.probabilities, width=1.8, color=colour, alpha=0.8, label=f"{name} ({RISKS[name]})"
        )
        tail = parse("cvar:0.1").value(law)
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2.0}
        axis.annotate("", xy=(tail, 1e-4), xytext=(tail, 2e-3), arrowprops=arrow)
    axis.set_yscale("log")
    axis.set_ylim(1e-4, 1.5)
    axis.set(
        xlabel="return (minus minutes to work)", ylabel="probability", title="Exact law (arrows: mean of the worst 10%)"
    )
    axis.legend(frameon=False, fontsize=9, loc="upper left")
