"""exp, log and what follows from them, written once for NumPy and for compiled loops, with the same bits in both.

NumPy's own functions round differently on different processors, and over hundreds of iterations of training a
difference in the last bit leads to another policy: no computation that decides parameters uses them. A formula here
consists of +, -, *, / and operations on the bits of numbers, each of which has one correct result. NumPy runs a formula
on an array, and `elementary` compiles it.

`exp_of`, `expm1_of`, `log_of`, `log1p_of`, `power_of` and `tanh_of` are for arrays. They run compiled if something
else has loaded numba (see `_find_loops`), otherwise in NumPy: the answer is the same, and numba takes half a second to
load. `softmax` and `log_softmax` work along the last axis.
"""

import sys
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskgrad.types import FloatArray

SHIFT = 6755399441055744.0 + 1023.0  # 1.5 * 2^52: adding it rounds to an integer; 1023 is the bias of an exponent
# 1 / log(2), and log(2) in two parts, of which the first has 32 bits, so that its product with an exponent is exact
PER_LOG2, LOG2_HIGH, LOG2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
LOWEST, HIGHEST = -708.0, 709.0
ROOT_OF_HALF = 0x3FE6A09E667F3BCD  # the bits of the square root of 1 / 2
E_1, E_MINUS_100 = 2.718281828459045, 3.720075976020836e-44
TINY, LIFT, LIFTED = 2.2250738585072014e-308, 18014398509481984.0, 54.0  # the smallest normal number; 2^54; 54
# up to so many actions are added and compared one by one, in a fifth of the time of NumPy and with the same bits
FEW_ACTIONS = 7
MANY = 1_000  # numbers from which on the compiled loops are worth loading
MOST_PRODUCTS = 64  # the largest exponent by products; beyond it their rounding errors exceed those of a logarithm


def split_exponent(x: Any) -> tuple[Any, Any]:
    """Give 2^k and r for numbers x = k log(2) + r in [-708, 709], with |r| <= log(2) / 2."""
    shifted = x * PER_LOG2 + SHIFT  # the last bits are now k + 1023
    k = shifted - SHIFT
    power = np.int64(np.float64(shifted).view(np.int64) << 52).view(np.float64)
    return power, (x - k * LOG2_HIGH) - k * LOG2_LOW


def exponential_series(r: Any) -> Any:
    """Give c = 2 - 2 r / (exp(r) - 1) for |r| <= log(2) / 2, so that exp(r) = 1 + r + r c / (2 - c).

    c is a series in Bernoulli's numbers, r - r^2 / 6 + r^4 / 360 - ... The first term that is left out is below 1e-17.
    """
    z = r * r
    c = z * (-691.0 / 653837184000.0) + 1.0 / 23950080.0
    c = z * c - 1.0 / 604800.0
    c = z * c + 1.0 / 15120.0
    c = z * c - 1.0 / 360.0
    c = z * c + 1.0 / 6.0
    return r - z * c


def exponential_parts(x: Any) -> tuple[Any, Any, Any]:
    """Give 2^k, r and c for numbers x = k log(2) + r in [-708, 709]: exp(x) = 2^k (1 + r + r c / (2 - c))."""
    power, r = split_exponent(x)
    return power, r, exponential_series(r)


def exp_within(x: Any) -> Any:
    """Exponentiate numbers in [-708, 709], within 1.1 units of the last place."""
    power, r, c = exponential_parts(x)
    return power + power * (r + r * c / (2.0 - c))


def expm1_within(x: Any) -> Any:
    """Give exp(x) - 1 of numbers in [-708, 709], within 2.5 units of the last place."""
    power, r, c = exponential_parts(x)
    return power * (r + r * c / (2.0 - c)) + (power - 1.0)


def tanh_within(x: Any) -> Any:
    """Take the hyperbolic tangent of numbers in [-20, 0], within 3.5e-16."""
    return tanh_from_parts(*exponential_parts(2.0 * x))


def tanh_from_parts(power: Any, r: Any, c: Any) -> Any:
    """Give tanh(x) = (e - 1) / (e + 1), where e = exp(2 x), from the `exponential_parts` of 2 x."""
    b = 2.0 - c
    e = power * (b + 2.0 * r)
    return (e - b) / (e + b)


def log_within(x: Any) -> Any:
    """Take the natural logarithm of positive numbers that are not subnormal, within 1 unit of the last place."""
    k, f, s = split_logarithm(x)
    return log_from_parts(k, f, s, logarithm_series(s))


def split_logarithm(x: Any) -> tuple[Any, Any, Any]:
    """Give k, f and s for positive numbers x = 2^k (1 + f) that are not subnormal, with s = f / (2 + f).

    1 + f is from sqrt(1 / 2) to sqrt(2), and log(1 + f) = 2 artanh(s).
    """
    bits = np.float64(x).view(np.int64)
    k = (bits - ROOT_OF_HALF) >> 52
    f = np.int64(bits - (k << 52)).view(np.float64) - 1.0
    return np.float64(k), f, f / (2.0 + f)


def logarithm_series(s: Any) -> Any:
    """Give (2 artanh(s) - 2 s) / s of |s| <= 0.1716: a series in z = s^2, whose next term is below 1e-18."""
    z = s * s
    p = z * (2.0 / 21.0) + 2.0 / 19.0
    p = z * p + 2.0 / 17.0
    p = z * p + 2.0 / 15.0
    p = z * p + 2.0 / 13.0
    p = z * p + 2.0 / 11.0
    p = z * p + 2.0 / 9.0
    p = z * p + 2.0 / 7.0
    p = z * p + 2.0 / 5.0
    p = z * p + 2.0 / 3.0
    return z * p


def log_from_parts(k: Any, f: Any, s: Any, series: Any) -> Any:
    """Give k log(2) + log(1 + f), where log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + series)."""
    half = 0.5 * f * f
    return k * LOG2_HIGH - ((half - (s * (half + series) + k * LOG2_LOW)) - f)


def log1p_within(x: Any) -> Any:
    """Give log(1 + x) of numbers above -1, within 2 units of the last place."""
    rounded = 1.0 + x
    return log_within(rounded) + rounding_correction(x, rounded)


def rounding_correction(x: Any, rounded: Any) -> Any:
    """Give what log(1 + x) has beyond log(rounded), where `rounded` is 1 + x to the nearest double."""
    return (x - (rounded - 1.0)) / rounded


def exp_of(x: ArrayLike) -> FloatArray:
    """Exponentiate numbers, with 0 and inf where the result leaves the range of doubles."""
    return _apply("exp", _plain_exp, x)


def expm1_of(x: ArrayLike) -> FloatArray:
    """Give exp(x) - 1 of numbers up to 709, and -1 of -inf."""
    return _apply("expm1", lambda given: expm1_within(np.clip(given, LOWEST, HIGHEST)), x)


def log_of(x: ArrayLike) -> FloatArray:
    """Take the natural logarithms of numbers: -inf of 0, NaN of negative numbers."""
    return _apply("log", _plain_log, x)


def log1p_of(x: ArrayLike) -> FloatArray:
    """Give log(1 + x) of finite numbers from -1 on, -inf of -1."""
    return _apply("log1p", lambda given: np.where(given == -1.0, -np.inf, log1p_within(given)), x)


def tanh_of(x: ArrayLike) -> FloatArray:
    """Take hyperbolic tangents, within 3.5e-16."""
    return _apply("tanh", lambda given: np.copysign(tanh_within(-np.minimum(np.abs(given), 20.0)), given), x)


def power_of(x: ArrayLike, exponent: float) -> FloatArray:
    """Raise numbers that are not negative to a power of at least 0.

    A whole exponent up to 64 is reached by products: repeated squares of x, of which those that the binary digits of
    the exponent select are multiplied, the lowest first.
    """
    base = np.asarray(x, dtype=np.float64)
    if exponent != int(exponent) or exponent > MOST_PRODUCTS:
        return exp_of(exponent * log_of(base))
    answer, rest = base if exponent % 2 else np.ones_like(base), int(exponent) // 2
    while rest:
        base = base * base
        if rest == 1:
            base *= answer  # in place, as a new array costs more than the products
            return base
        answer = answer * base if rest % 2 else answer
        rest //= 2
    return answer


def _apply(name: str, formula: Callable[[FloatArray], FloatArray], x: ArrayLike) -> FloatArray:
    """Run a formula on numbers of any shape: in its compiled loop where `_find_loops` gives one, else in NumPy."""
    given = np.asarray(x, dtype=np.float64)
    if not given.flags.carray:
        given = np.require(given, requirements=["C", "W"])
    loops = _find_loops(given.size)
    if name in loops:
        answer = np.empty_like(given)
        loops[name](given.reshape(-1), answer.reshape(-1))
        return answer
    with np.errstate(all="ignore"):  # the formula itself handles numbers that leave the range
        return np.asarray(formula(given))


def _find_loops(size: int) -> dict[str, Callable[[FloatArray, FloatArray], None]]:
    """Give the compiled loops of `elementary` by name; none before numba is loaded.

    Where numba is loaded and `elementary` is not, many numbers load it: NumPy takes three times as long for them.
    """
    loaded: Any = sys.modules.get("riskgrad.kernels.elementary")
    if loaded is None and size >= MANY and "riskgrad.kernels.compile" in sys.modules:
        loaded = import_module("riskgrad.kernels.elementary")
    return getattr(loaded, "LOOPS", {})


def _plain_exp(x: FloatArray) -> FloatArray:
    answer: FloatArray = exp_within(np.clip(x, LOWEST, HIGHEST))
    outside = ~(np.abs(x) < 700.0)
    if np.any(outside):
        answer = np.where(outside, np.nan, answer)
        answer = np.where(x >= 700.0, exp_within(np.clip(x - 1.0, LOWEST, HIGHEST)) * E_1, answer)
        answer = np.where(x <= -700.0, exp_within(np.clip(x + 100.0, LOWEST, HIGHEST)) * E_MINUS_100, answer)
    return answer


def _plain_log(x: FloatArray) -> FloatArray:
    answer: FloatArray = log_within(x)
    outside = ~((x >= TINY) & (x < np.inf))
    if np.any(outside):
        lifted: FloatArray = log_within(x * LIFT) - LIFTED * LOG2_HIGH - LIFTED * LOG2_LOW
        answer = np.where((x > 0.0) & (x < TINY), lifted, answer)
        ends = np.where(x == 0.0, -np.inf, np.where(x > 0.0, np.inf, np.nan))
        answer = np.where(outside & ~((x > 0.0) & (x < TINY)), ends, answer)
    return answer


def softmax(preferences: FloatArray) -> FloatArray:
    """Give exp(h) / sum exp(h) of preferences h [..., A] along the last axis."""
    weights = exp_of(preferences - _largest_preference(preferences))
    weights /= sum_over_actions(weights)
    return weights


def log_softmax(preferences: FloatArray) -> FloatArray:
    """Give h - log sum exp(h) of preferences h [..., A] along the last axis, even where the probability underflows."""
    shifted = preferences - _largest_preference(preferences)
    shifted -= log_of(sum_over_actions(exp_of(shifted)))
    return shifted


def action_log_softmax(preferences: FloatArray, actions: NDArray[np.intp]) -> FloatArray:
    """Give the log-probability [P, B] of the action taken, from preferences [P, B, A] and actions [B]."""
    return log_softmax(preferences)[:, np.arange(len(actions)), actions]


def sum_over_actions(values: FloatArray) -> FloatArray:
    """Add up values [..., A] along the last axis, which is kept with length 1."""
    if values.shape[-1] > FEW_ACTIONS:
        return np.sum(values, axis=-1, keepdims=True)
    return reduce(np.add, _by_action(values))[..., None]


def _largest_preference(values: FloatArray) -> FloatArray:
    if values.shape[-1] > FEW_ACTIONS:
        return np.max(values, axis=-1, keepdims=True)
    return reduce(np.maximum, _by_action(values))[..., None]


def _by_action(values: FloatArray) -> list[FloatArray]:
    return [values[..., action] for action in range(values.shape[-1])]
