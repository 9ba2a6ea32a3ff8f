# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy on loopback that counts bytes and can reset connections
periodically."""

import math
import random
import selectors
import socket
import struct
import threading
import time


class Proxy:
    """Forwards to the port `to`, which may be set later. Resets each connection
    after `every_s` seconds."""

    def __init__(self, to=None, every_s=math.inf):
        self.to = to
        self.every_s = every_s
        self.resets = 0
        self.answered = 0  # bytes received from `to`
        self.source = None  # of the bytes that a hook gets
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, None)
        self.pairs = []
        self.servers = set()
        self.wake, self.waker = socket.socketpair()
        self.selector.register(self.wake, selectors.EVENT_READ, None)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    @property
    def endpoint(self):
        return f"tcp://127.0.0.1:{self.port}"

    def close(self):
        self.waker.send(b"x")
        self.thread.join()
        for sock in (self.listener, self.wake, self.waker):
            sock.close()

    def accept(self):
        client, _ = self.listener.accept()
        try:
            server = socket.create_connection(
                ("127.0.0.1", self.to), timeout=5)
        except OSError:
            client.close()
            return
        for end, other in ((client, server), (server, client)):
            end.setblocking(True)
            self.selector.register(end, selectors.EVENT_READ, other)
        self.servers.add(server)
        self.pairs.append((time.monotonic() + self.every_s, client, server))

    def reset(self, pair):
        for sock in pair[1:]:
            self.selector.unregister(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            struct.pack("ii", 1, 0))
            sock.close()
        self.servers.discard(pair[2])
        self.pairs.remove(pair)

    def on_answer(self, data):
        """What to forward of bytes from `to`; for subclasses."""
        return data

    def on_request(self, data):
        """What to forward of bytes to `to`; for subclasses."""
        return data

    def pump(self, sock, other):
        self.source = sock
        try:
            data = sock.recv(1 << 18)
            if data:
                if sock in self.servers:
                    self.answered += len(data)
                    data = self.on_answer(data)
                else:
                    data = self.on_request(data)
                other.sendall(data)
                return
        except OSError:
            pass
        for pair in self.pairs:
            if sock in pair:
                self.reset(pair)
                return

    def due(self):
        now = time.monotonic()
        for pair in list(self.pairs):
            if pair[0] <= now:
                self.resets += 1
                self.reset(pair)

    def serve(self):
        while True:
            for key, _ in self.selector.select(0.02):
                if key.fileobj is self.wake:
                    for pair in list(self.pairs):
                        self.reset(pair)
                    return
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj.fileno() >= 0:
                    self.pump(key.fileobj, key.data)
            self.due()


class BadNetwork(Proxy):
    """Delays all that it forwards, flips bits, stalls and resets."""

    KINDS = {30: "flip", 60: "flip", 75: "reset", 90: "stall"}

    def __init__(self, seed, to=None):
        self.random = random.Random(seed)
        self.reads = 0
        self.done = {kind: 0 for kind in self.KINDS.values()}
        super().__init__(to)

    def flip(self, data):
        """Flip one bit."""
        data = bytearray(data)
        data[self.random.randrange(len(data))] ^= 1 << self.random.randrange(8)
        return data

    def disturb(self, data):
        """Of 100 reads, two lose a bit, one is reset and one stalls."""
        kind = self.KINDS.get(self.reads % 100, "")
        self.reads += 1
        if kind:
            self.done[kind] += 1
        time.sleep(1.2 if kind == "stall" else 0.005)
        if kind == "reset":
            raise ConnectionError("on purpose")
        return self.flip(data) if kind == "flip" else data

    on_answer = on_request = disturb
