"""A path between two network namespaces: a rate, a drop-tail queue and a delay one way, a delay the other way.

usage: path.py NEAR_NAMESPACE FAR_NAMESPACE RATE_BITS_PER_S QUEUE_PACKETS DELAY_S LATE_FILE

Makes a TUN device `path` in either namespace and carries packets between them. It stands here because not every
kernel has netem. By how much the latest packet was late, in seconds, stands in the file.
"""
import collections
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000


def tun_in(namespace):
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}") as place:
        if libc.setns(place.fileno(), 0) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH14x", b"path", IFF_TUN | IFF_NO_PI))
    return device


def main():
    near, far = tun_in(sys.argv[1]), tun_in(sys.argv[2])
    rate, limit, delay = float(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
    try:
        # It sleeps whenever nothing is due, so it may come before all others.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        pass
    latest = 0.0
    note = open(sys.argv[6], "w")
    print("ready", flush=True)
    there, back = collections.deque(), collections.deque()
    departures = collections.deque()
    free_at = 0.0
    while True:
        now = time.monotonic()
        due = [line[0][0] for line in (there, back) if line]
        select.select([near, far], [], [], max(0.0, min(due) - now) if due else 0.1)
        now = time.monotonic()
        for device, is_forward in ((near, True), (far, False)):
            for _ in range(64):
                try:
                    packet = os.read(device, 65536)
                except BlockingIOError:
                    break
                except OSError:
                    break
                if not is_forward:
                    back.append((now + delay, packet))
                    continue
                while departures and departures[0] <= now:
                    departures.popleft()
                if len(departures) >= limit:
                    continue
                free_at = max(free_at, now) + len(packet) * 8 / rate
                departures.append(free_at)
                there.append((free_at + delay, packet))
        for line, device in ((there, far), (back, near)):
            while line and line[0][0] <= now:
                if now - line[0][0] > latest:
                    latest = now - line[0][0]
                    note.seek(0)
                    note.write(f"{latest:.6f}")
                    note.flush()
                try:
                    os.write(device, line.popleft()[1])
                except OSError:
                    pass


main()
