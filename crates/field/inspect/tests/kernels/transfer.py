"""One TCP connection.

usage: transfer.py receive ADDRESS PORT
       transfer.py send ADDRESS PORT CONGESTION_CONTROL BYTES [IDLE_S BYTES]...

The sender says `sent` once everything is acknowledged, and keeps the connection until its standard input ends.
"""
import fcntl
import socket
import struct
import sys
import time

SIOCOUTQ = 0x5411


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def receive(address, port):
    listening = socket.socket(family(address), socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((address, port))
    listening.listen()
    print("ready", flush=True)
    connection, _ = listening.accept()
    while connection.recv(1 << 20):
        pass


def send(address, port, control, first, rest):
    connection = socket.socket(family(address), socket.SOCK_STREAM)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    connection.connect((address, port))
    connection.sendall(bytes(first))
    while rest:
        drained(connection)
        time.sleep(float(rest[0]))
        connection.sendall(bytes(int(rest[1])))
        rest = rest[2:]
    drained(connection)
    print("sent", flush=True)
    sys.stdin.read()


def drained(connection):
    while struct.unpack("i", fcntl.ioctl(connection, SIOCOUTQ, bytes(4)))[0]:
        time.sleep(0.005)


if sys.argv[1] == "receive":
    receive(sys.argv[2], int(sys.argv[3]))
else:
    send(sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5]), sys.argv[6:])
