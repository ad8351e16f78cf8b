"""Captures and qlogs: how their connections started."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from firstflight import _call
from firstflight._results import Name, Result, file_name
from firstflight._path import Path

__all__ = ["Inspection", "Seen", "inspect"]


def inspect(
    files: Name | Sequence[Name],
    *,
    filters: str | Sequence[str] = (),
    seen_at: str | None = None,
    separate: bool = False,
    everything: bool = False,
    progress: _call.Progress | bool | None = None,
) -> Inspection:
    """Inspect captures of TCP (pcap, pcapng) or qlogs of QUIC, and return a row for each sender of each connection.

    Files that continue each other are read as one capture, unless `separate`. `filters` are conditions that senders must match, as in
    `"bytes_sent>1MB"`. `seen_at` is where the captures were taken, if their handshakes show it wrong: `"sender"`, `"receiver"` or an
    address. `everything` also shows the senders of few segments; `rows` has them in any case.

    Raises ScenarioError for a file that is no capture or cannot be read, and CheckError if no file has a connection.
    """
    names = [files] if isinstance(files, str | os.PathLike) else list(files)
    words = ["inspect", *(f"--filter={one}" for one in ([filters] if isinstance(filters, str) else filters))]
    if seen_at is not None:
        words.append(f"--seen-at={seen_at}")
    words += ["--separate"] * separate + ["--all"] * everything
    return Inspection._of([*words, *map(file_name, names)], progress=progress)


@dataclass(frozen=True)
class Seen:
    """The path that a sender saw, as a race takes it."""

    #: The sender: the number of its connection, and its addresses.
    sender: str
    #: The path, with the transfer on it.
    path: Path
    #: The evidence of each key, and why others are left to their defaults, each in a line.
    evidence: tuple[str, ...]
    #: The command that races on the path.
    command: str


class Inspection(Result):
    """The senders of captures: a row for each, and a summary over all."""

    @property
    def summary(self) -> dict[str, Any]:
        """Numbers over all senders: counts, sums, and distributions by field, as `--summary --json` prints them."""
        return cast("dict[str, Any]", json.loads(self._text("summary")))

    def seen(self) -> list[Seen]:
        """Return the path that each sender saw, with the evidence of each value; those that sent most first.

        Senders whose path cannot be seen are left out. The captures are read again for it.
        """
        return parsed(self._again("--as-race").printed.decode())

    def as_race(self) -> list[Path]:
        """Return the path that each sender saw, to race on: `race(inspection.as_race()[0])`; those that sent most first."""
        return [seen.path for seen in self.seen()]


def parsed(text: str) -> list[Seen]:
    """Return the paths of `inspect --as-race`: for each sender comments with its name and the evidence, and a command."""
    found: list[Seen] = []
    comments: list[str] = []
    for line in text.splitlines():
        if line.startswith("# "):
            comments.append(line.removeprefix("# "))
        elif f"{line} ".startswith(f"{_call.PROGRAM} race "):
            sender, *evidence = comments or [""]
            found.append(Seen(sender, Path.of(keys(shlex.split(line)[2:])), tuple(evidence), line))
            comments = []
        elif not line:
            comments = []
    return found


def keys(words: Sequence[str]) -> dict[str, Any]:
    """Return the keys of options: an option is followed by its value, or is a flag."""
    given: dict[str, Any] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name = word.removeprefix("--")
            given[name] = True
        else:
            given[name] = word
    return given
