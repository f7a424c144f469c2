"""Experiment trackers, as a callback: the record of each iteration goes to Weights & Biases, MLflow or Trackio.

    with rg.run.Tracker("mlflow", experiment_name="roads") as tracker:
        rg.train("two-roads", "cvar:0.1", callback=tracker)

Every tracker gets the numbers under the names of TensorBoard's curves, with the iteration as the step. The keywords
besides the tracker's name are passed on when its run is started: to `wandb.init`, to `trackio.init`, and for MLflow to
`set_experiment` and `start_run`. A tracker is an extra: `pip install riskgrad[wandb]`, `[mlflow]` or `[trackio]`.
"""

import importlib
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Final, Self

from riskgrad.errors import InputError, UnknownNameError
from riskgrad.kinds import checks_calls
from riskgrad.run.tensorboard import SCALARS
from riskgrad.types import FloatArray, Line

Log = Callable[[dict[str, float], int], None]


@checks_calls
class Tracker:
    """A callback that sends numbers to a tracker; use it as a context manager, or call `close` at the end.

    Args:
        to: "wandb", "mlflow" or "trackio".
        options: keywords with which the tracker's run is started, such as project="roads".
    """

    def __init__(self, to: str, **options: Any) -> None:
        if not isinstance(to, str) or to not in _BEGINNINGS:
            raise UnknownNameError("tracker", to, list(_BEGINNINGS), "any function of a line and theta is a callback")
        try:
            module = importlib.import_module(to)
        except ImportError as error:
            raise InputError(
                to, "be installed to track a run", "nothing", f"run: pip install 'riskgrad[{to}]'"
            ) from error
        self._log, self._finish = _BEGINNINGS[to](module, options)

    def __call__(self, line: Line, theta: FloatArray) -> None:
        """Send one iteration."""
        del theta
        numbers = {tag: float(line[name]) for name, tag in SCALARS.items() if line.get(name) is not None}
        self._log(numbers, int(line["iteration"]))

    def close(self) -> None:
        """End the tracker's run."""
        self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _begin_wandb(wandb: Any, options: dict[str, Any]) -> tuple[Log, Callable[[], None]]:
    run = wandb.init(**options)
    return lambda numbers, step: run.log(numbers, step=step), run.finish


def _begin_mlflow(mlflow: Any, options: dict[str, Any]) -> tuple[Log, Callable[[], None]]:
    experiment = options.pop("experiment_name", None)
    if experiment is not None:
        mlflow.set_experiment(experiment)
    mlflow.start_run(**options)
    return lambda numbers, step: mlflow.log_metrics(numbers, step=step), mlflow.end_run


def _begin_trackio(trackio: Any, options: dict[str, Any]) -> tuple[Log, Callable[[], None]]:
    trackio.init(**options)
    return lambda numbers, step: trackio.log(numbers, step=step), trackio.finish


_BEGINNINGS: Final[Mapping[str, Callable[[Any, dict[str, Any]], tuple[Log, Callable[[], None]]]]] = {
    "wandb": _begin_wandb,
    "mlflow": _begin_mlflow,
    "trackio": _begin_trackio,
}
