# SPDX-License-Identifier: Apache-2.0
"""CPUs and names of threads, and the memory that they keep."""

import os
import pathlib
import re
import subprocess
import time

import harness
from harness import FOREBAY, SystemTest

OPERATIONS = pathlib.Path(__file__).parents[2] / "docs" / "operations.md"
MIB = 1 << 20


class Thread:
    """A thread as described by /proc."""

    def __init__(self, directory):
        self.name = (directory / "comm").read_text().strip()
        status = (directory / "status").read_text()
        self.cpus = re.search(r"Cpus_allowed_list:\s*(\S+)", status)[1]
        stat = (directory / "stat").read_text().rsplit(")", 1)[1].split()
        self.nice = int(stat[16])


def threads(pid):
    return [Thread(task) for task in
            pathlib.Path(f"/proc/{pid}/task").iterdir()]


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def command_of(pid):
    return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")


class Threads(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.photos()

    def start_worker(self, *args):
        if self.cluster.server is None:
            self.cluster.start_server()
        return self.cluster.start_worker(*args)

    def named(self, pid, name):
        return [thread for thread in threads(pid)
                if thread.name.startswith(name)]

    def wait_for_nice(self, pid, name, nice):
        """Wait: a compute thread sets its nice value when it begins to run."""
        until = time.monotonic() + harness.DEADLINE
        while {t.nice for t in self.named(pid, name)} != {nice}:
            self.assertLess(time.monotonic(), until, (name, nice))

    def first_cpu(self):
        return str(min(os.sched_getaffinity(0)))

    def test_cpus_confine_every_thread_and_count_as_cores(self):
        cpu = self.first_cpu()
        worker = self.start_worker("--cpus", cpu)
        for thread in threads(worker.process.pid):
            self.assertEqual(thread.cpus, cpu, thread.name)
        self.assertEqual(len(self.named(worker.process.pid, "fby-transf")), 1)

    def test_without_cpus_threads_go_where_they_may(self):
        allowed = threads(os.getpid())[0].cpus
        worker = self.start_worker()
        for thread in threads(worker.process.pid):
            self.assertEqual(thread.cpus, allowed, thread.name)

    def test_a_node_confines_every_thread(self):
        node = pathlib.Path("/sys/devices/system/node/node0/cpulist")
        if not node.exists():
            self.skipTest("this machine tells of no nodes")
        worker = self.start_worker("--numa", "0")
        allowed = threads(os.getpid())[0].cpus
        for thread in threads(worker.process.pid):
            self.assertIn(thread.cpus, (node.read_text().strip(), allowed))

    def test_threads_that_compute_have_the_nice_value_asked_for(self):
        own = threads(os.getpid())[0].nice
        for args, by in (((), 5), (("--nice", "7"), 7), (("--nice", "0"), 0)):
            worker = self.start_worker(*args)
            for stage in ("fby-fetch", "fby-transf", "fby-encode"):
                self.wait_for_nice(worker.process.pid, stage, min(own + by, 19))
            for thread in self.named(worker.process.pid, "forebay"):
                self.assertEqual(thread.nice, own)
            worker.terminate()

    def test_an_own_cluster_passes_them_on(self):
        cpu = self.first_cpu()
        pull = self.cluster.pull_alone(
            self.cluster.pipeline(), "--workers", 1, "--epochs", 50,
            "--cpus", cpu, "--nice", 6, watched=True)
        pull.steps(1)
        worker = [child for child in children(pull.process.pid)
                  if command_of(child)[1] == "worker"][0]
        for thread in threads(worker):
            self.assertEqual(thread.cpus, cpu, thread.name)
        own = threads(os.getpid())[0].nice
        self.wait_for_nice(worker, "fby-transf", min(own + 6, 19))
        pull.kill()

    def test_every_thread_has_a_name_that_is_documented(self):
        pull = self.cluster.pull_alone(
            self.cluster.pipeline(), "--workers", 1, "--epochs", 50,
            watched=True)
        pull.steps(1)
        documented = OPERATIONS.read_text()
        everybody = [pull.process.pid, *children(pull.process.pid)]
        names = {thread.name for pid in everybody for thread in threads(pid)}
        pull.kill()
        self.assertGreater(len(names), 10)
        for name in names:
            self.assertIn(f"`{re.sub('[0-9]+$', 'N', name)}`", documented)

    def test_cpus_that_cannot_be_had_are_named(self):
        for args, words in (
                (("--cpus", "1023"), "CPU 1023 is not"),
                (("--cpus", "0-"), "0-3,8"), (("--cpus", "x"), "0-3,8"),
                (("--nice", "20"), "0 to 19"), (("--nice", "-1"), "0 to 19")):
            for command in ("worker", "up", "pull"):
                shown = subprocess.run(
                    [FOREBAY, command, *args], capture_output=True, text=True,
                    check=False, timeout=60)
                self.assertEqual(shown.returncode, 2, (command, args))
                self.assertIn(words, shown.stderr)
        for args, words in (
                (("--numa", "x"), "auto, off"), (("--numa", "900"), "node 900"),
                (("--numa", "0", "--cpus", "0"), "--cpus and --numa N exclude")):
            shown = subprocess.run(
                [FOREBAY, "worker", "--server", "tcp://127.0.0.1:9", "--data",
                 f"d={self.cluster.root}", *args], capture_output=True,
                text=True, check=False, timeout=60)
            self.assertEqual(shown.returncode, 2, args)
            self.assertIn(words, shown.stderr)


class Memory(SystemTest):
    def test_what_a_stream_used_goes_back_when_it_ended(self):
        self.cluster.photos()
        self.cluster.start_server()
        worker = self.cluster.start_worker("--threads", "1")
        before = worker.memory_bytes("RssAnon")
        big = self.cluster.pipeline(
            harness.PIPELINE.replace("size: 64", "size: 512"), name="b.yaml")
        pull = self.cluster.pull(big, watched=True)
        peak = 0
        for _ in range(12):
            pull.steps(1)
            peak = max(peak, worker.memory_bytes("RssAnon"))
        pull.finish()
        self.assertGreater(peak - before, 12 * MIB)
        until = time.monotonic() + harness.DEADLINE
        while worker.memory_bytes("RssAnon") - before > (peak - before) / 2:
            self.assertLess(time.monotonic(), until)
            worker.ended_within(0.05)


if __name__ == "__main__":
    harness.main()
