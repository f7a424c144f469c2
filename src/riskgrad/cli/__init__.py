"""The command line: `riskgrad demo, train, evaluate, compare, frontier, report, bounds, risks, policies, envs ...`.

A mistake of the user ends with one line on stderr and exit code 2; `--debug` shows the traceback instead. A command
that a signal stops ends with one line and the exit code of the signal: 130 for Ctrl-C, 143 for SIGTERM. Slow imports
are inside the commands, so that `--help` is quick. A file here holds a command, or a few that belong together;
`rg.register(function)` adds a command from outside.
"""

import importlib
import pkgutil
import sys
import unicodedata

from rich.console import Console

from riskgrad.cli.printing import say
from riskgrad.cli.shared import COMMANDS as COMMANDS
from riskgrad.cli.shared import Interrupted
from riskgrad.cli.shared import app as app
from riskgrad.cli.wording import in_flags
from riskgrad.errors import InputError, RiskgradError

for _file in pkgutil.iter_modules(__path__):  # importing a file adds its commands
    if _file.name != "__main__":
        importlib.import_module(f"{__name__}.{_file.name}")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; the entry point of the `riskgrad` script."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        _refuse_control_characters(words)
        app(args=words, prog_name="riskgrad")
    except Interrupted as interrupted:
        from riskgrad.run.stopping import leave  # noqa: PLC0415

        _say(in_flags(interrupted, _find_command(words)))
        leave(interrupted.signal)
    except (RiskgradError, OSError, MemoryError) as error:
        if "--debug" in words:
            raise
        _say(f"out of memory: {error}" if isinstance(error, MemoryError) else in_flags(error, _find_command(words)))
        raise SystemExit(2) from None


def _find_command(words: list[str]) -> str | None:
    return next((word for word in words if word in COMMANDS.by_name()), None)


def _refuse_control_characters(words: list[str]) -> None:
    """Refuse control characters, which a terminal would obey, and surrogates, which cannot be printed."""
    for word in words:
        if any(unicodedata.category(one) in ("Cc", "Cs") for one in word):
            raise InputError("an argument", "have no control characters", ascii(word))


def _say(words: str) -> None:
    say(f"riskgrad: {words}", Console(stderr=True, highlight=False))
