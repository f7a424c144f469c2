"""Who does the work: this process, several, or this one until it pays to have several.

A backend has `workers`, how many tasks it does at once, and `map(work, tasks)`, which does the work on each task and
gives the answers in the order of the tasks. Work and tasks are picklable, and no answer depends on another: any engine
that can call a function elsewhere can be a backend.
"""

from riskgrad.backend.patient import Patient
from riskgrad.backend.processes import Processes
from riskgrad.backend.serial import Serial

__all__ = ["Patient", "Processes", "Serial"]
