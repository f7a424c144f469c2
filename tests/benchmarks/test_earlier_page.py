"""The stored comparison with an earlier version: nothing but the mean is slower by more than a tenth."""

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"
LIMIT = 1.10


def test_no_figure_is_worse_by_a_tenth_but_the_one_that_the_page_explains():
    lines = (FOLDER / "earlier.md").read_text().splitlines()
    ratios = {
        cells[1].strip(): float(cells[4]) for line in lines if len(cells := line.split("|")) == 6 and "." in cells[4]
    }
    slower = {name: ratio for name, ratio in ratios.items() if ratio > LIMIT}
    assert list(slower) == ["estimate, mean"]
    others = [ratio for name, ratio in ratios.items() if name not in slower]
    words = f"of {len(ratios)} speed figures {len(others)} are at {min(others):.2f} to {max(others):.2f} times"
    overview = (FOLDER / "README.md").read_text()
    assert f"{words} the earlier time, the mean alone at {slower['estimate, mean']:.2f}" in overview
