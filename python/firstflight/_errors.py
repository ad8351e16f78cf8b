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
    """A fault of a scheme that is a Python class: the scheme, the method, and the line of its code."""
