"""Hands the shards to a Dask cluster, shows how far they are, and collects the parts."""

import sys
import time
import uuid

import firstflight_shard
from distributed import as_completed

from firstflight_cluster.folder import Failure

# Seconds between two looks at what has come back.
LOOK = 0.02
# Seconds between two lines of progress: on a terminal the line is written over.
TERMINAL, PIPE = 0.5, 30.0


class Progress:
    """A line on standard error: how many shards are whole, and how long the rest may take."""

    def __init__(self, shards):
        self.shards, self.done, self.lost = shards, 0, 0
        self.began = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.shown = self.began if not self.terminal else 0.0

    def show(self, workers):
        """Shows the line if it is time for it; `workers` says how many there are, which is a question to the scheduler."""
        now = time.monotonic()
        if now - self.shown < (TERMINAL if self.terminal else PIPE):
            return
        self.shown = now
        spent = now - self.began
        left = f", about {clock(spent / self.done * (self.shards - self.done))} left" if self.done else ""
        line = f"{self.done} of {self.shards} shards, {counted(workers(), 'worker')}, {clock(spent)}{left}"
        print(f"\r\x1b[K{line}" if self.terminal else line, end="" if self.terminal else "\n", file=sys.stderr, flush=True)

    def say(self, line):
        """A line of its own."""
        print(f"\r\x1b[K{line}" if self.terminal else line, file=sys.stderr, flush=True)

    def end(self):
        """Leaves no line behind."""
        if self.terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def run(client, folder, shards, of, *, program, jobs, retries):
    """Races `shards` of `of` on the cluster of `client` and puts their parts into `folder`.

    Dask gives a shard whose worker is lost to another worker, and one that failed `retries` times more to any. Returns the number
    of lost workers and a line for each shard that came to nothing. Raises `Failure` for what no worker could do better.
    """
    # A worker needs no installation of this package.
    client.upload_file(firstflight_shard.__file__)
    progress = Progress(len(shards))
    prefix = f"firstflight-{uuid.uuid4().hex[:8]}"
    futures = client.map(
        firstflight_shard.race,
        shards,
        shards=of,
        program=program,
        name=folder.file.name,
        text=folder.text,
        jobs=jobs,
        key=[f"{prefix}-{shard}" for shard in shards],
        retries=retries,
        pure=False,
    )
    shard_of = dict(zip((future.key for future in futures), shards, strict=True))
    failed = []

    def happened(event):
        message = event[1]
        if isinstance(message, dict) and message.get("action") == "remove-worker" and not message.get("expected"):
            progress.lost += 1
            numbers = sorted(shard_of[key] for key in message.get("processing-tasks", ()) if key in shard_of)
            where = "" if not numbers else f" in the middle of shard {', '.join(map(str, numbers))}; another worker races it"
            progress.say(f"a worker was lost{where}")

    def workers():
        return len(client.scheduler_info()["workers"])

    client.subscribe_topic("all", happened)
    results = as_completed(futures, with_results=True, raise_errors=False)
    # The futures of what is not collected yet are held by `results` alone, so that the cluster forgets what is.
    del futures
    try:
        while not results.is_empty():
            if not results.has_ready():
                progress.show(workers)
                if client.status != "running":
                    raise Failure("the cluster's scheduler is gone; the same command goes on", 1)
                time.sleep(LOOK)
                continue
            for future, result in results.next_batch(block=False):
                shard = shard_of[future.key]
                if future.status == "lost":
                    # The worker that held the result was lost before it was fetched, and Dask has the shard raced again.
                    results.add(future)
                    continue
                if future.status == "finished":
                    if "refused" in result:
                        raise Failure(result["refused"], 2)
                    folder.take(shard, of, result)
                else:
                    failed.append(f"shard {shard}/{of}: {_why(future)}")
                    progress.say(failed[-1])
                progress.done += 1
                progress.show(workers)
    finally:
        progress.end()
        # What comes of closing the cluster is no loss.
        client.unsubscribe_topic("all")
    return progress.lost, failed


def _why(future):
    """Why a shard came to nothing, in a line."""
    if future.status != "error":
        return f"it was {future.status}"
    error = future.exception()
    match type(error).__name__:
        case "KilledWorker":
            return f"{error.allowed_failures + 1} workers were lost in the middle of it"
        case "NoWorkerError" | "NoValidWorkerError":
            return f"there was no worker for {error.timeout:.0f} s"
        case _:
            return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def counted(number, thing):
    """A number of things, as in `1 part` and `2 parts`."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def clock(seconds):
    """Hours, minutes and seconds."""
    seconds = int(seconds)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
