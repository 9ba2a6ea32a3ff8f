# SPDX-License-Identifier: Apache-2.0
"""Real processes on loopback: the base of the system tests.

A Cluster is a temporary directory with a server, workers and consumers that
belong to one test. Tests wait for messages with a deadline and never sleep: a
server or worker writes its endpoint to a pipe, and a consumer writes a digest
line per step to a FIFO.

Timers of the protocol are divided by ten (FOREBAY_TIME_DIVISOR) unless
FOREBAY_TEST_LONG is set.

Faults are named points in the programs (`faults=`, see common/fault.h), and a
test asserts that they took effect. The points, with what they count:
    worker.exit, worker.stop                    chunk sent
    client.exit, client.stop                    chunk received
    server.exit, server.stop                    renew of a client
    worker.duplicate_chunk                      chunk sent
    worker.corrupt_chunk                        chunk sent, not by a later request
    worker.busy, .lost                          request
    worker.mute (HEADER is still sent)          item: chunk or END
    worker.slow (ms=), .wrong_bytes             sample
    worker.register_delay (ms=)                 register_first
    worker.open_error, .read_error (errno=)     file, read
    secure.key (bytes=, that a route's key seals)
Connections are cut by a proxy, which counts its cuts."""

import concurrent.futures
import fcntl
import io
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

import numpy

FOREBAY = os.environ.get("FOREBAY_BIN", "build/forebay")
TAKE_BATCHES = os.environ.get("TAKE_BATCHES", "build/take_batches")
LONG = bool(os.environ.get("FOREBAY_TEST_LONG"))
DIVISOR = 1 if LONG else 10
SLOW = float(os.environ.get("FOREBAY_TEST_SLOW", "1"))  # sanitizers: 4
DEADLINE = 60 * SLOW
SAID_WITHIN_S = 6 * SLOW  # 5, and the start of a process

PIPELINE = """\
forebay: 1
splits:
  train: {{folder: "{root}", shuffle: {shuffle}, last: {last}}}
global_batch: {batch}
seed: {seed}
fields:
  image:
    from: [jpg]
    decode: rgb8
    dct_scale: off
    ops:
      - random_resized_crop: {{size: 64}}
      - horizontal_flip: {{p: 0.5}}
    wire: {{type: u8, codec: {codec}}}
    device:
      - normalize: {{mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}}
    out: {{dtype: f32, layout: chw}}
  label: {{from: folder}}
"""


# Environment of a process with the real timers, for a process that must not
# time out a peer that only waits for a CPU.
PATIENT = {"FOREBAY_TIME_DIVISOR": "1"}


def seconds(normal):
    """A time of the protocol, divided as in the processes under test."""
    return normal / DIVISOR


class Process:
    """A process under test."""

    process = None
    log = None  # path of the file with its standard error

    def text(self):
        return self.log.read_text(errors="replace")

    def wait_for_text(self, words, times=1):
        """Wait until the log contains these words, `times` times."""
        until = time.monotonic() + DEADLINE
        while self.text().count(words) < times:
            if time.monotonic() > until or (
                    self.ended_within(0.02)
                    and self.text().count(words) < times):
                raise AssertionError(f"never said '{words}': {self.text()}")

    def faults(self, point=""):
        """The number of times that a fault point took effect in the process."""
        return self.text().count(f" FAULT {point}")

    def has_stopped(self):
        """Whether SIGSTOP has stopped the process since the last call."""
        event = os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOHANG)
        return event is not None and event.si_status == signal.SIGSTOP

    def wait_stopped(self):
        """Wait until a fault point has stopped the process."""
        until = time.monotonic() + DEADLINE
        while not self.has_stopped():
            if time.monotonic() > until or self.ended_within(0.02):
                raise AssertionError("did not stop itself")

    def wait_killed(self):
        """Wait until a fault point has killed the process."""
        code = self.process.wait(DEADLINE)
        if code != -signal.SIGKILL:
            raise AssertionError(f"did not kill itself, but ended with {code}")

    def ended_within(self, duration_s):
        """Wait at most `duration_s` for the end of the process. Returns whether
        the process ended."""
        try:
            self.process.wait(duration_s * SLOW)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self):
        self.process.kill()
        self.process.wait()

    def resume(self):
        self.process.send_signal(signal.SIGCONT)


class Daemon(Process):
    """A server or a worker."""

    def __init__(self, cluster, args, faults="", env=None, prefix=()):
        read_end, write_end = os.pipe()
        self.log = cluster.path(f"{args[0]}-{len(cluster.daemons)}.log")
        variables = dict(cluster.env, **(env or {}))
        if faults:
            variables["FOREBAY_FAULT"] = faults
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*prefix, FOREBAY, *args, "--ready-fd", str(write_end)],
                pass_fds=[write_end], stderr=log, env=variables)
        os.close(write_end)
        cluster.daemons.append(self)
        self.endpoint = read_line(read_end, DEADLINE).strip()
        os.close(read_end)
        if not self.endpoint:
            raise AssertionError("did not start: " + self.text())

    @property
    def port(self):
        return int(self.endpoint.rsplit(":", 1)[1])

    def terminate(self):
        self.process.terminate()
        return self.process.wait(DEADLINE)

    def memory_bytes(self, name):
        return memory_bytes(self.process.pid, name)

    def rss_bytes(self):
        return self.memory_bytes("VmRSS")

    def peak_bytes(self):
        return self.memory_bytes("VmHWM")


def is_running(pid):
    """Whether the process exists and is no zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def memory_bytes(pid, name):
    """A size in /proc/PID/status, such as VmRSS."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    raise AssertionError("no " + name)


def read_line(fd, deadline_s):
    """Read one line from a descriptor; at the deadline, what has arrived."""
    line = b""
    until = time.monotonic() + deadline_s
    while not line.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            break
        byte = os.read(fd, 1)
        if not byte:
            break
        line += byte
    return line.decode()


class Pull(Process):
    """A consumer, `forebay pull --json`. The test reads the digest lines of a
    watched consumer one by one."""

    def __init__(self, cluster, args, faults="", watched=False, env=None,
                 prefix=()):
        number = cluster.number()
        self.watched = watched
        self.log = cluster.path(f"pull-{number}.log")
        self.digests = cluster.path(f"digests-{number}")
        if watched:
            os.mkfifo(self.digests)
        variables = dict(cluster.env, **(env or {}))
        if faults:
            variables["FOREBAY_FAULT"] = faults
        with open(self.log, "wb") as log:  # a pipe would fill while we wait
            self.process = subprocess.Popen(
                [*prefix, FOREBAY, "pull", *args, "--json", "--verify", "--digests",
                 str(self.digests)],
                stdout=subprocess.PIPE, stderr=log, env=variables)
        self.lines = []
        self.result = None
        cluster.pulls.append(self)
        if watched:
            self.fifo = os.open(self.digests, os.O_RDONLY | os.O_NONBLOCK)
            # A small pipe, so that the consumer is never far ahead of the test.
            fcntl.fcntl(self.fifo, fcntl.F_SETPIPE_SZ, 4096)
            self.pending = b""

    def has_step(self, within_s):
        """Read the next digest line of a watched consumer. Returns False if
        none comes in time."""
        until = time.monotonic() + within_s
        while b"\n" not in self.pending:
            left = until - time.monotonic()
            if left <= 0:
                return False
            if not select.select([self.fifo], [], [], min(left, 0.2))[0]:
                self.check_alive()
                continue
            more = os.read(self.fifo, 1 << 16)
            if not more:
                self.check_alive()
                select.select([], [], [], 0.01)  # the writer is not there yet
                continue
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        self.lines.append(line.decode())
        return True

    def steps(self, count):
        for _ in range(count):
            if not self.has_step(DEADLINE):
                raise AssertionError(
                    f"no step after {len(self.lines)} steps in time")

    def steps_until_text(self, words):
        """Take steps until the log contains these words."""
        until = time.monotonic() + DEADLINE
        while words not in self.text():
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError(f"never said '{words}': {self.text()}")
            self.has_step(0.05)

    @property
    def error(self):
        """The error text that the consumer printed."""
        return self.text()

    def check_alive(self):
        if self.process.poll() is not None and self.process.returncode != 0:
            raise AssertionError("pull ended: " + self.error)

    def drain(self):
        """Read the remaining lines, so that the consumer does not block."""
        while self.process.poll() is None:
            if select.select([self.fifo], [], [], 0.05)[0]:
                self.pending += os.read(self.fifo, 1 << 16)
        while select.select([self.fifo], [], [], 0)[0]:
            more = os.read(self.fifo, 1 << 16)
            if not more:
                break
            self.pending += more
        lines = self.pending.decode().split("\n")
        self.pending = lines.pop().encode()
        self.lines += lines

    def finish(self, code=0, deadline_s=None):
        """Wait for the end; return the JSON object that was printed."""
        if self.watched:
            self.drain()
        try:
            out, _ = self.process.communicate(
                timeout=deadline_s or 3 * DEADLINE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("pull did not end") from None
        if code is not None and self.process.returncode != code:
            raise AssertionError(
                f"pull: exit {self.process.returncode}: {self.error}")
        if not self.watched and self.digests.exists():
            self.lines = self.digests.read_text().splitlines()
        if out:
            self.result = json.loads(out)
        return self.result


class Cluster:
    """The processes and files of one test."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="forebay-test-"))
        self.daemons = []
        self.pulls = []
        self.server = None
        self.env = dict(
            os.environ, FOREBAY_TIME_DIVISOR=str(DIVISOR),
            FOREBAY_LOG="info",
            FOREBAY_CACHE_DIR=str(self.dir / "cache"))
        self.count = 0
        self.root = None

    def number(self):
        self.count += 1
        return self.count

    def path(self, name):
        return self.dir / name

    def photos(self, number=192, classes=4, name="photos"):
        """Generate pictures as the data of this cluster."""
        self.root = self.path(name)
        subprocess.run([FOREBAY, "photos", self.root, "--number", str(number),
                        "--classes", str(classes), "--side", "96"], check=True)
        return self.root

    def tars(self, root, samples, each=16):
        """Write tar shards; a sample is {extension: bytes}."""
        root.mkdir()
        for first in range(0, len(samples), each):
            with tarfile.open(root / f"{first:03}.tar", "w") as tar:
                for number in range(first, min(first + each, len(samples))):
                    for extension, data in samples[number].items():
                        member = tarfile.TarInfo(f"{number:04}.{extension}")
                        member.size = len(data)
                        tar.addfile(member, io.BytesIO(data))

    def table(self, name, arrays):
        """Write a table to rec/: a folder of its columns, or one .npz."""
        path = self.path("rec") / name
        path.parent.mkdir(exist_ok=True)
        if name.endswith(".npz"):
            numpy.savez(path, **arrays)
            return
        path.mkdir(exist_ok=True)
        for column, array in arrays.items():
            numpy.save(path / f"{column}.npy", array)

    def of_tables(self, fields, name="p.yaml", batch=64,
                  keys="shuffle: full, last: pad"):
        """Write a pipeline of these fields over the tables in rec/."""
        path = self.path(name)
        path.write_text("forebay: 1\nsplits: {train: {columns: 'rec/day-*', "
                        f"{keys}}}}}\n"
                        + fields.replace("{batch}", str(batch)))
        return path

    def pipeline(self, text=PIPELINE, name="p.yaml", **changes):
        values = dict(root=self.root, shuffle="full", last="drop", batch=16,
                      seed=42, codec="auto")
        values.update(changes)
        path = self.path(name)
        path.write_text(text.format(**values))
        return path

    def start_server(self, *args, faults="", listen="tcp://127.0.0.1:*"):
        self.server = Daemon(self, ["server", "--listen", listen, *args],
                             faults)
        return self.server

    def start_worker(self, *args, faults="", env=None, root=None):
        """Start a worker, and wait until the server has registered it."""
        worker = Daemon(self, [
            "worker", "--server", self.server.endpoint,
            "--data", f"data={root or self.root}", *args], faults, env)
        worker.wait_for_text(" REGISTERED ")
        return worker

    def start_batch_server(self):
        """Start another server, with a worker whose root is this cluster's
        whole directory; returns its endpoint."""
        server = Daemon(self, ["server", "--listen", "tcp://127.0.0.1:*"])
        Daemon(self, ["worker", "--server", server.endpoint, "--data",
                    f"all={self.dir}", "--data",
                    f"data={self.root or self.dir}"])
        return server.endpoint

    def start(self, workers=2, *args):
        self.start_server()
        return [self.start_worker(*args) for _ in range(workers)]

    def pull(self, pipeline, *args, **options):
        """Start a consumer of this cluster's server."""
        return Pull(self, [
            "--pipeline", str(pipeline), "--server", self.server.endpoint,
            "--data", f"data={self.root}", *map(str, args)], **options)

    def pull_alone(self, pipeline, *args, **options):
        """Start a consumer that starts its own server and workers."""
        return Pull(self, ["--pipeline", str(pipeline), *map(str, args)],
                    **options)

    def close(self):
        for pull in self.pulls:
            if pull.process.poll() is None:
                pull.process.kill()
            pull.process.communicate()
            if pull.watched:
                os.close(pull.fifo)
        for daemon in self.daemons:
            if daemon.process.poll() is None:
                daemon.resume()
                daemon.process.kill()
            daemon.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class SystemTest(unittest.TestCase):
    """A test with a cluster of its own."""

    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.close)
        self.batch_server = None  # endpoint for first_batches()
        self.hedges = self.most_hedges = 0  # in runs without faults

    def assert_said(self, process, words, since):
        """Assert that the process says so within 5 s."""
        process.wait_for_text(words)
        self.assertLess(time.monotonic() - since, SAID_WITHIN_S)

    def run_forebay(self, *args):
        """Run a command to its end, whatever its exit code."""
        args = [arg if isinstance(arg, bytes) else str(arg) for arg in args]
        return subprocess.run(
            [FOREBAY, *args], capture_output=True, text=True, check=False,
            env=self.cluster.env, timeout=120 * SLOW)

    def forebay(self, *args):
        """Run a command that must succeed; return its standard output."""
        done = self.run_forebay(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def batch(self, pipeline, step=0, *args):
        """The arrays of a step, from `forebay show` with its own cluster."""
        path = self.cluster.path("batch.npz")
        self.forebay("show", "-p", pipeline, "--step", step, "-o", path, *args)
        with numpy.load(path) as file:
            return {name: file[name] for name in file.files}

    def first_batches(self, pipeline, number):
        """The arrays of the first steps, all by one consumer: a process of
        `show` for each step takes ten times as long."""
        if self.batch_server is None:
            self.batch_server = self.cluster.start_batch_server()
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.cluster.dir))
        done = subprocess.run(
            [TAKE_BATCHES, self.batch_server, pipeline,
             f"all={self.cluster.dir}", str(number), folder],
            capture_output=True, text=True, check=False, env=self.cluster.env,
            timeout=120 * SLOW)
        self.assertEqual(done.returncode, 0, done.stderr)
        for step in range(number):
            with numpy.load(folder / f"{step}.npz") as file:
                yield {name: file[name] for name in file.files}

    def sent_once(self, pipeline, *args):
        """The result of an epoch in which no batch was requested twice. There
        is one worker, which may have to wait for a CPU."""
        return self.cluster.pull_alone(
            pipeline, "--epochs", 1, "--workers", 1, *args,
            env=PATIENT).finish()

    def assert_one_stream(self, pipeline, *runs, head=7, options=()):
        """Assert that two epochs by one worker equal those of each of `runs`,
        (pipeline, option ...), and those that go on after `head` steps. None
        asks for anything twice."""
        def pull(*run):
            made = self.cluster.pull_alone(*run, "--epochs", 2, *options,
                                           env=PATIENT)
            self.assertEqual(made.finish()["rerequests"], 0, run)
            return made

        whole = pull(pipeline, "--workers", 1)
        for run in runs:
            other = pull(*run)
            self.assertEqual(other.lines, whole.lines, run)
            self.assertEqual(other.result["digest"], whole.result["digest"])
        begun = pull(pipeline, "--workers", 2, "--steps", head)
        rest = pull(pipeline, "--resume", begun.result["token"])
        self.assertEqual(len(begun.lines), head)
        self.assertEqual(begun.lines + rest.lines, whole.lines)
        return whole

    def assert_substituted(self, pipeline, number, *words):
        """Assert that an epoch substitutes `number` samples, with these words
        in the reasons."""
        pull = self.cluster.pull_alone(pipeline, "--epochs", 1)
        self.assertEqual(pull.finish()["substituted"], number)
        for some in words:
            self.assertIn(some, pull.error)

    def assert_sheet(self, pipeline):
        """Assert that a contact sheet can be made of a batch."""
        sheet = self.cluster.path("sheet.png")
        self.forebay("show", "-p", pipeline, "-o", sheet)
        self.assertTrue(sheet.read_bytes().startswith(b"\x89PNG"))

    def assert_equal(self, got, right):
        """Assert that arrays are equal in type and values."""
        self.assertEqual(got.dtype, right.dtype)
        self.assertEqual(got.shape, right.shape)
        self.assertTrue(numpy.array_equal(got, right))

    def assert_sound(self, result):
        """Assert that no event was counted that only a fault causes."""
        for key in ("rerequests", "late_chunks", "checksum_failures", "lost",
                    "protocol_errors"):
            self.assertEqual(result[key], 0, key)
        self.hedges += result["hedges"]
        self.most_hedges += max(2, result["steps"] // 20)

    def tearDown(self):
        if SLOW == 1:  # a sanitizer's runs last for several budgets
            self.assertLessEqual(
                self.hedges, self.most_hedges, "hedges of all runs")


def wait(duration_s):
    """Sleep, in tests of the length of a pause."""
    signal.sigtimedwait([], duration_s)


class ParallelRunner:
    """Runs `number` tests at a time. Their classes must not have fixtures."""

    def __init__(self, number):
        self.number = number

    @staticmethod
    def run_one(test):
        output = io.StringIO()
        return unittest.TextTestRunner(output, verbosity=2).run(test), output

    def run(self, suite):
        tests = [test for of_class in suite for test in of_class]
        whole = unittest.TestResult()
        with concurrent.futures.ThreadPoolExecutor(self.number) as pool:
            for result, output in pool.map(self.run_one, tests):
                sys.stderr.write(output.getvalue())
                whole.testsRun += result.testsRun
                whole.errors += result.errors
                whole.failures += result.failures
        return whole


def main(at_once=1):
    """Run the tests of the file, `at_once` at a time."""
    runner = ParallelRunner(at_once) if at_once > 1 else None
    unittest.main(verbosity=2, testRunner=runner)
