"""The command line: `riskgrad demo, train, evaluate, compare, frontier, report, bounds, risks, policies, envs ...`.

Every mistake of the user ends in one clear line on stderr and exit code 2; `--debug` shows the traceback instead. Heavy
imports are inside the commands, so that `--help` is quick. A file here is a command, or a few that belong together;
`rg.register(function)` adds one from outside.
"""

import importlib
import pkgutil
import sys

from rich.console import Console

from riskgrad.cli.app import COMMANDS as COMMANDS
from riskgrad.cli.app import app as app
from riskgrad.errors import RiskgradError

INTERRUPTED = 130  # what a shell gives a program that was interrupted from the keyboard

for _file in pkgutil.iter_modules(__path__):  # importing a file adds its commands
    if _file.name != "__main__":
        importlib.import_module(f"{__name__}.{_file.name}")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; the entry point of the `riskgrad` script."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        app(args=words, prog_name="riskgrad")
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            _say("interrupted")
        raise
    except (RiskgradError, OSError, MemoryError) as problem:
        if "--debug" in words:
            raise
        _say(f"out of memory: {problem}" if isinstance(problem, MemoryError) else str(problem))
        raise SystemExit(2) from None


def _say(words: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"riskgrad: {words}", markup=False)
