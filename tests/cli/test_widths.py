"""Every command in a pseudo-terminal of 120, 80, 60 and 40 columns: no line too long, no word broken or cut off."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import textwrap

import pytest

import riskgrad as rg

WIDE = 400  # columns, where nothing is wrapped

MARK = "== "

# all commands in one process: to start Python and to import takes longer than most of them
SCRIPT = """
    import sys
    from riskgrad import cli
    from riskgrad.pages import demo

    first, second, page = sys.argv[1:4]
    train = demo.train
    demo.train = lambda *given, **options: train(*given, **{**options, "max_episodes": 300})
    commands = (
        "--version", "--help", "train --help", "evaluate --help", "experiment --help", "frontier --help",
        "risks", "policies", "algorithms", "envs", "parts",
        f"evaluate {first} --episodes 200", f"compare {first} {second} --episodes 200", "bounds two-roads",
        "train two-roads --algorithm score:episodes=20 --iterations 3",
        "experiment two-roads --seeds 2 --iterations 2 --fresh-episodes 100 --backend serial --algorithm score "
        "--episodes 20",
        "train two-roads --max-episodes 1", "train two-roads --risk cvr:0.1",
        f"report {first} --episodes 200 --out {page}", f"demo --out {page}.demo",
        "frontier two-roads --levels 0.1 --iterations 2 --fresh-episodes 200 --backend serial",
    )
    for words in commands:
        called = words.split(" --episodes")[0].split(" --fresh")[0]
        print("== " + called.replace(first, "FIRST").replace(second, "SECOND"), flush=True)
        try:
            cli.main(words.split())
        except SystemExit as ended:
            print(f"exit {ended.code}", flush=True)
"""


def play(width, arguments):
    """What the commands print on a terminal of this width, by command, without the letters' colors."""
    child, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    words = [sys.executable, "-c", textwrap.dedent(SCRIPT), *arguments]
    with subprocess.Popen(
        words, stdin=terminal, stdout=terminal, stderr=terminal, env={**variables, "TERM": "xterm"}
    ) as process:
        os.close(terminal)
        seen = b""
        while True:
            try:
                seen += (more := os.read(child, 65536))
            except OSError:  # the other end is closed
                break
            if not more:
                break
    os.close(child)
    assert process.returncode == 0, seen.decode()[-2000:]
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode()).replace("\r\n", "\n")
    parts = re.split(rf"^{MARK}(.*)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for name, risk in (("neutral", "mean"), ("averse", "cvar:0.1")):
        rg.train("two-roads", risk, algorithm="score:episodes=50", iterations=4, seed=0, folder=place / name)
    return [str(place / "averse"), str(place / "neutral"), str(place / "page.html")]


@pytest.fixture(scope="module")
def wide(runs):
    return play(WIDE, runs)


def words_of(text):
    """The words of an output, without frames and the marks at their ends; headings of tables are left out."""
    lines = [line for line in text.split("\n") if not line.startswith(("┏", "┃", "┡", "risk  "))]
    return {word.strip(".,:;()[]") for word in re.sub(r"[│━─┬┴└┘├┤╭╮╰╯]", " ", "\n".join(lines)).split()} - {""}


def without_bars(text):
    """The lines that stay: a live bar is drawn over itself."""
    return "\n".join(line.split("\r")[-1] for line in text.split("\n") if "━" not in line or line[0] in "┏┡")


@pytest.mark.parametrize("width", [120, 80, 60, 40])
def test_every_command_fits(width, runs, wide):
    shown = play(width, runs)
    assert list(shown) == list(wide)
    assert "…" not in "".join(shown.values()), "something is cut off"
    for words, text in shown.items():
        lines = without_bars(text).split("\n")
        paths = ("page.html", "report.html", "averse", "neutral")  # which are not broken
        long = [line for line in lines if len(line) > width and not any(path in line for path in paths)]
        assert not long, f"{words}: {long}"
        lost = words_of(without_bars(wide[words])) - words_of(text)
        if words.endswith("--help"):  # frames have headings of their own
            lost = {word for word in lost if word.startswith("--")}
        assert not lost, f"{words}: {sorted(lost)}\n{text}"


def test_what_the_commands_say(wide):
    assert wide["--version"].startswith(f"riskgrad {rg.__version__}\n")
    assert {"demo", "train", "evaluate", "compare", "frontier", "report"} <= words_of(wide["--help"])
    assert "--risk-path" in wide["train --help"]
    assert {"table", "linear", "mlp", "deterministic", "shared-table"} <= words_of(wide["policies"])
    assert "A shop that orders once a week" in wide["envs"]
    assert "A short way past a guard" in wide["envs"]
    assert "cvar:0.1" in wide["evaluate FIRST"], "the environment and the measure are those of the run"
    assert "neutral against averse" in wide["compare FIRST SECOND"]
    assert "surely better" in wide["frontier two-roads --levels 0.1 --iterations 2"]
    assert "probability of improvement" in wide["experiment two-roads --seeds 2 --iterations 2"]
    assert "The report is in" in wide[next(words for words in wide if words.startswith("report"))]
    assert "--max-episodes must allow one iteration" in wide["train two-roads --max-episodes 1"]
    assert "pass --max-episodes " in wide["train two-roads --max-episodes 1"]
    assert "did you mean 'cvar'?" in wide["train two-roads --risk cvr:0.1"]
    assert "So it gives up" in wide[next(words for words in wide if words.startswith("demo"))]
