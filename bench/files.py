#!/usr/bin/env python3
"""Processor time of file transfers over the loopback, in turn: serve and get, without and with a key; nginx and curl, HTTP and HTTPS.

bench/files.py FIRSTFLIGHT [--rounds N] [--bytes N] [--folder DIR] [--csv FILE] [--address ADDRESS]

Each round downloads one file once by each pair, and compares the copy with the file. The time is user and system time of the process
over the transfer. Needs nginx, curl and openssl. DIR should be a file system in memory, so that no disk is measured.
"""

import argparse
import csv
import filecmp
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

NGINX = """daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 64; }}
http {{ access_log off; sendfile on;
  server {{ listen {host}:{http}; listen {host}:{https} ssl; root {folder}/served;
    ssl_certificate {folder}/certificate; ssl_certificate_key {folder}/private; }} }}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("firstflight")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--csv", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="firstflight-files-", dir=given.folder) as folder:
        os.chmod(folder, 0o755)
        prepare(folder, given.bytes)
        with Servers(given, folder) as servers:
            found, loads = measure(given, folder, servers)
    print(f"{given.bytes} bytes over the loopback ({given.address}), {given.rounds} rounds; "
          f"load {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} cores\n")
    rows = [row(pair, runs, given.bytes) for pair, runs in found.items()]
    print("| pair | server, CPU s a GB | client, CPU s a GB | Mbit/s |")
    print("|---|---:|---:|---:|")
    for pair, *numbers in rows:
        server, client = (f"{numbers[n]:.2f} ({numbers[n + 1]:.2f} to {numbers[n + 2]:.2f})" for n in (0, 3))
        print(f"| {pair} | {server} | {client} | {numbers[6]:.0f} |")
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["pair", "server_median", "server_min", "server_max", "client_median", "client_min", "client_max", "mbit_s"])
            writer.writerows([pair, *(f"{number:.3f}" for number in numbers[:6]), f"{numbers[6]:.0f}"] for pair, *numbers in rows)


def prepare(folder, length):
    os.mkdir(f"{folder}/served")
    with open(f"{folder}/served/file", "wb") as file, open("/dev/urandom", "rb") as random:
        while length > 0:
            length -= file.write(random.read(min(length, 1 << 22)))
    key = os.open(f"{folder}/key", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(key, os.urandom(32).hex().encode())
    os.close(key)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", f"{folder}/private", "-out", f"{folder}/certificate"],
        check=True, capture_output=True)


class Servers:
    """The servers, and for each pair its server's process and its client's command."""

    def __init__(self, given, folder):
        host = f"[{given.address}]" if ":" in given.address else given.address
        plain, sealed, http, https = (free_port(given.address) for _ in range(4))
        configuration = pathlib.Path(folder, "nginx.conf")
        configuration.write_text(NGINX.format(folder=folder, host=host, http=http, https=https))
        serve = [given.firstflight, "serve", f"{folder}/served", "--bind", given.address, "--port"]
        key = ["--key", f"{folder}/key"]
        self.started = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for command in (
            [*serve, str(plain)], [*serve, str(sealed), *key], [shutil.which("nginx") or "/usr/sbin/nginx", "-c", configuration])]
        get = [given.firstflight, "get", "--output", f"{folder}/copy"]
        curl = ["curl", "--silent", "--show-error", "--fail", "--output", f"{folder}/copy"]
        by_own, by_own_key, by_nginx = self.started
        self.pairs = {
            "serve and get": (by_own, [*get, f"{host}:{plain}/file"]),
            "serve and get, with a key": (by_own_key, [*get, *key, f"{host}:{sealed}/file"]),
            "nginx and curl, HTTP": (by_nginx, [*curl, f"http://{host}:{http}/file"]),
            "nginx and curl, HTTPS": (by_nginx, [*curl, "--insecure", f"https://{host}:{https}/file"]),
        }

    def __enter__(self):
        time.sleep(1)
        return self.pairs

    def __exit__(self, *_):
        for server in self.started:
            server.terminate()
            server.wait()


def free_port(address):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as one:
        one.bind((address, 0))
        return one.getsockname()[1]


def measure(given, folder, pairs):
    found, loads = {pair: [] for pair in pairs}, []
    for number in range(given.rounds):
        print(f"round {number + 1} of {given.rounds}", file=sys.stderr)
        for pair, (server, command) in pairs.items():
            copy = pathlib.Path(folder, "copy")
            copy.unlink(missing_ok=True)
            before, begin = cpu(server.pid), time.monotonic()
            client = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(client.pid, 0)
            took, after = time.monotonic() - begin, cpu(server.pid)
            client.returncode = os.waitstatus_to_exitcode(status)
            if client.returncode or not filecmp.cmp(copy, f"{folder}/served/file", shallow=False):
                sys.exit(f"{pair}: {' '.join(map(str, command))} ended with {client.returncode}, or its copy is wrong")
            found[pair].append((after - before, used.ru_utime + used.ru_stime, took))
            loads.append(os.getloadavg()[0])
    return found, loads


def cpu(process):
    """Returns the processor time of a process in seconds, as the sum over its threads."""
    threads = pathlib.Path(f"/proc/{process}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def row(pair, runs, length):
    def summary(times):
        each = [time / length * 1e9 for time in times]
        return statistics.median(each), min(each), max(each)

    server, client, took = zip(*runs)
    return pair, *summary(server), *summary(client), length * 8 / statistics.median(took) / 1e6


main()
