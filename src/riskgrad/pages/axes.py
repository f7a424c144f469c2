# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# matplotlib is only partly typed
"""The ranges of axes and the names in them.

A few extreme values, and the first iterations of a training, are left out of an axis if they would squash the others,
and a caption says so. A name stands beside its point, where no line passes and no other name is.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.transforms import Bbox

from riskgrad.pages.played import PlayedRun
from riskgrad.pages.prose import percent, write
from riskgrad.types import FloatArray

ROUNDING = 1e-9  # relative difference that rounding may cause between sums in another order
OUTERMOST = 0.005  # the share of the values at each side that an axis may leave out
START = 0.05  # the share of a training, its first iterations, that an axis may leave out
SQUASHED, FILLED = 0.1, 0.25  # it does where all others have less of the height than this, and gives them so much
REACHES = (6, 12, 20, 30, 45)  # points between a name and its place, the nearest that is free
ROOM = 3.0  # points around a name that stay free

Curve = tuple[FloatArray, FloatArray, FloatArray]  # its line and the ends of its interval, by iteration


def common_span(played: Sequence[PlayedRun]) -> tuple[float, float]:
    """Give the range of returns of all runs, a little wider, without the few that would squash the others."""
    ends = [find_range(one.values) for one in played]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    room = 0.06 * (high - low) or max(1.0, 0.1 * abs(high))
    return low - room, high + room


def find_range(values: FloatArray) -> tuple[float, float]:
    """Give the range of values; where the outermost 0.5% at a side take up half of it or more, the range without them.

    Half the axis for one episode in two hundred is too much: the others could not be distinguished.
    """
    known = np.sort(values[np.isfinite(values)])
    if not len(known):
        return 0.0, 0.0
    cut = int(OUTERMOST * len(known))
    low, high = float(known[0]), float(known[-1])
    inner_low, inner_high = float(known[cut]), float(known[len(known) - 1 - cut])
    if inner_low - low >= 0.5 * (high - low):
        low = inner_low
    if high - inner_high >= 0.5 * (high - low):
        high = inner_high
    return low, high


def keep_readable(axis: Axes) -> None:
    """Widen a range that comes from rounding alone, as for a policy whose return is always the same."""
    for get, put in ((axis.get_xlim, axis.set_xlim), (axis.get_ylim, axis.set_ylim)):
        low, high = get()
        middle = (low + high) / 2.0
        if high - low < ROUNDING * max(1.0, abs(middle)):
            room = max(1.0, 0.1 * abs(middle))
            put(middle - room, middle + room)


def fit_heights(axis: Axes, values: FloatArray) -> str:
    """Set the range of the vertical axis so that a few values cannot squash the others; say what lies beyond it."""
    low, high = find_range(values)
    if low == high:
        return ""
    room = 0.06 * (high - low)
    axis.set_ylim(low - room, high + room)
    return tell_beyond(values, (low - room, high + room))


def fit_curves(axis: Axes, curves: Sequence[Curve], points: FloatArray) -> str:
    """Set the range of the vertical axis for the curves of a training and single points; say what lies beyond it.

    The first iterations may lie so far off that nothing could be seen of all others.
    """
    first = find_start([middle for middle, _, _ in curves])
    shown = np.concatenate([*(line[first:] for curve in curves for line in curve), points])
    if not first:
        return fit_heights(axis, shown)
    shown = shown[np.isfinite(shown)]
    room = 0.06 * float(np.ptp(shown))
    low, high = float(np.min(shown)) - room, float(np.max(shown)) + room
    axis.set_ylim(low, high)
    start = np.concatenate([middle[:first] for middle, _, _ in curves])
    ends = [f"down to {write(float(np.nanmin(start)))}"] if np.nanmin(start) < low else []
    ends += [f"up to {write(float(np.nanmax(start)))}"] if np.nanmax(start) > high else []
    share = percent(first / max(len(middle) for middle, _, _ in curves))
    return f" The first {share} of the iterations reach beyond what is shown, {' and '.join(ends)}."


def find_start(curves: Sequence[FloatArray]) -> int:
    """Give how many iterations at the start of some curves would squash the others; 0 if none would."""
    most = int(START * max(map(len, curves)))
    heights = [_height(np.concatenate([curve[first:] for curve in curves])) for first in range(most + 1)]
    if not ROUNDING * heights[0] < heights[-1] < SQUASHED * heights[0]:
        return 0
    return next(first for first, height in enumerate(heights) if heights[-1] >= FILLED * height)


def _height(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(np.ptp(known)) if len(known) else 0.0


def tell_beyond(values: FloatArray, span: tuple[float, float]) -> str:
    """Say how many values lie beyond a range, and how far; empty where none does."""
    known = values[np.isfinite(values)]
    words: list[str] = []
    for where, far, most in (
        ("below what is shown, down to", known[known < span[0]], np.min),
        ("above what is shown, up to", known[known > span[1]], np.max),
    ):
        if len(far):
            words.append(
                f"{len(far)} {'value lies' if len(far) == 1 else 'values lie'} {where} {write(float(most(far)))}"
            )
    return f" {'; '.join(words)}." if words else ""


def write_apart(axis: Axes, names: Sequence[tuple[str, tuple[float, float]]], **look: Any) -> None:
    """Write each name beside its place, where no line or mark of the axes and no other name is.

    Call it when all else is drawn and the ranges are set: where a name fits depends on them.
    """
    page = cast("Figure", axis.figure)
    page.draw_without_rendering()  # settles where the axes are
    drawn: list[Path] = [line.get_transform().transform_path(line.get_path()) for line in axis.lines]
    for bars in axis.collections:
        drawn += [bars.get_transform().transform_path(path) for path in bars.get_paths()]
    spots = [(reach * right, reach * up) for reach in REACHES for up in (1, -1) for right in (1, -1)]
    taken: list[Bbox] = []
    for text, place in names:
        note = axis.annotate(text, place, xytext=spots[0], textcoords="offset points", **look)
        box = note.get_window_extent()
        for x, y in [*spots, spots[0]]:  # where none is free, the nearest
            note.set(position=(x, y), ha="left" if x > 0 else "right", va="bottom" if y > 0 else "top")
            box = note.get_window_extent().padded(ROOM * page.dpi / 72.0)
            if _is_free(box, axis.get_window_extent(), drawn, taken):
                break
        taken.append(box)


def _is_free(box: Bbox, frame: Bbox, drawn: Sequence[Path], taken: Sequence[Bbox]) -> bool:
    """Say whether a box lies in the frame and nothing that is drawn or written is in it, all in pixels."""
    inside = frame.fully_containsx(box.x0) and frame.fully_containsx(box.x1)
    inside = inside and frame.fully_containsy(box.y0) and frame.fully_containsy(box.y1)
    passed = (box.count_contains(path.vertices) > 0 or path.intersects_bbox(box, filled=False) for path in drawn)
    return inside and not any(passed) and not any(box.overlaps(other) for other in taken)
