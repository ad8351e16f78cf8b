"""The command `firstflight` in this process: `python -m firstflight [--with FILE.py]… COMMAND …`.

`--with` adds the schemes of a file: every subclass of `Scheme` that the file defines.
"""

from __future__ import annotations

import runpy
import signal
import sys
import traceback

from firstflight import _call, _native
from firstflight._errors import SchemeError
from firstflight._scheme import Scheme

_WITH = "--with"


def schemes_of(file: str) -> list[type[Scheme]]:
    """Return the schemes that a file defines, in its order. Raises ValueError if it defines none, and what the file raises."""
    names = runpy.run_path(file, run_name=_WITH)
    found = [value for value in names.values() if isinstance(value, type) and issubclass(value, Scheme)]
    own = [scheme for scheme in dict.fromkeys(found) if scheme.__module__ == _WITH]
    if not own:
        raise ValueError(f"{_WITH}: {file} defines no subclass of Scheme or SlowStart")
    return own


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the files of `--with` at the beginning of a command line, and the rest of it."""
    files = []
    while arguments and arguments[0].partition("=")[0] == _WITH:
        _, equals, file = arguments[0].partition("=")
        files.append(file if equals else "".join(arguments[1:2]))
        arguments = arguments[1:] if equals else arguments[2:]
    return files, arguments


def main() -> int:
    """Carry out the command line of this process, and return its exit code."""
    files, arguments = _split(sys.argv[1:])
    schemes: list[type[Scheme]] = []
    for file in files:
        try:
            schemes += schemes_of(file)
        except (OSError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        except Exception:
            traceback.print_exc()
            return 2
    # The command handles interrupts itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = [sys.executable, "-m", _call.PROGRAM, *(word for file in files for word in (_WITH, file))]
    try:
        return _native.main([_call.program(schemes) or _call.PROGRAM, *arguments], program, schemes=schemes)
    except SchemeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except (TypeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
