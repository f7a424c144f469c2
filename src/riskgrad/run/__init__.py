"""Runs, which can be saved and loaded; their records and checkpoints; and what watches them."""

from riskgrad.run.loading import load as load
from riskgrad.run.player import RunPlayer as RunPlayer
from riskgrad.run.result import Run as Run
from riskgrad.run.tensorboard import TensorBoard as TensorBoard
from riskgrad.run.tracking import Tracker as Tracker

__all__ = ["Run", "RunPlayer", "TensorBoard", "Tracker", "load"]
