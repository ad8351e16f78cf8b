"""Results of commands that read files: their command line is the one that was given."""

from __future__ import annotations

import html
import os
import shlex

from firstflight import _call
from firstflight._results import Result, table_html, verdict_html

#: The name of a file.
Name = str | os.PathLike[str]


def file_name(name: Name) -> str:
    """Return the name of a file as an argument: a name that begins with a dash is no option."""
    text = os.fspath(name)
    return f"./{text}" if text.startswith("-") else text


class Answered(Result):
    """The result of a command on files or figures."""

    @property
    def title(self) -> str:
        """The subject of the result in words; empty if the verdict says it."""
        return _call.text(self._answer, "title")

    def _repr_html_(self) -> str:
        return self._shown()

    def _shown(self, rows: int | None = None) -> str:
        """Return title, verdict and the first `rows` rows of the table as HTML."""
        answer = self._answer
        title = f"<p>{html.escape(self.title)}</p>" if self.title else ""
        verdict = verdict_html(self.verdict) if self.verdict else ""
        return title + verdict + table_html(answer.heads, answer.is_numbers, answer.cells[:rows])

    @property
    def command(self) -> str | None:
        """The command line of a shell that gives the same bytes; `None` if there is none."""
        program = _call.program(self._schemes)
        return None if program is None else f"{program} {shlex.join(self._arguments)}"
