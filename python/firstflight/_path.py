"""Paths: the keys of docs/reference/keys.md, by name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from numbers import Integral, Real
from typing import Any, Unpack

from firstflight import _call, _native
from firstflight._errors import ScenarioError
from firstflight._keys import Keys, Preset

#: The unit of a number without one, by the kind of its key: SI units, and bytes.
_UNITS = {"rate": "bit", "time": "s", "size": "B", "packets": "p", "queue": "B", "time-or-count": "", "per-second": "/s"}


class Path:
    """A path and the endpoints on it: the keys of a race.

    A key of the command line has `_` in place of `-`. A value is text as on the command line (`rate="20mbit"`), or a number in bit/s,
    seconds, bytes, packets or a share; a flag is a bool; a key that may be given several times takes a list.

    >>> Path(rate="20mbit", rtt=0.06, queue="0.5bdp", cross=["tcp:2,cubic", "5mbit"])
    Path(rate='20mbit', rtt='0.06s', queue='0.5bdp', cross=['tcp:2,cubic', '5mbit'])
    """

    __slots__ = ("_given",)

    def __init__(self, **keys: Unpack[Keys]) -> None:
        self._given = texts(keys)

    @classmethod
    def preset(cls, name: Preset, **keys: Unpack[Keys]) -> Path:
        """Return the path of this name, with other keys over it. `Path.presets()` lists the names, their sources and licences."""
        return cls.of({"path": name, **keys})

    @staticmethod
    def presets() -> list[dict[str, Any]]:
        """Return the paths that have a name: `name`, `title`, `path` (its keys), `source` with its licence, and `notes`."""
        answer = _call.run(["paths", "--json"])
        return [json.loads(line) for line in answer.printed.splitlines()]

    def with_(self, **keys: Unpack[Keys]) -> Path:
        """Return this path with some keys replaced; `None` removes a key."""
        return Path.of({**self._given, **texts(keys)}, without={name for name, value in keys.items() if value is None})

    @classmethod
    def of(cls, keys: Mapping[str, Any], *, without: Iterable[str] = ()) -> Path:
        """Return the path with these keys, which may be written with `-` or `_`."""
        path = cls()
        path._given = {
            name: value for name, value in texts(keys).items() if name not in {name_of(key) for key in without}
        }
        return path

    @property
    def keys(self) -> dict[str, str | list[str]]:
        """The keys that are given, each with its text, or its texts if it is given several times."""
        return dict(self._given)

    @property
    def arguments(self) -> list[str]:
        """The path as arguments of the command."""
        return arguments(self._given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and self._given == other._given

    def __hash__(self) -> int:
        return hash(tuple(self.arguments))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name.replace('-', '_')}={value!r}" for name, value in self._given.items())
        return f"Path({shown})"


@cache
def _kinds() -> dict[str, tuple[str, bool]]:
    """Return the kind of each key, and whether it may be given several times."""
    return {str(key["name"]): (str(key["kind"]), bool(key["repeats"])) for key in _native.keys()}


def name_of(key: str) -> str:
    """Return the name of a key as the command line writes it."""
    return key.rstrip("_").replace("_", "-")


def texts(keys: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return keys as the command line writes them. Leaves out keys that are `None` and flags that are false.

    Raises ScenarioError for a key that does not exist, and TypeError for a value of a type that no key takes.
    """
    given: dict[str, str | list[str]] = {}
    for key, value in keys.items():
        name = name_of(key)
        if name not in _kinds():
            # The command says which key is meant.
            _call.run(["race", f"--{name}", ""])
            raise ScenarioError(f"there is no key `{key}`")
        if value is None or value is False:
            continue
        kind, repeats = _kinds()[name]
        if isinstance(value, list | tuple):
            if not repeats:
                raise TypeError(f"{key}: one value is allowed, not {value!r}")
            given[name] = [_text(key, kind, one) for one in value]
        else:
            given[name] = _text(key, kind, value)
    return given


def _text(key: str, kind: str, value: object) -> str:
    if isinstance(value, bool):
        if kind == "flag":
            return "true"
        raise TypeError(f"{key}: text or a number is allowed, not {value!r}")
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Real):
        unit = _UNITS.get(kind, "")
        if kind == "time-or-count" and not isinstance(value, Integral):
            unit = "s"
        return number(value) + unit
    raise TypeError(f"{key}: text or a number is allowed, not {value!r}")


def number(value: Real | float) -> str:
    """Return the number exactly as it prints, without an exponent. Numbers of numpy are allowed."""
    exact = str(int(value)) if isinstance(value, Integral) else repr(float(value))
    return format(Decimal(exact), "f").removesuffix(".0")


def arguments(given: Mapping[str, str | list[str]]) -> list[str]:
    """Return keys as arguments of the command."""
    out: list[str] = []
    for name, value in given.items():
        if _kinds()[name][0] == "flag":
            out.append(f"--{name}")
            continue
        for one in value if isinstance(value, list) else [value]:
            out.append(f"--{name}={one}")
    return out
