"""exp, log, tanh, sine and cosine in double precision, for compiled loops that compute several at a time.

A loop that calls the C library takes one element after the other. The functions here have no branches, so the compiler
runs them for four or eight elements at a time; each docstring states the largest error. An element has the same bits
whether it is computed alone or with others.

exp, log and tanh are those of `formulas`, which NumPy runs as well. Sine and cosine are polynomials of `fma`, which
computes a b + c with one rounding; their coefficients are minimax fits of this project by Remez' algorithm.
"""

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types  # pyright: ignore[reportMissingTypeStubs]
from numba.extending import intrinsic  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from riskgrad.kernels.arrays import FLOAT
from riskgrad.kernels.compile import callable_from_kernels, helper, kernel
from riskgrad.kernels.formulas import (
    E_1,
    E_MINUS_100,
    HIGHEST,
    LIFT,
    LIFTED,
    LOG2_HIGH,
    LOG2_LOW,
    LOWEST,
    PER_LOG2,
    TINY,
    exp_within,
    expm1_within,
    exponential_parts,
    exponential_series,
    log_from_parts,
    log_within,
    logarithm_series,
    rounding_correction,
    split_exponent,
    split_logarithm,
    tanh_from_parts,
    tanh_within,
)
from riskgrad.types import FloatArray

INTEGER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which the last bits of the sum hold
BIAS = 1023.0  # of the exponent of a double
PER_QUARTER, QUARTER_HIGH, QUARTER_LOW = 0.6366197723675814, 1.5707963267948966, 6.123233995736766e-17
NONE, TANHS_AT_ONCE, LOGS_AT_ONCE = np.uint64(0), np.uint64(512), np.uint64(512)  # parts stay in the cache
DROPPED, HALF = 0x1FFFFFFF, 0x0FFFFFFF  # the 29 bits that a single lacks, and 1 less than half their range


def _generate_fma(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """Generate code for a b + c, rounded once."""
    del typing, a, b, c

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        del context, signature
        return builder.fma(*values)

    return types.float64(types.float64, types.float64, types.float64), generate


def _generate_trailing_zeros(typing: Any, word: Any) -> Any:
    """Generate code for the number of 0 bits of a word after its last 1 bit."""
    del typing, word

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        del signature
        return builder.cttz(values[0], context.get_constant(types.boolean, False))

    return types.int64(types.uint64), generate


fma = cast("Callable[[float, float, float], float]", intrinsic(_generate_fma))
trailing_zeros = cast("Callable[[np.uint64], int]", intrinsic(_generate_trailing_zeros))


for _formula in (split_exponent, exponential_series, exponential_parts, exp_within, expm1_within):
    callable_from_kernels(_formula)
for _formula in (tanh_from_parts, tanh_within, split_logarithm, logarithm_series, log_from_parts):
    callable_from_kernels(_formula)
for _formula in (log_within, rounding_correction):
    callable_from_kernels(_formula)


@kernel
def exp(x: float) -> float:
    """Exponentiate x, clipped to [-708, 709], within 1.1 units of the last place."""
    return exp_within(min(max(x, LOWEST), HIGHEST))


@kernel
def log(x: float) -> float:
    """Take the natural logarithm within 1 unit of the last place, of a positive number that is not subnormal."""
    return log_within(x)


@kernel
def tanh(x: float) -> float:
    """Take the hyperbolic tangent within 3.5e-16; beyond 20 it is 1 or -1."""
    return math.copysign(tanh_within(-min(abs(x), 20.0)), x)


@helper
def write_tanhs(x: FloatArray, count: int, answer: FloatArray, powers: FloatArray, rests: FloatArray) -> None:
    """Write the tanh of the first `count` numbers of x to the answer, which may be x, with the same bits as `tanh`.

    Three loops of short formulas take two thirds of the time of one: each step of a formula waits for the one before,
    and a processor can keep only a limited number of waiting steps. The loops pass on their results in powers and
    rests, each with room for `TANHS_AT_ONCE`; a power has the sign of its x.
    """
    total = np.uint64(count)
    for begin in range(NONE, total, TANHS_AT_ONCE):
        size = min(TANHS_AT_ONCE, total - begin)
        for i in range(size):
            power, rests[i] = split_exponent(-2.0 * min(abs(x[begin + i]), 20.0))
            powers[i] = math.copysign(power, x[begin + i])
        for i in range(size):
            answer[begin + i] = exponential_series(rests[i])
        for i in range(size):
            size_of_tanh = tanh_from_parts(abs(powers[i]), rests[i], answer[begin + i])
            answer[begin + i] = math.copysign(size_of_tanh, powers[i])


@kernel
def rough_exp(x: float) -> float:
    """Exponentiate with a relative error of at most 7.5e-5, for comparisons that are seldom closer than that.

    exp(x) = 2^k 2^r with |r| <= 1 / 2, where 2^r is approximated by a cubic. As in `exp`, x is clipped to [-708, 709].
    """
    x = min(max(x, LOWEST), HIGHEST)
    shifted = fma(x, PER_LOG2, INTEGER + BIAS)
    r = fma(x, PER_LOG2, (INTEGER + BIAS) - shifted)
    p = fma(r, 0.055171667508482215, 0.2426111221607015)
    p = fma(r, p, 0.6932609858925072)
    p = fma(r, p, 0.9999280736142663)
    return np.int64(np.float64(shifted).view(np.int64) << 52).view(np.float64) * p


@kernel
def round_to_single(x: float) -> float:
    """Round to the nearest number of single precision, ties to even, if |x| is from 1.2e-38 to 3.4e38, or 0.

    The bits are rounded as an integer: converting to single precision and back would take twice the time.
    """
    bits = np.float64(x).view(np.int64)
    return np.int64((bits + HALF + ((bits >> 29) & 1)) & ~DROPPED).view(np.float64)


@kernel
def sin_cos_small(x: float) -> tuple[float, float]:
    """Give sine and cosine of an angle in [-0.22, 0.22], within 0.7 units of the last place.

    Each polynomial is computed in two halves, on which the processor can work at the same time.
    """
    z = x * x
    w = z * z
    low = fma(z, 0.00833333333140584, -0.16666666666665705)
    high = fma(z, 2.7527770080005236e-06, -0.00019841257821186182)
    sine = fma(x * z, fma(w, high, low), x)
    low = fma(z, -0.0013888888886378484, 0.04166666666666498)
    high = fma(z, -2.7529909458193247e-07, 2.4801574453041964e-05)
    return sine, fma(z, fma(z, fma(w, high, low), -0.5), 1.0)


@kernel
def sin_cos_near(x: float) -> tuple[float, float]:
    """Give sine and cosine of an angle in [-pi / 4, pi / 4], within 0.9 units of the last place."""
    z = x * x
    p = fma(z, 1.5918114464423858e-10, -2.505113165911187e-08)
    p = fma(z, p, 2.755731610177954e-06)
    p = fma(z, p, -0.00019841269836757378)
    p = fma(z, p, 0.008333333333330948)
    p = fma(z, p, -0.16666666666666666)
    sine = fma(x * z, p, x)
    p = fma(z, -1.138262222617162e-11, 2.0876146137897144e-09)
    p = fma(z, p, -2.755731727116954e-07)
    p = fma(z, p, 2.480158729876477e-05)
    p = fma(z, p, -0.0013888888888887398)
    p = fma(z, p, 0.041666666666666664)
    return sine, fma(z, fma(z, p, -0.5), 1.0)


@kernel
def sin_cos(x: float) -> tuple[float, float]:
    """Give sine and cosine of an angle, within 1.5 units of the last place, for angles up to 100,000.

    x = q pi / 2 + r with |r| <= pi / 4; q decides which of the two polynomials is the sine, and the signs.
    """
    shifted = fma(x, PER_QUARTER, INTEGER)  # the last bits are now q
    q = shifted - INTEGER
    sine, cosine = sin_cos_near(fma(-q, QUARTER_LOW, fma(-q, QUARTER_HIGH, x)))
    bits = np.float64(shifted).view(np.int64)
    s, c = (cosine, sine) if (bits & 1) == 1 else (sine, cosine)
    return (-s if (bits & 2) == 2 else s), (-c if ((bits + 1) & 2) == 2 else c)


@kernel
def _exps(x: FloatArray, answer: FloatArray) -> None:
    outside = 0
    for i in range(len(x)):
        answer[i] = exp(x[i])
        outside += 0 if abs(x[i]) < 700.0 else 1
    if outside > 0:
        for i in range(len(x)):
            given = x[i]
            if given >= 700.0:
                answer[i] = exp(given - 1.0) * E_1
            elif given <= -700.0:
                answer[i] = exp(given + 100.0) * E_MINUS_100
            elif not abs(given) < 700.0:
                answer[i] = np.nan


@kernel
def _logs(x: FloatArray, answer: FloatArray) -> None:
    outside = 0
    for i in range(len(x)):
        answer[i] = log(x[i])
        outside += 0 if TINY <= x[i] < np.inf else 1
    if outside > 0:
        for i in range(len(x)):
            given = x[i]
            if 0.0 < given < TINY:
                answer[i] = log(given * LIFT) - LIFTED * LOG2_HIGH - LIFTED * LOG2_LOW
            elif not TINY <= given < np.inf:
                answer[i] = -np.inf if given == 0.0 else np.inf if given > 0.0 else np.nan


@kernel
def _tanhs(x: FloatArray, answer: FloatArray) -> None:
    for i in range(len(x)):
        answer[i] = tanh(x[i])


@kernel
def _expm1s(x: FloatArray, answer: FloatArray) -> None:
    for i in range(len(x)):
        answer[i] = expm1_within(min(max(x[i], LOWEST), HIGHEST))


@kernel
def _log1ps(x: FloatArray, answer: FloatArray) -> None:
    """Write log(1 + x) of all numbers, in three loops of short formulas (see `write_tanhs`): 0.8 of the time of one."""
    most = np.int64(LOGS_AT_ONCE)
    wholes, parts = np.empty(most, FLOAT), np.empty(most, FLOAT)
    ratios, lost = np.empty(most, FLOAT), np.empty(most, FLOAT)
    total, outside = np.uint64(len(x)), 0
    for begin in range(NONE, total, LOGS_AT_ONCE):
        size = min(LOGS_AT_ONCE, total - begin)
        for i in range(size):
            rounded = 1.0 + x[begin + i]
            outside += 1 if rounded == 0.0 else 0
            lost[i] = rounding_correction(x[begin + i], rounded)
            wholes[i], parts[i], ratios[i] = split_logarithm(rounded)
        for i in range(size):
            answer[begin + i] = logarithm_series(ratios[i])
        for i in range(size):
            answer[begin + i] = log_from_parts(wholes[i], parts[i], ratios[i], answer[begin + i]) + lost[i]
    if outside > 0:
        for i in range(len(x)):
            if x[i] == -1.0:
                answer[i] = -np.inf


LOOPS = {"exp": _exps, "expm1": _expm1s, "log": _logs, "log1p": _log1ps, "tanh": _tanhs}  # `formulas` finds them here
