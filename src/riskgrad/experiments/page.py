"""The page of an experiment: the scores of the seeds of each measure, their intervals, and how the seeds learned."""

from collections.abc import Sequence
from pathlib import Path

from riskgrad.experiments.bands import draw_learning, draw_reached
from riskgrad.experiments.study import Experiment, Reached
from riskgrad.pages.page import as_picture, load_template, tell_versions
from riskgrad.pages.prose import span_of, write, write_interval
from riskgrad.pages.repeat import say_how_to_repeat
from riskgrad.pages.style import RUNS, find_hues
from riskgrad.random import current_versions
from riskgrad.run.files import PAGES, check_target, write_text

FEW = 10  # with fewer seeds than this the page says that they are few


def write_experiment_page(found: Experiment, path: str | Path, title: str = "") -> Path:
    """Write one page about an experiment; give its path."""
    target = check_target("path", path, PAGES)
    rows = found.table()
    firsts = [found.runs[risk, found.seeds[0]] for risk in found.risks]
    hues = dict(zip(found.risks, find_hues([run.risk.attitude for run in firsts]), strict=True))
    env = firsts[0].settings.env or firsts[0].settings.source or "an environment"
    text = load_template("experiment.html").render(
        title=title or env,
        env=env,
        found=found,
        rows=rows,
        improvements=found.improvements(),
        hues=hues,
        summary=_tell_seeds(found, rows),
        few=len(found.seeds) < FEW,
        reached=[as_picture(draw_reached(found, rows, risk, hues)) for risk in found.measures],
        learned=[
            as_picture(draw_learning(found, risk, hues[risk], run.risk.attitude == "neutral"))
            for risk, run in zip(found.risks, firsts, strict=True)
        ],
        recipes=[(risk, say_how_to_repeat(run, "again")) for risk, run in zip(found.risks, firsts, strict=True)],
        versions=tell_versions(current_versions()),
        colors=len(RUNS),
    )
    write_text(target, text)
    return target


def _tell_seeds(found: Experiment, rows: Sequence[Reached]) -> list[str]:
    """Give a sentence for each training measure: what its seeds reach by the mean and by the measure itself."""
    sentences: list[str] = []
    for risk in found.risks:
        told = [row for row in rows if row.trained_on == risk and row.risk in dict.fromkeys(("mean", risk))]
        parts: list[str] = []
        for row in told:
            value = write(row.aggregate.value, span_of(row.aggregate.interval))
            ends = found.interval_of(row.aggregate)
            parts.append(f"{row.risk} {value}" if ends is None else f"{row.risk} {value} ({write_interval(ends)})")
        who = "one seed reaches" if len(found.seeds) == 1 else f"{len(found.seeds)} seeds reach"
        sentences.append(f"Trained on {risk}, {who} {' and '.join(parts)}.")
    return sentences
