"""TensorBoard's event files of a run, as a callback: what each iteration recorded, and its returns as histograms.

    with rg.run.TensorBoard("logs/averse") as board:
        rg.train("two-roads", "cvar:0.1", callback=board)

The step of every curve is the iteration. TensorBoard itself is not needed to write event files;
`pip install riskgrad[tensorboard]` installs what is needed.
"""

import time
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from riskgrad.checks import check_path
from riskgrad.errors import InputError
from riskgrad.kinds import checks_calls
from riskgrad.run.files import ELSEWHERE, refuse
from riskgrad.types import FloatArray, Line

SCALARS: Final = {
    "risk": "return/risk",
    "mean": "return/mean",
    "held_out": "return/held_out",
    "risk_error": "error/risk",
    "mean_error": "error/mean",
    "gradient_error": "error/gradient",
    "gradient_norm": "gradient/norm",
    "ess": "weights/ess",
    "critic_loss": "critic/loss",
    "gain_spread": "critic/gain_spread",
    "divergence": "critic/divergence",
    "path": "progress/path",
    "episodes": "progress/episodes",
}


@checks_calls
class TensorBoard:
    """A callback that writes event files; use it as a context manager, or call `close` at the end.

    Args:
        folder: where the files are written; made if it is not there.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            from tensorboardX import SummaryWriter  # noqa: PLC0415 - an extra
        except ImportError as error:
            advice = "run: pip install 'riskgrad[tensorboard]'"
            raise InputError("tensorboardX", "be installed to write event files", "nothing", advice) from error
        place = check_path("folder", folder)
        try:
            self._writer: Any = SummaryWriter(str(place))
        except OSError as error:
            refuse("write", place, error, ELSEWHERE)
        self._returns: FloatArray | None = None
        self._before = (time.monotonic(), 0)

    def returns(self, values: FloatArray) -> None:
        """Keep the returns of the iteration whose line comes next."""
        self._returns = np.ravel(values)

    def __call__(self, line: Line, theta: FloatArray) -> None:
        """Write one iteration."""
        del theta
        step, episodes = int(line["iteration"]), int(line.get("episodes") or 0)
        for name, tag in SCALARS.items():
            if line.get(name) is not None:
                self._writer.add_scalar(tag, line[name], step)
        now, (then, before) = time.monotonic(), self._before
        if episodes > before:
            self._writer.add_scalar("progress/episodes_per_second", (episodes - before) / max(now - then, 1e-9), step)
        self._before = (now, episodes)
        if self._returns is not None:
            self._writer.add_histogram("returns", self._returns, step)
            self._returns = None

    def close(self) -> None:
        """Write everything to the disk, and close the files."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
