"""Films from the command line."""

import json

import pytest
from PIL import Image

from riskgrad.cli import main

MAZE = "riskgrad/GuardedMaze-v0"


def called(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("video") / "maze"
    with pytest.raises(SystemExit) as ended:
        main(["train", MAZE, "--risk", "mean", "--iterations", "2", "--horizon", "12", "--out", str(folder)])
    assert ended.value.code == 0
    return folder


@pytest.mark.parametrize("greedy", [(), ("--greedy",)], ids=["drawn", "greedy"])
def test_an_evaluated_policy_is_filmed(run, greedy, tmp_path, capsys):
    place = tmp_path / "film.gif"
    words = ("evaluate", run, MAZE, "--episodes", 50, "--video", place, "--video-episodes", 2, *greedy, "--json")
    code, out, errors = called(capsys, *words)
    assert code == 0, errors
    found = json.loads(out)
    assert found["video"] == str(place)
    assert 4 <= found["frames"] <= 2 * 13, "two episodes of at most 12 steps, with their starts"
    with Image.open(place) as film:
        assert film.n_frames > 1, "frames that are equal are merged"
        assert min(film.size) > 50


@pytest.mark.parametrize(
    ("env", "place", "said"),
    [(MAZE, "film.mp4", "--video must end in .gif"), ("two-roads", "film.gif", "finite models do not render")],
)
def test_what_cannot_be_filmed_is_one_line(run, env, place, said, tmp_path, capsys):
    code, out, errors = called(capsys, "evaluate", run, env, "--video", tmp_path / place)
    assert (code, out) == (2, "")
    assert said in errors
    assert len(errors.strip().splitlines()) == 1
