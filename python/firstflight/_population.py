"""Populations: many paths, drawn, listed or read, for a sweep."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path as File
from typing import Any

from firstflight import _call
from firstflight._errors import ScenarioError
from firstflight._path import Path, name_of, texts
from firstflight._results import Row


#: A value of a key: text, or a number in the unit of its key.
Value = str | float


class Draw:
    """A distribution from which each path of a population draws a key."""

    __slots__ = ("_kind", "_values")

    def __init__(self, kind: str, *values: Value | Draw) -> None:
        self._kind = kind
        self._values = values

    def toml(self, key: str) -> str:
        """Return the distribution as a sweep's file writes it for a key."""
        if self._kind in {"cbr", "share"}:
            (of_rate,) = self._values
            return f"{{ {self._kind} = {of_rate.toml('share') if isinstance(of_rate, Draw) else _share(of_rate)} }}"
        values = ", ".join(_drawn(key, value) for value in self._values)
        return f"{{ {self._kind} = [{values}] }}"

    def __repr__(self) -> str:
        return f"{self._kind.replace('-', '_')}({', '.join(map(repr, self._values))})"


def uniform(low: Value, high: Value) -> Draw:
    """Return values between `low` and `high`, all as likely: rates, times, sizes, queues, shares."""
    return Draw("uniform", low, high)


def log_uniform(low: Value, high: Value) -> Draw:
    """Return values between `low` and `high` whose logarithms are all as likely."""
    return Draw("log-uniform", low, high)


def one_of(*values: Value | Draw) -> Draw:
    """Return one of these values, each as likely."""
    return Draw("one-of", *values)


def cbr(share_of_rate: float | Draw) -> Draw:
    """Return cross traffic of a constant rate: this share of the path's rate."""
    return Draw("cbr", share_of_rate)


def share(of_rate: float | Draw) -> Draw:
    """Return the rate of another link, as this share of the path's rate."""
    return Draw("share", of_rate)


class Population:
    """Many paths: drawn from distributions, listed, or read from a file.

    >>> Population(200, rate=log_uniform("2mbit", "1gbit"), rtt=log_uniform("5ms", "300ms"), size="1MB", seed=7)
    Population(200 paths, seed=7)

    `paths` is a number of draws, a list of `Path`s, or the name of a CSV file with a column for each key, `weight` and `name`. A key is a
    value as of a `Path`, a distribution (`uniform`, `log_uniform`, `one_of`, `cbr`, `share`), or a list of values, all combinations of
    which are raced. `weights` are those of listed paths, in any unit. `runs` is the number of runs on each path; `give_up` ends a transfer
    after this many times its ideal completion time, which a path with other cross traffic than a constant rate or bulk TCP does not have.
    """

    def __init__(
        self,
        paths: int | Sequence[Path] | str | os.PathLike[str],
        *,
        weights: Sequence[float] | None = None,
        names: Sequence[str] | None = None,
        seed: int = 1,
        runs: int = 1,
        part: int = 10,
        give_up: float | None = None,
        **keys: Any,
    ) -> None:
        self._source: int | str = paths if isinstance(paths, int) else ""
        self._csv: str | None = None
        if isinstance(paths, str) and paths.startswith("mlab:"):
            self._source = paths
        elif isinstance(paths, str | os.PathLike):
            self._csv = File(paths).read_text(encoding="utf-8")
        elif not isinstance(paths, int):
            self._csv = _listed(paths, weights, names)
        if self._csv is None or isinstance(paths, str | os.PathLike):
            for name, given in (("weights", weights), ("names", names)):
                if given is not None:
                    raise TypeError(f"{name}: a list of paths has them, and a file has a column of its own")
        self._seed, self._runs, self._part, self._give_up = seed, runs, part, give_up
        self._keys = _toml(keys)

    @classmethod
    def mlab(
        cls,
        territory: str,
        *,
        month: str | None = None,
        n: int = 500,
        rank_correlation: float | None = None,
        loss: bool = False,
        **others: Any,
    ) -> Population:
        """Return paths drawn from the percentiles of M-Lab's tests in a territory (`"DE"`, ISO 3166). The data are free of rights (CC0).

        `month` is `2024-10` or `2025-10`. Metrics are independent unless `rank_correlation` (0 to 1) is given. `loss` takes the
        retransmitted share as random loss, which is a bound. docs/guide/sweep.md says what the data are, and are not.
        """
        words = [f"mlab:{territory}"]
        words += [] if month is None else [month]
        words += [f"paths={n}"]
        words += [] if rank_correlation is None else [f"rank-correlation={rank_correlation}"]
        words += ["loss=retransmitted"] if loss else []
        return cls(",".join(words), **others)

    def toml(self, schemes: str = "all") -> str:
        """Return the file of a sweep over this population. A population of a list or a file is in `paths.csv`."""
        lines = [f"seed = {self._seed}", f"runs = {self._runs}", f"part = {self._part}"]
        lines += [] if self._give_up is None else [f"give-up = {self._give_up}"]
        if isinstance(self._source, int) and self._csv is None:
            lines.insert(0, f"paths = {self._source}")
        else:
            lines.insert(0, f"population = {_quoted(str(self._source) if self._csv is None else 'paths.csv')}")
        lines.append(f"schemes = [{_quoted(schemes)}]")
        lines.append("\n[path]")
        lines += [f"{name} = {value}" for name, value in self._keys.items()]
        return "\n".join(lines) + "\n"

    def paths(self) -> list[Row]:
        """Return the paths of a population that is listed, read or drawn from M-Lab: a row each, with its keys, weight and name."""
        with self.files("slow-start") as (words, _):
            answer = _call.run(["sweep", *words, "--list"])
        return [Row(fields) for fields in csv.DictReader(io.StringIO(answer.printed.decode()))]

    @contextmanager
    def files(self, schemes: str) -> Iterator[tuple[list[str], str]]:
        """Write the sweep's files into a temporary folder. Yields the arguments that name them, and the text of the sweep."""
        text = self.toml(schemes)
        with tempfile.TemporaryDirectory(prefix="firstflight-") as folder:
            file = File(folder) / "sweep.toml"
            file.write_text(text, encoding="utf-8")
            words = [str(file)]
            if self._csv is not None:
                paths = File(folder) / "paths.csv"
                paths.write_text(self._csv, encoding="utf-8")
                words.append(f"--population={paths}")
            try:
                yield words, text
            except ScenarioError as error:
                # The user has no such files.
                raise ScenarioError(str(error).replace(folder + os.sep, "")) from None

    def __repr__(self) -> str:
        if self._csv is not None:
            return f"Population({max(len(self._csv.splitlines()) - 1, 0)} paths, seed={self._seed})"
        what = f"{self._source} paths" if isinstance(self._source, int) else repr(self._source)
        return f"Population({what}, seed={self._seed})"


def _toml(keys: Mapping[str, Any]) -> dict[str, str]:
    """Return keys as the file of a sweep writes them. Raises ScenarioError and TypeError as a `Path` does."""
    out: dict[str, str] = {}
    for key, value in keys.items():
        if isinstance(value, Draw):
            # An unknown key is refused here.
            texts({key: ""})
            out[name_of(key)] = value.toml(key)
        elif isinstance(value, list | tuple):
            out[name_of(key)] = f"[{', '.join(_drawn(key, one) for one in value)}]"
        else:
            given = texts({key: value})
            out |= {name: _quoted(text if isinstance(text, str) else ";".join(text)) for name, text in given.items()}
    return out


def _drawn(key: str, value: Value | Draw) -> str:
    if isinstance(value, Draw):
        return value.toml(key)
    if key == "share":
        return _share(value)
    (text,) = texts({key: value}).values() or ("",)
    return _quoted(text if isinstance(text, str) else ";".join(text))


def _share(value: Value) -> str:
    return _quoted(value if isinstance(value, str) else f"{value * 100:.12g}%")


def _quoted(text: str) -> str:
    """Return text as a string of TOML."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'


def _listed(paths: Sequence[Path], weights: Sequence[float] | None, names: Sequence[str] | None) -> str:
    """Return listed paths as CSV: a column for each key that any of them gives."""
    if not paths:
        raise ValueError("paths: a population has at least one path")
    keys = list(dict.fromkeys(key for path in paths for key in path.keys))
    further = {"weight": weights, "name": names}
    for name, given in further.items():
        if given is not None and len(given) != len(paths):
            raise ValueError(f"{name}s: there are {len(given)} for {len(paths)} paths")
    columns = [name for name, given in further.items() if given is not None]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*keys, *columns])
    for at, path in enumerate(paths):
        cells = [";".join(value) if isinstance(value, list) else value for value in (path.keys.get(key, "") for key in keys)]
        writer.writerow([*cells, *(str(given[at]) for given in further.values() if given is not None)])
    return out.getvalue()
