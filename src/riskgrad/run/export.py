"""Export of a trained policy for use without riskgrad: plain arrays or an ONNX model, by the ending of the path."""

import io
from pathlib import Path

import numpy as np

from riskgrad.errors import InputError
from riskgrad.policy import Policy
from riskgrad.run.files import write_whole
from riskgrad.run.onnx_graph import write_graph
from riskgrad.run.plain import make_plain
from riskgrad.run.translation import Translator
from riskgrad.types import FloatArray


def export_policy(policy: Policy, theta: FloatArray, translator: Translator, path: Path) -> Path:
    """Write a policy at theta [d] as .npz or .onnx, and give the path.

    Args:
        policy: a table or a network.
        theta: its parameters [d].
        translator: gives the numbers of the first state and of the first choice.
        path: the file; a crash leaves it as it was before.
    """
    plain = make_plain(policy, theta, translator.gives, *translator.firsts)
    if path.suffix == ".npz":
        body = io.BytesIO()
        np.savez(body, **plain.arrays())  # pyright: ignore[reportArgumentType]
        content = body.getvalue()
    elif path.suffix == ".onnx":
        content = write_graph(plain, str(policy))
    else:
        raise InputError("path", "end in .npz or .onnx", str(path))
    write_whole(path, content)
    return path
