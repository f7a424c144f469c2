"""The report: one page that says what was trained, what was gained, and how certain that is.

The page is one file with its style and its figures as SVG. It has nothing for a browser to fetch or run, and its
content security policy forbids both. The template escapes all text that comes from a user or a file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup

from riskgrad.evaluation import Table, table_of_returns
from riskgrad.evaluation.bootstrap import RESAMPLES
from riskgrad.kinds import checks_kinds
from riskgrad.mdp.models import MODELS
from riskgrad.pages import shared_figures as shared
from riskgrad.pages.axes import common_span
from riskgrad.pages.comparison import call_run, compare_played, tell_story
from riskgrad.pages.grid_map import policy_map
from riskgrad.pages.played import (
    EPISODES,
    PlayedRun,
    Runs,
    closing_played,
    measures_of,
    name_runs,
    play_runs,
    play_untrained,
    set_apart,
)
from riskgrad.pages.prose import certainty, percent, span_of, write, write_interval
from riskgrad.pages.repeat import Repetition, say_how_to_repeat
from riskgrad.pages.run_figures import Drawing, Mark, distribution, learning_curve, weights
from riskgrad.pages.style import RUNS, inline_svg
from riskgrad.random import current_versions
from riskgrad.risk import CVaR, Mean, RiskMeasure, parse
from riskgrad.run import Run
from riskgrad.run.files import PAGES, check_target, write_text
from riskgrad.sources.resolve import Environment

TABLE_RISKS = ("cvar:0.1",)


@dataclass(frozen=True)
class Picture:
    """A figure as the template shows it; see `Drawing`."""

    key: str
    title: str
    svg: Markup
    alternative: str
    caption: str
    legend: Sequence[Mark]


@dataclass(frozen=True)
class Chapter:
    """The part of the page about one run.

    Attributes:
        letter: the letter by which figures call the run.
        hue: its color; see `riskgrad.pages.style.find_hues`.
        played: the run, played on fresh episodes.
        about: the measure that it was trained on, in words.
        tiles: its most important numbers, as pairs of name and value.
        pictures: its figures.
        rows: the rows of its table, each with the exact value where it is known.
        settings: its settings, as pairs of name and value.
        recipe: how to repeat it.
        versions: the versions of Python and packages when it was trained, in words.
        reweighted: whether its batches were reweighted.
        guards: a line for each time that a guard shortened or refused a step.
    """

    letter: str
    hue: int
    played: PlayedRun
    about: str
    tiles: Sequence[tuple[str, str]]
    pictures: Sequence[Picture]
    rows: Sequence[tuple[Any, float | None]]
    settings: Sequence[tuple[str, str]]
    recipe: Repetition
    versions: str
    reweighted: bool
    guards: Sequence[str]


@checks_kinds
def report(
    runs: Runs,
    path: str | Path,
    env: Environment | None = None,
    *,
    episodes: int = EPISODES,
    confidence: float = 0.95,
    seed: int = 0,
    title: str = "",
    trust: bool = False,
) -> Path:
    """Write the report of one run or several.

    Args:
        runs: one run or several of one environment, by name or in a list; a path stands for the run that is kept
            there. If one of them is risk-neutral, the others are compared with it, otherwise with the first.
        path: the file to write; its name ends in .html or .htm.
        env: where to play; None takes the environment of the runs.
        episodes: how many fresh episodes each run plays.
        confidence: of every interval, in (0, 1).
        seed: of the fresh episodes and of resampling.
        title: of the page; by default the environment's name.
        trust: import the module that a run names, as in "module:Name-v0"; modules run code.

    Returns:
        the path of the page.
    """
    named = name_runs(runs)
    target = check_target("path", path, PAGES)
    played = play_runs(named, env, episodes, seed=seed, trust=trust)
    with closing_played(played, env):
        page = render_page(played, title=title, confidence=confidence, seed=seed)
    write_text(target, page)
    return target


def render_page(played: Sequence[PlayedRun], *, title: str = "", confidence: float = 0.95, seed: int = 0) -> str:
    """Give the page of runs that have been played; risk-neutral ones come first, and all are compared with the first.

    A single run is compared with its policy before training.
    """
    played = set_apart(played)
    before = [play_untrained(played[0], seed=seed)] if len(played) == 1 else []
    measures = measures_of(played, TABLE_RISKS)
    tables = [table_of_returns(one.values, measures, one.source.return_range, confidence, seed=seed) for one in played]
    comparison = compare_played([*before, *played], measures, confidence, seed=seed)
    chapters = [
        _chapter(one, index, [*played, *before], table, measures)
        for index, (one, table) in enumerate(zip(played, tables, strict=True))
    ]
    settings = played[0].run.settings
    env = settings.env or settings.source or "an environment"
    return load_template("report.html").render(
        title=title or env,
        env=env,
        chapters=chapters,
        summary=tell_story(played, before, comparison),
        maps=_draw_maps(played, seed),
        shared=_draw_shared(played, before, tables),
        comparison=comparison,
        called={one.name: call_run(one) for one in [*played, *before]},
        episodes=len(played[0].values),
        confidence=confidence,
        seed=seed,
        versions=tell_versions(current_versions()),
        colors=len(RUNS),
        resamples=RESAMPLES,
        certified=any(row.certified is not None for table in tables for row in table.rows),
        flagged=any(row.flag for table in tables for row in table.rows),
        notes=_footnotes(played, tables),
    )


def _chapter(
    one: PlayedRun, index: int, played: Sequence[PlayedRun], table: Table, measures: Sequence[RiskMeasure]
) -> Chapter:
    alpha, before = one.tail, played[-1] if not played[-1].letter else None
    drawn = [
        learning_curve(one, index),
        distribution(one, index, common_span([other for other in played if other.letter])),
        weights(one, index),
    ]
    tiles = [
        ("mean return", one.write_estimate(Mean())),
        (f"mean of the worst {percent(alpha)}", one.write_estimate(CVaR(alpha))),
    ]
    if before is not None:
        tiles += [("mean, untrained", before.write_estimate(Mean()))]
        tiles += [(f"worst {percent(alpha)}, untrained", before.write_estimate(CVaR(alpha)))]
    tiles += [("worst episode", write(float(one.values.min()))), ("episodes to train", write(one.run.episodes_used))]
    listed = {**one.run.settings.as_dict(), **one.run.settings.own}
    hidden = ("own", "given", "policy_facts", "spaces")
    settings = [(n, _setting_text(value)) for n, value in listed.items() if value is not None and n not in hidden]
    return Chapter(
        one.letter,
        one.hue,
        one,
        one.about,
        tiles,
        [as_picture(figure) for figure in drawn if figure is not None],
        [
            (row, None if one.law is None else measure.value(one.law))
            for row, measure in zip(table.rows, measures, strict=True)
        ],
        settings,
        say_how_to_repeat(one.run, one.name),
        tell_versions(one.run.versions),
        drawn[-1] is not None,
        _guard_events(one.run),
    )


def _draw_maps(played: Sequence[PlayedRun], seed: int) -> list[Picture]:
    """Draw where each run goes, for environments with a floor plan and for grid worlds."""
    drawn = [_draw_walks_of(one, index, seed) or policy_map(one, index, seed) for index, one in enumerate(played)]
    return [as_picture(figure) for figure in drawn if figure is not None]


def _draw_walks_of(one: PlayedRun, index: int, seed: int) -> Drawing | None:
    """Draw a run's walks; None if there is no floor plan, as for the finite models of riskgrad."""
    if one.source.mdp is not None and one.run.settings.env in MODELS:
        return None
    from riskgrad.pages.floor_map import floor_map  # noqa: PLC0415 - most reports do not need it

    return floor_map(one, index, seed)


def _draw_shared(played: Sequence[PlayedRun], before: Sequence[PlayedRun], tables: Sequence[Table]) -> list[Picture]:
    """Draw the figures that show all runs together; a single run is shown beside its policy before training."""
    both = [*played, *before]
    drawn: list[Drawing | None] = [shared.tails(both), shared.laws(both)]
    if len(played) > 1:
        drawn.insert(1, shared.trade(played, tables, trade_measure(played)))
    drawn.append(shared.quantile_weights(played))
    return [as_picture(figure) for figure in drawn if figure is not None]


def trade_measure(played: Sequence[PlayedRun]) -> RiskMeasure:
    """Give the measure to show against the mean: that of the first run that is not neutral, or cvar:0.1."""
    return next((one.risk for one in played if one.risk.attitude != "neutral"), parse(TABLE_RISKS[0]))


def as_picture(drawn: Drawing) -> Picture:
    """Turn a drawing into a picture for a template."""
    # safe without escaping: riskgrad makes the drawing, and matplotlib escapes its text
    svg = Markup(inline_svg(drawn.figure, drawn.key))  # noqa: S704
    return Picture(drawn.key, drawn.title, svg, drawn.alternative, drawn.caption, drawn.legend)


def tell_versions(versions: Mapping[str, str]) -> str:
    """Write versions in one line."""
    machine = f" on {versions['platform']}" if "platform" in versions else ""
    return ", ".join(f"{name} {number}" for name, number in versions.items() if name != "platform") + machine


def _setting_text(value: object) -> str:
    return str(value.get("text", value)) if isinstance(value, dict) else str(value)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _guard_events(run: Run) -> list[str]:
    events: list[tuple[int, list[str]]] = [(line["iteration"], line.get("events") or []) for line in run.history]
    return [f"iteration {iteration}: {event}" for iteration, happened in events for event in happened]


def _footnotes(played: Sequence[PlayedRun], tables: Sequence[Table]) -> list[str]:
    """Say why intervals are missing or not reliable; each reason once."""
    reasons = [f"No certified interval: {row.reason}." for table in tables for row in table.rows if row.reason]
    flagged: dict[tuple[str, str], list[str]] = {}
    for one, table in zip(played, tables, strict=True):
        for row in table.rows:
            if row.flag:
                flagged.setdefault((one.letter, row.flag), []).append(row.risk)
    flags = [f"{letter}, {', '.join(risks)}: not to be relied on, {flag}." for (letter, flag), risks in flagged.items()]
    return list(dict.fromkeys([*reasons, *flags]))


@lru_cache(maxsize=4)
def load_template(name: str) -> Any:
    """Load a template of a page, with the filters that write numbers."""
    templates = Templates(
        loader=PackageLoader("riskgrad.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "number": write,
        "interval": write_interval,
        "percent": percent,
        "certainty": certainty,
        "width": span_of,
        "whole_words": _mark_words,
    }
    templates.filters.update(filters)
    return templates.get_template(name)


def _mark_words(text: str) -> Markup:
    """Mark every word of a command, so that a narrow page breaks lines between words and not inside a flag."""
    return Markup(" ").join(Markup("<span>{}</span>").format(word) for word in text.split(" "))
