"""The exceptions of the package."""


class FirstflightError(Exception):
    """An error of a command: what, where, and what is allowed."""


class ScenarioError(FirstflightError, ValueError):
    """Wrong input: a key, a value, a file. The text has the command line or the file's line, with a mark under the fault."""


class CheckError(FirstflightError):
    """A check that found a fault."""


class OutputError(FirstflightError, OSError):
    """An output that could not be written completely."""


class SchemeError(FirstflightError):
    """A fault of a scheme that is a Python class: an exception in it, an answer that is not allowed, a call without an end, or a broken
    law.

    The text has the line of the class's code. An exception of that code is the `__cause__`.
    """

    def __init__(
        self,
        text: str,
        *,
        scheme: str = "",
        method: str = "",
        file: str | None = None,
        line: int | None = None,
        time: int = 0,
        event: str = "",
    ) -> None:
        super().__init__(text)
        #: The name of the scheme.
        self.scheme = scheme
        #: The name of the method.
        self.method = method
        #: The file of the line, or the name of a notebook's cell; `None` if it is not known.
        self.file = file
        #: The number of the line; `None` if it is not known.
        self.line = line
        #: The instant of the event, in nanoseconds of virtual time.
        self.time = time
        #: The event: the name of its class.
        self.event = event
