"""The versions that decide a run's numbers, as they were when it began."""

import platform
from importlib.metadata import version
from typing import Final

PACKAGES: Final = ("riskgrad", "numpy", "scipy", "numba", "gymnasium")


def current_versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that decide the numbers, and the kind of machine."""
    found = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    return {**found, "platform": f"{platform.system()} {platform.machine()}"}


def changed_versions(before: dict[str, str], now: dict[str, str]) -> str:
    """Say which versions differ between two times, as a note for a run that goes on; empty if none does."""
    words = [f"{name} {now[name]} (before: {before[name]})" for name in now if before.get(name, now[name]) != now[name]]
    return f"went on with {', '.join(words)}: its numbers may differ from those of an unbroken run" if words else ""
