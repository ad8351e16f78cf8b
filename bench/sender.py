#!/usr/bin/env python3
"""A plain TCP transfer: a sender that the kernel does not pace, whatever the system's default is.

bench/sender.py send ADDRESS SECONDS [CONGESTION_CONTROL]
bench/sender.py receive

The congestion control is set before the connection is opened: one that is set later leaves on what the default has begun, such as BBR's
pacing (docs/guide/emulate.md)."""

import socket
import sys
import time

PORT = 5201
PIECE = bytes(1 << 16)


def send(address, seconds, congestion_control="cubic"):
    with socket.socket() as sender:
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
        sender.connect((address, PORT))
        end = time.monotonic() + float(seconds)
        while (left := end - time.monotonic()) > 0:
            sender.settimeout(left)
            try:
                sender.send(PIECE)
            except TimeoutError:
                break


def receive():
    with socket.create_server(("", PORT)) as server:
        receiver, _ = server.accept()
        while receiver.recv(len(PIECE)):
            pass


if sys.argv[1] == "send":
    send(*sys.argv[2:])
else:
    receive()
