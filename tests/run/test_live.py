"""What a training shows: a bar on a terminal and in a notebook, lines when it is asked for them, nothing when piped."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
import types
from contextlib import suppress

import numba
import pytest
from rich.console import Console

import riskgrad as rg
from riskgrad.errors import InputError
from riskgrad.run.live import COMPILING, Live
from riskgrad.run.live_crew import LiveCrew

TRAIN = "import riskgrad as rg; rg.train('two-roads', 'cvar:0.1', algorithm='score:episodes=20', iterations={}{})"
LINE = {"iteration": 4, "risk": -3.25, "mean": 1.5, "gradient_norm": None, "episodes": 500}


SLOW = pytest.mark.skipif(not os.environ.get("RISKGRAD_NEED_LEARNING"), reason="slow; the gate runs it")


def in_terminal(code, **more):
    """What a script shows on a terminal of 120 columns, with more environment variables."""
    control, terminal = pty.openpty()
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm", **more}
    shown = []

    def read():
        try:
            while chunk := os.read(control, 4096):
                shown.append(chunk)
        except OSError:  # the end of a terminal
            pass

    reader = threading.Thread(target=read)
    reader.start()
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdout=terminal, stderr=terminal, env=environment, check=False, timeout=200)
    os.close(terminal)
    reader.join()
    os.close(control)
    assert done.returncode == 0, b"".join(shown)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(shown).decode())


def test_a_terminal_shows_a_bar_and_a_pipe_nothing():
    shown = in_terminal(TRAIN.format(6, ""))
    assert "cvar:0.1" in shown
    assert "6/6" in shown
    assert "risk -" in shown
    piped = subprocess.run([sys.executable, "-c", TRAIN.format(6, "")], capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("", "")


@SLOW
def test_a_first_run_counts_what_it_compiles_and_compiles_no_more_than_it_did(tmp_path):
    """The bounds are a few above what there was; a second kind of array for one kernel is a few, a kernel ten or so."""
    for env, most in (("two-roads", 85), ("CartPole-v1", 130)):
        code = f"import riskgrad as rg; rg.train({env!r}, 'cvar:0.1', iterations=2)"
        shown = in_terminal(code, NUMBA_CACHE_DIR=str(tmp_path / env))
        counts = [int(count) for count in re.findall(rf"{COMPILING}: (\d+) functions", shown)]
        assert counts == sorted(counts)
        assert len(set(counts)) > 5, "it moves on while one waits"
        assert 20 < counts[-1] <= most
        again = in_terminal(code, NUMBA_CACHE_DIR=str(tmp_path / env))
        assert COMPILING not in again
        assert "2/2" in again


def test_true_writes_lines_where_there_is_no_terminal_and_false_nothing(capsys):
    options = {"algorithm": "score:episodes=20", "iterations": 6}
    rg.train("two-roads", "cvar:0.1", progress=False, **options)
    assert capsys.readouterr() == ("", "")
    seen = []
    rg.train("two-roads", "cvar:0.1", progress=True, callback=lambda line, theta: seen.append(line), **options)
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if COMPILING not in line]
    assert out == ""
    assert [line.split()[1] for line in lines] == [f"{done}/6" for done in range(1, 7)]
    assert f"episodes {seen[-1]['episodes']:,}" in lines[-1]
    assert len(seen) == 6, "the user's callback is told as well"
    with pytest.raises(InputError, match=r"^progress must be True, False or 'auto', got 'yes'"):
        rg.train("two-roads", "mean", progress="yes")


def test_a_notebook_shows_a_bar_that_is_drawn_anew(monkeypatch):
    drawn = []

    class Handle:
        def update(self, shown):
            drawn.append(shown._repr_html_())

    def display(shown, display_id):
        drawn.append(shown._repr_html_())
        assert display_id is True
        return Handle()

    display_module = types.ModuleType("IPython.display")
    monkeypatch.setattr(display_module, "display", display, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display_module)
    with suppress(KeyboardInterrupt), Live(Console(force_jupyter=True), 10, "<cvar:0.1>") as live:
        assert numba.njit(lambda x: x + 3)(1) == 4
        assert f"{COMPILING}: 1 functions" in drawn[-1]
        live(LINE, None)
        raise KeyboardInterrupt
    assert 'value="0"' in drawn[0]
    assert "&lt;cvar:0.1&gt;" in drawn[-1]
    assert '<progress max="10" value="5"></progress>' in drawn[-1]
    assert "5/10  risk -3.25  mean 1.5  |grad| -" in drawn[-1]
    with Live(Console(force_jupyter=True), 10, "mean") as live:
        live(LINE, None)
    assert '<progress max="5" value="5"></progress>' in drawn[-1], "full at the end, however many were planned"


@pytest.mark.parametrize("whole", [True, False])
def test_a_bar_is_full_at_the_end_and_not_where_it_was_broken_off(whole):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120, color_system=None)
    with suppress(KeyboardInterrupt), Live(console, 10, "mean") as live:
        live(LINE, None)
        if not whole:
            raise KeyboardInterrupt
    last = shown.getvalue().rsplit("mean", 2)[-2]  # the last picture, up to the number called mean
    assert ("5/5 " in last) == whole
    assert ("5/10 " in last) != whole


def test_it_says_that_kernels_are_compiled_and_only_then():
    shown = io.StringIO()
    with Live(Console(file=shown), 10, "mean") as live:
        live(LINE, None)
        assert COMPILING not in shown.getvalue()
        fresh = numba.njit(lambda x: x + 1)
        assert fresh(1) == 2
        assert fresh(1.5) == 2.5
        live({**LINE, "iteration": 9}, None)
    assert shown.getvalue().count(COMPILING) == 1
    numba.njit(lambda x: x + 2)(1)
    assert shown.getvalue().count(COMPILING) == 1, "nobody listens after the end"


@pytest.mark.parametrize(
    ("width", "numbers"),
    [(120, "risk -3.25  mean 1.5  |grad| -  "), (80, "risk -3.25  mean 1.5  |grad| - "), (40, "risk -3.25 ")],
)
def test_a_terminal_leaves_out_whole_numbers_where_it_is_narrow(width, numbers):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system=None, width=width)
    with Live(console, 200, "mean-variance:0.5"[: width // 4]) as live:
        live._screen.wait()
        live._screen._bar.refresh()  # which is drawn ten times a second
        live(LINE, None)
    with LiveCrew(console, 3, {"iterations": 200}) as crew:
        crew("mean-variance:0.5 seed 3", LINE)
    text = shown.getvalue()
    assert (f"{COMPILING}: 1 functions" if width > 80 else "compiling 1") in text
    assert numbers in text
    assert ("mean 1.5" in text) == (width > 40)
    assert "…" not in text
    assert "mean-variance:0.5 seed 3 " in text


def test_a_bar_that_never_moved_is_taken_away():
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system=None, width=80)
    with pytest.raises(InputError), Live(console, 200, "cvr:0.1"):
        raise InputError("risk", "be one of these", "cvr")
    assert shown.getvalue().endswith("\x1b[1A\x1b[2K"), "up a line, and the line erased"
    with Live(console, 10, "mean") as live:
        live(LINE, None)
    assert not shown.getvalue().endswith("\x1b[2K")


def test_a_worker_process_and_a_thread_show_nothing_by_themselves():
    code = f"""
import threading
thread = threading.Thread(target=lambda: exec("{TRAIN.format(3, "")}"))
thread.start(); thread.join()
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        pool.submit(exec, "{TRAIN.format(3, "")}").result()
"""
    assert in_terminal(code).strip() == ""
