"""The theory as numbers: the constants of a problem, bounds on the gradient after a run, schedules and their cost."""

from riskgrad.risk.smoothness import Constants as Constants
from riskgrad.risk.smoothness import Smoothness as Smoothness
from riskgrad.theory._constants import constants as constants
from riskgrad.theory._schedule import Schedule as Schedule
from riskgrad.theory._schedule import schedule as schedule
from riskgrad.theory._schedule import thrifty_schedule as thrifty_schedule
from riskgrad.theory.bounds import Guarantee as Guarantee
from riskgrad.theory.bounds import bound as bound
from riskgrad.theory.bounds import guarantee as guarantee
from riskgrad.theory.bounds import iterations_for as iterations_for
from riskgrad.theory.gradient_bounds import GradientBounds as GradientBounds
from riskgrad.theory.gradient_bounds import gradient_bounds as gradient_bounds
from riskgrad.theory.table import BoundRow as BoundRow
from riskgrad.theory.table import bounds_table as bounds_table

__all__ = [
    "BoundRow",
    "Constants",
    "GradientBounds",
    "Guarantee",
    "Schedule",
    "Smoothness",
    "bound",
    "bounds_table",
    "constants",
    "gradient_bounds",
    "guarantee",
    "iterations_for",
    "schedule",
    "thrifty_schedule",
]
