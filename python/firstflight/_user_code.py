"""A user's classes as code: where they are, where they fail, and how a call of them is ended."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import linecache
import os
import sys
import traceback
from types import CodeType, FrameType, FunctionType, ModuleType

from firstflight import _native
from firstflight._errors import SchemeError

PACKAGE_NAME = __name__.partition(".")[0]
PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

HOOKS = {
    "Begin": "on_begin",
    "Established": "on_established",
    "Sent": "on_sent",
    "Acked": "on_ack",
    "Lost": "on_loss",
    "Marked": "on_mark",
    "TimedOut": "on_timeout",
    "SpuriousLoss": "on_spurious_loss",
    "Woken": "on_woken",
}


class EndlessCall(BaseException):
    """End a call that takes too long. It is no `Exception`, so that a class does not catch it by accident."""


def _functions(cls: type) -> list[FunctionType]:
    """Return the methods that a class itself defines, in order of lines."""
    values = (inspect.unwrap(getattr(value, "__func__", value)) for value in vars(cls).values())
    found = [value for value in values if isinstance(value, FunctionType)]
    return sorted(found, key=lambda function: function.__code__.co_firstlineno)


def _code_of(cls: type, method: str) -> CodeType | None:
    """Return the code of a method; `None` if it is not known."""
    found = inspect.unwrap(getattr(cls, method, None))  # type: ignore[arg-type]
    code = getattr(found, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _of_user(cls: type) -> list[type]:
    """Return a class and its bases, without those of this package and those built in."""
    packages = (PACKAGE_NAME, "builtins")
    return [base for base in cls.__mro__ if base.__module__.partition(".")[0] not in packages]


def _module(cls: type) -> ModuleType | None:
    return sys.modules.get(cls.__module__)


def _has_text(name: str) -> bool:
    """Return whether there is the text of a file of code. What `exec` and `dataclass` make has none."""
    return name != "<string>" and (os.path.isfile(name) or bool(linecache.getlines(name)))


def _file(cls: type) -> str | None:
    """Return the file or the cell that defines a class: that of its module, unless its methods are in a cell."""
    names = [function.__code__.co_filename for function in _functions(cls)]
    names = [name for name in names if _has_text(name)]
    cells = [name for name in names if not os.path.isfile(name)]
    of_module = getattr(_module(cls), "__file__", None)
    if not cells and isinstance(of_module, str) and os.path.isfile(of_module):
        return of_module
    return next(iter([*cells, *names]), None)


def _file_and_line(cls: type) -> tuple[str | None, int | None]:
    """Return the file of a class, and the line of its first method."""
    for base in _of_user(cls):
        name = _file(base)
        if name is not None:
            codes = [function.__code__ for function in _functions(base)]
            lines = [code.co_firstlineno for code in codes if _is_same(code.co_filename, name)]
            return name, lines[0] if lines else None
    return None, None


def _is_same(name: str, other: str) -> bool:
    return os.path.abspath(name) == os.path.abspath(other)


def place(cls: type) -> str:
    """Return where a class is, for errors."""
    name, line = _file_and_line(cls)
    return f"{shown(name)}:{line}" if name and line else shown(name) if name else "unknown file"


def file(cls: type) -> str | None:
    """Return the name of the file of a class without its folder; `None` for a class of a notebook or a prompt."""
    name = _file(cls)
    return os.path.basename(name) if name and os.path.isfile(name) else None


def path(cls: type) -> str | None:
    """Return the file of a class as errors show it; `None` for a class that `--with` of the command does not find there.

    It finds the classes that a file has at its top. The program of this process would race again, and a module of a package needs its
    package.
    """
    name, module = _file(cls), _module(cls)
    is_alone = module is not None and cls.__module__ != "__main__" and not module.__package__
    if name is None or not os.path.isfile(name) or not is_alone:
        return None
    return shown(name) if any(value is cls for value in vars(module).values()) else None


def source(cls: type) -> str:
    """Return what determines the code of a class and its bases: the text of their files or cells, and the data in the classes.

    A class without a text, as `exec` makes it, is determined by its compiled code.
    """
    parts: list[str] = []
    for base in _of_user(cls):
        name = _file(base)
        text = ""
        if name is not None:
            if os.path.isfile(name):
                linecache.checkcache(name)
            text = "".join(linecache.getlines(name))
        functions = _functions(base)
        if not any(name is not None and _is_same(function.__code__.co_filename, name) for function in functions):
            text += repr([_compiled(function.__code__) for function in functions])
        data = {key: _data(value) for key, value in vars(base).items() if not key.startswith("__")}
        for function in functions:
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            for key, cell in cells:
                with contextlib.suppress(ValueError):
                    data[f"{function.__name__} {key}"] = _data(cell.cell_contents)
        known = sorted((key, value) for key, value in data.items() if value is not None)
        parts += [part for part in (text, f"{base.__qualname__} {known}\n") if part not in parts]
    return "".join(parts)


def _compiled(code: CodeType) -> str:
    """Return the compiled code of a function and of those in it."""
    constants = [_compiled(value) if isinstance(value, CodeType) else _data(value) for value in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars))


def _data(value: object) -> str | None:
    """Return the text of plain data that cannot change: of numbers, strings and what is made of them. `None` for anything else."""
    if value is None or value is ... or type(value) in (bool, int, float, complex, str, bytes):
        return repr(value)
    if type(value) is tuple or isinstance(value, (frozenset, set)):
        parts = [_data(part) for part in value]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            return repr(known if type(value) is tuple else sorted(known))
    return None


def shown(name: str | None) -> str:
    """Return a file's name as errors show it: relative to the working directory if it is below that. A notebook's cell has no file."""
    if name is None:
        return "unknown file"
    if "ipykernel_" in name and not os.path.isfile(name):
        return "the cell"
    relative = os.path.relpath(name) if os.path.isabs(name) else name
    return name if relative.startswith("..") else relative


def _at(name: str | None, line: int | None, function: str) -> str:
    """Return the place of a line, and the line itself below."""
    text = linecache.getline(name, line).strip() if name and line else ""
    where = f"  {shown(name)}:{line}, in {function}"
    return f"{where}\n    {text}" if text else where


def _when(event: str, time: int) -> str:
    at = f"{time / 1e9:.6f}".rstrip("0").rstrip(".")
    return f"at {at} s ({event})"


def error(
    cls: type,
    scheme: str,
    method: str,
    event: str,
    time: int,
    raised: BaseException | None,
    wrong: str | None,
    limit: int,
) -> BaseException:
    """Return the exception for an exception in a method, or for an answer that is not allowed."""
    if isinstance(raised, SchemeError):
        return raised
    code = _code_of(cls, method)
    name, line, function = (code.co_filename, code.co_firstlineno, code.co_name) if code else (None, None, method)
    if method == "copy":
        (name, line), function = _file_and_line(cls), cls.__name__
    if raised is None:
        text = f"{scheme}: `{method}` returned {wrong}, {_when(event, time)}"
        if wrong is not None and wrong.startswith("it is "):
            text = f"{scheme}: `{method}` returned {wrong.removeprefix('it is ')}, {_when(event, time)}"
    else:
        frames = [
            frame for frame in traceback.extract_tb(raised.__traceback__) if not frame.filename.startswith(PACKAGE)
        ]
        # The fault is in the line of the class that called the rest.
        files = {_file(base) for base in _of_user(cls)} | {
            function.__code__.co_filename for base in _of_user(cls) for function in _functions(base)
        }
        of_class = [frame for frame in frames if frame.filename in files]
        # A copy that fails outside the class is the fault of no line of it.
        frames = of_class if of_class or method == "copy" else frames
        if frames:
            name, line, function = frames[-1].filename, frames[-1].lineno, frames[-1].name
        if isinstance(raised, EndlessCall):
            text = f"{scheme}: `{method}` did not end within {limit / 1000:g} s, {_when(event, time)}"
            raised = None
        else:
            said = str(raised)
            text = f"{scheme}: {type(raised).__name__} in `{method}`, {_when(event, time)}" + (
                f": {said}" if said else ""
            )
    made = SchemeError(
        f"{text}\n{_at(name, line, function)}",
        scheme=scheme,
        method=method,
        file=name,
        line=line,
        time=time,
        event=event,
    )
    made.__cause__ = raised
    return made


def breach(
    cls: type, scheme: str, methods: tuple[str, ...], law: str, case: int, call: int, event: str, time: int, text: str
) -> BaseException:
    """Return the exception for a broken law. The method is the one that took the event, or else the first that the class defines."""
    asked = ["plan"] if "how often" in law else []
    candidates = [*asked, HOOKS.get(event, "on"), "on", "growth", "plan", *methods]
    own = [(name, _code_of(cls, name)) for name in candidates]
    of_user = [(name, code) for name, code in own if code is not None and not code.co_filename.startswith(PACKAGE)]
    method, code = of_user[0] if of_user else ("plan", None)
    name, line = (code.co_filename, code.co_firstlineno) if code else _file_and_line(cls)
    return SchemeError(
        f"{scheme} breaks the law that {law}: event {call} of case {case}, {_when(event, time)}: {text}\n{_at(name, line, method)}",
        scheme=scheme,
        method=method,
        file=name,
        line=line,
        time=time,
        event=event,
    )


def interrupt(thread: int) -> None:
    """Raise an exception in a thread, at its next instruction of Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(EndlessCall))


class Abandoned(BaseException):
    """Stop the thread that raises it, which goes on with no instruction of its code, not even in `except:`."""

    def __init__(self) -> None:
        _native.wait_for_ever()


def abandon(thread: int) -> None:
    """Let a thread wait for ever from its next instruction of Python on."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Abandoned))


def keep_thread() -> None:
    """Keep the interpreter's state of this thread, which is not one of Python's own, until `leave_thread`."""
    ctypes.pythonapi.PyGILState_Ensure()


def leave_thread() -> None:
    """Undo `keep_thread`. The caller holds the state once more, so nothing is released here but the count."""
    locked = 0
    ctypes.pythonapi.PyGILState_Release(locked)


def stuck(thread: int, limit: float) -> BaseException:
    """Return the exception for a call that is not in Python, and cannot be ended."""
    frame: FrameType | None = sys._current_frames().get(thread)
    frames = [frame for frame in traceback.extract_stack(frame)] if frame else []
    frames = [frame for frame in frames if not frame.filename.startswith(PACKAGE)]
    name, line, function = (
        (frames[-1].filename, frames[-1].lineno, frames[-1].name) if frames else (None, None, "a method")
    )
    text = f"a call of a scheme did not end within {limit:g} s, and cannot be interrupted; its thread is left"
    return SchemeError(f"{text}\n{_at(name, line, function)}", file=name, line=line, method=function)
