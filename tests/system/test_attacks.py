# SPDX-License-Identifier: Apache-2.0
"""Attacks on a cluster with keys: frames on the path that are repeated, left
out, exchanged, cut or changed, false workers and servers, and connections that
say nothing. Each is said in words and counted, and the stream is the same.

Tickets and HELLO are attacked in tests/worker/test_loop_keys.c, since only a
client with a ticket gets so far."""

import collections
import subprocess
import sys
import time

import zmtp
from test_hostile import recorded_frames, seal
from test_http import ANY, metrics, wait_for
import harness
from harness import PATIENT, Daemon, Pull, SystemTest
from proxy import Proxy

CONNECTIONS = 1000
REFUSED = next(frame for frame in recorded_frames() if frame[5] == 4)
SILENT = """
import socket, sys
number, *ports = map(int, sys.argv[1:])
all = [socket.create_connection(("127.0.0.1", port))
       for port in ports for _ in range(number)]
print("connected", flush=True)
sys.stdin.read()
"""


class OnPath(Proxy):
    """A host between trainers and a worker, which harms each 60th sealed frame
    of a direction in this way."""

    def __init__(self, harm, of_worker):
        self.harm = getattr(self, harm)
        self.of_worker = of_worker
        self.held = None
        self.seen = self.harmed = 0
        self.streams = collections.defaultdict(zmtp.Frames)
        super().__init__()

    def repeat(self, body):
        return [body, body]

    def leave_out(self, body):
        return []

    def exchange(self, body):
        self.held = body
        return []

    def cut(self, body):
        return [body[:-1]]

    def flip(self, body):
        middle = len(body) // 2
        return [body[:middle] + bytes([body[middle] ^ 1]) + body[middle + 1:]]

    def refuse(self, body):
        """Before it, a forged REFUSED in the clear: another version."""
        forged = bytearray(REFUSED)
        forged[17:25] = body[16:24]  # the session
        seal(forged)
        return [bytes(forged), body]

    def change(self, body):
        if not body.startswith(b"FBYS"):
            return [body]
        if self.held is not None:
            held, self.held = self.held, None
            return [body, held]
        self.seen += 1
        if self.seen % 60 != 0:
            return [body]
        self.harmed += 1
        return self.harm(body)

    def pass_on(self, data, of_worker):
        if of_worker != self.of_worker:
            return data
        return self.streams[self.source].replace(data, self.change)

    def on_answer(self, data):
        return self.pass_on(data, True)

    def on_request(self, data):
        return self.pass_on(data, False)


class Attacks(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.photos(number=96)
        self.pipeline = self.cluster.pipeline()
        self.keys = self.cluster.path("keys")
        self.make_keys(self.keys)

    def make_keys(self, folder):
        self.forebay("keys", "init", folder)
        self.forebay("keys", "add", folder, "worker")
        self.forebay("keys", "add", folder, "trainer", "t")

    def start_server(self):
        return self.cluster.start_server("--keys", self.keys, *ANY)

    def start_worker(self, *args, keys=None):
        return self.cluster.start_worker(
            "--keys", (keys or self.keys) / "worker.key", *ANY, *args)

    def pull(self, *args, keys=None, **options):
        return self.cluster.pull(
            self.pipeline, "--window", "1M", "--keys",
            (keys or self.keys) / "trainer-t.key", *args, **options)

    def assert_same(self, pull):
        """Assert that the stream was that of a cluster without attackers."""
        alone = self.cluster.pull_alone(
            self.pipeline, "--steps", len(pull.lines), "--workers", 1)
        alone.finish()
        self.assertEqual(pull.lines, alone.lines)

    # ---- frames on the path

    HARMS = ["repeat", "leave_out", "exchange", "cut", "flip"]

    def harm_frames(self, of_worker, harms,
                    words="BAD-FRAME .*: a frame is forged, repeated or lost"):
        self.start_server()
        for harm in harms:
            with self.subTest(harm):
                path = OnPath(harm, of_worker)
                self.addCleanup(path.close)
                worker = self.start_worker("--advertise", path.endpoint)
                path.to = worker.port
                pull = self.pull("--job", harm, "--epochs", "20")
                result = pull.finish()
                self.assert_same(pull)
                self.assertGreater(path.harmed, 0)
                log = pull if of_worker else worker
                self.assertRegex(log.text(), words)
                if of_worker:
                    self.assertGreater(result["protocol_errors"], 0)
                worker.terminate()
                if not of_worker:
                    self.assertNotIn("messages refused 0", worker.text())

    def test_frames_of_a_worker_that_are_harmed_on_their_way(self):
        self.harm_frames(True, self.HARMS)

    def test_frames_of_a_trainer_that_are_harmed_on_their_way(self):
        self.harm_frames(False, self.HARMS)

    def test_a_refusal_that_is_forged(self):
        self.harm_frames(True, ["refuse"],
                         "WORKER-FALSE .*, or the message is forged")

    # ---- false workers and servers

    def test_a_worker_of_another_cluster_is_not_registered(self):
        server = self.start_server()
        other = self.cluster.path("other")
        self.make_keys(other)
        begun = time.monotonic()
        worker = Daemon(self.cluster, [
            "worker", "--server", server.endpoint, "--data",
            f"data={self.cluster.root}", "--keys", str(other / "worker.key")])
        self.assert_said(
            worker, f" SERVER-SILENT no answer from {server.endpoint}; check "
            "that it runs and listens at this address, and that the key file "
            "is of this server; this worker keeps trying\n", begun)
        self.assertNotIn("REGISTERED", worker.text())

    def start_beside(self, false):
        """Start a worker with the address of a false one, which has the same
        data, and another one."""
        self.start_worker("--advertise", false.endpoint)
        self.start_worker()
        begun = time.monotonic()
        pull = self.pull("--epochs", "20", "--step-ms", "10")
        return pull, begun

    def test_a_worker_without_keys_at_the_address_of_another(self):
        self.start_server()
        clear = Daemon(self.cluster,
                       ["server", "--listen", "tcp://127.0.0.1:*"])
        false = Daemon(self.cluster, [
            "worker", "--server", clear.endpoint, "--data",
            f"data={self.cluster.root}"])
        pull, begun = self.start_beside(false)
        self.assert_said(
            pull, f"({false.endpoint}): it answers in the clear, though it "
            "registered with keys: another process listens at its address, or "
            "the message is forged\n", begun)
        self.assertGreater(pull.finish()["protocol_errors"], 0)
        self.assert_same(pull)

    def test_a_worker_with_other_keys_at_the_address_of_another(self):
        other = self.cluster.path("other")
        self.make_keys(other)
        self.cluster.start_server("--keys", other)
        false = self.start_worker(keys=other)
        self.start_server()
        pull, begun = self.start_beside(false)
        self.assert_said(
            pull, f"({false.endpoint}): the ticket is not for this worker: it "
            "was restarted, or the ticket is forged\n", begun)
        pull.finish()
        self.assert_same(pull)
        false.terminate()
        self.assertIn(" CLIENT-REFUSED the ticket is not for", false.text())

    def test_a_server_without_keys_at_the_address_of_another(self):
        server = self.cluster.start_server()
        begun = time.monotonic()
        pull = self.pull("--epochs", "1", "--open-timeout-ms", "8000")
        self.assert_said(
            pull, f" NO-WORKERS no answer from the server {server.endpoint}; "
            "check that it runs and listens at this address, and that the key "
            "file is of this server\n", begun)
        pull.finish(code=1)

    # ---- peers that a server closes without an answer

    def assert_handshakes_failed(self, daemon, role, least, reason):
        """They are counted and said."""
        name = f"forebay_{role}_handshakes_failed_total"
        wait_for(lambda: metrics(daemon).get(name, 0) >= least)
        daemon.wait_for_text(" HANDSHAKES-FAILED ")
        self.assertRegex(
            daemon.text(), " HANDSHAKES-FAILED [0-9]+ connections? ended in "
            f"the handshake: [0-9]+ {reason}[,\n]")

    def test_trainers_without_a_key_and_of_another_cluster_are_counted(self):
        other = self.cluster.path("other")
        self.make_keys(other)
        for keys in (None, other / "trainer-t.key"):  # None may close first
            with self.subTest(keys):
                server = self.start_server()
                begun = time.monotonic()
                pull = self.cluster.pull(
                    self.pipeline, "--epochs", "1", "--open-timeout-ms",
                    "60000", *(["--keys", keys] if keys else []))
                self.assert_said(server, " HANDSHAKES-FAILED ", begun)
                self.assert_handshakes_failed(
                    server, "server", 2,
                    "(without a key or with one for another server"
                    "|silent, or closed by the peer, which may have no key)")
                self.assert_said(
                    pull, " NO-WORKERS no answer from the server "
                    f"{server.endpoint}; check that it runs", begun)
                pull.kill()

    # ---- clocks

    def test_hosts_whose_clocks_differ_by_a_month(self):
        """Tickets expire by the worker's own clock."""
        def clock(offset_s):
            return ["unshare", "-rT", "--monotonic", str(offset_s)]

        probe = subprocess.run([*clock(1), "true"], check=False,
                               capture_output=True, text=True)
        if probe.returncode != 0:
            self.skipTest(f"no time namespaces here: {probe.stderr}")
        server = self.start_server()
        worker = Daemon(self.cluster, [
            "worker", "--server", server.endpoint, "--data",
            f"data={self.cluster.root}", "--keys",
            str(self.keys / "worker.key")], prefix=clock(30 * 86400))
        pull = self.pull("--epochs", "20", prefix=clock(3600))
        pull.finish()
        self.assert_same(pull)
        self.assertNotIn("EXPIRED", worker.text())

    # ---- connections that say nothing

    def steps_within(self, pull, duration_s):
        until = time.monotonic() + duration_s
        before = len(pull.lines)
        while time.monotonic() < until:
            pull.has_step(max(0, until - time.monotonic()))
        return len(pull.lines) - before

    def test_a_thousand_silent_connections(self):
        server = self.start_server()
        worker = self.start_worker()
        pull = self.pull("--epochs", "100000", "--step-ms", "50",
                         watched=True, env=PATIENT)
        pull.steps(3)
        usual = self.steps_within(pull, 4)
        with subprocess.Popen(
                [sys.executable, "-c", SILENT, str(CONNECTIONS),
                 str(server.port), str(worker.port)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True) as silent:
            self.assertEqual(silent.stdout.readline(), "connected\n")
            self.assertGreater(self.steps_within(pull, 4), 0.9 * usual)
            self.start_worker()  # is registered meanwhile
            pull.wait_for_text(" WORKER-FOUND ", times=2)
            for daemon, role in ((server, "server"), (worker, "worker")):
                self.assertIsNone(daemon.process.poll())
                self.assert_handshakes_failed(
                    daemon, role, CONNECTIONS, "silent, or closed by the peer"
                    "(, which may have no key)?")
            silent.communicate()


if __name__ == "__main__":
    harness.main(at_once=3)  # the tests mostly wait
