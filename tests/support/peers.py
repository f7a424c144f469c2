"""Libraries of others that results are compared with."""

import importlib
import os

import pytest


def import_rliable():
    """Give rliable's library and metrics; where they are missing skip, or fail with RISKGRAD_NEED_RLIABLE set."""
    bring = importlib.import_module if os.environ.get("RISKGRAD_NEED_RLIABLE") else pytest.importorskip
    return bring("rliable.library"), bring("rliable.metrics")
