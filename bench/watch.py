#!/usr/bin/env python3
"""`firstflight watch` beside `inspect` of captures of the same connections, beside `ss -ti`, and what it costs. Needs root, nginx and curl.

bench/watch.py PROGRAM agree [--each N]     N downloads on each of ten paths: exit causes, windows, `ss -ti`
bench/watch.py PROGRAM cost [--rate N]      N connections a second: the processor's time of `watch` and of its BPF programs
bench/watch.py PROGRAM outcome [--each N]   two schemes at the same time, N downloads of 100 kB and of 2 MB by each: `--compare` and curl's clock
bench/watch.py PROGRAM killed [--each N]    N watches killed at random moments: the rows that are lost, and what is left

PROGRAM has the feature `kernel`.

- agree: nginx at host B of an emulated path sends. Each download is a connection: the server closes one half of them as soon as it has
  written the file, so that a socket that is half closed sends it; the clients keep the others open for a while, in which `ss -ti` tells
  their last windows. A program without our code captures host B's packets; `inspect` reads its files.
- cost: clients of one namespace fetch 10 kB from a server in another, over a pair of virtual interfaces. The server's sockets are
  watched: each connection has one socket here, as on a server whose clients are elsewhere. Time of BPF is what the kernel counts
  (kernel.bpf_stats_enabled); that of the process is from /proc.
- outcome: a client downloads from a server that gives each connection one of two schemes, by turns. The sentences of
  `watch --compare` stand beside the change of the geometric mean of curl's `time_total`, which has the handshake and the request too.
- killed: each watch follows downloads over a loopback address, and is killed (SIGKILL) at a random moment. The clients' clocks say
  when each ended; a row that is missing, though its connection ended a second before the kill or more, is lost."""

import argparse
import json
import math
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

SIZES = [30_000, 100_000, 300_000, 1_000_000, 3_000_000]
PATHS = [
    ("20mbit", "40ms", "100p", "reno"),
    ("20mbit", "40ms", "100p", "cubic"),
    ("50mbit", "20ms", "60p", "cubic"),
    ("10mbit", "100ms", "200p", "reno"),
    ("100mbit", "60ms", "400p", "cubic"),
    ("20mbit", "40ms", "20p", "reno"),
    ("5mbit", "20ms", "50p", "cubic"),
    ("50mbit", "80ms", "1000p", "bbr"),
    ("20mbit", "10ms", "30p", "bbr"),
    ("30mbit", "60ms", "codel:500p", "cubic"),
]
CONFIGURATION = """daemon off; master_process off; error_log stderr; pid {root}/pid;
events {{ worker_connections 4096; }}
http {{ access_log off; sendfile on; keepalive_timeout 65; {temporary} server {{ listen 8080 backlog=4096; root {root}; }} }}
"""
SERVER = """sysctl -qw net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_wmem='4096 4194304 33554432'
ip route change 10.0.0.1/32 dev path0 congctl {law} || exit
python3 {script} - capture path0 {root}/capture.pcap & python3 {script} - sample {root}/ss & exec nginx -p {root} -c {root}/nginx.conf"""
CLIENT = """sleep 1; for at in $(seq {each}); do for size in {sizes}; do
    if [ $((at % 2)) = 0 ]; then curl -sS --http1.0 -o /dev/null http://10.0.0.2:8080/$size || exit 1
    else python3 {script} - hold $size || exit 1; fi
done; done; sleep 0.5"""


def capture(interface, path):
    """Writes the heads of all packets of an interface as pcap with nanoseconds, until it is ended."""
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUFFORCE if hasattr(socket, "SO_RCVBUFFORCE") else 33, 1 << 26)
    packets.bind((interface, 3))
    # SO_TIMESTAMPNS
    packets.setsockopt(socket.SOL_SOCKET, 35, 1)
    with open(path, "wb", buffering=0) as out:
        out.write(struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 128, 101))
        while True:
            data, control, _, _ = packets.recvmsg(65536, 256)
            seconds, nanos = next(struct.unpack("=qq", value[:16]) for level, kind, value in control if kind == 35)
            out.write(struct.pack("=IIII", seconds, nanos, min(len(data), 128), len(data)) + data[:128])


def sample(path):
    """Writes what `ss -ti` says of the sockets of port 8080, again and again."""
    with open(path, "w", encoding="ascii", buffering=1) as out:
        while True:
            said = subprocess.run(["ss", "-tiHOn", "state", "all", "sport = :8080"], stdout=subprocess.PIPE, text=True, check=False).stdout
            out.write(said)
            time.sleep(0.01)


def hold(size):
    """Fetches a file, and keeps the connection open for a while after it."""
    with socket.create_connection(("10.0.0.2", 8080)) as one:
        one.sendall(f"GET /{size} HTTP/1.1\r\nHost: b\r\n\r\n".encode())
        said = b""
        while b"\r\n\r\n" not in said:
            said += one.recv(1 << 16)
        left = int(size) - len(said.split(b"\r\n\r\n", 1)[1])
        while left > 0:
            left -= len(one.recv(1 << 20))
        time.sleep(0.6)


def site(root):
    os.makedirs(root, exist_ok=True)
    temporary = "".join(f"{name}_temp_path {root}/{name}; " for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(f"{root}/nginx.conf", "w", encoding="ascii") as file:
        file.write(CONFIGURATION.format(root=root, temporary=temporary))
    for size in [10_000, *SIZES]:
        with open(f"{root}/{size}", "wb") as file:
            file.write(bytes(size))


def watched(program, path, *more):
    """A watch that writes a line a start-up to `path`, when it is ready."""
    with open(path, "w", encoding="ascii") as out:
        process = subprocess.Popen([program, "watch", "--json", *more], stdout=out, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    if not line.startswith("watching"):
        sys.exit(line + process.stderr.read())
    return process


def ended(process):
    process.terminate()
    said = process.stderr.read()
    if process.wait() != 0:
        sys.exit(said)
    return said.strip()


def lines(path):
    with open(path, encoding="ascii") as file:
        return [json.loads(line) for line in file]


def thresholds(path):
    """By remote address: the states, windows and thresholds that `ss` said, in order."""
    said = {}
    for line in open(path, encoding="ascii"):
        words = line.split()
        numbers = dict(word.split(":", 1) for word in words[5:] if ":" in word)
        if "cwnd" in numbers:
            said.setdefault(words[4], []).append(
                (words[0], int(numbers["cwnd"]), int(numbers["ssthresh"]) if "ssthresh" in numbers else None))
    return said


def agree(program, script, each):
    total, same, windows, undefined, differences = 0, 0, 0, 0, []
    compared, ss_same, ss_ends, ss_ends_same, ss_differences = 0, 0, 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number, (rate, rtt, queue, law) in enumerate(PATHS):
            root = f"{folder}/{number}"
            site(root)
            watch = watched(program, f"{root}/watch", "--port", "8080")
            client = CLIENT.format(each=(each + len(SIZES) - 1) // len(SIZES), sizes=" ".join(map(str, SIZES)), script=script)
            server = SERVER.format(law=law, root=root, script=script)
            path = ["--rate", rate, "--rtt", rtt, "--queue", queue, "--sender", "b", "--json"]
            done = subprocess.run([program, "emulate", *path, "--", "sh", "-c", client, "--", "sh", "-c", server],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, check=False)
            time.sleep(0.5)
            print(f"{rate} {rtt} {queue} {law}: {ended(watch)}", flush=True)
            if done.returncode != 0:
                sys.exit(done.stderr)
            said = subprocess.run([program, "inspect", f"{root}/capture.pcap", "--json"], stdout=subprocess.PIPE, text=True, check=True)
            captured = {(one["from"], one["to"]): one for one in map(json.loads, said.stdout.splitlines())}
            samples = thresholds(f"{root}/ss")
            for one in lines(f"{root}/watch"):
                other = captured.get((one["from"], one["to"]))
                if other is None:
                    sys.exit(f"{one['from']} to {one['to']} is not in the capture")
                total += 1
                mss = one["mss_bytes"]
                flights = [of["exit_flight_bytes"] for of in (one, other)]
                is_same = one["exit_cause"] == other["exit_cause"]
                same += is_same
                undefined += is_same and one["exit_cause"] is None
                is_near = flights[0] == flights[1] or (None not in flights and abs(flights[0] - flights[1]) <= max(mss, flights[1] / 10))
                windows += is_near
                if not (is_same and is_near):
                    differences.append(f"{rate} {rtt} {queue} {law} {one['to']} {one['bytes_acked']} B: "
                                       f"{one['exit_cause']} at {flights[0]}, in the capture {other['exit_cause']} at {flights[1]}"
                                       f" {[of['undefined'].get('exit_cause') for of in (one, other)]}")
                # The first finite threshold that `ss` saw, if the watch has one, and the last numbers that it saw.
                seen = samples.get(one["to"], [])
                first = next((ssthresh for _, _, ssthresh in seen if ssthresh), None)
                if first and one["kernel_exit_ssthresh_segments"] is not None:
                    compared += 1
                    is_it = first == one["kernel_exit_ssthresh_segments"]
                    ss_same += is_it
                    if not is_it:
                        ss_differences.append(f"{one['to']} {law}: threshold {one['kernel_exit_ssthresh_segments']}, ss {first}")
                # The numbers of a connection that nothing is sent over do not change.
                if len(seen) > 2 and seen[-1] == seen[-2] == seen[-3] and seen[-1][0] == "ESTAB":
                    ss_ends += 1
                    ours = (one["cwnd_segments"], one["ssthresh_segments"])
                    ss_ends_same += seen[-1][1:] == ours
                    if seen[-1][1:] != ours:
                        ss_differences.append(f"{one['to']} {law}: in the end {ours}, ss {seen[-1][1:]}")
    print(f"{total} start-ups: the same exit cause in {same} ({same / total:.1%}; {undefined} of them undefined in both), windows within one "
          f"segment or 10 % in {windows} ({windows / total:.1%})")
    for one in differences:
        print(" ", one)
    print(f"ss -ti: the first finite threshold is the same in {ss_same} of {compared}; window and threshold of those that "
          f"nothing was sent over in the end in {ss_ends_same} of {ss_ends}")
    for one in ss_differences:
        print(" ", one)
    return same / total >= 0.95


def cpu(process):
    """Seconds of the processor that a process used."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        words = file.read().rsplit(") ", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def bpf_time():
    """Nanoseconds and runs of the programs of the watch."""
    said = subprocess.run(["bpftool", "prog", "show", "--json"], stdout=subprocess.PIPE, text=True, check=True)
    names = {"state": "tracing", "leaves": "tracing", "hears": "tracing", "closing": "sock_ops"}
    mine = [one for one in json.loads(said.stdout) if names.get(one.get("name")) == one["type"]]
    return {one["name"]: (one.get("run_time_ns", 0), one.get("run_cnt", 0)) for one in mine}


CLIENTS = """
import socket, sys, threading, time
rate, seconds = float(sys.argv[1]), float(sys.argv[2])
many = 4
def run(first):
    begin = time.monotonic() + 0.2
    for at in range(first, int(rate * seconds), many):
        wait = begin + at / rate - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        with socket.create_connection(("10.9.0.2", 8080)) as one:
            one.sendall(b"GET /10000 HTTP/1.0\\r\\n\\r\\n")
            while one.recv(65536):
                pass
threads = [threading.Thread(target=run, args=(first,)) for first in range(many)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def cost(program, rate, seconds=10):
    spaces = [f"ffw{os.getpid()}{end}" for end in "ab"]
    call = lambda *words: subprocess.run(words, check=True)
    server = None
    before = open("/proc/sys/kernel/bpf_stats_enabled", encoding="ascii").read()
    with tempfile.TemporaryDirectory() as root:
        site(root)
        try:
            for space in spaces:
                call("ip", "netns", "add", space)
            call("ip", "link", "add", "ve0", "netns", spaces[0], "type", "veth", "peer", "name", "ve0", "netns", spaces[1])
            for end, space in enumerate(spaces, 1):
                call("ip", "-n", space, "addr", "add", f"10.9.0.{end}/24", "dev", "ve0")
                call("ip", "-n", space, "link", "set", "ve0", "up")
                call("ip", "netns", "exec", space, "sysctl", "-qw", "net.ipv4.tcp_max_syn_backlog=8192", "net.core.somaxconn=8192",
                     "net.ipv4.ip_local_port_range=1024 65535", "net.ipv4.tcp_tw_reuse=1")
            server = subprocess.Popen(["ip", "netns", "exec", spaces[1], "nginx", "-p", root, "-c", f"{root}/nginx.conf"])
            time.sleep(0.5)
            with open("/proc/sys/kernel/bpf_stats_enabled", "w", encoding="ascii") as file:
                file.write("1")
            modes = {"the report alone": ["--plain"], "JSON": ["--json"], "Parquet": ["--plain", "--parquet", f"{root}/p"]}
            for name, more in modes.items():
                with open(f"{root}/out", "w", encoding="ascii") as out:
                    watch = subprocess.Popen([program, "watch", "--port", "8080", *more], stdout=out, stderr=subprocess.PIPE, text=True)
                watch.stderr.readline()
                start, began = cpu(watch.pid), time.monotonic()
                call("ip", "netns", "exec", spaces[0], "python3", "-c", CLIENTS, str(rate), str(seconds))
                time.sleep(0.3)
                took, used, bpf = time.monotonic() - began, cpu(watch.pid) - start, bpf_time()
                said = ended(watch)
                told = open(f"{root}/out", encoding="utf-8").read() + said
                opened = int(told.split(" connections opened")[0].split()[-1].replace(",", ""))
                kernel = sum(nanos for nanos, _ in bpf.values()) / 1e9
                print(f"{name}: {opened} connections in {took:.1f} s, {opened / seconds:.0f} a second; process {used / opened * 1e6:.1f} us, "
                      f"BPF {kernel / opened * 1e6:.1f} us a connection: {(used + kernel) / opened * 1000:.2%} of a core at 1,000 a second")
                print("   ", ", ".join(f"{name} {runs / opened:.1f} runs of {nanos / max(runs, 1):.0f} ns" for name, (nanos, runs) in bpf.items()))
        finally:
            with open("/proc/sys/kernel/bpf_stats_enabled", "w", encoding="ascii") as file:
                file.write(before)
            if server:
                server.terminate()
                server.wait()
            for space in spaces:
                subprocess.run(["ip", "netns", "del", space], check=False)
    return True


# Name, path, the schemes of the reference and of the other group.
OUTCOMES = [
    ("the page on deployment", ["--rate", "100mbit", "--rtt", "20ms", "--queue", "60p"], "slow-start", "hystart++"),
    ("helps", ["--rate", "100mbit", "--rtt", "20ms", "--queue", "60p"], "slow-start", "leap"),
    ("spares segments", ["--rate", "100mbit", "--rtt", "20ms", "--queue", "60p"], "slow-start", "hystart-linux"),
    ("does nothing", ["--rate", "100mbit", "--rtt", "20ms", "--queue", "60p"], "slow-start", "slow-start"),
    ("harms", ["--rate", "100mbit", "--rtt", "40ms", "--queue", "1000p"], "slow-start", "limited"),
]
TURNS = """sleep 1; for at in $(seq {each}); do for size in 100000 2000000; do for turn in a b; do
    curl -sS --http1.0 -o /dev/null -w "$turn $size %{{time_total}}\\n" http://10.0.0.2:8080/$size >> {root}/clock || exit 1
done; done; done; sleep 0.5"""
SERVE = """
import http.server, itertools, os, socket, sys
laws = itertools.cycle([b"ff_bench_a", b"ff_bench_b"])
class Server(http.server.ThreadingHTTPServer):
    def get_request(self):
        one, peer = super().get_request()
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, next(laws))
        return one, peer
class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
os.chdir(sys.argv[1])
Server(("", 8080), Files).serve_forever()
"""


def loaded(program, scheme, name):
    """A process that keeps a scheme in the kernel."""
    process = subprocess.Popen([program, "kernel", "load", scheme, "--name", name, "--handover", "reno"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if "is registered" not in line:
        sys.exit(line + process.stderr.read())
    return process


def by_clocks(path, size):
    """The change of the geometric mean of curl's times from one turn to the other, and its 95 % interval."""
    logs = {"a": [], "b": []}
    for line in open(path, encoding="ascii"):
        words = line.split()
        if words[1] == str(size):
            logs[words[0]].append(math.log(float(words[2])))
    mean = {key: sum(values) / len(values) for key, values in logs.items()}
    error = math.sqrt(sum(sum((one - mean[key]) ** 2 for one in values) / (len(values) - 1) / len(values) for key, values in logs.items()))
    change = mean["b"] - mean["a"]
    return [math.expm1(one) * 100 for one in (change, change - 1.96 * error, change + 1.96 * error)]


def outcome(program, each):
    for name, path, first, second in OUTCOMES:
        with tempfile.TemporaryDirectory() as root:
            site(root)
            for size in (100_000, 2_000_000):
                with open(f"{root}/{size}", "wb") as file:
                    file.write(bytes(size))
            keepers = [loaded(program, scheme, f"ff_bench_{end}") for end, scheme in zip("ab", (first, second))]
            try:
                watch = watched(program, f"{root}/watch", "--port", "8080", "--rows", f"{root}/rows")
                tuned = "sysctl -qw net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_wmem='4096 4194304 33554432'; exec python3 -c \"$0\" $1"
                ends = ["sh", "-c", TURNS.format(each=each, root=root), "--", "sh", "-c", tuned, SERVE, root]
                done = subprocess.run([program, "emulate", *path, "--sender", "b", "--json", "--", *ends], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL, check=False)
                time.sleep(0.5)
                said = ended(watch)
            finally:
                for keeper in keepers:
                    keeper.terminate()
                    keeper.wait()
            if not os.path.exists(f"{root}/clock"):
                sys.exit(done.stderr)
            result = json.loads(done.stdout)
            print(f"{name}: {second} for {first}, {' '.join(path)}; invalid: {result.get('void')}; {said}", flush=True)
            command = [program, "watch", "--compare", f"{root}/rows", "--groups", "ff_bench_a,ff_bench_b"]
            print(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
            for size in (100_000, 2_000_000):
                change, low, high = by_clocks(f"{root}/clock", size)
                print(f"curl, {size} B: {change:+.1f} % ({low:+.1f} to {high:+.1f} %)", flush=True)
    return True


def programs_of(process):
    """The numbers of the BPF programs that a process holds."""
    found = set()
    for name in os.listdir(f"/proc/{process}/fdinfo"):
        for line in open(f"/proc/{process}/fdinfo/{name}", encoding="ascii"):
            if line.startswith("prog_id:"):
                found.add(int(line.split()[1]))
    return found


def killed(program, each):
    """Kills watches at random moments, and counts the rows that are lost."""
    lost, rows, latest, left = 0, 0, 0.0, 0
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]

    def serve():
        while True:
            one = server.accept()[0]
            one.sendall(bytes(3000))
            one.close()

    threading.Thread(target=serve, daemon=True).start()
    for _ in range(each):
        with tempfile.TemporaryDirectory() as root:
            watch = watched(program, f"{root}/out", "--loopback", "--port", str(port), "--rows", f"{root}/rows")
            ends, until = {}, time.monotonic() + random.uniform(0.05, 2.5)
            while time.monotonic() < until:
                with socket.create_connection(("127.0.0.1", port)) as one:
                    name = f"127.0.0.1:{one.getsockname()[1]}"
                    while one.recv(65536):
                        pass
                ends[name] = time.monotonic()
                time.sleep(0.002)
            programs = programs_of(watch.pid)
            watch.send_signal(signal.SIGKILL)
            at = time.monotonic()
            watch.wait()
            text = open(f"{root}/rows", encoding="ascii").read()
            whole = text[:text.rfind("\n") + 1]
            there = {json.loads(line)["to"] for line in whole.splitlines()}
            missing = [at - end for name, end in ends.items() if name not in there]
            rows += len(ends)
            lost += len(missing)
            latest = max([latest, *missing])
            time.sleep(0.5)
            said = subprocess.run(["bpftool", "prog", "show", "--json"], stdout=subprocess.PIPE, text=True, check=True)
            left += len(programs & {one["id"] for one in json.loads(said.stdout)}) + len(set(os.listdir(root)) - {"rows", "out"})
    print(f"{each} kills: of {rows} connections {lost} have no row, of which the oldest ended {latest:.2f} s before the kill; {left} leftovers")
    return latest < 1.0 and left == 0


def main():
    if sys.argv[2:3] == ["capture"]:
        capture(*sys.argv[3:5])
    if sys.argv[2:3] == ["sample"]:
        sample(sys.argv[3])
    if sys.argv[2:3] == ["hold"]:
        return hold(sys.argv[3])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("what", choices=["agree", "cost", "outcome", "killed"])
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--rate", type=float, default=1000)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench/watch.py needs root")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if options.what == "cost":
        cost(options.program, options.rate)
    elif options.what == "outcome":
        outcome(options.program, options.each)
    elif options.what == "killed":
        if not killed(options.program, options.each):
            sys.exit(1)
    elif not agree(options.program, os.path.abspath(__file__), options.each):
        sys.exit(1)
    return None


if __name__ == "__main__":
    main()
