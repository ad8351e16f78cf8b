"""The command `firstflight` in this process: `python -m firstflight race …`."""

from __future__ import annotations

import signal
import sys

from firstflight import _native
from firstflight._call import PROGRAM


def main() -> int:
    """Carry out the command line of this process, and return its exit code."""
    # The command handles interrupts itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main([PROGRAM, *sys.argv[1:]], [sys.executable, "-m", "firstflight"])


if __name__ == "__main__":
    sys.exit(main())
