"""A trained policy as an ONNX model, in double precision; needs the extra `onnx`.

    inputs    observation   states [B] or vectors [B, k]
              time [B], return [B]   steps done and return so far, only for a policy with memory
    outputs   probabilities [B, A] and action [B]                  choices: the action is the likeliest
              mean [B, n], spread [n] and action [B, n]            numbers: the action is the mean, within its bounds

Several components of an action follow one another in `probabilities`, and `action` is [B, components]. Only operators
that common runtimes have in double precision are used.
"""

import importlib
import itertools
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import riskgrad
from riskgrad.errors import InputError
from riskgrad.policy import Memory
from riskgrad.policy.bounds import Bounds
from riskgrad.run.plain import PlainPolicy
from riskgrad.types import States

OPSET: Final = 17
FORMAT: Final = 8  # the version of the file format that goes with this opset


class ModelGraph:
    """Nodes and constants of a model, numbered in the order in which they are added."""

    def __init__(self) -> None:
        try:
            self.onnx: Any = importlib.import_module("onnx")
        except ImportError as error:
            advice = "run: pip install 'riskgrad[onnx]', or export to a .npz file, which needs nothing"
            raise InputError("onnx", "be installed to write a .onnx file", "nothing", advice) from error
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, kind: str, *inputs: str, to: str = "", **attributes: Any) -> str:
        """Add a node, and give the name of its output."""
        name = to or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, array: Any) -> str:
        """Add a constant, and give its name."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def cast(self, name: str, kind: type) -> str:
        """Add a node that converts numbers to a kind, int or float, and give the name of its output."""
        made = f"cast_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node("Cast", [name], [made], to=self._type(kind)))
        return made

    def value(self, name: str, kind: type, *shape: int | str) -> Any:
        """Give the declaration of an input or an output of this shape."""
        return self.onnx.helper.make_tensor_value_info(name, self._type(kind), list(shape))

    def _type(self, kind: type) -> int:
        return self.onnx.TensorProto.DOUBLE if kind is float else self.onnx.TensorProto.INT64


def write_graph(plain: PlainPolicy, text: str) -> bytes:
    """Give the model of a policy as the bytes of its file."""
    graph = ModelGraph()
    inputs = [graph.value("observation", int, "B")]
    if plain.table is None:
        size = len(plain.mean) - (0 if plain.memory is None else plain.memory.extra)
        inputs = [graph.value("observation", float, "B", size)]
    if plain.memory is not None:
        inputs += [graph.value("time", int, "B"), graph.value("return", float, "B")]
    found = _look_up(graph, plain, plain.table) if plain.table is not None else _pass_through(graph, plain)
    outputs = _choose(graph, plain, found) if plain.bounds is None else _execute(graph, plain, plain.bounds, found)
    helper = graph.onnx.helper
    made = helper.make_graph(graph.nodes, "policy", inputs, outputs, graph.constants, doc_string=text)
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(made, opset_imports=opset, producer_name="riskgrad", ir_version=FORMAT)
    model.producer_version = riskgrad.__version__
    graph.onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def _look_up(graph: ModelGraph, plain: PlainPolicy, table: NDArray[Any]) -> str:
    """Add the nodes that look up a state's row of the table, with its cell of memory; give the output's name."""
    row = "observation"
    if plain.first_state:
        row = graph.node("Sub", row, graph.constant(np.int64(plain.first_state)))
    memory = plain.memory
    if memory is not None and isinstance(memory.observations, States):
        last = graph.constant(np.int64(memory.horizon - 1))
        cell = graph.node("Gather", graph.constant(memory.cells_of_times), graph.node("Min", "time", last))
        if memory.edges:
            column = graph.node("Unsqueeze", "return", graph.constant(np.array([1])))
            passed = graph.node("GreaterOrEqual", column, graph.constant(memory.edges_of_returns[np.newaxis]))
            counted = graph.node("ReduceSum", graph.cast(passed, int), graph.constant(np.array([1])), keepdims=0)
            cell = graph.node("Add", cell, counted)
        row = graph.node("Add", graph.node("Mul", cell, graph.constant(np.int64(memory.observations.n))), row)
    return graph.node("Gather", graph.constant(table), row, axis=0)


def _pass_through(graph: ModelGraph, plain: PlainPolicy) -> str:
    """Add the nodes that append memory to a vector, rescale it, and apply the layers; give the output's name."""
    found = "observation" if plain.memory is None else _show_memory(graph, plain, plain.memory)
    if np.any(plain.mean != 0.0) or np.any(plain.scale != 1.0):
        found = graph.node("Sub", found, graph.constant(plain.mean))
        found = graph.node("Mul", found, graph.constant(plain.scale))
    if np.isfinite(plain.limit):
        sides = (graph.constant(np.float64(side)) for side in (-plain.limit, plain.limit))
        found = graph.node("Clip", found, *sides)
    layers = plain.layers
    for place, weights in enumerate(() if layers is None else layers.weights):
        if layers is not None:
            found = found if place == 0 else graph.node("Relu" if layers.relu else "Tanh", found)
            found = graph.node("MatMul", found, graph.constant(weights))
            found = graph.node("Add", found, graph.constant(layers.biases[place]))
    return found


def _show_memory(graph: ModelGraph, plain: PlainPolicy, memory: Memory) -> str:
    """Add the numbers that follow an observation: the share of time left, the scaled return, and bumps over them."""
    one, columns = graph.constant(np.array([1])), list[str]()
    left = graph.node("Div", graph.cast("time", float), graph.constant(np.float64(memory.horizon)))
    left = graph.node("Sub", graph.constant(np.float64(1.0)), left)
    columns.append(graph.node("Unsqueeze", graph.node("Max", left, graph.constant(np.float64(0.0))), one))
    gap = graph.node("Sub", "return", graph.constant(np.float64(memory.center)))
    gap = graph.node("Div", gap, graph.constant(np.float64(memory.spread)))
    size = graph.node("Abs", gap)
    root = graph.node("Sqrt", graph.node("Add", graph.node("Mul", size, size), graph.constant(np.float64(1.0))))
    scaled = graph.node("Mul", graph.node("Sign", gap), graph.node("Log", graph.node("Add", size, root)))
    columns.append(graph.node("Unsqueeze", scaled, one))
    shown, parts = plain.shown, ["observation"]
    for place, width in enumerate(shown.widths.tolist()):
        number = columns[int(shown.shows[place])]
        if np.isfinite(width):
            gap = graph.node("Sub", number, graph.constant(shown.middles[place]))
            scaled = graph.node("Div", gap, graph.constant(np.float64(width)))
            square = graph.node("Mul", graph.node("Mul", scaled, scaled), graph.constant(np.float64(-0.5)))
            number = graph.node("Exp", square)
        parts.append(number)
    return graph.node("Concat", *parts, axis=1)


def _choose(graph: ModelGraph, plain: PlainPolicy, found: str) -> list[Any]:
    """Add the probabilities and the likeliest action of each component; give the outputs of the model."""
    begins = np.concatenate([[0], np.cumsum(plain.sizes)])
    axis, chances, likeliest = graph.constant(np.array([1])), list[str](), list[str]()
    for begin, end in itertools.pairwise(begins.tolist()):
        part = found
        if len(plain.sizes) > 1:
            part = graph.node("Slice", found, graph.constant(np.array([begin])), graph.constant(np.array([end])), axis)
        best = graph.node("ArgMax", part, axis=1, keepdims=1)
        likeliest.append(best)
        if plain.sure:
            part = graph.cast(graph.node("Equal", best, graph.constant(np.arange(end - begin)[np.newaxis])), float)
        elif plain.table is None:
            part = graph.node("Softmax", part, axis=1)
        chances.append(part)
    graph.node("Concat", *chances, axis=1, to="probabilities")
    chosen = graph.node("Concat", *likeliest, axis=1) if len(likeliest) > 1 else likeliest[0]
    first = graph.constant(plain.first_action if len(likeliest) > 1 else plain.first_action[:1])
    moved = graph.node("Add", chosen, first)
    several = len(plain.sizes) > 1
    graph.node("Identity" if several else "Squeeze", moved, *(() if several else (axis,)), to="action")
    shape = ("B", len(plain.sizes)) if several else ("B",)
    return [graph.value("probabilities", float, "B", int(begins[-1])), graph.value("action", int, *shape)]


def _execute(graph: ModelGraph, plain: PlainPolicy, bounds: Bounds, found: str) -> list[Any]:
    """Add the mean, the spread, and the mean as it is executed; give the outputs of the model."""
    mean = graph.node("Identity", found, to="mean")
    graph.node("Identity", graph.constant(plain.spread), to="spread")
    bent = graph.node("Tanh", mean) if bounds.squashed else mean
    scaled = graph.node("Mul", bent, graph.constant(bounds.half))
    moved = graph.node("Add", scaled, graph.constant(bounds.center))
    inside = graph.node("Min", graph.node("Max", moved, graph.constant(bounds.low)), graph.constant(bounds.high))
    graph.node("Identity", inside, to="action")
    numbers = [graph.value(name, float, "B", bounds.size) for name in ("mean", "action")]
    return [numbers[0], graph.value("spread", float, bounds.size), numbers[1]]
