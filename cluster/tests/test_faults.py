"""What is said, and what stays, when something is wrong."""

import os
import re
import signal
import subprocess
from pathlib import Path

import psutil
import pytest
from conftest import CLUSTER, PARTS, PROGRAM, ended, one_line, racing, sweep, until

from firstflight_cluster import driver
from firstflight_cluster.folder import Failure, Folder

# `$*` of a shard's race; the driver's own questions do not match.
OF_SHARD = "case \"$*\" in *'--shard {shard}/'*) {then} ;; esac\nexec \"$REAL\" \"$@\""


def test_a_shard_that_loses_every_worker_is_named_and_the_others_are_collected(place, undisturbed):
    program = place.stand_in("kills", OF_SHARD.format(shard=2, then="kill -9 $PPID; sleep 60"))
    status, out, err = place.drive("--shards", "4", "local", "--workers", "2", program=program)
    assert (status, out) == (1, "")
    assert "shard 2/4: 4 workers were lost in the middle of it" in err
    last = err.splitlines()[-1]
    assert last.startswith("error: ") and "3 parts of 12 missing; 1 shard failed" in last and "workers were lost" in last
    assert place.whole() == {name: data for name, data in undisturbed.items()
                             if name not in {f"part-{part:06}.parquet" for part in (1, 5, 9)}}


def test_a_result_that_is_lost_with_its_worker_before_it_is_fetched_is_waited_for_again(monkeypatch):
    class Future:
        def __init__(self, key):
            self.key, self.statuses = key, ["lost", "finished"]

        @property
        def status(self):
            return self.statuses[0]

    class Completed(list):
        """As Dask's `as_completed`: what is added comes again."""

        def __init__(self, futures, **_):
            super().__init__(futures)

        is_empty = lambda self: not self
        has_ready = lambda self: bool(self)

        def next_batch(self, block):
            taken, self[:] = list(self), []
            return [(future, {"parts": future.status}) for future in taken]

        def add(self, future):
            future.statuses.pop(0)
            self.append(future)

    class Client:
        status = "running"
        map = lambda self, *_, key, **__: [Future(key) for key in key]
        upload_file = subscribe_topic = unsubscribe_topic = lambda *_: None

    class Taken(list):
        file, text = Path("sweep.toml"), ""
        take = lambda self, *what: self.append(what)

    monkeypatch.setattr(driver, "as_completed", Completed)
    folder = Taken()
    assert driver.run(Client(), folder, [3], 4, program="", jobs=1, retries=0) == (0, [])
    assert folder == [(3, 4, {"parts": "finished"})]


def test_a_shard_that_fails_is_raced_again_so_often_and_then_named(place, undisturbed):
    program = place.stand_in("fails", """
        case "$*" in
        *'--shard 1/'*) echo x >>"$HERE/tries"; echo "error: disk is full" >&2; exit 3 ;;
        *'--shard 2/'*) mkdir "$HERE/tried" 2>/dev/null && kill -SEGV $$ ;;
        esac
        exec "$REAL" "$@" """)
    status, out, err = place.drive("--shards", "3", "--retries", "1", "local", "--workers", "1", program=program)
    assert (status, out) == (1, "")
    assert "shard 1/3: " in err and "ended with 3: disk is full" in err
    assert (place.folder / "tries").read_text().count("x") == 2
    assert (place.folder / "tried").exists() and "shard 2/3" not in err, "one that fails once is no fault"
    assert place.whole() == {name: data for name, data in undisturbed.items()
                             if name not in {f"part-{part:06}.parquet" for part in range(0, PARTS, 3)}}


def test_what_the_program_refuses_on_a_worker_ends_all_in_its_words(place):
    refuses = place.stand_in("refuses", OF_SHARD.format(shard=1, then='echo "error: this will not do" >&2; exit 2'))
    status, out, err = place.drive("--shards", "3", "local", "--workers", "1", program=refuses)
    assert (status, out) == (2, "")
    assert "this will not do" in one_line(err)


def test_what_comes_back_is_looked_at_before_any_of_it_is_written(place, undisturbed):
    folder = Folder(PROGRAM, place.file, place.out)
    of_shard = {name: undisturbed[name] for name in ("part-000001.parquet", "part-000005.parquet", "part-000009.parquet")}
    manifest = undisturbed["sweep.json"]
    older = manifest.replace(b'"version": "', b'"version": "0.')
    for raced, status, says in [
        ({"manifest": older, "parts": of_shard}, 2, "another sweep: its `version` is "),
        ({"manifest": b"[]", "parts": of_shard}, 2, "its sweep.json is another"),
        ({"manifest": b"{", "parts": of_shard}, 2, "its sweep.json is another"),
        ({"manifest": manifest, "parts": {**of_shard, "../part-000001.parquet": b""}}, 1, "shard 2/4 came back with other parts"),
        ({"manifest": manifest, "parts": {"part-000001.parquet": b""}}, 1, "shard 2/4 came back with other parts"),
        *(({"manifest": manifest, "parts": {**of_shard, "part-000005.parquet": cut}}, 1, "came back with part-000005.parquet cut short")
          for whole in [of_shard["part-000005.parquet"]]
          for cut in [b"", whole[:3], whole[:-1], whole[:-100], whole[: len(whole) // 2], whole[1:], b"PAR1\0\0\0\0PAR1"]),
    ]:
        with pytest.raises(Failure, match=re.escape(says)) as failure:
            folder.take(2, 4, raced)
        assert failure.value.status == status
    assert [*place.whole()] == ["sweep.json"]
    # A folder that another build began goes on.
    rebuilt = re.sub(rb'"build": "[^"]*"', b'"build": "another"', manifest)
    assert rebuilt != manifest
    folder.take(2, 4, {"manifest": rebuilt, "parts": of_shard})
    assert place.whole() == {"sweep.json": manifest, **of_shard}
    assert folder.ask() == set(range(PARTS)) - {1, 5, 9}


class Disturbed:
    """A function whose call fails before it does anything, or after."""

    def __init__(self, real, error, *, after):
        self.real, self.error, self.after = real, error, after

    def __call__(self, *words, **more):
        if self.after:
            self.real(*words, **more)
        raise self.error


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError(5, "Input/output error"), KeyboardInterrupt()])
@pytest.mark.parametrize("call", ["builtins.open", "fcntl.flock", "os.fsync", "os.replace"])
def test_a_part_whose_writing_is_disturbed_is_whole_or_not_there(place, undisturbed, monkeypatch, call, error, after):
    folder = Folder(PROGRAM, place.file, place.out)
    name = "part-000000.parquet"
    raced = {"manifest": undisturbed["sweep.json"], "parts": {name: undisturbed[name]}}
    where, what = call.split(".")
    with monkeypatch.context() as patch:
        module = __import__(where)
        patch.setattr(module, what, Disturbed(getattr(module, what), error, after=after))
        with pytest.raises((Failure, KeyboardInterrupt)) as failure:
            folder.take(1, PARTS, raced)
    if isinstance(error, OSError):
        assert failure.value.status == 3
        assert re.match(f"cannot write .*{name}: {error.strerror}", str(failure.value))
    assert not [file.name for file in place.out.iterdir() if file.name.startswith(".")]
    assert place.whole() in ({"sweep.json": undisturbed["sweep.json"]}, {"sweep.json": undisturbed["sweep.json"], name: undisturbed[name]})
    # The same command goes on.
    again = Folder(PROGRAM, place.file, place.out)
    again.take(1, PARTS, raced)
    assert place.whole()[name] == undisturbed[name] and 0 not in again.ask()


def test_a_part_that_is_cut_short_on_a_worker_is_raced_again(place, undisturbed):
    program = place.stand_in("cuts", OF_SHARD.format(shard=2, then="""
        "$REAL" "$@" || exit; out=$(echo "$@" | sed 's/.*--out \\([^ ]*\\).*/\\1/')
        mkdir "$HERE/cut" 2>/dev/null && truncate -s -50 "$out"/part-000001.parquet; exit 0"""))
    status, out, err = place.drive("--shards", "4", "--retries", "1", "local", "--workers", "1", program=program)
    assert (status, (place.folder / "cut").exists()) == (0, True), err
    assert place.whole() == undisturbed


def test_a_driver_that_is_killed_leaves_no_temporary_file_after_the_next(place, undisturbed):
    Folder(PROGRAM, place.file, place.out)
    (place.out / ".part-000003.parquet.1-0.firstflight.tmp").write_bytes(b"half")
    assert Folder(PROGRAM, place.file, place.out).missing == set(range(PARTS))
    assert [file.name for file in place.out.iterdir()] == ["sweep.json"]


def test_an_interrupted_driver_says_so_and_leaves_no_process_and_no_file(place, undisturbed):
    driver = place.start("local", "--workers", "2")
    until(lambda: place.out.exists() and len(place.whole()) > 2, "parts come back")
    racing(driver)
    left = psutil.Process(driver.pid).children(recursive=True)
    driver.send_signal(signal.SIGTERM)
    status, out, err = ended(driver)
    assert (status, out) == (130, ""), err
    assert "interrupted; the parts that are whole in" in one_line(err)
    assert psutil.wait_procs(left, timeout=30)[1] == []
    assert {file.name for file in place.folder.iterdir()} == {"sweep.toml", "out"}
    assert not [file for file in place.out.iterdir() if file.name.startswith(".")]
    for name, data in place.whole().items():
        assert undisturbed[name] == data, name


# A driver to which a signal comes as it writes its K-th part.
SIGNALLED = """
import os, sys
from firstflight_cluster.command import main
from firstflight_cluster.folder import Folder
real, written, (at, number) = Folder._put, 0, map(int, sys.argv[1:3])
def put(self, name, data):
    global written
    written += 1
    if written == at:
        os.kill(os.getpid(), number)
    return real(self, name, data)
Folder._put = put
sys.exit(main(sys.argv[3:]))
"""
# Every K and both signals with `FIRSTFLIGHT_INJECT`; else the first part, one between and the last.
SIGNALS = (
    [(at, number) for at in range(1, PARTS + 1) for number in (signal.SIGINT, signal.SIGTERM)]
    if "FIRSTFLIGHT_INJECT" in os.environ
    else [(1, signal.SIGTERM), (PARTS // 2, signal.SIGINT), (PARTS, signal.SIGTERM)]
)


@pytest.mark.parametrize(("at", "number"), SIGNALS)
def test_a_signal_at_any_part_is_no_end_and_the_same_command_goes_on(place, undisturbed, at, number):
    python, _, _, *words = place.command("--shards", str(PARTS), "local", "--workers", "2")
    env = {**os.environ, "TMPDIR": str(place.folder), "PYTHONPATH": str(CLUSTER)}
    pipe = subprocess.PIPE
    driver = subprocess.Popen(
        [python, "-c", SIGNALLED, str(at), str(int(number)), *words], cwd=CLUSTER, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
    )
    place.started.append(driver)
    status, out, err = ended(driver)
    assert (status, out) == (130, ""), err
    assert "interrupted; the parts that are whole in" in one_line(err)
    assert not [file for file in place.out.iterdir() if file.name.startswith(".")]
    for name, data in place.whole().items():
        assert undisturbed[name] == data, name
    if at < PARTS:
        assert len(place.whole()) < len(undisturbed)
    status, out, err = place.drive("local", "--workers", "2")
    assert status == 0, err
    assert place.whole() == undisturbed


@pytest.mark.parametrize(("words", "more", "says"), [
    (("--shards", "0", "local"), {}, "--shards: 0 is not allowed; from 1 to 12 is"),
    (("--shards", "13", "local"), {}, "--shards: 13 is not allowed; from 1 to 12 is"),
    (("--shards", "many", "local"), {}, "--shards"),
    (("--jobs", "0", "local"), {}, "--jobs: 0 is not allowed; 1 or more is"),
    (("local", "--workers", "0"), {}, "--workers: 0 is not allowed; 1 or more is"),
    (("--retries", "-1", "local"), {}, "--retries: -1 is not allowed; 0 or more is"),
    (("cloud",), {}, "cloud"),
    ((), {}, "CLUSTER"),
    (("kubernetes", "--workers", "2"), {}, "--image"),
    (("local",), {"sweep": "/nowhere.toml"}, "cannot read /nowhere.toml"),
    (("local",), {"program": "/nowhere/firstflight"}, "--program: there is no program /nowhere/firstflight here"),
    (("local",), {"out": "/proc/none"}, "/proc/none"),
])
def test_what_cannot_be_is_refused_in_one_line_before_a_cluster_starts(refused, words, more, says):
    assert says in refused(*words, **more)


def test_the_folder_of_another_sweep_is_refused_in_the_programs_words(place, refused):
    assert sweep(place, "--shard", "1/6").wait() == 0
    before = place.whole()
    place.file.write_text(place.file.read_text().replace("seed = 3", "seed = 4"))
    assert "belongs to another sweep: its `seed` is 3 and this one's is 4" in refused("local")
    assert place.whole() == before
