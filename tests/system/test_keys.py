# SPDX-License-Identifier: Apache-2.0
"""A cluster with keys: real processes, whose keys are right, wrong, of another
role, limited, or removed while they run."""

import os
import shutil
import subprocess
import time

import harness
from harness import DEADLINE, Daemon, FOREBAY, PATIENT, SLOW, SystemTest
from proxy import Proxy
from test_http import ANY, metrics, wait_for

STEPS = 6
TICKETS = int(200 / SLOW)  # divides the 10 minutes that a ticket is valid
TICKET_S = 600 / TICKETS
STEP_MS = int(100 * SLOW)


PIPELINE = """\
forebay: 1
splits: {train: {folder: 'd:', shuffle: full}}
global_batch: 32
fields:
  image: {from: jpg, decode: rgb8, ops: [{resize: {size: [64, 64]}}]}
"""


def line_of(path, name):
    """The value of a line of a key file."""
    return dict(line.split(" ", 1)
                for line in path.read_text().splitlines())[name]


def set_line(path, name, value):
    path.write_text("".join(
        f"{name} {value}\n" if line.startswith(f"{name} ") else line
        for line in path.read_text().splitlines(keepends=True)))


class Tap(Proxy):
    """Records what a worker sends, and flips one bit of it."""

    def __init__(self, flip_after=None):
        super().__init__()
        self.seen = bytearray()
        self.flip_after = flip_after
        self.flips = 0

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def on_answer(self, data):
        self.seen += data
        if self.flip_after is not None and len(self.seen) > self.flip_after:
            self.flip_after = None
            self.flips += 1
            middle = len(data) // 2
            data = (data[:middle] + bytes([data[middle] ^ 1])
                    + data[middle + 1:])
        return data


class Keys(SystemTest):
    def setUp(self):
        super().setUp()
        if SLOW > 1:  # a worker that starts late is no cause for a warning
            self.cluster.env.update(PATIENT)
        self.folder = self.cluster.path("keys")
        self.root = self.cluster.photos(number=192)
        self.keyed_pipeline = self.cluster.path("keyed.yaml")
        self.keyed_pipeline.write_text(PIPELINE)
        self.keys("init")
        self.keys("add", "worker")
        self.keys("add", "trainer", "alice")

    def keys(self, action, *args, code=0):
        shown = subprocess.run(
            [FOREBAY, "keys", action, str(self.folder), *args],
            capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(shown.returncode, code, shown.stderr)
        return shown.stdout + shown.stderr

    def start_server(self, *args, env=None):
        self.server = Daemon(self.cluster, [
            "server", "--listen", "tcp://127.0.0.1:*", "--keys",
            str(self.folder), *args], env=env)
        self.cluster.server = self.server
        return self.server

    def start_worker(self, *args, keys="worker.key", server=None, env=None):
        keyed = ["--keys", str(self.folder / keys)] if keys else []
        return Daemon(self.cluster, [
            "worker", "--server", server or self.server.endpoint, "--data",
            f"d={self.root}", "--threads", "1", *keyed, *args], env=env)

    def start(self, *args):
        self.start_server(*args)
        return self.start_worker()

    def pull(self, *args, keys="trainer-alice.key", server=None, job="a-1",
             steps=STEPS):
        """(exit code, standard error, digests) of `forebay pull`."""
        digests = self.cluster.path(f"digests-{self.cluster.number()}")
        keyed = ["--keys", str(self.folder / keys)] if keys else []
        shown = subprocess.run(
            [FOREBAY, "pull", "-p", str(self.keyed_pipeline), "--server",
             server or self.server.endpoint, "--job", job, "--steps",
             str(steps), "--digests", str(digests), "--open-timeout-ms",
             "20000", *keyed, *args],
            capture_output=True, text=True, check=False, timeout=120,
            env={**self.cluster.env, "FOREBAY_LOG": "warn"})
        text = digests.read_text() if digests.exists() else ""
        return shown.returncode, shown.stderr, text

    def clear_digests(self, steps=STEPS):
        """Those of a cluster without keys."""
        server = Daemon(
            self.cluster, ["server", "--listen", "tcp://127.0.0.1:*"])
        self.start_worker(keys=None, server=server.endpoint)
        code, text, digests = self.pull(
            "--epochs", str(steps), keys=None, server=server.endpoint,
            steps=steps)
        self.assertEqual(code, 0, text)
        return digests

    def test_the_stream_is_that_of_a_cluster_without_keys(self):
        clear = self.clear_digests()
        for mode in ("full", "auth"):
            self.start("--secure", mode)
            code, text, digests = self.pull()
            self.assertEqual(code, 0, text)
            self.assertEqual(digests, clear)

    def through_tap(self, tap, *args):
        """A worker that trainers reach through the tap."""
        worker = self.start_worker("--advertise", tap.endpoint)
        tap.to = worker.port
        code, text, digests = self.pull(*args, job="a-job-of-alice")
        self.assertEqual(code, 0, text)
        return text, digests

    def test_the_wire_shows_no_name_and_no_value(self):
        clear = self.clear_digests()
        self.start_server("--secure", "full")
        with Tap() as tap:
            self.assertEqual(self.through_tap(tap)[1], clear)
            seen = bytes(tap.seen)
        self.assertGreater(len(seen), STEPS * 32 * 64)
        self.assertIn(b"FBYS", seen)
        for name in (b"a-job-of-alice", b"image", b"FBYM\1\x14"):
            self.assertFalse(name in seen, name)

    def test_a_flipped_bit_is_noticed_and_the_batch_asked_for_again(self):
        clear = self.clear_digests()
        self.start_server("--secure", "full")
        with Tap(flip_after=100000) as tap:
            text, digests = self.through_tap(tap)
            self.assertEqual((digests, tap.flips), (clear, 1))
        self.assertRegex(text, "BAD-FRAME .*: a frame is forged, repeated or "
                         "lost|^$")  # or the flip broke the connection

    def test_the_keys_of_a_route_are_replaced(self):
        """After 64 GiB; here after 256 KiB, with the route going on."""
        clear = self.clear_digests()
        fault = {"FOREBAY_FAULT": f"secure.key:bytes={1 << 18}"}
        self.cluster.env.update(fault)
        self.start_server("--secure", "full")
        with Tap() as tap:
            self.assertEqual(self.through_tap(tap)[1], clear)
            heads = bytes(tap.seen).split(b"FBYS\1")[1:]
        generations = [head[1] | head[2] << 8 for head in heads]
        self.assertGreaterEqual(generations[-1], 2)
        self.assertEqual(generations, sorted(generations))
        self.assertEqual(self.cluster.daemons[-1].text().count("CLIENT-NEW"), 1)

    def start_pull(self, keys, *args, job="a-1"):
        """Start a trainer with this key file; the test goes on meanwhile."""
        keyed = ["--keys", str(keys)] if keys else []
        return self.cluster.pull(
            self.keyed_pipeline, "--job", job, "--steps", str(STEPS), *keyed,
            *args)

    def foreign_keys(self):
        """The key files of a trainer of another cluster: as it is, and with
        the public key of this cluster's server."""
        own, self.folder = self.folder, self.cluster.path("other")
        self.keys("init")
        self.keys("add", "trainer", "alice")
        other, self.folder = self.folder / "trainer-alice.key", own
        unlisted = self.cluster.path("unlisted.key")
        shutil.copy(other, unlisted)
        set_line(unlisted, "server",
                 line_of(own / "trainer-alice.key", "server"))
        return other, unlisted

    def test_keys_are_written_into_one_folder(self):
        self.assertIn("one folder", self.keys("init", "another", code=2))

    def test_the_key_of_a_worker_is_none_of_a_server(self):
        shown = self.run_forebay("server", "--keys", self.folder / "worker.key")
        self.assertIn("a server needs its own: forebay keys init",
                      shown.stderr)

    def test_a_wrong_missing_or_foreign_key_is_said(self):
        self.start()
        other, unlisted = self.foreign_keys()
        begun = time.monotonic()
        runs = [(self.start_pull(keys, "--open-timeout-ms", "8000"), words)
                for keys, words in (
                    (None, "whether it demands keys (--keys, FOREBAY_KEYS)"),
                    (self.folder / "worker.key",
                     "the key of a worker; a trainer needs its own: forebay "
                     "keys add"),
                    (other, "that the key file is of this server"),
                    (unlisted, "the server does not admit this key"))]
        for run, words in runs:
            self.assert_said(run, words, begun)
        for run, words in runs:
            run.finish(code=1)
            self.assertIn(words, run.text().splitlines()[-1])

    def test_the_server_knows_the_role_of_a_key_that_claims_another(self):
        self.start_server(*ANY)
        false = {role: self.folder / f"false-{role}.key"
                 for role in ("worker", "trainer")}
        shutil.copy(self.folder / "trainer-alice.key", false["worker"])
        shutil.copy(self.folder / "worker.key", false["trainer"])
        for role, path in false.items():
            set_line(path, "role", role)
        begun = time.monotonic()
        worker = self.start_worker(keys=false["worker"].name)
        pull = self.start_pull(
            false["trainer"], "--open-timeout-ms", "8000")
        self.assert_said(
            worker, f" REGISTER-REFUSED by {self.server.endpoint}: the key "
            "'alice' is of a trainer, which sends no REGISTER; use a key of "
            "the right role", begun)
        self.assert_said(pull, "is of a worker, which sends no JOIN; use a key "
                         "of the right role", begun)
        self.assertIn(" KEY-REFUSED 127.0.0.1: the key 'alice' is of a trainer",
                      self.server.text())
        wait_for(lambda: metrics(self.server)[
            "forebay_server_messages_refused_total"] >= 2)
        self.assertNotIn(" REGISTERED ", worker.text())
        pull.finish(code=1)

    def test_a_worker_without_a_key_or_with_a_trainers_does_not_register(self):
        self.start_server()
        shown = subprocess.run(
            [FOREBAY, "worker", "--server", self.server.endpoint, "--data",
             f"d={self.root}", "--keys",
             str(self.folder / "trainer-alice.key")],
            capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("the key of a trainer; a worker needs its own",
                      shown.stderr)
        begun = time.monotonic()
        stranger = self.start_worker(keys=None)
        self.assert_said(stranger, " SERVER-SILENT no answer from "
                         f"{self.server.endpoint}; check that it runs and "
                         "listens at this address, and whether it demands keys "
                         "(--keys, FOREBAY_KEYS)", begun)
        divisor = int(self.cluster.env["FOREBAY_TIME_DIVISOR"])
        code, text, _ = self.pull("--open-timeout-ms", str(30000 // divisor))
        self.assertEqual(code, 1)
        self.assertIn("has none registered", text)
        self.assertNotIn("REGISTERED", stranger.text())

    def test_limits_of_a_key(self):
        self.keys("add", "trainer", "bob", "--jobs", "b-*")
        self.keys("add", "trainer", "carol", "--roots", "other")
        self.start()
        bob, carol = (self.folder / f"trainer-{name}.key"
                      for name in ("bob", "carol"))
        begun = time.monotonic()
        admitted = self.start_pull(bob, job="b-1")
        refused = self.start_pull(bob)
        without = self.start_pull(carol)
        self.assert_said(refused, "the key 'bob' does not permit the job "
                         "'a-1', but only 'b-*'", begun)
        self.assert_said(without, "the key of this trainer does not permit d:",
                         begun)
        self.assertIn("does not permit the job", self.doctor("bob", code=1))
        self.assertIn("it knows 1 worker", self.doctor("bob", "--job", "b-2"))
        admitted.finish()
        refused.finish(code=1)
        without.finish(code=1)

    def doctor(self, name, *args, code=0):
        shown = subprocess.run(
            [FOREBAY, "doctor", "--server", self.server.endpoint, "--keys",
             str(self.folder / f"trainer-{name}.key"), *args],
            capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(shown.returncode, code, shown.stdout + shown.stderr)
        return shown.stdout

    def test_a_key_that_is_removed_is_refused_without_a_restart(self):
        self.start()
        copy = self.folder / "copy.key"
        shutil.copy(self.folder / "trainer-alice.key", copy)
        self.assertEqual(self.pull(keys=copy.name)[0], 0)
        self.assertIn("removed alice", self.keys("remove", "alice"))
        self.server.wait_for_text("1 admitted")
        begun = time.monotonic()
        run = self.start_pull(copy, "--open-timeout-ms", "3000")
        self.assert_said(run, "the server does not admit this key", begun)
        run.finish(code=1)
        self.assertEqual(run.lines, [])
        self.keys("add", "trainer", "alice")
        self.server.wait_for_text("2 admitted")
        self.assertEqual(self.pull()[0], 0)

    def test_a_cluster_goes_on_when_its_server_is_restarted(self):
        worker = self.start()
        run = self.cluster.pull(
            self.keyed_pipeline, "--keys",
            str(self.folder / "trainer-alice.key"), "--job", "a-1", "--epochs",
            "20", "--step-ms", "20", watched=True)
        run.steps(3)
        port = self.server.port
        self.server.kill()
        self.server = Daemon(self.cluster, [
            "server", "--listen", f"tcp://127.0.0.1:{port}", "--keys",
            str(self.folder)])
        worker.wait_for_text("REGISTERED", times=2)
        run.finish()

    def test_a_route_begins_without_a_wait(self):
        """With the real timers HELLO is repeated after a second."""
        self.cluster.env["FOREBAY_TIME_DIVISOR"] = "1"
        self.start()
        times = []
        for _ in range(3):
            begin = time.monotonic()
            self.assertEqual(self.pull(steps=1)[:2], (0, ""))
            times.append(time.monotonic() - begin)
        self.assertLess(min(times), 0.9 * SLOW)

    def test_a_worker_that_is_restarted_is_used_again(self):
        worker = self.start()
        port = worker.port
        run = self.cluster.pull(
            self.keyed_pipeline, "--keys",
            str(self.folder / "trainer-alice.key"), "--job", "a-1", "--epochs",
            "20", "--step-ms", "20", watched=True)
        run.steps(3)
        worker.kill()
        self.start_worker("--listen", f"tcp://127.0.0.1:{port}")
        run.finish()

    def start_with_short_tickets(self):
        """Only the server's times are short; its leases are not."""
        self.start_server(
            "--lease", "3600", env={"FOREBAY_TIME_DIVISOR": str(TICKETS)})
        return self.start_worker()

    def stream(self, *args):
        return self.cluster.pull(
            self.keyed_pipeline, "--keys",
            str(self.folder / "trainer-alice.key"), "--job", "a-1",
            "--step-ms", str(STEP_MS), *args, watched=True)

    def test_a_session_goes_on_beyond_the_expiry_of_its_tickets(self):
        steps = int(3 * TICKET_S * 1000 / STEP_MS)
        worker = self.start_with_short_tickets()
        begin = time.monotonic()
        run = self.stream("--steps", str(steps), "--epochs", str(steps))
        run.finish()
        self.assertGreater(time.monotonic() - begin, 3 * TICKET_S)
        self.assertEqual(
            run.lines, self.clear_digests(steps).splitlines())
        self.assertNotIn("TICKET-", worker.text())
        self.assertEqual(worker.text().count("CLIENT-NEW"), 1)

    def test_a_trainer_whose_key_is_removed_is_cut_within_one_expiry(self):
        worker = self.start_with_short_tickets()
        run = self.stream("--epochs", "100000", "--window", "2M")
        run.steps(3)
        self.keys("remove", "alice")
        self.server.wait_for_text("1 admitted")
        removed = time.monotonic()
        while "TICKET-EXPIRED" not in worker.text():
            run.has_step(0.1)
            self.assertLess(time.monotonic() - removed, TICKET_S + DEADLINE / 4)
        self.assertIn("TICKET-EXPIRED a-1/0 at ", worker.text())
        self.assertIn(": its ticket was not renewed; the session ends",
                      worker.text())
        # Its next HELLO shows the expired ticket.
        words = ("the ticket has expired: the server does not answer the "
                 "trainer, or its key was removed")
        worker.wait_for_text("CLIENT-REFUSED " + words)
        run.wait_for_text(words)
        self.assertEqual(run.text().count(
            "KEY-REFUSED the server refused: the server does not admit this "
            "key"), 1)
        while run.has_step(1):  # what had arrived before
            pass
        self.assertIsNone(run.process.poll())
        run.kill()

    def test_files_that_all_may_read_and_folders_without_keys(self):
        os.chmod(self.folder / "server.key", 0o644)
        shown = subprocess.run(
            [FOREBAY, "server", "--keys", str(self.folder)],
            capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("server.key: all users of this machine can read or "
                      "change it; chmod o= it", shown.stderr)
        nowhere = self.cluster.path("nowhere")
        for words in (["list"], ["add", "worker"], ["remove", "alice"]):
            self.assertIn("no folder of keys; write one with: forebay keys "
                          "init", self.keys_of(nowhere, *words))

    def test_missing_files_of_a_folder_are_said_with_the_command(self):
        (self.folder / "allowed").unlink()
        for keys in (self.folder, self.folder / "server.key"):
            self.assert_refused("server", f"{self.folder}/allowed: there is no "
                                "list of admitted keys; copy", keys)
        self.assertIn(f"{self.folder}: has server.key but not allowed",
                      self.keys_of(self.folder, "add", "worker", "w2"))
        (self.folder / "worker.key").unlink()
        for command, words in (("server", "init DIR"),
                               ("worker", "add DIR worker")):
            self.assert_refused(
                command, f"no such key file; write it with: forebay keys {words}",
                self.folder / f"no-{command}.key")

    def assert_refused(self, command, words, keys):
        options = ["--server", "tcp://127.0.0.1:9", "--data", f"d={self.root}"]
        shown = subprocess.run(
            [FOREBAY, command, "--keys", str(keys),
             *(options if command == "worker" else [])],
            capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(shown.returncode, 1)
        self.assertIn(words, shown.stderr)

    def keys_of(self, folder, action, *args):
        shown = subprocess.run([FOREBAY, "keys", action, str(folder), *args],
                               capture_output=True, text=True, check=False,
                               timeout=60)
        self.assertEqual(shown.returncode, 1)
        return shown.stderr


if __name__ == "__main__":
    harness.main(at_once=3)  # the tests mostly wait
