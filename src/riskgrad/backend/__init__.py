"""Backends, which do the work: in this process, in several, in this one until several pay off, or on a Ray cluster."""

from typing import TYPE_CHECKING

from riskgrad.backend.base import BACKENDS as BACKENDS
from riskgrad.backend.base import Backend as Backend
from riskgrad.backend.base import parse_backend as parse_backend

if TYPE_CHECKING:
    from riskgrad.backend.patient import Patient as Patient
    from riskgrad.backend.processes import Processes as Processes
    from riskgrad.backend.ray import Ray as Ray
    from riskgrad.backend.serial import Serial as Serial
else:
    globals().update(BACKENDS.exports())
