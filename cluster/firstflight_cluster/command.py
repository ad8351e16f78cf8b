"""The command line."""

import argparse
import contextlib
import logging
import os
import shutil
import signal
import sys
import time

from firstflight_cluster.folder import Failure, Folder

# The most shards without `--shards`: each begins with a look at all paths of the sweep (docs/guide/cluster.md).
MOST_SHARDS = 1000


class Parser(argparse.ArgumentParser):
    """Refuses in one line, as `firstflight` does."""

    def error(self, message):
        print(f"error: {message}; --help lists what is allowed", file=sys.stderr)
        sys.exit(2)


def parser():
    from firstflight_cluster.clusters import KINDS

    line = Parser(
        prog="firstflight-cluster",
        description="Races the shards of a sweep on a Dask cluster and collects the parts. The same command goes on where it stopped.",
    )
    line.add_argument("sweep", metavar="SWEEP.toml", help="the sweep, as for `firstflight sweep`")
    line.add_argument("--out", required=True, metavar="DIR", help="the folder for the parts; whole ones are kept")
    line.add_argument("--shards", type=int, metavar="N", help="into how many the sweep is cut [its parts, at most 1000]")
    line.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time in each shard [1]")
    line.add_argument("--program", default="firstflight", metavar="FILE", help="the program, here and on the workers [firstflight]")
    line.add_argument("--retries", type=int, default=2, metavar="N", help="how often a shard that failed is raced again [2]")
    line.add_argument("--scratch", metavar="DIR", help="the workers' folder for what they race [a temporary one]")
    line.add_argument("--print", action="store_true", help="print what the cluster would be told, and start nothing")
    kinds = line.add_subparsers(dest="kind", required=True, metavar="CLUSTER", parser_class=Parser)
    for name, kind in KINDS.items():
        kind.options(kinds.add_parser(name, help=kind.help, description=kind.__doc__.replace("`", "")))
    return line


def main(words=None):
    """Runs the command; returns its exit status, which is as that of `firstflight` (README.md)."""
    # A service manager's or a batch system's end is as an interrupt.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Of lost workers and failed shards the driver has lines of its own. The environment is what the workers on this machine read.
    os.environ.setdefault("DASK_DISTRIBUTED__LOGGING__DISTRIBUTED", "critical")
    options = parser().parse_args(words)
    try:
        return _sweep(options)
    except Failure as failure:
        print(f"error: {' '.join(str(failure).split())}", file=sys.stderr)
        return failure.status
    except KeyboardInterrupt:
        print(f"error: interrupted; the parts that are whole in {options.out} stay, and the same command goes on", file=sys.stderr)
        return 130


def _sweep(options):
    from firstflight_cluster.clusters import KINDS

    kind = KINDS[options.kind]
    for name in ("jobs", "workers"):
        _at_least(options, name, 1)
    _at_least(options, "retries", 0)
    if options.print:
        try:
            print(kind.show(options))
        except ImportError as error:
            raise _not_installed(error, options.kind) from error
        return 0
    # A bare name is looked for on the PATH, here and on each worker; a file has the same place everywhere.
    program = os.path.abspath(options.program) if "/" in options.program else options.program
    if shutil.which(program) is None:
        raise Failure(f"--program: there is no program {options.program} here", 2)
    folder = Folder(program, options.sweep, options.out)
    shards = options.shards if options.shards is not None else min(folder.parts, MOST_SHARDS)
    if not 1 <= shards <= folder.parts:
        raise Failure(f"--shards: {shards} is not allowed; from 1 to {folder.parts} is, as the sweep has so many parts", 2)
    todo = folder.shards(shards)
    if not todo:
        print(f"{options.out}: {folder.parts} parts are whole; nothing was raced now")
        return 0
    return _race(kind, options, folder, todo, shards, program)


def _race(kind, options, folder, todo, shards, program):
    from distributed import Client

    from firstflight_cluster.driver import counted, run

    began, before = time.monotonic(), len(folder.missing)
    with contextlib.ExitStack() as stack:
        try:
            client = stack.enter_context(Client(stack.enter_context(kind.start(options))))
        except ImportError as error:
            raise _not_installed(error, options.kind) from error
        # Each kind has its own errors, of packages that may not be installed.
        except Exception as error:  # noqa: BLE001
            raise Failure(f"the {options.kind} cluster does not start: {error}", 1) from error
        try:
            lost, failed = run(client, folder, todo, shards, program=program, jobs=options.jobs, retries=options.retries)
        except KeyboardInterrupt:
            # What Dask logs of connections that close in the middle of something says no more than the line that follows.
            logging.disable(logging.CRITICAL)
            raise
    # What was written is read again, by the program that knows what is whole.
    missing = folder.ask()
    lost = f"; {counted(lost, 'worker')} {'was' if lost == 1 else 'were'} lost on the way" if lost else ""
    if failed or missing:
        more = f"; {counted(len(failed), 'shard')} failed, the first: {failed[0]}" if failed else ""
        raise Failure(f"{options.out}: {counted(len(missing), 'part')} of {folder.parts} missing{more}{lost}", 1)
    spent = time.monotonic() - began
    print(
        f"{options.out}: {folder.parts} parts are whole; {counted(before, 'part')} in {counted(len(todo), 'shard')} "
        f"raced now, in {spent:.1f} s{lost}"
    )
    return 0


def _at_least(options, name, least):
    value = getattr(options, name, None)
    if value is not None and value < least:
        raise Failure(f"--{name}: {value} is not allowed; {least} or more is", 2)


def _not_installed(error, kind):
    return Failure(f"a {kind} cluster needs the package {error.name}; cluster/pyproject.toml has it as `{kind}`", 2)
