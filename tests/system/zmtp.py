# SPDX-License-Identifier: Apache-2.0
"""A minimal DEALER of ZMTP 3.0 (RFC 23), for tests of misbehaving peers."""

import socket
import struct

SIGNATURE = b"\xff" + bytes(8) + b"\x7f"
GREETING = (SIGNATURE + b"\x03\x00" + b"NULL".ljust(20, b"\0") + b"\x00" +
            bytes(31))
MORE, LONG, COMMAND = 1, 2, 4


def frame(body, flags=0):
    if len(body) > 255:
        return struct.pack(">BQ", flags | LONG, len(body)) + body
    return struct.pack("BB", flags, len(body)) + body


def ready():
    name, value = b"Socket-Type", b"DEALER"
    return frame(b"\x05READY" + bytes([len(name)]) + name +
                 struct.pack(">I", len(value)) + value, COMMAND)


class Frames:
    """One direction of a connection, taken apart."""

    def __init__(self):
        self.left = 64  # bytes of the greeting
        self.rest = b""

    def replace(self, data, change):
        """Take bytes; return them with `change(body)`, a list of bodies, in
        place of each message of one frame that is complete."""
        greeting, data = data[:self.left], data[self.left:]
        self.left -= len(greeting)
        self.rest += data
        out = greeting
        while True:
            head = 9 if self.rest and self.rest[0] & LONG else 2
            if len(self.rest) < head:
                return out
            flags = self.rest[0]
            size = int.from_bytes(self.rest[1:head], "big")
            if len(self.rest) < head + size:
                return out
            whole, body = self.rest[:head + size], self.rest[head:head + size]
            self.rest = self.rest[head + size:]
            if flags & COMMAND:
                out += whole
            else:
                out += b"".join(frame(changed) for changed in change(body))


class Peer:
    """A connection after its handshake, which may send any bytes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.sendall(GREETING + ready())
        self.read(64)

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("cut")
            data += more
        return data

    def send(self, *bodies):
        """Send one message of these frames."""
        data = b""
        for i, body in enumerate(bodies):
            data += frame(body, MORE if i + 1 < len(bodies) else 0)
        self.socket.sendall(data)

    def receive(self):
        """Receive the only frame of the next message; skips commands."""
        while True:
            flags = self.read(1)[0]
            size = (struct.unpack(">Q", self.read(8))[0] if flags & LONG
                    else self.read(1)[0])
            body = self.read(size)
            if not flags & COMMAND:
                return body

    def close(self):
        self.socket.close()

    def finish(self):
        """Close after the other side has read everything. A plain close with
        unread answers would reset the connection and lose data."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
            while self.socket.recv(1 << 16):
                pass
        except OSError:
            pass  # the other side has reset the connection
        self.close()
