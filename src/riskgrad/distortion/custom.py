"""A distortion of the user's own, checked before it is used."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riskgrad.checks import as_reals, check_number, check_word
from riskgrad.distortion.base import Attitude, DistortionFunction
from riskgrad.errors import InputError
from riskgrad.types import FloatArray

Function = Callable[[FloatArray], FloatArray]

GRID = 4096  # cells on which g is checked
STEEPEST = 16  # number of the steepest cells, in which a jump is searched by bisection
TOLERANCE = 1e-9
STEP = 1e-5  # of numerical first derivatives; ten times as large for second ones


@dataclass(frozen=True)
class Custom(DistortionFunction):
    """A user's g, refused unless g(0) = 0, g(1) = 1, and g is monotone, continuous and of the declared attitude.

    The checks use a grid of 4,096 cells, and bisect the steepest cells down to neighboring floating-point numbers: a
    jump keeps its height, while a steep continuous rise becomes small. Without continuity at 0 and 1 no error bound
    holds (docs/corrections.md, "Continuity of g").

    Args:
        g: maps an array in [0, 1] to an array of the same shape.
        derivative: g'; if not given, central differences with step 1e-5.
        second_derivative: g''; if not given, central differences with step 1e-4.
        attitude: "averse" (default) if g(s) <= s, "seeking" if g(s) >= s, "mixed" if g crosses the diagonal. It is
            checked; g is used as it is, never replaced by its dual.
        slope_bound: sup |g'| if it is known.
        curvature_bound: sup |g''| if it is known.
    """

    g: Function
    first: Function | None
    second: Function | None
    attitude: Attitude
    bounds: tuple[float, float]

    def __init__(
        self,
        g: Function,
        derivative: Function | None = None,
        second_derivative: Function | None = None,
        *,
        attitude: Attitude = "averse",
        slope_bound: float = np.inf,
        curvature_bound: float = np.inf,
    ) -> None:
        object.__setattr__(self, "g", g)
        object.__setattr__(self, "first", derivative)
        object.__setattr__(self, "second", second_derivative)
        object.__setattr__(self, "attitude", attitude)
        bounds = check_number("slope_bound", slope_bound), check_number("curvature_bound", curvature_bound)
        object.__setattr__(self, "bounds", bounds)
        grid = np.linspace(0.0, 1.0, GRID + 1)
        values = self(grid)
        _check_ends_and_monotone(grid, values)
        _check_continuous(self, grid, values)
        _check_attitude(attitude, grid, values)
        _check_bound("slope_bound", self.slope_bound, np.abs(np.diff(values)) * GRID)
        _check_bound("curvature_bound", self.curvature_bound, np.abs(np.diff(values, 2)) * GRID**2)

    def __repr__(self) -> str:
        return f"Custom({getattr(self.g, '__name__', type(self.g).__name__)}, attitude={self.attitude!r})"

    def at(self, s: FloatArray) -> FloatArray:
        """Give g(s)."""
        value = as_reals("g(s)", self.g(s))
        if value.shape != s.shape:
            raise InputError("g(s)", f"have the shape of s, {s.shape}", value.shape, "write g with NumPy functions")
        return value

    def slope_at(self, s: FloatArray) -> FloatArray:
        """Give g'(s), as given or by differences."""
        if self.first is not None:
            return as_reals("derivative(s)", self.first(s))
        middle = np.clip(s, STEP, 1.0 - STEP)
        central = (self.at(middle + STEP) - self.at(middle - STEP)) / (2.0 * STEP)
        return central + (s - middle) * self._bend(middle)

    def bend_at(self, s: FloatArray) -> FloatArray:
        """Give g''(s), as given or by differences."""
        if self.second is not None:
            return as_reals("second_derivative(s)", self.second(s))
        return self._bend(s)

    def dual(self) -> "Custom":
        """Give the distortion s -> 1 - g(1 - s), of the opposite attitude; mixed stays mixed."""
        first, second = self.first, self.second
        turned: dict[Attitude, Attitude] = {"averse": "seeking", "seeking": "averse"}
        return Custom(
            lambda s: 1.0 - self.at(1.0 - s),
            None if first is None else lambda s: first(1.0 - s),
            None if second is None else lambda s: -second(1.0 - s),
            attitude=turned.get(self.attitude, "mixed"),
            slope_bound=self.slope_bound,
            curvature_bound=self.curvature_bound,
        )

    @property
    def slope_bound(self) -> float:
        """M_g' as given, or inf."""
        return self.bounds[0]

    @property
    def curvature_bound(self) -> float:
        """M_g'' as given, or inf."""
        return self.bounds[1]

    def _bend(self, middle: FloatArray) -> FloatArray:
        step = 10.0 * STEP
        middle = np.clip(middle, step, 1.0 - step)
        return (self.at(middle + step) - 2.0 * self.at(middle) + self.at(middle - step)) / step**2


def _check_ends_and_monotone(grid: FloatArray, values: FloatArray) -> None:
    if not np.all(np.isfinite(values)):
        raise InputError("g(s)", "be finite on [0, 1]", f"g({grid[~np.isfinite(values)][0]:g}) not finite")
    for end in (0, -1):
        if abs(values[end] - grid[end]) > TOLERANCE:
            raise InputError(f"g({grid[end]:g})", f"be {grid[end]:g}", float(values[end]))
    falls = np.flatnonzero(np.diff(values) < -TOLERANCE)
    if falls.size:
        i = falls[0]
        got = f"g({grid[i]:g}) = {values[i]:g} > g({grid[i + 1]:g}) = {values[i + 1]:g}"
        raise InputError("g", "be non-decreasing", got)


def _check_continuous(g: DistortionFunction, grid: FloatArray, values: FloatArray) -> None:
    rises = np.diff(values)
    cells = np.unique(np.concatenate([np.argsort(rises)[-STEEPEST:], [0, GRID - 1]]))
    low, high = grid[cells], grid[cells + 1]
    rise_at_coarse = rises[cells]
    for depth in range(70):
        middle = low + (high - low) / 2.0
        at_low, at_middle, at_high = g(low), g(middle), g(high)
        left = at_middle - at_low > at_high - at_middle
        low, high = np.where(left, low, middle), np.where(left, middle, high)
        if depth == 15:  # cells of 2^-28: a steep stretch rises little within one, a jump keeps its height
            rise_at_coarse = g(high) - g(low)
    rise = g(high) - g(low)
    jumps = np.flatnonzero((rise > TOLERANCE) & (rise > 0.9 * rise_at_coarse))
    if jumps.size:
        i = jumps[0]
        raise InputError("g", "be continuous on [0, 1]", f"a jump of {rise[i]:.3g} at s = {high[i]:.6g}")


def _check_attitude(attitude: str, grid: FloatArray, values: FloatArray) -> None:
    check_word("attitude", attitude, ["averse", "seeking", "mixed"])
    excess = values - grid
    worst = {"averse": int(np.argmax(excess)), "seeking": int(np.argmin(excess))}.get(attitude)
    if worst is not None and (excess[worst] > TOLERANCE if attitude == "averse" else excess[worst] < -TOLERANCE):
        sign = ">" if attitude == "averse" else "<"
        got = f"g({grid[worst]:g}) = {values[worst]:g} {sign} {grid[worst]:g}"
        advice = 'for rewards g(s) > s is risk-seeking; declare it, attitude="seeking" or "mixed", or pass 1 - g(1 - s)'
        raise InputError(f"g declared {attitude}", f"have g(s) {'<=' if sign == '>' else '>='} s", got, advice)


def _check_bound(name: str, bound: float, seen: FloatArray) -> None:
    largest = float(seen.max())
    if not bound >= largest * (1.0 - 1e-6) - 1e-3:
        raise InputError(name, "be at least what the grid shows", bound, f"differences of g reach {largest:g}")
