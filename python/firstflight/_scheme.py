"""Schemes that are classes: what a user subclasses.

Times and spans are whole nanoseconds, sizes are bytes, and rates are bits per second.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, overload

from firstflight import _native
from firstflight._native import (
    Acked,
    Advice,
    Asked,
    Begin,
    Established,
    Exit,
    Lost,
    Marked,
    MssChanged,
    PathState,
    Plan,
    Sent,
    SpuriousLoss,
    TimedOut,
    TrainCut,
    Woken,
)

#: An event of a connection.
Event: TypeAlias = (
    Begin
    | Established
    | Sent
    | Acked
    | Lost
    | Marked
    | TimedOut
    | SpuriousLoss
    | Asked
    | Advice
    | TrainCut
    | Woken
    | MssChanged
)

#: A nanosecond, in nanoseconds.
NS = 1
#: A microsecond, in nanoseconds.
US = 1_000
#: A millisecond, in nanoseconds.
MS = 1_000_000
#: A second, in nanoseconds.
S = 1_000_000_000

Value = TypeVar("Value", int, float, str)


class Parameter(Generic[Value]):
    """A parameter of a scheme, as an attribute of its class. A command or `Scheme.with_` sets it; `self.name` is its value.

    The default decides the kind: an `int` is a whole number, a `float` a fraction (exact to a millionth), and a `str` one of `words`.
    `unit` makes a whole number a `"time"` (nanoseconds), a `"rate"` (bits per second) or a `"size"` (bytes).
    """

    def __init__(
        self,
        default: Value,
        *,
        min: Value | None = None,
        max: Value | None = None,
        help: str = "",
        words: Iterable[str] = (),
        unit: str | None = None,
    ) -> None:
        self.default: Value = default
        self.min: Value | None = min
        self.max: Value | None = max
        self.help = help
        self.words = tuple(words)
        self.unit = unit
        if unit not in (None, "time", "rate", "size"):
            raise ValueError(f"the unit of a Parameter is {unit!r}: allowed is 'time', 'rate' or 'size'")

    @overload
    def __get__(self, owner: None, of: type) -> Parameter[Value]: ...
    @overload
    def __get__(self, owner: object, of: type) -> Value: ...
    def __get__(self, owner: object | None, of: type) -> Parameter[Value] | Value:
        return self if owner is None else self.default

    def _described(self, cls: type, name: str) -> dict[str, object]:
        """Return the parameter as the registry takes it. Raises TypeError or ValueError, with the class and the name."""
        described: dict[str, object] = {"name": name.replace("_", "-"), "help": self.help or f"the parameter {name}"}
        default, where = self.default, f"the Parameter {cls.__name__}.{name}"
        if isinstance(default, str):
            if default not in self.words:
                raise ValueError(f"{where} has the default {default!r}: allowed is one of words={list(self.words)}")
            return described | {"kind": "word", "words": list(self.words), "default": default}
        if isinstance(default, bool) or not isinstance(default, (int, float)):
            raise TypeError(f"{where} has the default {default!r}: allowed is an int, a float or a str")
        kind = "fraction" if isinstance(default, float) else self.unit or "count"
        if kind == "fraction" and self.unit is not None:
            raise ValueError(f"{where} has unit={self.unit!r} and a fraction as default: a unit belongs to an int")
        last = ((1 << 32) - 1) / 1_000_000 if kind == "fraction" else (1 << 64) - 1
        low: Any = 0 if self.min is None else self.min
        high: Any = (1.0 if kind == "fraction" else 1 << 53) if self.max is None else self.max
        for key, value in (("min", low), ("max", high)):
            if isinstance(value, (bool, str)) or not (isinstance(value, (int, float)) and 0 <= value <= last):
                raise ValueError(f"{where} has {key}={value!r}: allowed is a number from 0 to {last}")
        if not low <= default <= high:
            hint = "" if self.max is not None and self.min is not None else "; min= and max= set others"
            raise ValueError(f"{where} has the default {default!r}: allowed is {low} to {high}{hint}")
        numbers = {"min": low, "max": high, "default": default}
        scale = 1_000_000 if kind == "fraction" else 1
        return described | {"kind": kind} | {key: round(value * scale) for key, value in numbers.items()}


@dataclass(frozen=True)
class Choice:
    """A class with values of its parameters, or with another label of its row, as `Scheme.with_` returns it."""

    scheme: type[Scheme]
    #: The choice as in the command's list of schemes.
    text: str


class Scheme:
    """A start-up scheme: subclass it, and define `on` and `plan`.

    Each connection has an object of the class, made without arguments. The attributes of the object are its state: when a loss turns out
    not to have happened, the connection returns to a copy that `copy.deepcopy` made of them. Attributes of the class, module variables and
    `random` are shared by all connections; a scheme that changes them gives other results each time.
    """

    #: The name in lists and results: by default, the name of the class in lower case with hyphens.
    name: ClassVar[str] = "scheme"
    #: A summary of one line: by default, the first line of the class's documentation.
    summary: ClassVar[str] = ""
    #: The avoidance law after start-up, unless the path sets one.
    law: ClassVar[str] = "reno"
    #: The abilities without which the scheme cannot work: words such as `rate`, `timer` or `packet-acks`.
    needs: ClassVar[Collection[str]] = frozenset({"ack-clock"})
    #: The abilities that change the scheme's behaviour where a host has them.
    uses: ClassVar[Collection[str]] = frozenset()
    #: The help from beyond the sender that the scheme needs: `router-help`, `marks` or `memory`.
    helped_by: ClassVar[Collection[str]] = frozenset()
    #: The seconds that one call of a method may take. A call that takes longer is ended with `SchemeError`.
    time_limit: ClassVar[float] = 10.0

    #: The initial window in segments. It is set before `__init__` is called.
    initial_segments: int
    #: The initial slow-start threshold in bytes; `None` is arbitrarily high. It is set before `__init__` is called.
    initial_ssthresh: int | None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "name" not in cls.__dict__:
            cls.name = (
                re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__)
                .lower()
                .replace("_", "-")
                .strip("-")
            )
        if cls.__module__ != __name__:
            _check_hooks(cls)
            for name, parameter in _parameters(cls).items():
                parameter._described(cls, name)

    def on(self, event: Event, path: PathState) -> Exit | None:
        """Take an event. Return `exit(…)` to end the start-up, and `None` to continue."""
        raise NotImplementedError(f"{type(self).__name__} defines no method `on`")

    def plan(self, path: PathState) -> Plan:
        """Return the plan for the host. It is called after every event, any number of times, and changes nothing."""
        raise NotImplementedError(f"{type(self).__name__} defines no method `plan`")

    @classmethod
    def with_(cls, *, as_: str | None = None, **parameters: int | float | str) -> Choice:
        """Return the scheme with these values of its parameters. `as_` labels its row."""
        own = _parameters(cls)
        settings = []
        for name, value in parameters.items():
            if name not in own:
                known = ", ".join(own) or "none"
                raise TypeError(f"{cls.__name__} has no parameter {name}: it has {known}")
            settings.append(f"{name.replace('_', '-')}={_plain(f'the value of {name}', _text(own[name], value))}")
        settings += [f"as={_plain('the label', as_)}"] if as_ is not None else []
        return Choice(cls, cls.name + (":" if settings else "") + ",".join(settings))


class SlowStart(_native.SlowStartState, Scheme):
    """The built-in slow start: subclass it, and define the hooks of the events that concern your scheme.

    Without hooks it does what the scheme `slow-start` does. `self.window` and `self.threshold` are its window and threshold in bytes, and
    can be set. A hook that returns `exit` ends the start-up. If it returns `None`, slow start handles the event as usual; only at
    `Begin` and `Established` slow start comes first, so that a hook can set the window.
    """

    uses: ClassVar[Collection[str]] = frozenset({"marks"})

    def on_begin(self, begin: Begin, path: PathState) -> Exit | None:
        """Take the begin of a start-up or restart."""

    def on_established(self, established: Established, path: PathState) -> Exit | None:
        """Take the end of the handshake."""

    def on_sent(self, sent: Sent, path: PathState) -> Exit | None:
        """Take the transmission of a packet."""

    def on_round(self, ack: Acked, path: PathState) -> Exit | None:
        """Take an ACK with which an RTT ended, before `on_ack`."""

    def on_ack(self, ack: Acked, path: PathState) -> Exit | None:
        """Take an ACK, before it widens the window."""

    def growth(self, ack: Acked, path: PathState) -> int | float:
        """Return the bytes by which an ACK widens the window. Slow start ends if the window reaches the threshold."""
        return ack.slow_start_growth

    def on_loss(self, loss: Lost, path: PathState) -> Exit | None:
        """Take a loss. Slow start ends at the first loss of an episode (`loss.opens_episode`)."""

    def on_mark(self, mark: Marked, path: PathState) -> Exit | None:
        """Take a congestion mark, which ends slow start."""

    def on_timeout(self, timeout: TimedOut, path: PathState) -> Exit | None:
        """Take a retransmission timeout, which ends slow start."""

    def on_spurious_loss(self, event: SpuriousLoss, path: PathState) -> Exit | None:
        """Take the news that the last reduction answered a loss that did not happen. The state from before is restored."""

    def on_woken(self, event: Woken, path: PathState) -> Exit | None:
        """Take the wake-up that the plan requested."""


#: The methods that a class may define.
METHODS = ("on", "plan", "growth", *(name for name in vars(SlowStart) if name.startswith("on_")))


def _check_hooks(cls: type[Scheme]) -> None:
    """Raise TypeError for a method that looks like a hook, which no connection would call."""
    for name in (name for base in cls.__mro__ for name in vars(base) if name.startswith("on_")):
        if name not in METHODS and callable(getattr(cls, name)):
            near = difflib.get_close_matches(name, METHODS, n=1)
            known = ", ".join(name for name in METHODS if name.startswith("on_"))
            hint = f"is `{near[0]}` meant?" if near else f"hooks are {known}"
            raise TypeError(f"{cls.__name__} defines `{name}`, which is no hook: {hint}")


def missing(cls: type[Scheme]) -> list[str]:
    """Return the methods that a class must define and does not."""
    bases = () if issubclass(cls, SlowStart) else ("on", "plan")
    return [name for name in bases if _is_of(cls, name, (Scheme,))]


def chosen(
    schemes: str | type[Scheme] | Choice | Iterable[str | type[Scheme] | Choice],
) -> tuple[str, list[type[Scheme]]]:
    """Return the text of a list of schemes, and its classes for `_native.run`."""
    if isinstance(schemes, (str, type, Choice)):
        schemes = [schemes]
    texts: list[str] = []
    classes: list[type[Scheme]] = []
    for scheme in schemes:
        if isinstance(scheme, str):
            texts.append(scheme)
            continue
        choice = scheme if isinstance(scheme, Choice) else None
        cls: object = choice.scheme if choice else scheme
        if not (isinstance(cls, type) and issubclass(cls, Scheme)):
            raise TypeError(f"{scheme!r} is no scheme: allowed is a name, a subclass of Scheme, or its with_(…)")
        texts.append(choice.text if choice else cls.name)
        if cls not in classes:
            classes.append(cls)
    # `all` names the classes, too.
    if any(word == "all" for text in texts for word in text.split(",")):
        own = [cls.name for cls in classes]
        texts = [text for text in texts if text not in own]
    return ",".join(texts), classes


def check_scheme(scheme: type[Scheme], *, cases: int = 200, seed: int = 1) -> None:
    """Check a class against the laws of schemes, in `cases` random sequences of events that `seed` determines.

    Raises `SchemeError` for the first law that the class breaks, with the event and the method.
    """
    if cases < 1:
        raise ValueError(f"cases is {cases!r}: allowed is a whole number from 1")
    _native.check_scheme(scheme, cases=cases, seed=seed)


def _parameters(cls: type[Scheme]) -> dict[str, Parameter[Any]]:
    """Return the parameters of a class, those of its bases first."""
    found: dict[str, Parameter[Any]] = {}
    for base in reversed(cls.__mro__):
        found |= {name: value for name, value in vars(base).items() if isinstance(value, Parameter)}
    return found


def _text(parameter: Parameter[Any], value: int | float | str) -> str:
    """Return the value of a parameter as on the command line."""
    if isinstance(value, str):
        return value
    if isinstance(parameter.default, float) and math.isfinite(value):
        millionths = round(float(value) * 1_000_000)
        sign, millionths = "-" if millionths < 0 else "", abs(millionths)
        return f"{sign}{millionths // 10_000}.{millionths % 10_000:04d}".rstrip("0").rstrip(".") + "%"
    units = {"time": "ns", "rate": "bit", "size": "B"}
    return f"{value}{units.get(parameter.unit or '', '')}"


def _plain(what: str, text: str) -> str:
    """Return a word of a list of schemes, in which other characters would begin another word."""
    if not (isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_+.%-]+", text)):
        raise ValueError(f"{what} is {text!r}: allowed are letters, digits and - _ + . %")
    return text


# What the extension module calls.


def _described(cls: object) -> dict[str, object]:
    """Return the description of a class: its entry in the registry, its methods, and its source."""
    from firstflight import _user_code as code

    if not (isinstance(cls, type) and issubclass(cls, Scheme)):
        raise TypeError(f"{cls!r} is no scheme: allowed is a subclass of Scheme")
    if cls in (Scheme, SlowStart):
        raise TypeError(f"{cls.__name__} is the base of schemes: allowed is a subclass of it")
    of_package = (Scheme, SlowStart, _native.SlowStartState)
    methods = [name for name in METHODS if not _is_of(cls, name, of_package)]
    _check_hooks(cls)
    is_slow_start = issubclass(cls, SlowStart)
    where = code.place(cls)
    if absent := " and ".join(f"`{name}`" for name in missing(cls)):
        raise TypeError(
            f"{cls.__name__} ({where}) defines no {absent}: a Scheme has both; SlowStart has them built in"
        )
    hooks = [name for name in methods if name.startswith("on_") or name == "growth"]
    if "on" in methods and hooks:
        raise TypeError(
            f"{cls.__name__} ({where}) defines `on` and {', '.join(hooks)}: `on` takes every event, so hooks would never be called"
        )
    if any(vars(base).get("__slots__") for base in cls.__mro__ if base not in of_package):
        raise TypeError(f"{cls.__name__} ({where}) has __slots__, which a copy for undo would lose: leave them out")
    limit = cls.time_limit
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not 0 < limit < 1e9:
        raise ValueError(
            f"the time_limit of {cls.__name__} ({where}) is {limit!r}: allowed is a number of seconds above 0"
        )
    entry = {
        "name": _word(cls, "name"),
        "summary": _word(cls, "summary")
        or (cls.__dict__.get("__doc__") or "a scheme in Python").strip().split("\n")[0],
        "source": code.file(cls) or "a cell",
        "law": _word(cls, "law"),
        "needs": _words(cls, "needs"),
        "uses": _words(cls, "uses"),
        "helped_by": _words(cls, "helped_by"),
        "parameters": [parameter._described(cls, name) for name, parameter in _parameters(cls).items()],
    }
    return {
        "entry": entry,
        "methods": methods,
        "is_slow_start": is_slow_start,
        "limit_ms": max(1, round(limit * 1_000)),
        "source": code.source(cls),
    }


def _is_of(cls: type, name: str, bases: tuple[type, ...]) -> bool:
    """Return whether the method of a class is one of `bases`, or missing."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), None)
    return owner is None or owner in bases


def _word(cls: type[Scheme], name: str) -> str:
    value = getattr(cls, name)
    if not isinstance(value, str):
        raise TypeError(f"the {name} of {cls.__name__} is {value!r}: allowed is a str")
    return value


def _words(cls: type[Scheme], name: str) -> list[str]:
    """Return the words of an attribute, which may be one word."""
    value: object = getattr(cls, name)
    words = [value] if isinstance(value, str) else list(value) if isinstance(value, Collection) else [None]
    known = [word for word in words if isinstance(word, str)]
    if len(known) < len(words):
        raise TypeError(f"{name} of {cls.__name__} is {value!r}: allowed is a word, or a set of words")
    return sorted(known)


def _copied(fields: dict[str, object], owner: object, copy_of_owner: object) -> dict[str, object]:
    """Return a deep copy of an object's attributes."""
    import copy

    try:
        return copy.deepcopy(fields, {id(owner): copy_of_owner})
    except Exception:
        for name, value in fields.items():
            try:
                copy.deepcopy(value, {id(owner): copy_of_owner})
            except Exception as error:
                raise TypeError(f"`self.{name}` cannot be copied by copy.deepcopy: {error}") from error
        raise


def _error(
    cls: type[Scheme], method: str, event: str, time: int, raised: BaseException | None, wrong: str | None, limit: int
) -> BaseException:
    """Return the exception for a fault of a method."""
    from firstflight import _user_code as code

    return code.error(cls, cls.name, method, event, time, raised, wrong, limit)


def _breach(cls: type[Scheme], law: str, case: int, call: int, event: str, time: int, text: str) -> BaseException:
    """Return the exception for a broken law."""
    from firstflight import _user_code as code

    return code.breach(cls, cls.name, METHODS, law, case, call, event, time, text)


def _interrupt(thread: int) -> None:
    """End the call of a class that runs in a thread."""
    from firstflight import _user_code as code

    code.interrupt(thread)


def _abandon(thread: int) -> None:
    """Let a thread that cannot be ended wait for ever."""
    from firstflight import _user_code as code

    code.abandon(thread)


def _stuck(thread: int, limit: float) -> BaseException:
    """Return the exception for a call that cannot be ended, with the line where it is."""
    from firstflight import _user_code as code

    return code.stuck(thread, limit)
