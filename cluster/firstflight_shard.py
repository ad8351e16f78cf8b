"""What a worker does: it races one shard in a folder of its own and hands the parts back.

The driver uploads this file to the workers, so that they need Dask and the program `firstflight`, and nothing else of ours. So it
imports nothing of `firstflight_cluster`.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

# The exit status with which `firstflight` refuses a command line or an input (README.md, "Outputs and exit status").
REFUSED = 2
# The ends of a Parquet file, the length and the mark after its footer, and the mark of the digest (crates/output/export/src/part.rs).
MAGIC, TAIL, DIGEST = b"PAR1", 8, b"FFdigest"
# `prctl(PR_SET_PDEATHSIG, …)`: the signal that Linux sends to a process whose parent ends (prctl(2)).
PR_SET_PDEATHSIG = 1


def race(shard, *, shards, program, name, text, jobs):
    """Races shard `shard` of `shards` of the sweep `text`, a file called `name`, with `jobs` runs at a time.

    Returns `{"manifest": bytes, "parts": {file name: bytes}}`, or `{"refused": str}` if the program refuses the sweep or cannot be
    run here, which no other try would mend. Raises `RuntimeError` if the program ends in any other way: Dask then tries again.
    """
    from distributed import get_worker

    host = socket.gethostname()
    with tempfile.TemporaryDirectory(prefix="firstflight-", dir=get_worker().local_directory) as scratch:
        folder = Path(scratch, "out")
        file = Path(scratch, name)
        file.write_bytes(text)
        words = ["sweep", str(file), "--out", str(folder), "--shard", f"{shard}/{shards}", "--jobs", str(jobs)]
        try:
            ended = subprocess.run(
                [program, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                preexec_fn=_ends_with_its_worker(),
                cwd=scratch,
                # Messages are one line each, however wide the terminal is that the worker was started on.
                env={key: value for key, value in os.environ.items() if key != "COLUMNS"},
            )
        except OSError as error:
            return {"refused": f"{program} cannot be run on {host}: {error.strerror}"}
        said = _newest_line(ended.stderr)
        if ended.returncode == REFUSED:
            return {"refused": f"{program} on {host}: {said}"}
        if ended.returncode < 0:
            name_of_signal = signal.Signals(-ended.returncode).name
            raise RuntimeError(f"{program} on {host} was ended by {name_of_signal}")
        if ended.returncode != 0:
            raise RuntimeError(f"{program} on {host} ended with {ended.returncode}: {said}")
        parts = {part.name: part.read_bytes() for part in folder.glob("part-*.parquet")}
        short = next((name for name, data in sorted(parts.items()) if not is_whole(data)), None)
        if short is not None:
            raise RuntimeError(f"{short} is cut short on {host}")
        return {"manifest": Path(folder, "sweep.json").read_bytes(), "parts": parts}


def is_whole(data):
    """Whether a part's file has its beginning and its end: Parquet's marks, and the digest before the footer. The program tests the rest."""
    if len(data) < len(MAGIC) + TAIL or not data.startswith(MAGIC) or not data.endswith(MAGIC):
        return False
    footer = len(data) - TAIL - int.from_bytes(data[-TAIL:-4], "little")
    return data[max(footer - 16, 0) : max(footer - 8, 0)] == DIGEST


def _ends_with_its_worker():
    """What the program's process does before it begins, so that a worker that is killed leaves no program behind."""
    if not sys.platform.startswith("linux"):
        return None
    # Loaded here, for between fork and exec nothing may be allocated that another thread could hold a lock for.
    prctl = ctypes.CDLL(None).prctl
    worker = os.getpid()

    def before():
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # A worker that ended before the call sends no signal any more.
        if os.getppid() != worker:
            os._exit(1)

    return before


def _newest_line(said):
    lines = said.decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    return (errors or lines or ["it said nothing"])[-1].removeprefix("error: ")
