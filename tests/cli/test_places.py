"""Places to write are checked before the work whose results go there, and an empty path is none."""

import subprocess
import sys

import pytest

import riskgrad as rg
from riskgrad.cli import main
from riskgrad.errors import InputError, StorageError


@pytest.fixture
def refuse(capsys, tmp_path, monkeypatch):
    """A function that calls a command, which must be refused before anything is trained or played."""
    monkeypatch.chdir(tmp_path)

    def work(*_args, **_options):
        raise AssertionError("the work began")

    for name in ("crew.train", "_train.train", "pages.demo.train", "pages.page.play_runs"):
        monkeypatch.setattr(f"riskgrad.{name}", work)

    def call(*words):
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        told = capsys.readouterr()
        assert (ended.value.code, told.out) == (2, "")
        assert told.err.count("\n") == 1
        return told.err.removeprefix("riskgrad: ").removesuffix("\n")

    return call


@pytest.mark.parametrize(
    "words",
    [
        "train two-roads --out",
        "train two-roads --tensorboard",
        "demo --out",
        "experiment two-roads --out",
        "experiment two-roads --page",
        "frontier two-roads --out",
        "frontier two-roads --plot",
        "bounds two-roads --plot",
        "report x --out",
        "evaluate x --video",
    ],
)
def test_an_empty_path_is_refused(refuse, words, tmp_path):
    said = f"{words.split()[-1]} must be a path, got ''; name a file or a folder"
    assert refuse(*words.split(), "") == said
    assert refuse(*f"{words}=".split()) == said
    assert list(tmp_path.iterdir()) == []


def test_an_empty_path_of_a_run_or_in_a_file_is_refused(refuse, tmp_path):
    assert refuse("evaluate", "") == "run must be a path, got ''; name a file or a folder"
    assert refuse("compare", "x", "") == "runs must be a path, got ''; name a file or a folder"
    (tmp_path / "run.toml").write_text("out = ''")
    said = refuse("train", "two-roads", "--config", "run.toml")
    assert said == "out in run.toml must be a path, got ''; name a folder"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("experiment two-roads --page /proc/x/y.html", "cannot write /proc/x/y.html: "),
        ("experiment two-roads --page x.pdf", "--page must end in .html or .htm, got 'x.pdf'"),
        ("experiment two-roads --out /proc/x/y", "cannot write /proc/x/y: "),
        ("frontier two-roads --out taken.pdf", "cannot write taken.pdf: file exists; choose a folder that can be "),
        ("frontier two-roads --out /proc/x/y.html", "cannot write /proc/x/y.html: "),
        ("frontier two-roads --plot /proc/x/y.svg", "cannot write /proc/x/y.svg: "),
        ("bounds two-roads --plot /proc/x/y.svg", "cannot write /proc/x/y.svg: "),
        ("demo --out /proc/x", "cannot write /proc/x/report.html: "),
        ("demo --out taken.pdf", "cannot write taken.pdf/report.html: file exists; choose a place that can be "),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(refuse, words, said, tmp_path):
    (tmp_path / "taken.pdf").write_text("taken")
    told = refuse(*words.split())
    assert told.startswith(said)
    assert "free some space" not in told
    assert (tmp_path / "taken.pdf").read_text() == "taken"


def test_a_report_ends_in_html(refuse, tmp_path):
    run = rg.load(kept(tmp_path))
    for write in (run.report, lambda path: rg.report([run], path)):
        with pytest.raises(InputError, match=r"^path must end in \.html or \.htm, got 'x\.pdf'$"):
            write("x.pdf")
        with pytest.raises(StorageError, match="choose a place that can be written"):
            write("/proc/x/y.htm")
    assert refuse("report", "run", "--out", "x.pdf") == "--out must end in .html or .htm, got 'x.pdf'"


def kept(folder):
    """The folder of a run, copied from one that this process trained, since training is forbidden here."""
    code = (
        "import riskgrad as rg; rg.train('two-roads', 'mean', iterations=1, algorithm='score:episodes=4', folder='run')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
    return folder / "run"


def test_a_folder_of_several_runs_says_where_they_are(tmp_path, capsys):
    few = {"algorithm": "score:episodes=4", "iterations": 1, "held_out": 4, "episodes": 20}
    rg.experiment("two-roads", ["mean"], 2, folder=tmp_path / "x", **few)
    with pytest.raises(
        StorageError, match=r"it holds several runs, each in a folder of its own, such as .*/x/mean/seed-0$"
    ):
        rg.load(tmp_path / "x")
    for command in ("report", "evaluate", "compare"):
        with pytest.raises(SystemExit):
            main([command, str(tmp_path / "x")])
        assert "/x/mean/seed-0" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    with pytest.raises(StorageError, match=r"no checkpoint of a run is in this folder$"):
        rg.load(tmp_path / "empty")
