"""The command `firstflight` in this process: `python -m firstflight [--with FILE.py]… COMMAND …`.

`--with` adds the schemes of a file: every subclass of `Scheme` that the file defines.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

from firstflight import _call, _native
from firstflight._errors import SchemeError
from firstflight._scheme import Scheme, missing

_WITH = "--with"
_LIST = "--schemes"


def _loaded(file: str) -> ModuleType:
    """Run a file as a module that imports from its folder, as a program does."""
    # A dot would make it a module of a package.
    module = ModuleType(f"{_WITH} {sum(name.startswith(_WITH) for name in sys.modules)}")
    module.__file__ = file
    with open(file, "rb") as text:
        code = compile(text.read(), file, "exec")
    folder = os.path.dirname(os.path.abspath(file))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    sys.modules[module.__name__] = module
    exec(code, vars(module))
    return module


def schemes_of(file: str) -> list[type[Scheme]]:
    """Return the schemes that a file defines, in its order, without bases that are not complete.

    Raises ValueError if it defines none, and what the file raises.
    """
    module = _loaded(file)
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Scheme)]
    own = [scheme for scheme in dict.fromkeys(found) if scheme.__module__ == module.__name__]
    if not own:
        raise ValueError(f"{_WITH}: {file} defines no subclass of Scheme or SlowStart")
    return [scheme for scheme in own if not (missing(scheme) and scheme.__subclasses__())]


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return the files of `--with` at the beginning of a command line, and the rest of it. Raises ValueError for one without a file."""
    files = []
    while arguments and arguments[0].partition("=")[0] == _WITH:
        _, equals, file = arguments[0].partition("=")
        file = file if equals else "".join(arguments[1:2])
        if not file:
            raise ValueError(f"{_WITH} needs a file")
        files.append(file)
        arguments = arguments[1:] if equals else arguments[2:]
    return files, arguments


def taking_part(schemes: Sequence[type[Scheme]], arguments: list[str]) -> list[type[Scheme]]:
    """Return the schemes that a command line names, or all of them if it names all schemes or no list."""
    lists = [value for word, value in zip(arguments, arguments[1:], strict=False) if word == _LIST]
    lists += [word.removeprefix(f"{_LIST}=") for word in arguments if word.startswith(f"{_LIST}=")]
    words = {word for text in lists or arguments for word in re.split(r"[,:=\s]", re.sub("as=[^,]*", "", text))}
    if lists and "all" in words:
        return list(schemes)
    named = [scheme for scheme in schemes if scheme.name in words]
    return named if named or lists else list(schemes)


def main() -> int:
    """Carry out the command line of this process, and return its exit code."""
    schemes: list[type[Scheme]] = []
    try:
        files, arguments = _split(sys.argv[1:])
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
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
        shown = shlex.join(["python", *program[1:]]) if files else _call.PROGRAM
        raced = taking_part(schemes, arguments)
        with_part = [(scheme, scheme in raced) for scheme in schemes]
        return _native.main([shown, *arguments], program, schemes=with_part)
    except SchemeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except (TypeError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
