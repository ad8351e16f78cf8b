"""The folder of a sweep, as the driver sees it. Which parts are whole only the program says."""

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

from firstflight_shard import is_whole

MANIFEST = "sweep.json"


class Failure(Exception):
    """Why the driver ends: one line, and the exit status, which are those of `firstflight` (README.md)."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Folder:
    """The folder `out` for the parts of the sweep `file`, which `program` makes and tests."""

    def __init__(self, program, file, out):
        self.program, self.file, self.path = program, Path(file), Path(out)
        try:
            self.text = self.file.read_bytes()
        except OSError as error:
            raise Failure(f"cannot read {file}: {error.strerror}", 2) from error
        self.missing = self.ask()
        self.manifest = Path(self.path, MANIFEST).read_bytes()
        self.parts = json.loads(self.manifest)["parts"]

    def ask(self):
        """The numbers of the parts that are missing or not whole. The program refuses another sweep's folder."""
        words = ["sweep", str(self.file), "--out", str(self.path), "--missing"]
        try:
            # Messages are one line each, however wide the terminal is.
            env = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
            ended = subprocess.run([self.program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env)
        except OSError as error:
            raise Failure(f"--program: {self.program} cannot be run: {error.strerror}", 2) from error
        if ended.returncode != 0:
            lines = ended.stderr.strip().splitlines() or [f"{self.program} ended with {ended.returncode}"]
            first = next((line for line in lines if line.startswith("error: ")), lines[-1])
            raise Failure(first.removeprefix("error: "), ended.returncode if ended.returncode > 0 else 1)
        # What the program notes of the folder, such as parts of several builds.
        for line in ended.stderr.splitlines():
            if line.startswith("note: "):
                print(line, file=sys.stderr, flush=True)
        return {int(line) for line in ended.stdout.split()}

    def shards(self, of):
        """The shards, of `of` in all, in which a part is missing; `I/N` has the parts whose number leaves I - 1 over N."""
        return sorted({part % of + 1 for part in self.missing})

    def parts_of(self, shard, of):
        """The numbers of a shard's parts."""
        return range(shard - 1, self.parts, of)

    def take(self, shard, of, raced):
        """Puts into the folder what a worker raced: the parts that are missing. Everything is looked at before."""
        self._is_of_this_sweep(raced["manifest"])
        names = {part_name(part): part for part in self.parts_of(shard, of)}
        if raced["parts"].keys() != names.keys():
            raise Failure(f"shard {shard}/{of} came back with other parts than its own", 1)
        short = next((name for name in sorted(names) if not is_whole(raced["parts"][name])), None)
        if short is not None:
            raise Failure(f"shard {shard}/{of} came back with {short} cut short", 1)
        for name, part in sorted(names.items()):
            if part in self.missing:
                self._put(name, raced["parts"][name])
                self.missing.discard(part)

    def _is_of_this_sweep(self, manifest):
        try:
            here, there = json.loads(self.manifest), json.loads(manifest)
            # Rows carry the build that raced them, and the program notes a mixture: an earlier build's folder goes on.
            key = next((key for key in {**here, **there} if key != "build" and here.get(key) != there.get(key)), None)
            if key is None:
                return
            what = f"its `{key}` is {json.dumps(there.get(key))} and here it is {json.dumps(here.get(key))}"
        except (ValueError, TypeError, AttributeError):
            what = f"its {MANIFEST} is another"
        raise Failure(f"a worker's program makes another sweep: {what}; the same program is wanted everywhere", 2)

    def _put(self, name, data):
        """Writes a file that takes its name when it is whole.

        A kill leaves a hidden file without a lock, which the program removes when it opens the folder (crates/output/export/src/write.rs).
        """
        place = Path(self.path, name)
        half = Path(self.path, f".{name}.{os.getpid()}-0.firstflight.tmp")
        try:
            # An earlier process of this number may have left one. As of any new file the umask says who may read it.
            half.unlink(missing_ok=True)
            with open(half, "xb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.replace(half, place)
        except BaseException as error:
            half.unlink(missing_ok=True)
            if not isinstance(error, OSError):
                raise
            raise Failure(f"cannot write {place}: {error.strerror}", 3) from error


def part_name(part):
    """The name of a part's file, as `firstflight sweep` calls it."""
    return f"part-{part:06}.parquet"
