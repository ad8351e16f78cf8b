"""However a sweep is raced, its folder has the same bytes."""

import json
import os
import signal
import subprocess
import sys

import psutil
from conftest import PARTS, PROGRAM, ended, racing, sweep, until


def test_two_processes_write_what_one_writes(place, undisturbed):
    processes = [sweep(place, "--jobs", "1", "--shard", f"{shard}/2") for shard in (1, 2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert place.whole() == undisturbed


def test_dask_with_two_workers_writes_what_one_process_writes(place, undisturbed):
    status, out, err = place.drive("local", "--workers", "2")
    assert (status, err) == (0, "")
    assert f"{PARTS} parts are whole; 12 parts in 12 shards raced now" in out and out.count("\n") == 1
    assert place.whole() == undisturbed
    status, out, err = place.drive("local")
    assert (status, err) == (0, "") and "nothing was raced now" in out, "no cluster starts for nothing"


def test_shards_of_several_parts_are_collected_whole(place, undisturbed):
    status, out, err = place.drive("--shards", "5", "--jobs", "2", "local", "--workers", "1")
    assert (status, err) == (0, "") and "12 parts in 5 shards" in out
    assert place.whole() == undisturbed


def test_dask_with_a_worker_killed_midway_writes_what_one_process_writes(place, undisturbed):
    driver = place.start("local", "--workers", "2")
    until(lambda: place.out.exists() and len(place.whole()) > 3, "parts come back")
    program, worker = racing(driver)
    worker.send_signal(signal.SIGKILL)
    until(lambda: not program.is_running() or program.status() == psutil.STATUS_ZOMBIE, "the program ends with its worker")
    status, out, err = ended(driver)
    assert (status, out.count("1 worker was lost on the way")) == (0, 1), err
    assert "a worker was lost in the middle of shard " in err and err.count("\n") == 1, err
    assert place.whole() == undisturbed


def test_the_tasks_of_a_slurm_array_write_what_one_process_writes(place, undisturbed):
    script = place.folder / "array"
    with open(script, "w") as file:
        subprocess.run([PROGRAM, "sweep", place.file, "--out", place.out, "--slurm", "5"], stdout=file, check=True)
    tasks = next(line for line in script.read_text().splitlines() if line.startswith("#SBATCH --array="))
    first, last = tasks.removeprefix("#SBATCH --array=").split("-")
    assert (first, last) == ("1", "5")
    # Two at a time, in another order than the array's.
    order = [4, 1, 5, 2, 3]
    for pair in (order[:2], order[2:4], order[4:]):
        environments = [{**os.environ, "SLURM_ARRAY_TASK_ID": str(task)} for task in pair]
        running = [subprocess.Popen(["sh", script], env=env, cwd="/", stdout=subprocess.DEVNULL) for env in environments]
        assert [process.wait() for process in running] == [0] * len(pair)
    assert place.whole() == undisturbed


def test_a_restart_over_a_half_written_folder_writes_what_one_process_writes(place, undisturbed):
    driver = place.start("local", "--workers", "2")
    until(lambda: place.out.exists() and len(place.whole()) > 3, "parts come back")
    left = psutil.Process(driver.pid).children(recursive=True)
    assert left
    driver.kill()
    driver.communicate()
    _, alive = psutil.wait_procs(left, timeout=30)
    assert alive == [], "workers and programs end with their driver"
    whole = place.whole()
    assert 3 < len(whole) < len(undisturbed)
    parts = sorted(name for name in whole if name.startswith("part-"))
    # A part cut short, one of no bytes, one gone, and what a kill in the middle of a write leaves.
    (place.out / parts[0]).write_bytes(whole[parts[0]][:-100])
    (place.out / parts[1]).write_bytes(b"")
    (place.out / parts[2]).unlink()
    (place.out / f".{parts[2]}.1.tmp").write_bytes(whole[parts[2]][:10])
    missing = len(undisturbed) - len(whole) + 3
    status, out, err = place.drive("local", "--workers", "2")
    assert (status, err) == (0, "") and f" {missing} parts in {missing} shards raced now" in out, out
    assert place.whole() == undisturbed


def test_workers_need_only_dask_and_the_program(place, undisturbed):
    """The workers of a scheduler that runs already, on processes that have no folder of ours on their path."""
    bare = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    bare["DASK_TEMPORARY_DIRECTORY"] = str(place.folder / "scratch")
    address = place.folder / "scheduler.json"
    spec = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", address]
    work = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", address, "--nthreads", "1", "--no-dashboard",
            "--local-directory", place.folder / "scratch"]
    started = [subprocess.Popen(command, env=bare, cwd=place.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for command in (spec, work, work)]
    try:
        until(lambda: address.exists() and address.stat().st_size, "the scheduler starts")
        status, out, err = place.drive("scheduler", json.loads(address.read_text())["address"])
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
    assert (status, err) == (0, "") and "12 shards" in out
    assert place.whole() == undisturbed
    assert not list((place.folder / "scratch").rglob("firstflight-*")), "nothing stays in the workers' folder"
