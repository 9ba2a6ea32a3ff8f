# SPDX-License-Identifier: Apache-2.0
"""Processes that the system gives too few files, threads or memory to."""

import concurrent.futures
import os
import resource
import select
import subprocess
import time
import unittest

from harness import FOREBAY, SLOW, SystemTest

KIB = 1024
AT_ONCE = 6
# From here on, numbers of users without another process: the limit on threads
# counts all those of a user.
FREE_UID = 54300


class Limits(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.photos(64)
        self.pipeline = self.cluster.pipeline()

    def commands(self):
        """The options of each kind of process, without --ready-fd."""
        return {
            "worker": ["worker", "--server", "tcp://127.0.0.1:9", "--data",
                       f"d={self.cluster.root}", "--threads", "3"],
            "server": ["server", "--listen", "tcp://127.0.0.1:*"],
            "pull": ["pull", "-p", self.pipeline, "--steps", "2",
                     "--workers", "1"],
        }

    def start(self, args, limit, value, uid=None):
        """Start a process with a limit. Returns how it ended, or None if it
        was ready and was told to end, and its standard error."""
        def confine():
            resource.setrlimit(limit, (value, value))
            if uid is not None:
                os.setgid(uid)
                os.setuid(uid)

        ready_in, ready_out = os.pipe()
        if args[0] != "pull":
            args = [*args, "--ready-fd", str(ready_out)]
        with subprocess.Popen(
                [FOREBAY, *args], pass_fds=[ready_out], preexec_fn=confine,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                env=self.cluster.env) as process:
            os.close(ready_out)
            begin = time.monotonic()
            ended = select.select([ready_in], [], [], 20 * SLOW)[0]
            line = os.read(ready_in, 200) if ended else b"timeout"
            os.close(ready_in)
            took_s = time.monotonic() - begin
            if line:
                process.kill()  # it is ready, or it hangs
            error = process.communicate()[1]
        self.assertNotEqual(line, b"timeout", (args, value, error))
        return (None if line else process.returncode), error, took_s

    def assert_starts_or_says_why(self, names, limit, values, words, uid=None):
        """Start processes at all these limits. Each is ready, or ends within a
        second with code 1 and one of the words. Returns the numbers of those
        that were ready and that were not."""
        def start(case):
            return self.start(self.commands()[case[0]], limit, case[1],
                              None if uid is None else uid + case[1])

        cases = [(name, value) for name in names for value in values]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            results = list(pool.map(start, cases))
        ready = refused = 0
        for case, (code, error, took_s) in zip(cases, results):
            if code is None or (case[0] == "pull" and code == 0):
                ready += 1
                continue
            refused += 1
            self.assertEqual(code, 1, (case, error))
            self.assertTrue(any(word in error for word in words),
                            (case, error))
            self.assert_fails_within_a_second(case, start, took_s)
        return ready, refused

    def assert_fails_within_a_second(self, case, start, took_s):
        """A start that fails waits for nothing: it takes about 0.1 s, and 0.4
        s for pull, which starts others. On a busy machine one of a few further
        tries is as quick; one that waits never is."""
        for _ in range(5):
            if took_s < SLOW:
                return
            took_s = start(case)[2]
        self.assertLess(took_s, SLOW, case)

    @unittest.skipIf(SLOW > 1, "sanitizers need all the address space")
    def test_too_little_memory_is_said_at_the_start(self):
        values = [kib * KIB for kib in range(60_000, 205_000, 5_000)]
        counts = self.assert_starts_or_says_why(
            ("worker", "server", "pull"), resource.RLIMIT_AS, values,
            ("ulimit -v", "Cannot allocate memory", "no memory for"))
        self.assertGreater(min(counts), 0)

    def test_too_few_files_are_said_at_the_start_with_their_number(self):
        counts = self.assert_starts_or_says_why(
            ("worker", "server"), resource.RLIMIT_NOFILE, range(16, 65, 4),
            ("ulimit -n",))
        self.assertGreater(min(counts), 0)

    def test_a_stream_with_few_files_begins_or_says_their_number(self):
        self.assert_starts_or_says_why(
            ("pull",), resource.RLIMIT_NOFILE, (16, 24, 32, 48, 64),
            ("ulimit -n",))

    def test_the_number_of_files_that_is_named_is_enough(self):
        args = self.commands()["pull"]
        limit = 20
        for _ in range(4):  # the server, the worker and the stream say theirs
            code, error, _ = self.start(args, resource.RLIMIT_NOFILE, limit)
            if code == 0:
                break
            self.assertIn(f"and the limit is {limit}", error)
            limit = int(error.split(" needs ")[1].split()[0])
        self.assertEqual(code, 0, error)

    def test_files_used_up_while_it_runs_are_logged_and_a_stream_goes_on(self):
        worker, = self.cluster.start(1)
        stream = self.cluster.pull(self.pipeline, "--epochs", 20, "--step-ms",
                                   20, watched=True)
        stream.steps(1)
        limit = resource.RLIMIT_NOFILE
        for process in (self.cluster.server, worker, stream):
            pid = process.process.pid
            numbers = [int(name) for name in os.listdir(f"/proc/{pid}/fd")]
            _, hard = resource.prlimit(pid, limit)
            resource.prlimit(pid, limit, (min(
                set(range(max(numbers) + 2)) - set(numbers)), hard))
            process.wait_for_text("FILES-USED-UP this process has reached "
                                  "its limit of ")
            self.assertIn("raise it (ulimit -n", process.text())
        stream.finish()

    @unittest.skipUnless(os.getuid() == 0, "needs users of its own")
    def test_too_few_threads_are_said_at_the_start(self):
        for path in (self.cluster.dir, self.cluster.root):
            path.chmod(0o755)
        counts = self.assert_starts_or_says_why(
            ("worker", "server"), resource.RLIMIT_NPROC, range(1, 24, 2),
            ("ulimit -u",), uid=FREE_UID)
        self.assertGreater(min(counts), 0)

    @unittest.skipUnless(os.getuid() == 0, "needs users of its own")
    def test_pull_with_few_threads_runs_or_says_so(self):
        # The server, the worker and the stream share the limit of the user.
        # Where all of them could just start, a worker reads the data with the
        # threads that it has.
        for path in (self.cluster.dir, *self.cluster.dir.rglob("*")):
            path.chmod(0o777)
        counts = self.assert_starts_or_says_why(
            ("pull",), resource.RLIMIT_NPROC,
            (*range(1, 16, 3), *range(16, 30)),
            ("ulimit -u", "Resource temporarily unavailable"),
            uid=FREE_UID + 50)
        self.assertGreater(min(counts), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
