"""Draw the pictures of the documentation: `python docs/pictures.py [NAME ...]` writes docs/pictures/NAME.svg.

Every number in them is computed here by the library. A picture is a function that gives a figure and a sentence with
its main numbers; the sentence goes into the file as its description, and a test computes the quick ones anew and
compares. The drawings use the theme of the report, so that their colors are variables: an image alone follows the
reader's scheme by a style of its own, and a page of the site brings its own (docs/prepare.py).
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

import riskgrad as rg
from riskgrad.envs import maze
from riskgrad.pages.style import DASHES, GRID, INK, MUTED, canvas, inline_svg, run_color, ticks

FOLDER = Path(__file__).parent / "pictures"
SCHEMES = {  # of an image that stands alone: ink, runs, muted, grid; docs/assets/site.css has the same for pages
    "light": ("#1c1e21", ("#0072b2", "#b84a00", "#00795a", "#a8487f", "#7a6200", "#5b5f97"), "#5f6368", "#dddddd"),
    "dark": ("#e6e8eb", ("#5fb9f2", "#ff9c55", "#41cfa2", "#ec9bcb", "#dcc04f", "#a9adf0"), "#aab0ba", "#39404a"),
}

Drawing = tuple[Figure, str]


def flow() -> Drawing:
    """The way from a policy to a page about it, in three rows."""
    page, axis = canvas(2.75)
    axis.set(xlim=(0, 12), ylim=(0, 8.6))
    axis.axis("off")
    boxes = [
        ("policy", "parameters theta", 0.0, 6.4, 0), ("sources", "episodes, or a log", 4.25, 6.4, 0),
        ("returns", "and weights", 8.5, 6.4, 0), ("risk", "one number each", 8.5, 3.2, 1),
        ("gradient", "smoothed, or score", 4.25, 3.2, 1), ("ascent", "the next theta", 0.0, 3.2, 1),
        ("run", "kept, resumable", 0.0, 0.0, 2), ("evaluation", "with intervals", 4.25, 0.0, 2),
        ("pages", "a report in one file", 8.5, 0.0, 2),
    ]  # fmt: skip
    for name, about, x, y, row in boxes:
        axis.add_patch(FancyBboxPatch((x, y), 3.5, 2.0, "round,pad=0,rounding_size=0.3", fill=False, ec=run_color(row)))
        axis.text(x + 1.75, y + 1.28, name, ha="center", va="center", fontsize=11, weight="bold", color=run_color(row))
        axis.text(x + 1.75, y + 0.58, about, ha="center", va="center", fontsize=8.5)
    right = [(3.5, 4.25), (7.75, 8.5)]
    ways = [((x, y), (to, y)) for y in (7.4, 1.0) for x, to in right] + [((to, 4.2), (x, 4.2)) for x, to in right]
    ways += [((10.25, 6.4), (10.25, 5.2)), ((1.75, 5.2), (1.75, 6.4)), ((1.75, 3.2), (1.75, 2.0))]
    for tail, head in ways:
        axis.add_patch(
            FancyArrowPatch(tail, head, arrowstyle="->", mutation_scale=9, color=MUTED, shrinkA=1, shrinkB=1)
        )
    return page, f"{len(boxes)} stations from policy to pages, with a loop from ascent back to policy."


def roads_days() -> Drawing:
    """How long a day's drive takes under the two policies."""
    page, axis = canvas(2.6)
    words: list[str] = []
    for index, (name, law) in enumerate(_roads().items()):
        minutes = -law.values
        axis.bar(minutes, law.probabilities, width=1.7, color=run_color(index), label=name)
        for x, mass in zip(minutes, law.probabilities, strict=True):
            if mass < 0.2:
                axis.annotate(f"{mass:.1%}", (x, mass), (0, 3), "data", "offset points", ha="center", fontsize=9)
        words.append(
            f"{name}: " + ", ".join(f"{m:.0f} min {p:.2%}" for m, p in zip(minutes, law.probabilities, strict=True))
        )
    axis.set(xlabel="minutes to work", ylabel="share of days", ylim=(0, 1.05))
    axis.yaxis.set_major_formatter(ticks(lambda place: f"{place:.0%}"))
    _legend(axis)
    return page, "; ".join(words)


def roads_tails() -> Drawing:
    """The mean of the worst part of the days, by how large a part it is."""
    page, axis = canvas(2.9)
    parts = np.geomspace(0.02, 1.0, 81)
    words: list[str] = []
    means: list[np.ndarray] = []
    for index, (name, law) in enumerate(_roads().items()):
        means.append(np.array([_worst(law, part) for part in parts]))
        axis.plot(parts, means[-1], color=run_color(index), linewidth=2.2, linestyle=DASHES[index], label=name)
        words.append(f"{name}: worst tenth {_worst(law, 0.1):.2f}, all {law.mean:.2f}")
    crossing = float(parts[np.argmax(means[0] > means[1])])
    axis.axvline(crossing, color=MUTED, linewidth=1.0, linestyle=":")
    axis.annotate(
        f"they cross at {crossing:.0%}", (crossing, -52), (6, 0), "data", "offset points", ha="left", fontsize=9
    )
    axis.set_xscale("log")
    axis.set_xticks([0.02, 0.05, 0.1, 0.2, 0.5, 1.0], minor=False)
    axis.minorticks_off()
    axis.xaxis.set_major_formatter(ticks(lambda place: f"{place:.0%}"))
    axis.set(xlabel="the worst part of the days", ylabel="mean return (minus minutes)")
    _legend(axis, loc="center left")
    return page, "; ".join([*words, f"crossing {crossing:.2f}"])


def weights_tails() -> Drawing:
    """How much each quantile counts: the mean and the two tails."""
    return _weights(["mean", "cvar:0.1", "smooth-cvar:0.1", "cvar:0.3"], (0.0, 0.6))


def weights_whole() -> Drawing:
    """How much each quantile counts: distortions that use the whole law."""
    return _weights(
        ["mean", "dual-power:3", "exponential:3", "quadratic:1", "square-root:20", "logarithmic:20"], (0.0, 1.0)
    )


def weights_direction() -> Drawing:
    """The same distortion, averse and seeking."""
    return _weights(["mean", "dual-power:3", "dual-power:3:seeking"], (0.0, 1.0))


def laws() -> Drawing:
    """Three laws of one mean and one variance."""
    page, axis = canvas(2.5)
    x = np.linspace(-6.0, 26.0, 400)
    shapes = {
        "steady": np.exp(-0.5 * ((x - 10.0) / 4.0) ** 2) / (4.0 * np.sqrt(2.0 * np.pi)),
        "rare disaster": np.where(x <= 14.0, np.exp((np.minimum(x, 14.0) - 14.0) / 4.0) / 4.0, 0.0),
        "rare jackpot": np.where(x >= 6.0, np.exp((6.0 - np.maximum(x, 6.0)) / 4.0) / 4.0, 0.0),
    }
    for index, (name, density) in enumerate(shapes.items()):
        axis.plot(x, density, color=run_color(index), linewidth=2.0, linestyle=DASHES[index], label=name)
        axis.fill_between(x, density, color=run_color(index), alpha=0.12, linewidth=0)
    axis.set(xlabel="return", yticks=[], ylim=(0, 0.36))
    _legend(axis, ncols=3)
    return page, "; ".join(
        f"{name}: mean {law.mean:.2f}, variance {law.variance:.1f}" for name, law in _three().items()
    )


def verdicts() -> Drawing:
    """What each measure says of the three laws."""
    page, axis = canvas(3.1)
    names = ["mean", "mean-variance:0.25", "dual-power:3", "exponential:3", "smooth-cvar:0.1", "cvar:0.1", "cvar:0.01"]
    words: list[str] = []
    for index, (name, law) in enumerate(_three().items()):
        values = [rg.risk.parse(text).value(law) for text in names]
        rows = np.arange(len(names)) + 0.17 * (index - 1)
        axis.plot(values, rows, "os^"[index], markersize=6, color=run_color(index), label=name, clip_on=False)
        words.append(f"{name}: " + ", ".join(f"{text} {value:.1f}" for text, value in zip(names, values, strict=True)))
    axis.set_yticks(range(len(names)), names)
    axis.set(xlabel="what the measure makes of the return", ylim=(len(names) - 0.5, -1.3))
    _legend(axis, ncols=3, columnspacing=0.9, handletextpad=0.1)
    return page, "; ".join(words)


def gift() -> Drawing:
    """A sure 10 and a coin that may add x: who calls the gift bad?"""
    page, axis = canvas(2.6)
    gifts = np.linspace(0.0, 12.0, 49)
    words: list[str] = []
    for index, text in enumerate(["mean", "dual-power:2", "cvar:0.1", "mean-variance:0.25"]):
        measure = rg.risk.parse(text)
        values = [measure.value(rg.DiscreteLaw([10.0, 10.0 + x], [0.5, 0.5])) for x in gifts]
        axis.plot(gifts, values, color=run_color(index), linewidth=2.0, linestyle=DASHES[index], label=text)
        words.append(f"{text}: {values[16]:.2f} at 4, {values[-1]:.2f} at 12")
    axis.set(xlabel="x: what half of the episodes get on top of 10", ylabel="value", ylim=(6.5, 17.5))
    _legend(axis, loc="upper left")
    return page, "; ".join(words)


def noise() -> Drawing:
    """How far an estimate of CVaR is off, by its level and the number of episodes."""
    page, axis = canvas(2.9)
    levels = np.geomspace(0.005, 0.5, 15)
    words: list[str] = []
    for index, m in enumerate((100, 400, 2000, 10_000)):
        sample = np.sort(np.random.default_rng(m).normal(size=(2_000_000 // m, m)), axis=1)
        errors = [float(np.std(rg.risk.CVaR(level).estimate(sample))) for level in levels]
        axis.plot(levels, errors, color=run_color(index), linewidth=2.0, linestyle=DASHES[index], label=f"m = {m:,}")
        words.append(f"m = {m}: {errors[0]:.2f} at 0.5%, {errors[-1]:.2f} at 50%")
    axis.set(xscale="log", yscale="log", xlabel="alpha of cvar", ylabel="error, in deviations of R")
    axis.set_xticks([0.005, 0.02, 0.05, 0.1, 0.2, 0.5])
    axis.set_yticks([0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
    axis.minorticks_off()
    axis.xaxis.set_major_formatter(ticks(lambda place: f"{place:.1%}" if place < 0.01 else f"{place:.0%}"))
    axis.yaxis.set_major_formatter(ticks(lambda place: f"{place:g}"))
    axis.set_ylim(0.008, 0.75)
    _legend(axis, ncols=2, loc="upper right")
    return page, "; ".join(words)


def maze_neutral() -> Drawing:
    """Where a maze walker goes that was trained on the mean."""
    return _walks("mean", 0)


def maze_averse() -> Drawing:
    """Where a maze walker goes that was trained on the bad tail."""
    return _walks("cvar:0.05", 1)


SLOW: dict[str, Callable[[], Drawing]] = {"maze-neutral": maze_neutral, "maze-averse": maze_averse}
QUICK: dict[str, Callable[[], Drawing]] = {
    draw.__name__.replace("_", "-"): draw
    for draw in (
        flow,
        roads_days,
        roads_tails,
        weights_tails,
        weights_whole,
        weights_direction,
        laws,
        verdicts,
        gift,
        noise,
    )
}


def _roads() -> dict[str, rg.DiscreteLaw]:
    """The exact laws of the policies with the best mean and the best CVaR(0.1)."""
    mdp = rg.mdp.two_roads()
    tables = {"over the pass": [1.0, 0.0], "through the valley": [0.0, 1.0]}
    return {name: rg.exact.return_law(mdp, np.tile(row, (mdp.n_states, 1))) for name, row in tables.items()}


def _worst(law: rg.DiscreteLaw, part: float) -> float:
    """The mean of the worst part of a law, for any part; beyond a half by way of the best rest."""
    if part <= 0.5:
        return rg.risk.CVaR(part).value(law)
    rest = 1.0 - part
    return law.mean if rest <= 0.0 else (law.mean - rest * rg.risk.CVaR(rest, attitude="seeking").value(law)) / part


def _three() -> dict[str, rg.DiscreteLaw]:
    """A normal law, an exponential one and its mirror image, all of mean 10 and deviation 4, in 20,000 equal parts."""
    from scipy.stats import expon, norm  # noqa: PLC0415 - only these laws need it

    levels = (np.arange(20_000) + 0.5) / 20_000
    masses = np.full(20_000, 1 / 20_000)
    rare = np.asarray(expon.ppf(levels)) - 1.0
    shapes = {"steady": norm.ppf(levels), "rare disaster": -rare, "rare jackpot": rare}
    return {name: rg.DiscreteLaw(10.0 + 4.0 * np.asarray(shape), masses) for name, shape in shapes.items()}


def _weights(names: list[str], span: tuple[float, float]) -> Drawing:
    page, axis = canvas(2.7)
    q = np.linspace(0.0, 1.0, 2001)
    words: list[str] = []
    for index, text in enumerate(names):
        g = rg.distortion.Identity() if text == "mean" else rg.risk.parse(text).function
        weight = g.derivative(1.0 - q)
        thick = 1.4 if text == "mean" else 2.0  # the mean comes first, and is blue as everywhere
        axis.plot(q, weight, color=run_color(index), linewidth=thick, linestyle=DASHES[index], label=text)
        words.append(f"{text}: {weight[20]:.2f} at 1%, {weight[1800]:.2f} at 90%")
    axis.set(xlabel="quantile of the return, worst to best", ylabel="weight", xlim=span)
    axis.set_ylim(bottom=-0.08)
    axis.xaxis.set_major_formatter(ticks(lambda place: f"{place:.0%}"))
    _legend(axis, loc="upper right" if "seeking" not in names[-1] else "upper center")
    return page, "; ".join(words)


def _walks(risk: str, hue: int) -> Drawing:
    run = rg.train("riskgrad/GuardedMaze-v0", risk, seed=0)
    table = rg.evaluate(run, "riskgrad/GuardedMaze-v0", ["mean", "cvar:0.05"], 20_000, greedy=True)
    page, axis = canvas(4.2)
    axis.set(xlim=(0.1, 6.9), ylim=(0.0, 6.9), aspect="equal")
    axis.axis("off")
    for x, y in np.argwhere(maze.WALLS):
        axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=GRID, linewidth=0.8))
    for (x, y), text, shade, place in ((maze.GOAL, "goal", 2, (5.4, 1.95)), (maze.GUARDED, "guard", 3, (5.4, 0.17))):
        axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=run_color(shade), alpha=0.4, linewidth=0))
        axis.text(*place, text, ha="right", fontsize=10, color=INK)
    guarded = 0
    for seed in range(40):
        way, passed = _walk(run, seed)
        guarded += passed
        axis.plot(way[:, 0], way[:, 1], color=run_color(hue), alpha=0.35, linewidth=1.0)
        axis.plot(*way[0], "o", markersize=2.5, color=run_color(hue))
    values = ", ".join(f"{row.risk} {row.value:.2f}" for row in table.rows)
    return page, f"trained on {risk}: {guarded} of 40 walks pass the guard; {values}"


def _walk(run: rg.Run, seed: int) -> tuple[np.ndarray, bool]:
    import gymnasium  # noqa: PLC0415 - with the maze only

    env = gymnasium.make("riskgrad/GuardedMaze-v0")
    observation, info = env.reset(seed=seed)
    way, over = [info["position"]], False
    while not over:
        chances = run.policy.probabilities(run.theta, np.asarray(observation)[None])[0]
        observation, _, ended, cut, info = env.step(np.int64(np.argmax(chances)))
        way.append(info["position"])
        over = ended or cut
    cells = {tuple(cell) for cell in np.floor(np.array(way) + 0.5).astype(int)}
    return np.array(way), maze.GUARDED in cells


def _legend(axis: Axes, **options: object) -> None:
    axis.legend(**({"frameon": False, "fontsize": 9, "labelcolor": INK} | options))


def _style() -> str:
    rules: dict[str, str] = {}
    for scheme, (ink, runs, muted, grid) in SCHEMES.items():
        hues = "".join(f"--run-{index}:{hue};" for index, hue in enumerate(runs))
        rules[scheme] = f"svg{{fill:currentColor;color:{ink};{hues}--muted:{muted};--grid:{grid}}}"
    return f"<style>{rules['light']}@media(prefers-color-scheme:dark){{{rules['dark']}}}</style>"


def as_text(name: str, drawn: Drawing) -> str:
    """Give the file of a picture as text."""
    page, words = drawn
    text = inline_svg(page, name)
    head, _, rest = text.partition(">")
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" ').replace(
        ' aria-hidden="true"', ""
    )
    return f"{head}>\n<desc>{words}</desc>\n{_style()}\n{rest.lstrip()}\n"


def main(names: list[str]) -> None:
    """Write the pictures named, or all."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or [*QUICK, *SLOW]:
        (FOLDER / f"{name}.svg").write_text(as_text(name, (QUICK | SLOW)[name]()), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
