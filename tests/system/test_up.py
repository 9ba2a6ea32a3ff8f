# SPDX-License-Identifier: Apache-2.0
"""`forebay up` for the program that started it: a line of JSON, and an end when
no process uses the cluster any more."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time
import unittest

from harness import DEADLINE, FOREBAY, Daemon, Process, SystemTest, read_line

# Holds a read lock on the file until its standard input ends. With a second
# argument, a child of it remains.
HOLDER = """\
import fcntl, os, sys
file = open(sys.argv[1])
fcntl.lockf(file, fcntl.LOCK_SH)
child = os.fork() if len(sys.argv) > 2 else -1
if child:
    print(child, flush=True)
sys.stdin.read()
"""


class Holder(Process):
    """A user of the cluster."""

    def __init__(self, path, *args):
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, path, *args], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.child = int(read_line(self.process.stdout.fileno(), DEADLINE))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()  # up to the end of its child, too
        self.process.stdout.close()
        self.process.wait()


class Up(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.photos(number=64)
        self.pipeline = self.cluster.pipeline()
        self.lock = self.cluster.path("lock")
        self.lock.touch()

    def up(self, *args):
        """A cluster that is ready. Its endpoint is its line of JSON."""
        return Daemon(self.cluster, [
            "up", "--pipeline", str(self.pipeline), "--listen",
            "tcp://127.0.0.1:*", "--threads", "1", *args])

    def up_while_used(self, *args):
        return self.up("--workers", "1", "--while-used", str(self.lock), *args)

    def hold(self, *args):
        holder = Holder(self.lock, *args)
        self.addCleanup(holder.close)
        return holder

    def children(self, up):
        pid = up.process.pid
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(child) for child in text.split()]

    def open_files(self, pid):
        return [os.readlink(fd) for fd in
                pathlib.Path(f"/proc/{pid}/fd").iterdir()]

    def assert_ends(self, up):
        """Assert that it ends in order, after its server and workers."""
        self.assertEqual(up.process.wait(DEADLINE), 0, up.text())
        self.assertIn("WORKER-ENDED", up.text())
        self.assertIn("SERVER-ENDED", up.text())

    def refused(self, *args, code=1, stdout=subprocess.PIPE, **options):
        """What it says when it cannot be used. None of its children is left,
        since it waits for them."""
        done = subprocess.run(
            [FOREBAY, "up", "--listen", "tcp://127.0.0.1:*",
             *map(str, args)], stdout=stdout, stderr=subprocess.PIPE,
            text=True, check=False, env=self.cluster.env, timeout=DEADLINE,
            **options)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertFalse(done.stdout)
        said = [line for line in done.stderr.splitlines()
                if line.startswith("forebay")]
        self.assertTrue(said, done.stderr)
        for word in ("SERVER", "WORKER"):
            self.assertEqual(done.stderr.count(word + "-READY"),
                             done.stderr.count(word + "-ENDED"), done.stderr)
        return "\n".join(said)

    def broken_pipe(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        self.addCleanup(os.close, write_end)
        return write_end

    # ---- its end ----

    def test_a_cluster_that_ends_keeps_new_users_out(self):
        for text, after in (("", "ended\n"), ("a file of the user", None)):
            self.lock.write_text(text)
            holder = Holder(self.lock)
            up = self.up_while_used()
            holder.close()
            up.process.wait(DEADLINE)
            self.assertEqual(self.lock.read_text(), after or text)

    def test_a_split_without_a_step_is_named(self):
        self.pipeline = self.cluster.pipeline(batch=65)
        with open(self.cluster.path("up.log"), "wb") as log:
            up = Process()
            up.log = self.cluster.path("up.log")
            up.process = subprocess.Popen(
                [FOREBAY, "up", "--pipeline", self.pipeline, "--listen",
                 "tcp://127.0.0.1:*", "--workers", "1"], stderr=log,
                stdout=subprocess.DEVNULL, env=self.cluster.env)
        self.addCleanup(up.kill)
        up.wait_for_text("forebay up: split train: last: drop leaves no batch "
                         "of 65 from 64 samples; use last: pad or short")
        up.process.terminate()
        self.assert_ends(up)

    # ---- the line of JSON ----

    def test_the_line_has_all_that_a_trainer_needs(self):
        extra = self.cluster.path('a "b" ü')
        extra.mkdir()
        up = self.up("--data", f"extra={extra}")
        line = json.loads(up.endpoint)
        self.assertEqual(list(line),
                         ["server", "keys", "roots", "workers", "pid"])
        self.assertRegex(line["server"], r"^tcp://127\.0\.0\.1:\d+$")
        self.assertEqual(line["roots"], {
            "extra": str(extra), "data1": str(self.cluster.root)})
        self.assertEqual(line["workers"], 2)
        self.assertEqual(line["pid"], up.process.pid)
        data = [word for name, directory in line["roots"].items()
                for word in ("--data", f"{name}={directory}")]
        pulled = json.loads(self.forebay(
            "pull", "--pipeline", self.pipeline, "--server", line["server"],
            "--keys", line["keys"], *data, "--json"))
        self.assertEqual(pulled["images"], 64)
        self.assertEqual(up.terminate(), 0)
        self.assert_ends(up)
        self.assertFalse(os.path.exists(line["keys"]))

    @unittest.skipUnless(os.geteuid() == 0, "NOT TESTED: only root can try "
                         "to read the key as another user")
    def test_another_user_cannot_read_the_key(self):
        line = json.loads(self.up("--workers", "1").endpoint)
        self.assertTrue(pathlib.Path(line["keys"]).read_text())
        read = subprocess.run(["cat", line["keys"]], user=65534, group=65534,
                              extra_groups=[], capture_output=True, text=True,
                              check=False, timeout=DEADLINE)
        self.assertEqual((read.returncode, read.stdout), (1, ""))
        self.assertIn("Permission denied", read.stderr)

    def test_keys_of_a_folder_are_used_and_none_if_insecure(self):
        keys = self.cluster.path("keys")
        for words in (("init",), ("add", "worker"), ("add", "trainer", "t")):
            self.forebay("keys", words[0], keys, *words[1:])
        of_folder = ("--keys", os.path.relpath(keys))
        file = str(keys / "trainer-t.key")
        for up_args, pull_args in ((of_folder, ("--keys", file)),
                                   (("--insecure",), ())):
            line = json.loads(self.up("--workers", "1", *up_args).endpoint)
            self.assertEqual(line["keys"], "".join(pull_args[1:]))
            pulled = json.loads(self.forebay(
                "pull", "--pipeline", self.pipeline, "--server",
                line["server"], *pull_args, "--data",
                f"data0={self.cluster.root}", "--json"))
            self.assertEqual(pulled["images"], 64)
        self.forebay("keys", "add", keys, "trainer", "u")
        line = json.loads(self.up("--workers", "1", *of_folder).endpoint)
        self.assertEqual(line["keys"], str(keys / "trainer-NAME.key"))
        other = self.cluster.path("other")
        self.forebay("keys", "init", other)
        (keys / "server.key").write_text((other / "server.key").read_text())
        self.assertIn("worker.key is of another server than server.key",
                      self.refused("--pipeline", self.pipeline, "--keys", keys))
        self.assertIn("--keys and --insecure exclude each other", self.refused(
            "--pipeline", self.pipeline, "--keys", keys, "--insecure", code=2))

    def test_on_standard_output_it_is_one_line_too(self):
        up = subprocess.Popen(
            [FOREBAY, "up", "--json", "--pipeline", self.pipeline, "--listen",
             "tcp://127.0.0.1:*"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=self.cluster.env)
        self.addCleanup(up.kill)
        line = json.loads(read_line(up.stdout.fileno(), DEADLINE))
        self.assertEqual(line["roots"], {"data0": str(self.cluster.root)})
        up.terminate()
        self.assertEqual(up.communicate(timeout=DEADLINE)[0], b"")
        self.assertEqual(up.returncode, 0)

    def test_a_pipeline_on_standard_input_starts_at_the_current_folder(self):
        text = self.pipeline.read_text()
        folder = self.cluster.root
        text = text.replace(str(folder), folder.name)
        read_end, write_end = os.pipe()
        up = subprocess.Popen(
            [os.path.abspath(FOREBAY), "up", "--pipeline", "-", "--listen",
             "tcp://127.0.0.1:*", "--ready-fd", str(write_end)],
            stdin=subprocess.PIPE, cwd=folder.parent, pass_fds=[write_end],
            stderr=subprocess.DEVNULL, env=self.cluster.env)
        self.addCleanup(up.wait)
        self.addCleanup(up.terminate)
        os.close(write_end)
        self.addCleanup(os.close, read_end)
        up.stdin.write(text.encode())
        up.stdin.close()
        line = json.loads(read_line(read_end, DEADLINE))
        self.assertTrue(select.select([read_end], [], [], DEADLINE)[0])
        self.assertEqual(os.read(read_end, 1), b"")  # no child has it
        self.assertEqual(line["roots"], {"data0": str(folder)})
        pulled = json.loads(self.forebay(
            "pull", "--pipeline", self.pipeline, "--server", line["server"],
            "--keys", line["keys"], "--data", f"data0={folder}", "--json"))
        self.assertEqual(pulled["images"], 64)

    # ---- the end with its last user ----

    def test_it_ends_when_the_last_of_two_users_is_killed(self):
        first, second = self.hold(), self.hold()
        up = self.up_while_used()
        first.kill()
        self.assertFalse(up.ended_within(2), up.text())
        second.kill()
        self.assert_ends(up)

    def test_a_forked_child_of_a_user_does_not_keep_it(self):
        holder = self.hold("fork")
        up = self.up_while_used()
        holder.kill()
        self.assert_ends(up)
        os.kill(holder.child, 0)  # the child is still there

    def test_without_a_user_it_ends_after_five_seconds(self):
        up = self.up_while_used()
        ready_s = time.monotonic()
        self.assert_ends(up)
        self.assertGreater(time.monotonic() - ready_s, 4)

    def test_a_user_that_comes_later_keeps_it(self):
        up = self.up_while_used()
        holder = self.hold()
        self.assertFalse(up.ended_within(7), up.text())
        holder.kill()
        self.assert_ends(up)

    def test_its_children_do_not_inherit_the_file(self):
        self.hold()
        up = self.up_while_used()
        self.assertIn(str(self.lock), self.open_files(up.process.pid))
        children = self.children(up)
        self.assertEqual(len(children), 2)
        for child in children:
            self.assertNotIn(str(self.lock), self.open_files(child))

    def test_killed_it_takes_its_children_with_it(self):
        up = self.up()
        ends = [os.pidfd_open(child) for child in self.children(up)]
        self.assertEqual(len(ends), 3)
        up.kill()
        for end in ends:
            self.assertTrue(select.select([end], [], [], DEADLINE)[0])
            os.close(end)

    # ---- what is wrong ----

    def test_a_start_that_fails_closes_the_descriptor_without_a_line(self):
        with self.assertRaises(AssertionError) as failed:
            self.up("--while-used", "/nowhere/lock")
        self.assertIn("/nowhere/lock: cannot watch the locks of the file: No "
                      "such file", str(failed.exception))
        self.assertEqual(self.cluster.daemons[-1].process.wait(DEADLINE), 1)

    def test_a_line_that_cannot_be_written_ends_the_cluster(self):
        for args in ((), ("--json",)):
            said = self.refused("--pipeline", self.pipeline, *args,
                                stdout=self.broken_pipe())
            self.assertEqual("forebay up: cannot write to standard output: "
                             "Broken pipe", said)
        pipe = self.broken_pipe()
        said = self.refused("--pipeline", self.pipeline, "--ready-fd", pipe,
                            pass_fds=[pipe])
        self.assertEqual("forebay up: cannot write to the descriptor of "
                         "--ready-fd: Broken pipe", said)

    def test_a_descriptor_that_is_not_open_is_wrong_usage(self):
        for fd, words in ((1, "a whole number from 3"),
                          (999, "999: Bad file descriptor")):
            self.assertIn(words, self.refused(
                "--pipeline", self.pipeline, "--ready-fd", fd, code=2))

    def test_what_is_wrong_on_standard_input_is_said_with_its_line(self):
        self.assertIn("standard input:2:1: ", self.refused(
            "--pipeline", "-", input="forebay: 1\nsplit: {}\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
