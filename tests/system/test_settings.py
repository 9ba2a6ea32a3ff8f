# SPDX-License-Identifier: Apache-2.0
"""Settings of a server and a worker: options, and variables for each."""

import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from harness import DEADLINE, Daemon, FOREBAY, PATIENT, SystemTest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def forebay(*args, **environment):
    return subprocess.run([FOREBAY, *map(str, args)], capture_output=True,
                          text=True, check=False, timeout=120,
                          env={**os.environ, **environment})


def settings(command):
    """{option: variable} of --help."""
    text = forebay(command, "--help").stdout.split("\nExamples:")[0]
    entries = re.split(r"^ {2,6}(?=-)", text, flags=re.M)[1:]
    found = {}
    for entry in entries:
        option = re.search(r"--([\w-]+)", entry).group(1)
        variable = re.search(r"\[(FOREBAY_\w+)\]", " ".join(entry.split()))
        found[option] = variable and variable.group(1)
    return found


class Ready(SystemTest):
    def test_the_ready_file_holds_the_endpoint_while_the_process_runs(self):
        photos = self.cluster.photos(number=32)
        for args in (["server", "--listen", "tcp://127.0.0.1:*"],
                     ["worker", "--server", "tcp://127.0.0.1:9", "--data",
                      f"d={photos}"]):
            path = self.cluster.path("ready")
            path.write_text("tcp://127.0.0.1:1\n")  # of an earlier process
            process = Daemon(self.cluster, [*args, "--ready-file", str(path)])
            self.assertEqual(path.read_text(), process.endpoint + "\n")
            self.assertEqual(process.terminate(), 0)
            self.assertFalse(path.exists())
            self.assertEqual(
                [name for name in os.listdir(self.cluster.dir)
                 if name.startswith("ready")], [])

    def test_a_ready_file_that_cannot_be_written_ends_the_process(self):
        photos = self.cluster.photos(number=32)
        for path, cause in (("/nowhere/ready", "No such file or directory"),
                            ("/dev/null", "this is no regular file")):
            for args in (("server", "--listen", "tcp://127.0.0.1:*"),
                         ("worker", "--server", "tcp://127.0.0.1:9", "--data",
                          f"d={photos}")):
                shown = forebay(*args, "--ready-file", path)
                self.assertEqual(shown.returncode, 1)
                self.assertIn(
                    f"forebay {args[0]}: --ready-file {path}: {cause}: give "
                    "the path of a file in a directory that this process can "
                    "write\n", shown.stderr)

    def test_standard_output_can_be_the_ready_descriptor(self):
        server = subprocess.Popen(
            [FOREBAY, "server", "--listen", "tcp://127.0.0.1:*", "--ready-fd",
             "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.kill)
        self.assertRegex(server.stdout.readline(), r"^tcp://127\.0\.0\.1:\d+$")
        server.terminate()
        self.assertNotIn("standard output", server.communicate(timeout=60)[1])
        self.assertEqual(server.returncode, 0)


class Memory(SystemTest):
    """The cgroup is a folder that a mount namespace shows as the real one."""

    def setUp(self):
        super().setUp()
        probe = subprocess.run(["unshare", "-rm", "true"], check=False,
                               capture_output=True)
        if probe.returncode != 0:
            self.skipTest("no mount namespaces here: " + str(probe.stderr))
        self.cgroup = self.cluster.path("cgroup")
        (self.cgroup / "memory").mkdir(parents=True)

    def run_below(self, limit, *args):
        """Start a process in a cgroup with this limit; it ends at SIGTERM."""
        for name in ("memory.max", "memory/memory.limit_in_bytes"):
            (self.cgroup / name).write_text(f"{limit}\n")
        return subprocess.Popen(
            ["unshare", "-rm", "sh", "-c",
             'mount --bind "$1" /sys/fs/cgroup && shift && exec "$@"', "sh",
             str(self.cgroup), FOREBAY, *map(str, args)],
            env=self.cluster.env, stderr=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE)

    def first_line(self, limit, *args):
        photos = self.cluster.photos(number=4)
        with self.run_below(limit, "worker", "--server", "tcp://127.0.0.1:9",
                            "--data", f"d={photos}", *args) as worker:
            line = worker.stderr.readline()
            worker.terminate()
            worker.communicate()
        return line

    def test_a_worker_takes_half_of_the_cgroups_limit(self):
        self.assertIn(
            " MEMORY 256 MiB for samples and batches, half of the cgroup's "
            "limit; choose with --memory\n", self.first_line(512 << 20))
        self.assertIn(
            " MEMORY 1024 MiB for samples and batches; choose with --memory\n",
            self.first_line(64 << 30))
        self.assertNotIn(" MEMORY ",
                         self.first_line(512 << 20, "--memory", "64M"))

    def test_the_workers_of_a_cluster_share_it(self):
        pipeline = self.cluster.photos(number=32) and self.cluster.pipeline()
        with self.run_below(160 << 20, "pull", "-p", pipeline, "--workers", 3,
                            "--epochs", 1) as pull:
            text = pull.communicate()[1]
        self.assertEqual(pull.returncode, 1)
        self.assertIn("27962026 bytes of memory are too few for a worker",
                      text)


class Times(SystemTest):
    def test_the_lease_is_an_option(self):
        """A worker that says nothing is gone after one lease."""
        self.cluster.photos(number=32)
        self.cluster.server = Daemon(self.cluster, [
            "server", "--listen", "tcp://127.0.0.1:*", "--lease", "1.5"],
            env=PATIENT)
        worker = self.cluster.start_worker(env=PATIENT)
        began = time.monotonic()
        worker.kill()
        self.cluster.server.wait_for_text(" WORKER-LATE ")
        self.assertTrue(0.5 < time.monotonic() - began < 8)

    def test_the_time_to_drain_is_an_option(self):
        """A worker that cannot finish its batches gives them back in time."""
        self.cluster.photos(number=64)
        self.cluster.start_server()
        worker = self.cluster.start_worker(
            "--drain", "0.5", "--threads", "1", env=PATIENT,
            faults="worker.slow:every_sample=1:ms=300")
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 1)
        worker.wait_for_text(" FAULT worker.slow")
        began = time.monotonic()
        self.assertEqual(worker.terminate(), 0)
        self.assertIn(" GIVEN-BACK ", worker.text())
        self.assertTrue(0.5 <= time.monotonic() - began < 20)
        self.cluster.start_worker()
        pull.finish()

    def test_a_signal_that_arrives_twice_shortens_no_drain(self):
        self.cluster.photos(number=64)
        self.cluster.start_server()
        worker = self.cluster.start_worker(
            "--drain", "60", "--threads", "1", env=PATIENT,
            faults="worker.slow:every_sample=1:ms=50")
        pull = self.cluster.pull(self.cluster.pipeline(), "--epochs", 1)
        worker.wait_for_text(" FAULT worker.slow")
        for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT,
                       signal.SIGCONT):  # both at the same time
            worker.process.send_signal(number)
        self.assertEqual(worker.process.wait(DEADLINE), 0)
        self.assertNotIn(" GIVEN-BACK ", worker.text())
        self.cluster.start_worker()
        pull.finish()

    def test_times_out_of_range_are_wrong_usage(self):
        for args, words in (
                (("server", "--lease", "0.5"),
                 "--lease: '0.5' is not a number of seconds from 1 to 3600"),
                (("worker", "--server", "tcp://127.0.0.1:9", "--data", "d=/",
                  "--drain", "nan"),
                 "--drain: 'nan' is not a number of seconds from 0 to 86400")):
            shown = forebay(*args)
            self.assertEqual(shown.returncode, 2)
            self.assertIn(words + "\n", shown.stderr)


class Variables(SystemTest):
    def test_each_option_of_server_and_worker_has_a_variable(self):
        for command in ("server", "worker"):
            found = settings(command)
            self.assertIn("listen", found)
            for option, variable in found.items():
                self.assertEqual(
                    variable, None if option in ("help", "usage") else
                    "FOREBAY_" + option.upper().replace("-", "_"))

    def test_the_manuals_list_each_variable_and_no_other(self):
        variables = {name for command in ("server", "worker")
                     for name in settings(command).values() if name}
        text = (SOURCE / "docs/operations.md").read_text()
        table = text.split("## Settings of server and worker", 1)[1].split(
            "\n## ", 1)[0]
        self.assertEqual(set(re.findall(r"^\| `(FOREBAY_\w+)`", table, re.M)),
                         variables)
        page = (SOURCE / "docs/man/forebay.1").read_text()
        section = re.search(r"^\.Ss Settings as variables\n(.*?)^\.S[sh] ",
                            page, re.M | re.S).group(1)
        self.assertEqual(set(re.findall(r"^\.It Ev (\w+)", section, re.M)),
                         variables)

    def test_the_option_comes_before_the_variable(self):
        listen = {"FOREBAY_LISTEN": "tcp://127.0.0.2:*"}
        server = Daemon(self.cluster, ["server"], env=listen)
        self.assertRegex(server.endpoint, r"^tcp://127\.0\.0\.2:")
        server = Daemon(self.cluster,
                        ["server", "--listen", "tcp://127.0.0.3:*"], env=listen)
        self.assertRegex(server.endpoint, r"^tcp://127\.0\.0\.3:")

    def test_an_empty_variable_is_not_set(self):
        server = Daemon(self.cluster,
                        ["server", "--listen", "tcp://127.0.0.1:*"],
                        env={"FOREBAY_LISTEN": "", "FOREBAY_READY_FD": ""})
        self.assertRegex(server.endpoint, r"^tcp://127\.0\.0\.1:")

    def test_a_worker_runs_with_variables_alone(self):
        photos = self.cluster.photos(number=32)
        server = self.cluster.start_server()
        other = self.cluster.path("other")
        other.mkdir()
        worker = Daemon(self.cluster, ["worker"], env={
            "FOREBAY_SERVER": server.endpoint,
            "FOREBAY_DATA": f"other={other},data={photos},",
            "FOREBAY_THREADS": "1", "FOREBAY_MEMORY": "64M",
            "FOREBAY_NUMA": "off"})
        worker.wait_for_text(" REGISTERED ")
        self.cluster.pull(self.cluster.pipeline(), "--epochs", 1).finish()

    def test_roots_of_options_replace_those_of_the_variable(self):
        photos = self.cluster.photos(number=32)
        self.cluster.start_server()
        self.cluster.start_worker(
            env={"FOREBAY_DATA": "missing=/nowhere", "FOREBAY_THREADS": "1"})
        self.assertTrue(photos.exists())

    def test_an_invalid_value_names_the_variable(self):
        for variable, value, words in (
                ("THREADS", "0", "'0' is not a whole number from 1 to 1024"),
                ("MEMORY", "1X", "'1X' is not a size: write for example 512M "
                                 "or 2G"),
                ("NUMA", "all", "'all' is not auto, off or a node's number")):
            shown = forebay("worker", "--server", "tcp://127.0.0.1:1",
                            "--data", "d=/", **{"FOREBAY_" + variable: value})
            self.assertEqual(shown.returncode, 2, shown.stderr)
            self.assertTrue(shown.stderr.startswith(
                f"forebay worker: FOREBAY_{variable}: {words}\n"), shown.stderr)
        shown = forebay("worker", "--server", "tcp://127.0.0.1:1", "--data",
                        "d=/", "--threads", "1x", FOREBAY_THREADS="2x")
        self.assertIn("worker: --threads: '1x' is not", shown.stderr)

    def test_an_unknown_variable_is_a_warning_with_the_nearest_name(self):
        server = Daemon(self.cluster,
                        ["server", "--listen", "tcp://127.0.0.1:*"],
                        env={"FOREBAY_LISTN": "x", "FOREBAY_DATA": "a=/",
                             "FOREBAY_SIMD": "portable"})
        self.assertIn(
            "UNKNOWN-VARIABLE FOREBAY_LISTN is no setting of Forebay; did you "
            "mean FOREBAY_LISTEN?\n", server.text())
        self.assertEqual(server.text().count("UNKNOWN-VARIABLE"), 1)

    def test_variables_that_the_project_reads_are_known(self):
        """In C and Python, and in the shell scripts and CMake files."""
        read = set()
        for path in subprocess.run(
                ["git", "ls-files", "*.c", "*.py", "*.txt", "tools/*"],
                cwd=SOURCE, capture_output=True, text=True,
                check=False).stdout.split():
            text = (SOURCE / path).read_text(errors="replace")
            read |= set(re.findall(
                r'(?:getenv\(|environ(?:\.get|\.setdefault)?[([]|\$\{?)"?'
                r"(FOREBAY_[A-Z_]+)", text))
        if not read:
            self.skipTest("the sources are in no git repository")
        self.assertIn("FOREBAY_FAULT", read)
        server = Daemon(self.cluster,
                        ["server", "--listen", "tcp://127.0.0.1:*"],
                        env={name: os.environ.get(name, "") for name in read})
        self.assertNotIn("UNKNOWN-VARIABLE", server.text())

    def test_a_cluster_of_its_own_reads_no_variables(self):
        self.cluster.photos(number=32)
        pull = self.cluster.pull_alone(
            self.cluster.pipeline(), "--epochs", 1, "--workers", 1,
            env={"FOREBAY_LISTEN": "nothing", "FOREBAY_ADVERTISE": "nothing",
                 "FOREBAY_ENCODE_THREADS": "x", "FOREBAY_LISTN": "x"})
        pull.finish()
        self.assertNotIn("VARIABLE", pull.text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
