# SPDX-License-Identifier: Apache-2.0
"""Garbage to every port: it is counted and refused, without a crash or an
effect on other peers."""

import collections
import contextlib
import ctypes
import os
import pathlib
import random
import re
import socket
import struct
import time
import unittest

import harness
import zmtp
from harness import LONG, PATIENT, SLOW, SystemTest
from proxy import Proxy

FRAMES = pathlib.Path(__file__).parents[1] / "golden" / "frames"


# Field 6 of HELLO, max_bytes: as recorded (8 GiB), and 512 MiB.
RECORDED_MAX_BYTES = b"\x30\x80\x80\x80\x80\x20"
HALF_OF_MEMORY = b"\x30\x80\x80\x80\x80\x02"


def recorded_frames():
    """One valid message of each type, from tests/golden."""
    frames = []
    for path in sorted(FRAMES.iterdir()):
        data = path.read_bytes()
        if path.suffix == ".hex":
            data = bytes.fromhex("".join(data.decode().split()))
        frames.append(data)
    return frames


XXHASH = ctypes.CDLL("libxxhash.so.0")  # the executable needs it as well
XXHASH.XXH3_64bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
XXHASH.XXH3_64bits.restype = ctypes.c_uint64


def seal(data):
    """Give a control message the hash of its bytes."""
    rest = bytes(data[:8] + data[16:])
    data[8:16] = XXHASH.XXH3_64bits(rest, len(rest)).to_bytes(8, "little")


def mutations(frames, rng, count, seals=True):
    """Damaged messages; every other one with a valid hash."""
    for i in range(count):
        data = bytearray(rng.choice(frames))
        kind = rng.randrange(4)
        if kind == 0:
            del data[rng.randrange(len(data)):]
        elif kind == 1:
            for _ in range(rng.randrange(1, 8)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        elif kind == 2:
            data += rng.randbytes(rng.randrange(1, 5000))
        else:
            data[4:8] = rng.randbytes(4)
        if seals and i % 2 == 0 and len(data) >= 16 and data[:4] == b"FBYM":
            seal(data)
        yield bytes(data)


class Messages(Proxy):
    """Takes the messages of connections apart, for subclasses to change."""

    def __init__(self, to=None):
        self.streams = collections.defaultdict(zmtp.Frames)
        super().__init__(to)

    def change_of_client(self, body):
        return [body]

    def change_to_client(self, body):
        return [body]

    def on_request(self, data):
        return self.streams[self.source].replace(data, self.change_of_client)

    def on_answer(self, data):
        return self.streams[self.source].replace(data, self.change_to_client)


class Recorder(Messages):
    """Keeps the last message of each type that clients send."""

    def __init__(self):
        self.last = {}
        super().__init__()

    def change_of_client(self, body):
        self.last[body[5]] = body
        return [body]


class Damage(Messages):
    """Damages one of `every` messages to clients; `sealed`: it then gets the
    hash of its bytes."""

    def __init__(self, to, rng, every, sealed):
        self.rng, self.every, self.sealed = rng, every, sealed
        self.damaged = 0
        super().__init__(to)

    def change_to_client(self, body):
        if self.rng.randrange(self.every) > 0:
            return [body]
        self.damaged += 1
        data = bytearray(next(mutations([body], self.rng, 1, seals=False)))
        if self.sealed and len(data) >= 16 and data[:4] == b"FBYM":
            seal(data)
        return [bytes(data)]


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


class Hostile(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.env.update(PATIENT)  # disconnects no slow peer
        self.cluster.photos(number=64)
        self.pipeline = self.cluster.pipeline()
        self.workers = self.cluster.start(1)
        self.seed = int(os.environ.get("FOREBAY_SEED", "1"))
        self.rng = random.Random(self.seed)
        self.pull = self.cluster.pull(
            self.pipeline, "--epochs", 100, "--step-ms", 5, watched=True)
        self.pull.steps(3)
        self.ports = [self.cluster.server.port, self.workers[0].port]

    def assert_undisturbed(self):
        self.pull.steps(20)
        for daemon in self.cluster.daemons:
            self.assertIsNone(daemon.process.poll(), daemon.text())

    def assert_counted(self, least):
        """Assert that server and workers report at their end how many messages
        they refused."""
        for daemon in reversed(self.cluster.daemons):
            self.assertEqual(daemon.terminate(), 0)
            log = daemon.text()
            counted = re.search(r"-ENDED .*messages refused (\d+)", log)
            self.assertGreaterEqual(int(counted.group(1)), least, log)

    def test_bytes_that_are_no_handshake(self):
        for port in self.ports:
            for data in (b"", b"GET / HTTP/1.0\r\n\r\n",
                         self.rng.randbytes(4096), zmtp.SIGNATURE,
                         zmtp.GREETING + b"\xff" * 100):
                with socket.create_connection(("127.0.0.1", port)) as raw:
                    raw.sendall(data)
        self.assert_undisturbed()

    def test_messages_that_are_none(self):
        for port in self.ports:
            peer = zmtp.Peer(port)
            for size in (0, 1, 7, 8, 63, 64, 65, 1000, 100000):
                peer.send(self.rng.randbytes(size))
                peer.send(b"FBYM" + self.rng.randbytes(size))
                peer.send(b"FBYC" + self.rng.randbytes(size))
            peer.send(b"a", b"b", b"c")
            peer.send(*([b""] * 200))
            peer.finish()
        self.assert_undisturbed()
        self.assert_counted(20)

    def test_recorded_messages_in_any_order_to_anybody(self):
        frames = recorded_frames()
        self.assertGreater(len(frames), 20)
        for port in self.ports:
            for _ in range(5):
                peer = zmtp.Peer(port)
                for data in self.rng.sample(frames, len(frames)):
                    peer.send(data)
                peer.finish()
        self.assert_undisturbed()
        self.assert_counted(5)

    def test_damaged_messages(self):
        frames = recorded_frames()
        for port in self.ports:
            peer = zmtp.Peer(port)
            for data in mutations(frames, self.rng, 3000):
                peer.send(data)
            peer.finish()
        self.assert_undisturbed()
        self.assert_counted(1000)

    def test_an_oversized_message_cuts_its_own_connection(self):
        for port in self.ports:
            peer = zmtp.Peer(port)
            with self.assertRaises(ConnectionError):
                peer.socket.sendall(
                    struct.pack(">BQ", zmtp.LONG, 1 << 40) + bytes(1 << 16))
                while True:
                    peer.receive()
            peer.close()
        self.assert_undisturbed()

    def test_a_peer_that_asks_and_never_reads_costs_a_bounded_amount(self):
        pings = zmtp.frame(next(
            f for f in recorded_frames() if f[5] == 5)) * 1000
        for part in (self.workers[0], self.cluster.server):
            peer = zmtp.Peer(part.port)
            before = part.rss_bytes()
            with contextlib.suppress(ConnectionError):  # cut off at last
                for _ in range(800):
                    peer.socket.sendall(pings)
            self.pull.steps(20)
            self.assertLess(part.rss_bytes() - before, (32 << 20) * SLOW)
            peer.close()
        self.assert_undisturbed()

    def record(self):
        """A worker, and the last HELLO, OPEN and REQUEST of a client of it."""
        recorder = Recorder()
        self.addCleanup(recorder.close)
        worker = self.cluster.start_worker("--advertise", recorder.endpoint)
        recorder.to = worker.port
        pull = self.cluster.pull(
            self.pipeline, "--job", "recorded", "--epochs", 100, "--step-ms",
            5, watched=True)
        while 11 not in recorder.last:
            pull.steps(1)
        pull.kill()
        return worker, [recorder.last[kind] for kind in (1, 7, 11)]

    def test_a_client_that_requests_batches_and_never_reads_one(self):
        worker, (hello, opening, request) = self.record()

        def own(body):
            body = bytearray(body)
            body[17:25] = struct.pack("<Q", 77)  # the session
            seal(body)
            return bytes(body)

        peer = zmtp.Peer(worker.port)
        self.addCleanup(peer.close)
        peer.send(own(hello))
        peer.send(own(opening))
        while peer.receive()[5] != 9:  # OPENED
            pass
        number = 26  # where the request's number begins
        end = number + 1
        while request[end - 1] & 0x80:
            end += 1
        before = worker.rss_bytes()
        for i in range(1000000 if LONG else 50000):
            peer.send(own(
                request[:number] + varint(1000 + i) + request[end:]))
        self.pull.steps(20)
        self.assertLess(worker.rss_bytes() - before, (64 << 20) * SLOW)
        self.assert_undisturbed()

    def test_bytes_that_drip(self):
        for port in self.ports:
            peers = [zmtp.Peer(port) for _ in range(50)]
            for peer in peers:  # a frame of a MiB
                self.addCleanup(peer.close)
                peer.socket.sendall(struct.pack(">BQ", zmtp.LONG, 1 << 20))
            slow = socket.create_connection(("127.0.0.1", port))
            self.addCleanup(slow.close)
            begun = time.monotonic()
            with self.assertRaises(OSError):  # a handshake ends within 2 s
                for byte in zmtp.GREETING:
                    slow.sendall(bytes([byte]))
                    for peer in peers:
                        peer.socket.sendall(b"x")
                    harness.wait(0.1)
            self.assertLess(time.monotonic() - begun, 5 * SLOW)
        self.assert_undisturbed()

    def test_a_worker_of_another_address_is_told_to_listen_elsewhere(self):
        """And the server names no such worker to a trainer."""
        worker = harness.Daemon(self.cluster, [
            "worker", "--server", self.cluster.server.endpoint,
            "--data", f"data={self.cluster.root}",
            "--advertise", "tcp://192.0.2.1:7999"])
        worker.wait_for_text(
            f" REGISTER-REFUSED by {self.cluster.server.endpoint}: endpoint "
            "'tcp://192.0.2.1:7999': the worker registers from address "
            "127.0.0.1: without keys both must be the same: start the worker "
            "with --listen tcp://127.0.0.1:*; this worker keeps trying")
        self.assertNotIn("192.0.2.1", self.pull.text())
        self.assert_undisturbed()

    def test_many_sessions_of_one_connection_leave_room_for_others(self):
        """Each announces batches of half of the worker's memory."""
        hello = next(f for f in recorded_frames() if f[5] == 1).replace(
            RECORDED_MAX_BYTES, HALF_OF_MEMORY)
        peer = zmtp.Peer(self.workers[0].port)
        for number in range(1200):
            session = bytearray(hello)
            session[17:25] = struct.pack("<Q", 1 + number)
            seal(session)
            peer.send(bytes(session))
            self.assertEqual(peer.receive()[5], 2)  # WELCOME
        peer.close()
        pull = self.cluster.pull(self.pipeline, "--job", "other", "--epochs", 1)
        pull.finish()
        self.assert_sound(pull.result)
        self.assertNotIn("WORKER-FULL", pull.text())
        self.assertEqual(
            self.workers[0].text().count("CLIENT-SILENT"), 0)
        self.assert_undisturbed()

    def test_a_version_that_is_not_spoken_is_answered(self):
        peer = zmtp.Peer(self.workers[0].port)
        hello = next(f for f in recorded_frames() if f[5] == 1)
        peer.send(hello[:4] + b"\x09" + hello[5:])
        answer = peer.receive()
        self.assertEqual(answer[:4], b"FBYM")
        self.assertEqual(answer[5], 4)  # REFUSED
        peer.close()
        self.assert_undisturbed()


class OtherVersion(Proxy):
    """A client behind it sends messages of version 2."""

    def on_request(self, data):
        return data.replace(b"FBYM\x01", b"FBYM\x02")


class OtherVersions(SystemTest):
    SAID = ("it speaks version 1 of the protocol, and this process version 1: "
            "install the same release of Forebay on both")

    def setUp(self):
        super().setUp()
        self.cluster.photos(number=64)
        self.pipeline = self.cluster.pipeline()
        self.server = self.cluster.start_server()

    def behind(self, to=None):
        path = OtherVersion(to)
        self.addCleanup(path.close)
        return path

    def refused(self, said):
        pull = self.cluster.pull(self.pipeline, "--epochs", 1)
        pull.finish(code=1)
        self.assertIn(said, pull.error)

    def test_a_server_refuses_a_worker(self):
        worker = harness.Daemon(self.cluster, [
            "worker", "--server", self.behind(self.server.port).endpoint,
            "--data", f"data={self.cluster.root}"])
        worker.wait_for_text(" REGISTER-REFUSED ")
        self.assertIn(f"{self.SAID}; this worker keeps trying", worker.text())

    def test_a_server_refuses_a_trainer(self):
        self.server.endpoint = self.behind(self.server.port).endpoint
        self.refused(f"the server refused: {self.SAID}")

    def test_a_worker_refuses_a_trainer(self):
        path = self.behind()
        path.to = self.cluster.start_worker("--advertise", path.endpoint).port
        self.refused(self.SAID)


class DamagedAnswers(SystemTest):
    """The network damages what server and workers send to a client."""

    def setUp(self):
        super().setUp()
        self.cluster.photos(number=64)
        self.pipeline = self.cluster.pipeline()
        self.rng = random.Random(int(os.environ.get("FOREBAY_SEED", "1")))
        # Else pauses before a peer is tried again grow to 30 s.
        self.cluster.env["FOREBAY_TIME_DIVISOR"] = "10"

    def damage(self, to, every, sealed):
        path = Damage(to, self.rng, every, sealed)
        self.addCleanup(path.close)
        self.paths.append(path)
        return path

    def pull(self, every, sealed):
        self.paths = []
        server = self.cluster.start_server()
        path = self.damage(server.port, every, sealed)
        for _ in range(2):
            to_worker = self.damage(None, every, sealed)
            to_worker.to = self.cluster.start_worker(
                "--advertise", to_worker.endpoint).port
        server.endpoint = path.endpoint
        return self.cluster.pull(
            self.pipeline, "--epochs", 10, "--window", "1M",
            "--open-timeout-ms", 20000)

    def test_the_stream_is_the_same(self):
        alone = self.cluster.pull_alone(
            self.pipeline, "--epochs", 10, "--workers", 1)
        alone.finish()
        for every in (5, 20, 60):
            pull = self.pull(every, sealed=False)
            pull.finish()
            self.assertEqual(pull.lines, alone.lines)
            self.assertGreater(sum(path.damaged for path in self.paths), 0)

    def test_with_valid_hashes_it_is_refused_or_read(self):
        for every in (5, 20, 60):
            pull = self.pull(every, sealed=True)
            pull.finish(code=None)
            self.assertIn(pull.process.returncode, (0, 1), pull.text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
