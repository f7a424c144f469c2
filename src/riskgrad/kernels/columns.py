"""Sums of rows of weights in the registers of the processor, for 32 units at a time or for as few as one.

    units[j] = bias[j] + values[0] * weights[indices[0], j] + values[1] * weights[indices[1], j] + ...

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

Writer = Callable[[FloatArray, int, int, int, IntArray, int, FloatArray, int, FloatArray, int, int], None]


def _writer(width: int) -> Writer:
    """Give the function that writes `width` units: a multiple of 4, or less than that.

    Its arguments: theta and where its weights [inputs, units] begin, which its biases follow; the numbers of inputs and
    of units; indices [.., w] and the row that names the inputs; values [n, w], how many are to be added, and the units
    [n, w'], with the row of both; and the first of the units that are written.
    """
    lanes = min(width, AT_ONCE)
    vector = ir.VectorType(ir.DoubleType(), lanes)

    def parts(builder: Any, pointer: Any) -> list[Any]:
        places = [builder.gep(pointer, [ir.Constant(ir.IntType(64), k)]) for k in range(0, width, lanes)]
        return [builder.bitcast(place, vector.as_pointer()) for place in places]

    def row(context: Any, builder: Any, kind: Any, value: Any, index: Any) -> Any:
        """Point to the beginning of a row of an array in two dimensions."""
        array = context.make_array(kind)(context, builder, value)
        return builder.gep(array.data, [builder.mul(index, cgutils.unpack_tuple(builder, array.shape)[1])])

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        theta, first, n_in, n_out, indices, named, values, count, units, b, j = arguments
        kinds = signature.args
        weights = builder.gep(context.make_array(kinds[0])(context, builder, theta).data, [builder.add(first, j)])
        indices, values = row(context, builder, kinds[4], indices, named), row(context, builder, kinds[6], values, b)
        places = parts(builder, builder.gep(row(context, builder, kinds[8], units, b), [j]))
        nothing = ir.Constant(vector, [0.0] * lanes)
        sums: list[Any] = []
        for place in parts(builder, builder.gep(weights, [builder.mul(n_in, n_out)])):
            # no negative zero, which adding the product of a zero would change
            bias = builder.fadd(builder.load(place, align=SIZE), nothing)
            sums.append(cgutils.alloca_once_value(builder, bias))
        with cgutils.for_range(builder, count) as loop:
            value = builder.load(builder.gep(values, [loop.index]))
            many = ir.Constant(vector, ir.Undefined)
            for k in range(lanes):
                many = builder.insert_element(many, value, ir.Constant(ir.IntType(32), k))
            at = builder.mul(builder.load(builder.gep(indices, [loop.index])), n_out)
            for total, place in zip(sums, parts(builder, builder.gep(weights, [at])), strict=True):
                product = builder.fmul(many, builder.load(place, align=SIZE))
                builder.store(builder.fadd(builder.load(total), product), total)
        for total, place in zip(sums, places, strict=True):
            builder.store(builder.load(total), place, align=SIZE)
        return context.get_dummy_value()

    def typed(
        typing: Any,
        theta: Any,
        first: Any,
        n_in: Any,
        n_out: Any,
        indices: Any,
        named: Any,
        values: Any,
        count: Any,
        units: Any,
        b: Any,
        j: Any,
    ) -> Any:
        del typing, first, n_in, n_out, named, count, b, j
        whole = types.int64
        return types.none(theta, whole, whole, whole, indices, whole, values, whole, units, whole, whole), generate

    return cast("Writer", intrinsic(typed))


write_32, write_8, write_4, write_2, write_1 = (_writer(width) for width in (32, 8, 4, 2, 1))
