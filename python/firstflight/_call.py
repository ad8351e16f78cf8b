"""Calls of commands: progress, and exit codes as exceptions."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from firstflight import _native, _user_code
from firstflight._errors import CheckError, FirstflightError, OutputError, ScenarioError
from firstflight._scheme import Scheme

PROGRAM = "firstflight"

#: Shows progress: the number of items done, that of all items (0 if unknown), and the name of the last one.
Progress = Callable[[int, int, str], object]

#: The width of tables as text, in characters.
WIDTH = 120

_ERRORS: dict[int, type[FirstflightError]] = {1: CheckError, 2: ScenarioError, 3: OutputError}


def run(
    arguments: Sequence[str],
    *,
    progress: Progress | bool | None = None,
    schemes: Sequence[type[Scheme]] = (),
) -> _native.Answer:
    """Carry out the command with these arguments, without the program's name, and return its result.

    `schemes` are the classes whose names are in the arguments. `progress` is a function, or true for a bar by tqdm, or false for none.
    `None` shows a bar where tqdm is installed and somebody looks: in a notebook or a terminal. Raises an exception of `firstflight` for a
    failure, and KeyboardInterrupt at an interrupt.
    """
    shown = _progress(progress)
    try:
        answer = _native.run(
            [program(schemes) or PROGRAM, *arguments], progress=shown, width=WIDTH, schemes=schemes
        )
    finally:
        if isinstance(shown, _Bar):
            shown.close()
    if answer.code == 0:
        return answer
    if answer.code == 130:
        raise KeyboardInterrupt(answer.error)
    text = answer.error.removeprefix("error: ").rstrip("\n")
    raise _ERRORS.get(answer.code, FirstflightError)(text)


def program(schemes: Sequence[type[Scheme]]) -> str | None:
    """Return the words of a shell that start a command with these classes; `None` if one of them is not in a file."""
    if not schemes:
        return PROGRAM
    files = [_user_code.path(scheme) for scheme in schemes]
    if None in files:
        return None
    words = [word for file in dict.fromkeys(files) for word in ("--with", str(file))]
    return shlex.join(["python", "-m", PROGRAM, *words])


class _Bar:
    """A progress bar by tqdm, which appears after a second."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, done: int, total: int, name: str) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=total or None, delay=1, leave=False)
        self._bar.total = total or None
        self._bar.set_postfix_str(name, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _progress(asked: Progress | bool | None) -> Progress | None:
    if callable(asked):
        return asked
    if asked is False or (asked is None and not _is_watched()):
        return None
    try:
        with warnings.catch_warnings():
            # Without ipywidgets the bar is text, which is no reason for a warning.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError as error:
        if asked:
            raise ImportError("progress=True shows a bar by tqdm, which is not installed: pip install tqdm") from error
        return None
    return _Bar(tqdm)


def _is_watched() -> bool:
    """Return whether somebody watches: a terminal, or a notebook."""
    return "ipykernel" in sys.modules or sys.stderr.isatty()
