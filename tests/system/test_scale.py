# SPDX-License-Identifier: Apache-2.0
"""How many workers a server wants: `forebay scale`, and its page /scale."""

import http.client
import json
import pathlib
import re
import select
import signal
import subprocess
import time

import harness

from harness import DEADLINE, FOREBAY, PATIENT, Daemon, SystemTest

# A sample takes a thread 20 ms, without CPU time.
SLOW_SAMPLES = "worker.slow:every_sample=1:ms=20"


class Scale(SystemTest):
    def start_server(self, *args):
        server = self.cluster.start_server("--http", "127.0.0.1:0", *args)
        line = re.search(r"HTTP-READY http://(\S+):(\d+)/", server.text())
        self.page_address = line[1], int(line[2])
        return server

    def page(self, path="/scale"):
        """(status, text) of a page, which is up to a second old."""
        connection = http.client.HTTPConnection(*self.page_address,
                                                timeout=DEADLINE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def page_with(self, words, path="/scale"):
        """The same, once the text has these words."""
        until = time.monotonic() + DEADLINE
        while True:
            status, text = self.page(path)
            if words in text:
                return status, text
            self.assertLess(time.monotonic(), until, text)
            select.select([], [], [], 0.05)

    def ask(self, *args, code=0):
        shown = subprocess.run(
            [FOREBAY, "scale", "--server", self.cluster.server.endpoint,
             *args], capture_output=True, text=True, check=False,
            timeout=DEADLINE, env=self.cluster.env)
        self.assertEqual(shown.returncode, code, shown.stderr)
        return shown.stdout if code == 0 else shown.stderr

    def ask_until(self, *conditions):
        """Ask until the answer fulfils all conditions; return it."""
        until = time.monotonic() + DEADLINE
        while True:
            answer = json.loads(self.ask("--json"))
            if all(condition(answer) for condition in conditions):
                return answer
            self.assertLess(time.monotonic(), until, answer)
            select.select([], [], [], 0.1)

    def start_trainer(self):
        """One that takes batches as fast as they come, without end."""
        self.cluster.photos()
        self.cluster.start_worker("--threads", "1", faults=SLOW_SAMPLES)
        return self.cluster.pull(self.cluster.pipeline(), "--epochs", 100000,
                                 "--job", "starved", watched=True)

    def loop(self, command, *args, stdout=subprocess.DEVNULL, start=None):
        """`forebay scale` that runs `command` each second."""
        self.log = self.cluster.path("scale.log")
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                [FOREBAY, "scale", "--server", self.cluster.server.endpoint,
                 "--every", "1s", "--exec", command, *args],
                stdout=stdout, stderr=log, env=self.cluster.env,
                preexec_fn=start)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, path, words):
        until = time.monotonic() + DEADLINE
        while not path.exists() or words not in path.read_text():
            self.assertLess(time.monotonic(), until, self.log.read_text())
            select.select([], [], [], 0.05)
        return path.read_text()

    def test_a_trainer_that_waits_wants_more_workers(self):
        self.start_server()
        pull = self.start_trainer()
        pull.steps(2)
        answer = self.ask_until(lambda a: a["workers_wanted"] == 4)
        self.assertEqual((answer["workers"], answer["jobs"]), (1, 1))
        why = "\n".join(answer["why"])
        self.assertRegex(why, r"job starved: 1 rank, \d+ samples/s, waits \d+ "
                              r"% of the time; without waiting (at least )?"
                              r"\d+ samples/s")
        self.assertRegex(why, "transform threads are busy: 1 worker has 1;")
        self.assertRegex(why, "at most 4 times as many as there are")
        status, text = self.page_with('"workers_wanted":4')
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(text)["workers"], 1)
        cluster = json.loads(self.page_with("ms_per_row", "/api/cluster")[1])
        worker = cluster["workers"][0]
        self.assertEqual(worker["cores"], 1)  # those of --threads
        self.assertEqual(worker["counters"]["fetch.threads"], 4)
        times = cluster["jobs"][0]["ranks"][0]["ms_per_row"]
        self.assertGreaterEqual(times["transform"], 20)
        self.assertGreater(times["cpu"], 0)
        number, *reasons = self.ask("--why", "--max", "3").splitlines()
        self.assertEqual(number, "3")
        self.assertRegex(reasons[0], "^  job starved: ")
        self.assertEqual(reasons[-1], "  no more than --max")
        self.assertEqual(self.ask("--min", "6"), "6\n")

    def assert_does_not_count(self, start_worker):
        """A worker that is started beside that of a trainer."""
        self.start_server()
        pull = self.start_trainer()
        pull.steps(1)
        start_worker()
        answer = self.ask_until(
            lambda a: any("cannot serve" in why for why in a["why"]))
        self.assertEqual(answer["workers"], 1)
        self.assertIn("1 further worker cannot serve the jobs: other data, "
                      "another build or version", answer["why"])

    def test_a_worker_of_another_build_does_not_count(self):
        self.assert_does_not_count(lambda: self.cluster.start_worker(
            "--threads", "1", faults="worker.fingerprint:every_plan=1"))

    def test_a_worker_without_the_data_does_not_count(self):
        self.assert_does_not_count(lambda: Daemon(self.cluster, [
            "worker", "--server", self.cluster.server.endpoint, "--threads",
            "1", "--data", f"other={self.cluster.dir}"]))

    def test_a_new_server_knows_no_number_for_a_lease(self):
        self.cluster.env.update(PATIENT)
        began = time.monotonic()
        self.start_server("--lease", "4")
        status, text = self.page()
        while time.monotonic() - began < 2:
            self.assertEqual(status, 503)
            self.assertNotIn("workers_wanted", text)
            status, text = self.page_with("has just started")
        self.assertEqual(self.ask(), "0\n")  # waits for it
        self.assertGreaterEqual(time.monotonic() - began, 4)
        self.assertEqual(self.page_with('"workers_wanted":0')[0], 200)

    def test_a_command_gets_the_number_each_time(self):
        self.start_server()
        path = self.cluster.path("numbers")
        process = self.loop(
            f"echo $1 >> {path}; exit 3", "--min", "2")
        self.wait_for(path, "2\n2\n")
        text = self.wait_for(self.log, "SCALE-FAILED")
        self.assertIn("its exit code is 3; the workers stay, and it is tried "
                      "again", text)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(DEADLINE), 0)

    def test_a_command_that_hangs_is_ended(self):
        self.start_server()
        path = self.cluster.path("pids")
        # What it has started is ended too, also if it ignores SIGTERM.
        process = self.loop(
            f"(trap '' TERM; exec sleep 1000) & echo $! >> {path}; wait",
            "--exec-limit", "1")
        self.wait_for(self.log, "it still ran after 1 s, and was ended")
        first = int(path.read_text().split()[0])
        until = time.monotonic() + DEADLINE
        while harness.is_running(first):
            self.assertLess(time.monotonic(), until)
            select.select([], [], [], 0.05)
        count = len(path.read_text().split())
        while len(path.read_text().split()) == count:  # it runs again
            select.select([], [], [], 0.05)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)  # it ends the command first
        process.wait(DEADLINE)
        for pid in path.read_text().split():
            self.assertFalse(harness.is_running(int(pid)))

    def test_a_failure_is_told_although_ends_of_children_are_ignored(self):
        self.start_server()
        process = self.loop("exit 3", start=lambda: signal.signal(
            signal.SIGCHLD, signal.SIG_IGN))
        self.wait_for(self.log, "its exit code is 3")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(DEADLINE), 0)

    def test_without_a_reader_only_a_command_goes_on(self):
        server = self.start_server()
        shown = subprocess.run(
            [FOREBAY, "scale", "--server", server.endpoint, "--every", "1"],
            stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True,
            timeout=DEADLINE, check=False, env=self.cluster.env)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("cannot write the number", shown.stderr)
        path = self.cluster.path("numbers")
        self.loop(f"echo $1 >> {path}", stdout=open("/dev/full", "w"))
        self.wait_for(path, "0\n0\n")

    def test_without_a_server_the_workers_stay(self):
        server = self.start_server()
        path = self.cluster.path("numbers")
        process = self.loop(f"echo $1 >> {path}")
        self.wait_for(path, "0\n")
        server.kill()
        self.wait_for(self.log, "no answer from server")
        count = len(path.read_text())
        again = self.cluster.start_server(listen=server.endpoint)
        self.assertEqual(len(path.read_text()), count)
        while len(path.read_text()) == count:
            self.assertIsNone(process.poll())
            select.select([], [], [], 0.05)
        again.terminate()

    def up(self, *args):
        """A cluster that scales itself. Its endpoint is its line of JSON."""
        up = Daemon(self.cluster, [
            "up", "--pipeline", str(self.pipeline), "--listen",
            "tcp://127.0.0.1:*", "--threads", "1", *args], SLOW_SAMPLES)
        return up, json.loads(up.endpoint)

    def workers_of(self, up):
        """The number of worker processes that run."""
        pid = up.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return sum(b"worker" in pathlib.Path(f"/proc/{child}/cmdline")
                   .read_bytes().split(b"\0") for child in children.split())

    def train(self, line, step_ms, *args):
        """A trainer whose steps take so long; it goes on from its token."""
        token = self.cluster.path("token")
        resume = ["--resume", f"@{token}"] if token.exists() else []
        return self.cluster.pull_alone(
            self.pipeline, "--server", line["server"], "--keys", line["keys"],
            "--data", f"data0={self.cluster.root}", "--epochs", 100000,
            "--step-ms", step_ms, "--token-file", token, *resume, watched=True)

    def step_until(self, pull, up, enough):
        """Take steps until the number of workers is enough, and end."""
        until = time.monotonic() + 2 * DEADLINE
        while not enough(self.workers_of(up)):
            self.assertLess(time.monotonic(), until, up.text()[-2000:])
            pull.has_step(0.5)
        pull.process.send_signal(signal.SIGINT)
        self.assertEqual(pull.finish(code=130)["lost"], 0)
        return pull.lines

    def test_up_follows_the_step_time_of_a_trainer(self):
        self.cluster.photos()
        self.pipeline = self.cluster.pipeline()
        up, line = self.up("--min", "1", "--max", "6")
        # One worker makes 50 samples a second, and a step has 16: they are
        # enough for it every 500 ms.
        usual = self.train(line, 500)
        usual.steps(8)
        lines = self.step_until(usual, up, lambda n: n <= 2)
        lines += self.step_until(
            self.train(line, 125), up, lambda n: n >= 4)
        lines += self.step_until(
            self.train(line, 500), up, lambda n: n <= 2)
        again = self.cluster.pull_alone(self.pipeline, "--epochs",
                                        len(lines) // 12 + 1)
        again.finish()
        self.assertTrue(again.lines[:len(lines)] == lines)
        self.assertRegex(up.text(), r"forebay up: [4-6] workers\n  job ")
        self.assertEqual(up.terminate(), 0)

    def longest_step(self, pull, leaving):
        """Take steps until these workers have ended, and 4 more. Return the
        longest, in seconds."""
        times = [time.monotonic()]
        last = 4
        while last > 0:
            pull.steps(1)
            times.append(time.monotonic())
            last -= all(worker.process.poll() is not None
                        for worker in leaving)
        return max(end - begin for begin, end in zip(times, times[1:]))

    def leave(self, window):
        """Three of four workers leave a trainer, and the last one has half of
        its capacity to do. Return the longest step of then, in seconds."""
        workers = [self.cluster.start_worker("--threads", "1",
                                             faults=SLOW_SAMPLES)
                   for _ in range(4)]
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 100000,
                                 "--step-ms", 640, "--window", window,
                                 watched=True)
        pull.steps(4)
        for worker in workers[1:]:
            worker.process.send_signal(signal.SIGTERM)
        longest_s = self.longest_step(pull, workers[1:])
        for worker in workers[1:]:
            self.assertEqual(worker.process.wait(DEADLINE), 0)
        pull.process.send_signal(signal.SIGINT)
        self.assertEqual(pull.finish(code=130)["lost"], 0)
        again = self.cluster.pull_alone(self.cluster.pipeline(), "--epochs",
                                        len(pull.lines) // 12 + 1)
        again.finish()
        self.assertTrue(again.lines[:len(pull.lines)] == pull.lines)
        self.assertEqual(workers[0].terminate(), 0)
        return longest_s

    def test_workers_that_leave_lose_no_batch(self):
        """Each has time to make what it was asked for, also by requests that
        were on their way. So a trainer that requests 1 or 5 batches ahead
        waits for no longer than a worker takes for one, and 100 ms."""
        self.cluster.env.update(PATIENT)
        self.cluster.start_server()
        self.cluster.photos()
        most_s = 0.64 + (16 * 0.02 + 0.1) * harness.SLOW
        for window in ("200K", "1M"):
            with self.subTest(window=window):
                longest_s = self.leave(window)
                if longest_s >= most_s:  # once more: other tests use the CPUs
                    longest_s = self.leave(window)
                self.assertLess(longest_s, most_s)

    def test_keys(self):
        keys = self.cluster.path("keys")
        for args in (["init"], ["add", "worker"], ["add", "trainer", "alice"]):
            subprocess.run([FOREBAY, "keys", args[0], keys, *args[1:]],
                           check=True, stdout=subprocess.DEVNULL)
        self.start_server("--keys", str(keys))
        self.assertEqual(
            self.ask("--keys", str(keys / "trainer-alice.key")), "0\n")
        self.assertIn("does it need a key (--keys)?", self.ask(code=1))

    def test_wrong_usage(self):
        self.start_server()
        for args, words in (
                (["--exec", "true"], "--exec needs --every"),
                (["--exec-limit", "5"], "--exec-limit needs --exec"),
                (["--exec", "", "--every", "5"], "the command is empty"),
                (["--min", "3", "--max", "2"], "--min is above --max"),
                (["--every", "0"], "not a number of seconds from 1 to 3600"),
                (["--every", "s"], "not a number of seconds from 1 to 3600")):
            self.assertIn(words, self.ask(*args, code=2))


if __name__ == "__main__":
    harness.main(at_once=4)  # the tests mostly wait
