"""What several trainings show: bars on a terminal and in a notebook, nothing when piped or in a worker."""

import io
import subprocess
import sys
import types

import pytest
from rich.console import Console
from run.test_live import LINE, in_terminal

from riskgrad.run.live_crew import LiveCrew, watch_crew

FEW = "algorithm='score:episodes=10', iterations=400, held_out=10, episodes=20"
CALLS = {
    "experiment": f"import riskgrad as rg; rg.experiment('two-roads', ['mean'], 2, {FEW}",
    "frontier": f"import riskgrad as rg; rg.frontier('two-roads', 'cvar', [0.5], {FEW}",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_terminal_shows_bars_and_a_pipe_nothing(call):
    shown = in_terminal(f"{CALLS[call]})")
    assert "trainings" in shown
    assert "2/2" in shown if call == "experiment" else "4/4" in shown
    assert "risk -" in shown
    assert "0/2" not in in_terminal(f"{CALLS[call]}, progress=False)")
    piped = subprocess.run([sys.executable, "-c", f"{CALLS[call]})"], capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("", "")


def test_true_writes_a_line_for_each_training_where_there_is_no_terminal():
    code = f"{CALLS['experiment']}, progress=True)"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("", "trained mean seed 0 (1/2)\ntrained mean seed 1 (2/2)\n")


def test_nothing_is_shown_in_a_worker():
    code = f"""
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        pool.submit(exec, "{CALLS["experiment"]})").result()
"""
    assert in_terminal(code).strip() == ""


def test_a_notebook_shows_bars_that_are_drawn_anew(monkeypatch):
    drawn = []

    class Handle:
        def update(self, shown):
            drawn.append(shown._repr_html_())

    def display(shown, display_id):
        drawn.append(shown._repr_html_())
        return Handle()

    display_module = types.ModuleType("IPython.display")
    monkeypatch.setattr(display_module, "display", display, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display_module)
    monkeypatch.setattr("riskgrad.run.live_crew.find_console", lambda wanted: Console(force_jupyter=True))
    with watch_crew("auto", {"iterations": 10})(2) as crew:
        assert crew is not None
        crew("<a>", LINE)
        crew("<a>", None)
        crew("b", LINE)
    assert '<progress max="2" value="0"></progress>' in drawn[0]
    assert "<code>trainings</code>" in drawn[0]
    assert '<progress max="2" value="1"></progress>' in drawn[-1]
    assert "5/10  risk -3.25  mean 1.5" in drawn[-1]
    assert "a&gt;" not in drawn[-1], "it ended"


def test_a_budget_of_episodes_is_counted_in_episodes():
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=80, color_system=None)
    with LiveCrew(console, 1, {"max_episodes": 900}) as crew:
        crew("mean seed 0", LINE)
    assert "500/900" in shown.getvalue()


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_a_longer_label_takes_room_from_the_numbers_of_all_rows(width):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=width, color_system=None)
    with LiveCrew(console, 13, {"iterations": 300}) as crew:
        crew("mean path", LINE)
        crew._screen._bar.refresh()
        crew("mean-variance:0.01 direct", {**LINE, "risk": -1234.5, "mean": -1111.25})
        crew._screen._bar.refresh()
    assert "\u2026" not in shown.getvalue(), "something is cut off"
    last = f"trainings{shown.getvalue().rpartition('trainings')[2]}".split("\n")[:3]  # the last picture
    assert all(len(line) <= width for line in last)
    assert " 0/13" in last[0]
    assert [line.count("  5/300") for line in last[1:]] == [1, 1]
