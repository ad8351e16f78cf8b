"""What each kind of cluster is told, and a sweep on those that can be reached from here."""

import asyncio
import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import threading

import dask
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

    line = options("--scratch", "/scratch", "ssh", "a", "b", "--workers", "4", "--user", "me", "--port", "2222",
                   "--python", "/opt/python")

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
    with dask.config.set({"temporary-directory": str(tmp_path)}), SLURMCluster(**clusters.Slurm.told(line), n_workers=1) as cluster:
        address = cluster.scheduler_address
        handed_in = (tmp_path / "handed-in").read_text()

    def directives(script):
        return [line for line in script.splitlines() if line.startswith("#SBATCH ")]

    assert directives(handed_in) == directives(clusters.Slurm.show(line))
    assert "#SBATCH --cpus-per-task=2" in handed_in and f"dask_worker {address} " in handed_in


def test_pods_of_kubernetes_are_workers_of_one_thread_with_the_processors_of_a_shard():
    line = options("--jobs", "4", "--scratch", "/scratch", "kubernetes", "--workers", "30", "--image", "lab/firstflight:1",
                   "--memory", "3Gi")
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


@contextlib.contextmanager
def ssh_server(folder):
    """A server of SSH on the loopback address that runs what it is told, for a key of its own; the client's configuration for it."""
    import asyncssh

    key = asyncssh.generate_private_key("ssh-ed25519")
    (folder / "key").write_bytes(key.export_private_key())
    (folder / "key").chmod(0o600)
    (folder / "allowed").write_bytes(key.export_public_key())
    ports, loop = queue.Queue(), asyncio.new_event_loop()

    async def run(process):
        pipe = asyncio.subprocess.PIPE
        ran = await asyncio.create_subprocess_shell(process.command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
        await process.redirect(ran.stdin, ran.stdout, ran.stderr)
        ended = asyncio.ensure_future(ran.wait())
        await asyncio.wait({ended, asyncio.ensure_future(process.wait_closed())}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            # All that it said goes before its exit status.
            await process.stdout.drain()
            await process.stderr.drain()
            process.exit(ended.result())
        else:
            os.killpg(ran.pid, signal.SIGKILL)

    async def serve():
        host_key = asyncssh.generate_private_key("ssh-ed25519")
        server = await asyncssh.listen("127.0.0.1", 0, server_host_keys=[host_key], authorized_client_keys=str(folder / "allowed"),
                                       process_factory=run, encoding=None)
        port = server.sockets[0].getsockname()[1]
        known = f"[127.0.0.1]:{port} ".encode() + host_key.export_public_key()
        (folder / "known").write_bytes(known)
        ports.put(port)

    thread = threading.Thread(target=lambda: (loop.run_until_complete(serve()), loop.run_forever()), daemon=True)
    thread.start()
    (folder / ".ssh").mkdir()
    (folder / ".ssh/config").write_text(f"IdentityFile {folder}/key\nUserKnownHostsFile {folder}/known\n")
    try:
        yield ports.get(timeout=30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def test_a_sweep_over_ssh_to_this_machine(place, undisturbed, monkeypatch):
    monkeypatch.setenv("HOME", str(place.folder))
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(place.folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with ssh_server(place.folder) as port:
        status, out, err = place.drive("--scratch", place.folder / "scratch", "ssh", "127.0.0.1", "--workers", "2", "--port", port)
    assert (status, err) == (0, "") and "12 shards raced now" in out
    assert place.whole() == undisturbed


def test_a_sweep_over_ssh_to_other_machines(place, undisturbed):
    hosts = os.environ.get("FIRSTFLIGHT_SSH_HOSTS", "").split()
    if not hosts:
        pytest.skip("a sweep over SSH to other machines: FIRSTFLIGHT_SSH_HOSTS names none")
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
