"""Axes and names: a few values cannot squash the others, and no line passes through a name."""

import numpy as np

from riskgrad.pages.axes import find_range, find_start, fit_curves, tell_beyond, write_apart
from riskgrad.pages.grid_map import policy_map
from riskgrad.pages.played import play_runs
from riskgrad.pages.style import make_figure


def crossed(axis):
    """Names that a line of the axes, as wide as it is drawn, passes through or touches."""
    found = []
    for line in axis.lines:
        path, near = line.get_transform().transform_path(line.get_path()), line.get_linewidth() / 2.0 + 1.0
        pixels = near * axis.figure.dpi / 72.0
        boxes = {note.get_text(): note.get_window_extent().padded(pixels) for note in axis.texts if note.get_text()}
        found += [text for text, box in boxes.items() if path.intersects_bbox(box, filled=False)]
    return found


def overlapping(axis):
    boxes = [note.get_window_extent() for note in axis.texts]
    return [(i, j) for i, a in enumerate(boxes) for j, b in enumerate(boxes) if i < j and a.overlaps(b)]


def test_one_value_in_two_hundred_cannot_squash_the_others():
    values = np.append(np.linspace(0.0, 1.0, 999), -1000.0)
    assert find_range(values) == (values[4], 1.0)
    assert tell_beyond(values, (-0.1, 1.1)) == " 1 value lies below what is shown, down to \N{MINUS SIGN}1,000."
    assert find_range(np.array([0.0, 10.0])) == (0.0, 10.0), "half of the values are no outliers"


def test_the_start_of_a_training_cannot_squash_the_rest():
    late = np.linspace(-20.0, -10.0, 190)
    curve = np.concatenate([[-9000.0, -700.0, -90.0, -45.0], np.linspace(-30.0, -20.0, 6), late])
    assert find_start([curve]) == 3, "the last 95% have a quarter of the height: 10 of at most 40"
    _, (axis,) = make_figure(4.0, 3.0)
    words = fit_curves(axis, [(curve, curve - 1.0, curve + 1.0)], np.array([-10.5]))
    assert words == " The first 1.5% of the iterations reach beyond what is shown, down to \N{MINUS SIGN}9,000."
    low, high = axis.get_ylim()
    assert -50.0 < low < -46.0
    assert -9.0 < high < 0.0
    assert fit_curves(axis, [(late, late - 50.0, late + 50.0)], np.empty(0)) == "", "a wide interval is no start"


def test_a_start_that_does_not_squash_the_rest_is_shown():
    steady = np.linspace(0.0, 1.0, 200)
    assert find_start([steady]) == 0
    assert find_start([np.append(-5.0, steady)]) == 0, "a sixth of the height is enough"
    assert find_start([np.append(-50.0, steady)]) == 1
    assert find_start([np.append(-50.0, steady), np.append(2.0, steady)[:150]]) == 1
    assert find_start([np.append(-50.0, np.ones(200))]) == 0, "where nothing changes later there is nothing to see"
    assert find_start([np.array([-50.0, 0.0, 1.0])]) == 0, "one of three iterations is no start"


def test_names_stand_apart_from_each_other_and_from_lines():
    """Close points on a line, with the names to one side they would overlap."""
    page, (axis,) = make_figure(5.0, 3.0)
    x, y = np.array([0.0, 8.0, 9.0, 9.5]), np.array([4.0, 1.0, 0.8, 0.7])
    axis.errorbar(x, y, xerr=0.5, yerr=0.1)
    axis.margins(0.2)
    names = [f"cvar:{level}" for level in (0.5, 0.1, 0.05, 0.02)]
    write_apart(axis, list(zip(names, zip(x, y, strict=True), strict=True)), fontsize=9)
    page.draw_without_rendering()
    assert [note.get_text() for note in axis.texts] == names
    assert crossed(axis) == []
    assert overlapping(axis) == []
    frame = axis.get_window_extent()
    for box in (note.get_window_extent() for note in axis.texts):
        assert frame.containsx(box.x0)
        assert frame.containsx(box.x1)


def test_a_name_without_a_free_place_is_written_all_the_same():
    _, (axis,) = make_figure(1.0, 1.0)
    axis.plot(np.tile([0.0, 1.0], 40), np.linspace(0.0, 1.0, 80))
    write_apart(axis, [("everywhere", (0.5, 0.5))])
    assert [note.get_text() for note in axis.texts] == ["everywhere"]


def test_no_way_crosses_the_letters_of_a_map(cliff_run):
    drawn = policy_map(play_runs({"a": cliff_run}, episodes=10)[0], 0)
    drawn.figure.draw_without_rendering()
    (axis,) = drawn.figure.axes
    assert {"S", "G"} <= {note.get_text() for note in axis.texts}
    assert len(axis.lines) == 1
    assert crossed(axis) == []
    assert [mark.text for mark in drawn.legend] == ["visits", "frequent routes", "choice"]
