"""Sums of rows of weights in the registers of the processor, for 32 units at a time or for as few as one.

    units[j] += values[0] * weights[indices[0], j] + values[1] * weights[indices[1], j] + ...

Each unit is one sum, added up in the order of the entries and rounded after every product and every sum, so that it has
the same bits on every machine and for every width. A compiled loop of Python's would read and write the units again for
each entry, and ask each time whether they lie among the weights: two to five times the time.
"""

from collections.abc import Callable
from typing import Any, cast

import llvmlite.ir  # pyright: ignore[reportMissingTypeStubs]
import numba.core.cgutils  # pyright: ignore[reportMissingTypeStubs]
from numba.core import types  # pyright: ignore[reportMissingTypeStubs]
from numba.extending import intrinsic  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from riskgrad.types import FloatArray, IntArray

ir: Any = llvmlite.ir  # both only partly typed
cgutils: Any = numba.core.cgutils

AT_ONCE = 4  # doubles in a vector; the compiler cuts them in two where registers are shorter
SIZE = 8  # bytes of a double, which its address is a multiple of

Adder = Callable[[FloatArray, int, int, IntArray, FloatArray, int, FloatArray, int], None]


def _adder(width: int) -> Adder:
    """Give the function that adds to `width` units: a multiple of 4, or less than that.

    Its arguments: theta and where its weights [inputs, units] begin, the number of units, the inputs that are not zero,
    their values and how many they are, the units, and the first of those that are added to.
    """
    lanes = min(width, AT_ONCE)
    vector = ir.VectorType(ir.DoubleType(), lanes)

    def parts(builder: Any, pointer: Any) -> list[Any]:
        places = [builder.gep(pointer, [ir.Constant(ir.IntType(64), k)]) for k in range(0, width, lanes)]
        return [builder.bitcast(place, vector.as_pointer()) for place in places]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, first, stride, _, _, count, _, j = arguments
        theta, indices, values, units = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 3, 4, 6)
        )
        weights, places = builder.gep(theta, [builder.add(first, j)]), parts(builder, builder.gep(units, [j]))
        sums = [cgutils.alloca_once_value(builder, builder.load(place, align=SIZE)) for place in places]
        with cgutils.for_range(builder, count) as loop:
            value = builder.load(builder.gep(values, [loop.index]))
            many = ir.Constant(vector, ir.Undefined)
            for k in range(lanes):
                many = builder.insert_element(many, value, ir.Constant(ir.IntType(32), k))
            row = builder.mul(builder.load(builder.gep(indices, [loop.index])), stride)
            for total, place in zip(sums, parts(builder, builder.gep(weights, [row])), strict=True):
                product = builder.fmul(many, builder.load(place, align=SIZE))
                builder.store(builder.fadd(builder.load(total), product), total)
        for total, place in zip(sums, places, strict=True):
            builder.store(builder.load(total), place, align=SIZE)
        return context.get_dummy_value()

    def typed(
        typing: Any, theta: Any, first: Any, stride: Any, indices: Any, values: Any, count: Any, units: Any, j: Any
    ) -> Any:
        del typing, first, stride, count, j
        whole = types.int64
        return types.none(theta, whole, whole, indices, values, whole, units, whole), generate

    return cast("Adder", intrinsic(typed))


add_32, add_8, add_4, add_2, add_1 = (_adder(width) for width in (32, 8, 4, 2, 1))
