"""Replays: what a scheme decides on a recorded connection."""

from __future__ import annotations

from firstflight import _call
from firstflight._errors import FirstflightError
from firstflight._results import Name, Page, Result, file_name
from firstflight._scheme import Choice, Scheme, chosen

__all__ = ["Replay", "replay"]

#: The number of decisions that a notebook shows.
_SHOWN = 100


def replay(
    file: Name,
    scheme: str | type[Scheme] | Choice | None = None,
    *,
    every_call: bool = False,
    progress: _call.Progress | bool | None = None,
) -> Replay:
    """Replay a recorded connection to a scheme, and return its decisions: a row for each change of its plan.

    `scheme` is a name with parameters, or a class. `file` is a trace that `--events` wrote, or the qlog of a QUIC sender. On a trace
    without `scheme`, the decisions of the recorded scheme are compared with the recorded ones. On a qlog, the replay is an open loop: the
    packets are those of the log's own controller, and the decisions change nothing. `every_call` gives a row for each call, not only for
    those that change the plan.

    Raises ScenarioError for a file that cannot be read, and CheckError for a decision that is not the recorded one, or a host that breaks a
    law.
    """
    words = ["replay", file_name(file)]
    classes: list[type[Scheme]] = []
    if scheme is not None:
        name, classes = chosen(scheme)
        words.append(f"--scheme={name}")
    if every_call:
        words.append("--all")
    return Replay._of(words, progress=progress, schemes=classes)


class Replay(Result):
    """The decisions of a scheme on a recorded connection: when, at which call, and the plan after it."""

    def report(self, path: Name | None = None) -> Page:
        """Raise FirstflightError: the command has no report of a replay. `inspect(file).report()` has one of the connection."""
        raise FirstflightError("a replay has no report; `inspect(file).report()` has one of a qlog's connection")

    def _repr_html_(self) -> str:
        more = len(self.rows) - _SHOWN
        below = f"<p>{more} further decisions are in <code>rows</code>.</p>" if more > 0 else ""
        return self._shown(_SHOWN) + below
