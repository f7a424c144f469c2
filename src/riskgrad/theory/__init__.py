"""What the theory says: the schedule of the main theorem."""

from riskgrad.theory._schedule import Schedule as Schedule
from riskgrad.theory._schedule import schedule as schedule

__all__ = ["Schedule", "schedule"]
