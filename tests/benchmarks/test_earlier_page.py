"""The stored comparison with an earlier version: no figure is slower by more than a tenth, and the overview says so."""

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "benchmarks"
LIMIT = 1.10


def test_no_figure_is_worse_by_more_than_a_tenth():
    lines = (FOLDER / "earlier.md").read_text().splitlines()
    ratios = {
        cells[1].strip(): float(cells[4]) for line in lines if len(cells := line.split("|")) == 6 and "." in cells[4]
    }
    slower = {name: ratio for name, ratio in ratios.items() if ratio > LIMIT}
    assert len(ratios) > 70
    assert not slower
    words = f"all {len(ratios)} speed figures are at {min(ratios.values()):.2f} to {max(ratios.values()):.2f} times"
    assert f"{words} the earlier time" in (FOLDER / "README.md").read_text()
