"""The stored comparison with an earlier version: no more is slower by a tenth than the page explains."""

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"
LIMIT = 1.10
EXPLAINED = ("model, ", "act of MLP 32 x 32, ", "train, CartPole-v1, score, default policy")


def test_no_figure_is_worse_by_a_tenth_but_those_that_the_page_explains():
    lines = (FOLDER / "earlier.md").read_text().splitlines()
    ratios = {
        cells[1].strip(): float(cells[4]) for line in lines if len(cells := line.split("|")) == 6 and "." in cells[4]
    }
    slower = {name: ratio for name, ratio in ratios.items() if ratio > LIMIT}
    assert all(name.startswith(EXPLAINED) for name in slower)
    others = [ratio for name, ratio in ratios.items() if name not in slower]
    words = f"of {len(ratios)} speed figures {len(others)} are at {min(others):.2f} to {max(others):.2f} times"
    overview = (FOLDER / "README.md").read_text()
    assert f"{words} the earlier time, {len(slower)} at up to {max(slower.values()):.2f}: " in overview
