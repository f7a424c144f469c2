"""From observations to actions in all lanes, by networks and one number of each policy's stream.

A network is read layer by layer from a flat vector: weights [in, out] and then, with `bias`, one number per output; a
linear softmax is the network of one layer. An action is drawn by the inverse CDF of the softmax at one uniform number,
so that nearby policies turn the same number into the same action nearly always; a greedy policy takes the first of the
largest logits, and skips the number. With two actions only the difference of the logits matters: the lanes keep a last
layer whose one output is this difference.

Networks are run for all lanes at once if observations have all their entries and the parameters are few enough to be
copied to each lane. Otherwise a network of one layer is run lane by lane, and deeper ones for up to 16 lanes at a time,
ordered by policy; both read only the entries that `observe` has written.
"""

from riskgrad.kernels import streams
from riskgrad.kernels.arrays import ZERO
from riskgrad.kernels.compile import helper, inline_helper
from riskgrad.kernels.elementary import exp, fma, rough_exp, tanh
from riskgrad.kernels.formulas import LOWEST, exp_within
from riskgrad.kernels.layers import TOGETHER, Workspace, run_layers
from riskgrad.kernels.streams import Words
from riskgrad.types import FloatArray, IntArray

DOUBT = 1e-4  # larger than the error of u (1 + rough_exp(x)) where it is near 1


@helper
def activate_lanes(units: FloatArray, row: int, unit: int, count: int, relu: bool) -> None:
    """Apply the activation to units[row, unit, :count]."""
    if relu:
        for i in range(count):
            units[row, unit, i] = max(units[row, unit, i], 0.0)
        return
    for i in range(count):
        units[row, unit, i] = tanh(units[row, unit, i])


@inline_helper
def weigh_lanes(
    weights: FloatArray,
    first: int,
    bias: bool,
    inputs: FloatArray,
    here: int,
    n_in: int,
    units: FloatArray,
    there: int,
    n_out: int,
    live: int,
) -> None:
    """Write the sums units[there, :n_out] of a layer with parameters from weights[first] on, of inputs[here, :n_in]."""
    for j in range(n_out):
        at = first + j
        for i in range(0, n_in - 3, 4):  # four inputs at a time: a sum is fetched and stored once for all four
            for lane in range(live):
                total = units[there, j, lane] if i > 0 else 0.0
                total = fma(inputs[here, i, lane], weights[at, lane], total)
                total = fma(inputs[here, i + 1, lane], weights[at + n_out, lane], total)
                total = fma(inputs[here, i + 2, lane], weights[at + 2 * n_out, lane], total)
                units[there, j, lane] = fma(inputs[here, i + 3, lane], weights[at + 3 * n_out, lane], total)
            at += 4 * n_out
        for i in range(n_in - n_in % 4, n_in):
            for lane in range(live):
                total = units[there, j, lane] if i > 0 else 0.0
                units[there, j, lane] = fma(inputs[here, i, lane], weights[at, lane], total)
            at += n_out
        if bias:
            for lane in range(live):
                units[there, j, lane] += weights[at, lane]


@helper
def run_later_layers(
    weights: FloatArray, units: FloatArray, live: int, widths: IntArray, bias: bool, relu: bool
) -> int:
    """Run the layers after the first, whose sums are in units[0]; give the row of units that holds the logits."""
    row, first = ZERO, (widths[0] + (1 if bias else 0)) * widths[1]
    for i in range(1, len(widths) - 1):
        for unit in range(widths[i]):
            activate_lanes(units, row, unit, live, relu)
        weigh_lanes(weights, first, bias, units, row, widths[i], units, 1 - row, widths[i + 1], live)
        row, first = 1 - row, first + (widths[i] + (1 if bias else 0)) * widths[i + 1]
    return row


@helper
def weigh_entries(
    thetas: FloatArray,
    rows: IntArray,
    indices: IntArray,
    entries: FloatArray,
    counts: IntArray,
    units: FloatArray,
    live: int,
    n_in: int,
    n_out: int,
    bias: bool,
) -> None:
    """Write the logits units[0, :n_out] of networks of one layer, thetas[rows], from the entries of observations.

    For two actions, units[0, 0] is then the difference of the logits, second minus first.
    """
    for lane in range(live):
        row = rows[lane]
        for j in range(n_out):
            total = thetas[row, n_in * n_out + j] if bias else 0.0
            for k in range(counts[lane]):
                total = fma(entries[k, lane], float(thetas[row, indices[k, lane] * n_out + j]), total)
            units[0, j, lane] = total
        if n_out == 2:
            units[0, 0, lane] = units[0, 1, lane] - units[0, 0, lane]


@helper
def order_by_policy(rows: IntArray, live: int, order: IntArray, places: IntArray) -> None:
    """Write an order of the lanes [L] in which those of one policy are neighbors, by counting; `places` is scratch [L].

    A lane that becomes free goes to an episode of a later policy: in the order of the lanes, one in two would have
    another policy than its neighbor. Policies whose indices differ by a multiple of L may be mixed with each other.
    """
    for key in range(len(places)):
        places[key] = 0
    for lane in range(live):
        places[rows[lane] % len(places)] += 1
    total = 0
    for key in range(len(places)):
        count = places[key]
        places[key] = total
        total += count
    for lane in range(live):
        key = rows[lane] % len(places)
        order[places[key]] = lane
        places[key] += 1


@helper
def run_networks_in_turn(
    thetas: FloatArray,
    rows: IntArray,
    order: IntArray,
    indices: IntArray,
    entries: FloatArray,
    counts: IntArray,
    units: FloatArray,
    live: int,
    widths: IntArray,
    relu: bool,
    work: Workspace,
) -> None:
    """Write the logits units[0, :n_out] of deeper networks, thetas[rows], from the entries of observations.

    Neighbors in the order [live] go through their layers together, whether or not they play the same policy. For two
    actions, units[0, 0] is then the difference of the logits, second minus first.
    """
    n_out = widths[-1]
    for first in range(0, live, TOGETHER):
        size = min(TOGETHER, live - first)
        for b in range(size):
            lane = order[first + b]
            for k in range(counts[lane]):
                work.indices[b, k], work.values[b, k] = indices[k, lane], entries[k, lane]
            work.rows[b], work.counts[b] = rows[lane], counts[lane]
        run_layers(thetas, work, size, widths, relu)
        for b in range(size):
            lane = order[first + b]
            for a in range(n_out):
                units[0, a, lane] = work.units[b * n_out + a]
            if n_out == 2:
                units[0, 0, lane] = units[0, 1, lane] - units[0, 0, lane]


@inline_helper
def draw_from_two(units: FloatArray, row: int, live: int, choices: Words, actions: IntArray) -> None:
    """Draw one of two actions, whose logits differ by x = units[row, 0]: the second if u (1 + exp(x)) >= 1.

    A rough exponential decides. If the product is so near to 1 in some lane that this may be wrong, `exp` decides in
    all lanes.
    """
    doubtful = 0
    for lane in range(live):
        choices[lane] += streams.STEP
        u = streams.open_uniform(choices[lane])
        above = fma(u, rough_exp(units[row, 0, lane]), u - 1.0)
        actions[lane] = 1 if above >= 0.0 else 0
        doubtful += 1 if abs(above) < DOUBT else 0
    if doubtful > 0:
        for lane in range(live):
            actions[lane] = 1 if streams.open_uniform(choices[lane]) * (1.0 + exp(units[row, 0, lane])) >= 1.0 else 0


@helper
def _draw_exactly(units: FloatArray, row: int, live: int, n_actions: int, choices: Words, actions: IntArray) -> None:
    """Draw actions as `draw_from_many` does, by exact exponentials of units[row], logits minus their largest."""
    for a in range(n_actions):
        for lane in range(live):
            before = units[row, a - 1, lane] if a > 0 else 0.0
            units[row, a, lane] = before + exp_within(max(units[row, a, lane], LOWEST))
    for lane in range(live):
        actions[lane] = 0
    for a in range(n_actions - 1):
        for lane in range(live):
            aim = streams.open_uniform(choices[lane]) * units[row, n_actions - 1, lane]
            actions[lane] += 1 if units[row, a, lane] <= aim else 0


@helper
def draw_from_many(units: FloatArray, row: int, live: int, n_actions: int, choices: Words, actions: IntArray) -> None:
    """Draw actions by the running sums of their weights exp(logit): the first whose sum is above u times the last sum.

    Rough exponentials decide. If some sum is so near to u times the last one that they may be wrong, exact ones decide
    in all lanes. As u is below 1, u times the last sum is below that sum: an action without weight is never chosen.
    """
    spare = 1 - row
    for lane in range(live):
        choices[lane] += streams.STEP
        actions[lane], units[spare, 0, lane] = 0, units[row, 0, lane]
    for a in range(1, n_actions):
        for lane in range(live):
            units[spare, 0, lane] = max(units[spare, 0, lane], units[row, a, lane])
    for a in range(n_actions):
        for lane in range(live):
            units[row, a, lane] -= units[spare, 0, lane]
    for lane in range(live):
        units[spare, 0, lane] = rough_exp(units[row, 0, lane])
    for a in range(1, n_actions):
        for lane in range(live):
            units[spare, a, lane] = units[spare, a - 1, lane] + rough_exp(units[row, a, lane])
    doubtful, last = 0, n_actions - 1
    for a in range(last):
        for lane in range(live):
            total = units[spare, last, lane]
            above = streams.open_uniform(choices[lane]) * total - units[spare, a, lane]
            actions[lane] += 1 if above >= 0.0 else 0
            doubtful += 1 if abs(above) < 2.0 * DOUBT * total else 0
    if doubtful > 0:
        _draw_exactly(units, row, live, n_actions, choices, actions)


@helper
def take_largest(units: FloatArray, row: int, live: int, n_actions: int, choices: Words, actions: IntArray) -> None:
    """Take the first of the largest logits, or, of two actions, the second if the difference units[row, 0] is positive.

    Each stream skips the number by which an action would be drawn.
    """
    spare = 1 - row
    for lane in range(live):
        choices[lane] += streams.STEP
        actions[lane] = 1 if n_actions == 2 and units[row, 0, lane] > 0.0 else 0
        units[spare, 0, lane] = units[row, 0, lane]
    if n_actions == 2:
        return
    for a in range(1, n_actions):
        for lane in range(live):
            logit = units[row, a, lane]
            actions[lane] = a if logit > units[spare, 0, lane] else actions[lane]
            units[spare, 0, lane] = max(units[spare, 0, lane], logit)
