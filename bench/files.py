#!/usr/bin/env python3
"""Processor time of file transfers over the loopback, in turn: serve and get, without and with a key; nginx and curl, HTTP and HTTPS.

bench/files.py PROGRAM [--before PROGRAM] [--rounds N] [--bytes N] [--folder DIR] [--csv FILE] [--address ADDRESS]

PROGRAM is `firstflight`, or the example `files` of crates/field/udp, which makes the same calls. Each round downloads a new file once by
each pair, and a file that the servers have sent before, and compares the copies with the files. The time is user and system time of the
process over the transfer. Needs nginx, curl and openssl. DIR should be a file system in memory, so that no disk is measured.
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
    parser.add_argument("program")
    parser.add_argument("--before")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--bytes", type=int, default=500_000_000)
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--csv", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="firstflight-files-", dir=given.folder) as folder:
        os.chmod(folder, 0o755)
        prepare(folder)
        with Servers(given, folder) as servers:
            found, loads = measure(given, folder, servers)
    print(f"{given.bytes} bytes over the loopback ({given.address}), {given.rounds} rounds; "
          f"load {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} cores\n")
    rows = [row(pair, runs, given.bytes) for pair, runs in found.items()]
    print("| pair | server, CPU s/GB | client, CPU s/GB | Mbit/s |")
    print("|---|---:|---:|---:|")
    for pair, *numbers in rows:
        server, client = (f"{numbers[n]:.2f} ({numbers[n + 1]:.2f} to {numbers[n + 2]:.2f})" for n in (0, 3))
        print(f"| {pair} | {server} | {client} | {numbers[6]:.0f} |")
    if given.csv:
        with given.csv.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["", "server, s/GB", "range", "client, s/GB", "range"])
            for pair, *numbers in rows:
                spans = [(f"{numbers[n]:.2f}", f"{numbers[n + 1]:.2f} to {numbers[n + 2]:.2f}") for n in (0, 3)]
                writer.writerow([pair, *(cell for span in spans for cell in span)])


def write_file(path, length):
    with open(path, "wb") as file, open("/dev/urandom", "rb") as random:
        while length > 0:
            length -= file.write(random.read(min(length, 1 << 22)))


def prepare(folder):
    os.mkdir(f"{folder}/served")
    key = os.open(f"{folder}/key", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(key, os.urandom(32).hex().encode())
    os.close(key)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", f"{folder}/private", "-out", f"{folder}/certificate"],
        check=True, capture_output=True)


class Servers:
    """The servers, and for each pair its server's process and its client's command without the name of the file."""

    def __init__(self, given, folder):
        host = f"[{given.address}]" if ":" in given.address else given.address
        http, https = free_port(given.address), free_port(given.address)
        configuration = pathlib.Path(folder, "nginx.conf")
        configuration.write_text(NGINX.format(folder=folder, host=host, http=http, https=https))
        self.started, self.pairs = [], {}
        programs = [(" before", given.before)] if given.before else []
        for when, program in [*programs, ("", given.program)]:
            for name, further in ((f"serve and get{when}", "plain"), (f"serve and get{when}, with a key", "key"),
                                  (f"serve and get{when}, packets of 9000 bytes", "wide")):
                if when and further == "wide":
                    continue
                port = free_port(given.address)
                serve, get = commands(program, further, folder, f"{host}:{port}", given.address)
                self.pairs[name] = (self.start(serve), get)
        nginx = self.start([shutil.which("nginx") or "/usr/sbin/nginx", "-c", configuration])
        curl = ["curl", "--silent", "--show-error", "--fail", "--insecure", "--output", f"{folder}/copy"]
        self.pairs["nginx and curl, HTTP"] = (nginx, lambda name: [*curl, f"http://{host}:{http}/{name}"])
        self.pairs["nginx and curl, HTTPS"] = (nginx, lambda name: [*curl, f"https://{host}:{https}/{name}"])

    def start(self, command):
        self.started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return self.started[-1]

    def __enter__(self):
        time.sleep(1)
        return self.pairs

    def __exit__(self, *_):
        for server in self.started:
            server.terminate()
            server.wait()


def commands(program, further, folder, at, address):
    """Returns the command of a server at an address, and the function that returns the client's command for a file."""
    if pathlib.Path(program).name.startswith("files"):
        more = {"plain": [], "key": ["key"], "wide": ["datagram=8952"]}[further]
        serve = [program, "serve", at, f"{folder}/served", "watched", *more]
        return serve, lambda name: [program, "get", at, name, f"{folder}/copy", *more]
    more = {"plain": [], "key": ["--key", f"{folder}/key"], "wide": ["--mtu", "9000"]}[further]
    serve = [program, "serve", f"{folder}/served", "--bind", address, "--port", at.rsplit(":")[-1], *more]
    return serve, lambda name: [program, "get", f"{at}/{name}", "--output", f"{folder}/copy", *more]


def free_port(address):
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as one:
        one.bind((address, 0))
        return one.getsockname()[1]


def measure(given, folder, pairs):
    found, loads = {}, []
    for number in range(-1, given.rounds):
        print(f"round {number + 1} of {given.rounds}", file=sys.stderr)
        # The file of the round before was sent once by each server. Its hash is kept only if its last change was some seconds ago.
        write_file(f"{folder}/served/{number}", given.bytes)
        time.sleep(4)
        for pair, (server, command) in pairs.items():
            for name, kind in ((number, "first"), (number, "again")):
                got = transfer(server, command(str(name)), f"{folder}/copy", f"{folder}/served/{name}")
                if number >= 0 and (kind == "first" or "serve" in pair and "before" not in pair):
                    found.setdefault(f"{pair}, {kind}" if "serve" in pair and "before" not in pair else pair, []).append(got)
                loads.append(os.getloadavg()[0])
        os.unlink(f"{folder}/served/{number}")
    return found, loads


def transfer(server, command, copy, original):
    """Returns the processor time of server and client, and the duration of the client, in seconds."""
    pathlib.Path(copy).unlink(missing_ok=True)
    before, begin = cpu(server.pid), time.monotonic()
    client = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(client.pid, 0)
    took = time.monotonic() - begin
    time.sleep(0.2)
    after = cpu(server.pid)
    client.returncode = os.waitstatus_to_exitcode(status)
    if client.returncode or not filecmp.cmp(copy, original, shallow=False):
        sys.exit(f"{' '.join(map(str, command))} ended with {client.returncode}, or its copy is wrong")
    return after - before, used.ru_utime + used.ru_stime, took


def cpu(process):
    """Returns the processor time of a process in seconds, also of its threads that have ended, in steps of 10 ms."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(pair, runs, length):
    def summary(times):
        each = [time / length * 1e9 for time in times]
        return statistics.median(each), min(each), max(each)

    server, client, took = zip(*runs)
    return pair, *summary(server), *summary(client), length * 8 / statistics.median(took) / 1e6


main()
