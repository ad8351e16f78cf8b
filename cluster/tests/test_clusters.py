"""What each kind of cluster is told, and a sweep on those that can be reached from here."""

import asyncio
import json
import os
import shutil
import subprocess

import pytest
from conftest import CLUSTER, PROGRAM

from firstflight_cluster import clusters
from firstflight_cluster.command import parser


def options(*words):
    return parser().parse_args(["sweep.toml", "--out", "out", *words])


def test_print_shows_what_the_cluster_is_told_and_starts_nothing(place):
    status, out, err = place.drive("--print", "kubernetes", "--workers", "3", "--image", "lab/firstflight:1", sweep="/nowhere.toml")
    assert (status, err) == (0, "")
    assert json.loads(out)["kind"] == "DaskCluster"
    assert not place.out.exists()


def test_ssh_puts_the_scheduler_on_the_first_host_and_workers_of_one_thread_on_all():
    from distributed import SSHCluster

    line = options("--scratch", "/scratch", "ssh", "a", "b", "--workers", "4", "--user", "me", "--port", "2222", "--python", "/opt/python")

    async def specification():
        # Nothing is reached before it is awaited.
        cluster = SSHCluster(**clusters.Ssh.told(line), asynchronous=True)
        return cluster.scheduler_spec, cluster.worker_spec

    scheduler, workers = asyncio.run(specification())
    assert scheduler["options"]["address"] == "a"
    assert [worker["options"]["address"] for worker in workers.values()] == ["a", "b"]
    for worker in workers.values():
        told = worker["options"]
        assert told["kwargs"] == {"nthreads": 1, "n_workers": 4, "memory_limit": 0, "local_directory": "/scratch"}
        assert told["worker_class"] == "distributed.Nanny"
        assert (told["connect_options"], told["remote_python"]) == ({"username": "me", "port": 2222}, "/opt/python")


def test_a_job_of_slurm_is_a_worker_of_one_thread_with_the_processors_of_a_shard(tmp_path):
    line = options("--jobs", "8", "--scratch", "/scratch", "slurm", "--workers", "20", "--partition", "short", "--account", "net",
                   "--walltime", "04:00:00", "--memory", "3GB", "--interface", "lo", "--directive=--exclude=n7")
    script = clusters.Slurm.show(line)
    directives = [line.removeprefix("#SBATCH ") for line in script.splitlines() if line.startswith("#SBATCH ")]
    assert directives == ["-J firstflight", "-p short", "-A net", "-n 1", "--cpus-per-task=8", "--mem=3G", "-t 04:00:00", "--exclude=n7"]
    worker = script.strip().splitlines()[-1]
    for words in ("distributed.cli.dask_worker tcp://SCHEDULER", "--nthreads 1 ", "--nanny", "--local-directory /scratch", "--interface lo"):
        assert words in worker, worker
    file = tmp_path / "job"
    file.write_text(script)
    subprocess.run(["bash", "-n", file], check=True)


def test_a_slurm_cluster_hands_in_the_job_that_is_shown(tmp_path, monkeypatch):
    """`sbatch` stands in: it keeps the script that dask-jobqueue hands in."""
    from dask_jobqueue import SLURMCluster

    line = options("--jobs", "2", "slurm", "--workers", "2", "--partition", "short")
    for name, script in (("sbatch", f'cp "$1" {tmp_path}/handed-in; echo "Submitted batch job 7"'), ("scancel", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with SLURMCluster(**clusters.Slurm.told(line), n_workers=1) as cluster:
        address = cluster.scheduler_address
        handed_in = (tmp_path / "handed-in").read_text()

    def directives(script):
        return [line for line in script.splitlines() if line.startswith("#SBATCH ")]

    assert directives(handed_in) == directives(clusters.Slurm.show(line))
    assert "#SBATCH --cpus-per-task=2" in handed_in and f"dask_worker {address} " in handed_in


def test_pods_of_kubernetes_are_workers_of_one_thread_with_the_processors_of_a_shard():
    line = options("--jobs", "4", "--scratch", "/scratch", "kubernetes", "--workers", "30", "--image", "lab/firstflight:1", "--memory", "3Gi")
    told = clusters.Kubernetes.told(line)
    assert (told["kind"], told["metadata"]["name"]) == ("DaskCluster", "firstflight")
    worker = told["spec"]["worker"]
    assert worker["replicas"] == 30
    (container,) = worker["spec"]["containers"]
    assert container["image"] == "lab/firstflight:1"
    assert container["args"][:8] == ["dask", "worker", "--nthreads", "1", "--memory-limit", "0", "--local-directory", "/scratch"]
    assert container["resources"]["limits"] == {"cpu": "4", "memory": "3Gi"}


def test_the_pins_have_hashes_and_hold_what_the_project_names():
    pins = (CLUSTER / "requirements.txt").read_text()
    entries = [entry for entry in pins.replace("\\\n", " ").splitlines() if entry and not entry.lstrip().startswith("#")]
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries)
    for name in ("dask", "distributed", "asyncssh", "dask-jobqueue", "dask-kubernetes", "pytest"):
        assert any(entry.startswith(f"{name}==") for entry in entries), name


def test_a_sweep_over_ssh(place, undisturbed):
    hosts = os.environ.get("FIRSTFLIGHT_SSH_HOSTS", "").split()
    if not hosts:
        pytest.skip("a sweep on workers over SSH: FIRSTFLIGHT_SSH_HOSTS names no hosts that have this folder")
    assert place.drive("ssh", *hosts)[0] == 0
    assert place.whole() == undisturbed


def test_a_sweep_on_slurm(place, undisturbed):
    if shutil.which("sbatch") is None:
        pytest.skip("a sweep on workers of Slurm, and its array script handed in: there is no sbatch")
    assert place.drive("slurm", "--workers", "2")[0] == 0
    assert place.whole() == undisturbed


def test_a_sweep_on_kubernetes(place, undisturbed):
    image = os.environ.get("FIRSTFLIGHT_IMAGE")
    if not image:
        pytest.skip("a sweep on pods of Kubernetes: FIRSTFLIGHT_IMAGE names no image with Dask and the program")
    assert place.drive("kubernetes", "--workers", "2", "--image", image, program=os.environ.get("FIRSTFLIGHT_IN_IMAGE", PROGRAM))[0] == 0
    assert place.whole() == undisturbed
