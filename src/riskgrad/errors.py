"""What riskgrad raises, and how it says what went wrong.

    RiskgradError
    ├── InputError (ValueError)      an argument breaks a rule
    │   ├── UnknownNameError         a name that is not on the list; offers the nearest
    │   └── TooLargeError            an exact computation that does not fit; names its size
    ├── KeywordError (TypeError)     a function has no such keyword; offers the nearest
    ├── ContractError (AssertionError)   a user's part does not keep what it promises
    ├── EpisodeError (RuntimeError)  an environment failed; names it, row of policy, seed, step
    ├── WorkerError (RuntimeError)   a worker process died, or could not read its work
    ├── LearningError (RuntimeError) parameters or values are not finite; names iteration or size
    └── StorageError (OSError)       a disk is full, a folder read-only, a file unreadable
        └── DamagedFileError         a file is not what was written to it

    KeyboardInterrupt
    └── Stopped                      a signal stopped a training; carries the run so far

Every message is one line: the name, the rule, the value given, and what to do.
"""

import difflib
from collections.abc import Iterable
from typing import Any, cast

import numpy as np

LONGEST_VALUE = 120


class RiskgradError(Exception):
    """The root of everything that riskgrad raises on purpose."""

    def __str__(self) -> str:
        return in_one_line(super().__str__())


class InputError(RiskgradError, ValueError):
    """An argument breaks a rule.

    Args:
        name: the argument, in the user's words.
        rule: what it must be; it follows the word "must".
        got: the value that broke the rule.
        advice: what to do about it.
    """

    def __init__(self, name: str, rule: str, got: object, advice: str = "") -> None:
        super().__init__(name, rule, got, advice)

    def __str__(self) -> str:
        name, rule, got, advice = self.args
        line = f"{name} must {rule}, got {_short(got)}"
        return in_one_line(f"{line}; {advice}" if advice else line)


class UnknownNameError(InputError):
    """A name that is not on the list of known ones."""

    def __init__(self, kind: str, got: object, known: Iterable[str], advice: str = "") -> None:
        names = sorted(known)
        self.nearest = find_nearest(str(got), names)
        hint = "" if self.nearest is None else f"did you mean {self.nearest!r}?"
        super().__init__(kind, f"be one of {', '.join(names)}", got, f"{hint} {advice}".strip())

    def __reduce__(self) -> tuple[object, ...]:
        return InputError, self.args


class TooLargeError(InputError):
    """An exact computation that would not fit in memory or time."""


class KeywordError(RiskgradError, TypeError):
    """A keyword that a public function does not have."""


class ContractError(RiskgradError, AssertionError):
    """A part (a risk measure, a policy, a source) does not keep what it promises."""


class EpisodeError(RiskgradError, RuntimeError):
    """An environment failed in the middle of an episode, or returned something that cannot be used.

    Args:
        env: the environment's name.
        row: the row of thetas that acted.
        seed: the seed with which the episode was reset.
        step: how many steps had been taken.
        reason: what happened.
    """

    def __init__(self, env: str, row: int, seed: int, step: int, reason: str) -> None:
        super().__init__(env, row, seed, step, reason)

    def __str__(self) -> str:
        env, row, seed, step, reason = self.args
        where = f"{env} failed at step {step} of the episode with seed {seed}, played by policy row {row}"
        return in_one_line(f"{where}: {reason}")


class WorkerError(RiskgradError, RuntimeError):
    """A worker process could not read its work, or died: it crashed, was killed, or ran out of memory."""


class LearningError(RiskgradError, RuntimeError):
    """The episodes cannot be learned from: numbers of the learner are no longer finite."""


class StorageError(RiskgradError, OSError):
    """Something could not be written or read: a full disk, a read-only folder, a missing file."""


class DamagedFileError(StorageError):
    """A file is not what was written to it: cut short, or its checksum does not match."""


class Stopped(KeyboardInterrupt):
    """A signal stopped a training. It is not an error and no `Exception`, so that it also ends a loop of trainings.

    A script that does not catch it ends with one line, and the exit code 130 (SIGINT), 143 (SIGTERM) or 129 (SIGHUP).

    Attributes:
        signal: its name, such as "SIGTERM".
        run: the run so far, as `rg.train` would have given it; None if a second signal stopped it before it
            began, or if several processes trained.
    """

    def __init__(self, message: str, signal: str, run: Any = None) -> None:
        super().__init__(message)
        self.signal, self.run = signal, run


def find_nearest(word: str, known: Iterable[str]) -> str | None:
    """Give the known word that a misspelled one is nearest to; None if it is near to none."""
    return next(iter(difflib.get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.6)), None)


def refuse_unknown_keyword(function: str, got: Iterable[str], known: Iterable[str]) -> None:
    """Raise if a keyword is not known, naming the public function and the nearest right word.

    Args:
        function: as the user writes it, such as "rg.train".
        got: the keywords of the call.
        known: all keywords that the function has.
    """
    names = sorted(known)
    for keyword in got:
        if keyword not in names:
            near = find_nearest(keyword, names)
            advice = f"it has {', '.join(names) or 'none'}" if near is None else f"did you mean {near!r}?"
            raise KeywordError(f"{function} has no keyword {keyword!r}; {advice}")


def in_one_line(text: str) -> str:
    """Put a text into one line that is safe to print."""
    return as_printable(" ".join(text.split()))


def as_printable(text: str) -> str:
    """Escape control characters, which a terminal would act on rather than show."""
    return text if text.isprintable() else "".join(one if one.isprintable() else _escape(one) for one in text)


def _escape(one: str) -> str:
    return one.encode("unicode_escape", errors="backslashreplace").decode("ascii")


def _short(value: object) -> str:
    # a string with a blank is a sentence about the value rather than the value
    plain = isinstance(value, np.number) or (isinstance(value, str) and " " in value)
    try:
        text = in_one_line(f"{value}" if plain else f"{value!r}")
    except Exception:  # whatever the `__repr__` of a stranger's type raises; integers of very many digits have none
        text = f"a value of type {type(cast('object', value)).__name__}"
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."
