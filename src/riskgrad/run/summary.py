"""The summary of a run that a notebook shows."""

from typing import TYPE_CHECKING

from riskgrad.markup import html_table

if TYPE_CHECKING:
    from riskgrad.run.result import Run


def summarize_run(run: "Run") -> str:
    """Give what was trained, how far it came, what held-out episodes say, and the notes, as HTML."""
    settings = run.settings
    state = "finished" if run.finished else "stopped before its end"
    rows = [
        ("environment", settings.env or settings.source or "not known"),
        ("risk", settings.risk),
        ("algorithm", str(settings.algorithm)),
        ("policy", str(settings.policy_facts.get("text", "not known"))),
        ("iterations", f"{len(run.history):,}, {state}"),
        ("episodes", f"{run.episodes_used:,}, of which {run.held_out_episodes:,} were held out"),
    ]
    if run.held_out_interval is not None:
        low, high = run.held_out_interval
        doubt = f"; not reliable: {run.held_out_flag}" if run.held_out_flag else ""
        words = f"{run.held_out_risk:.4g}, 95% from {low:.4g} to {high:.4g}{doubt}"
        rows.append((f"{settings.risk} by held-out episodes", words))
    return html_table(rows, title="Run", notes=[f"note: {note}" for note in run.notes])
