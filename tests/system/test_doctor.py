# SPDX-License-Identifier: Apache-2.0
"""`forebay doctor`: its findings on a healthy machine, on a running cluster,
and on each component that fails."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import harness
from harness import FOREBAY, PATIENT, SLOW, SystemTest

# Checks that every machine has.
ALONE = ["versions", "kernel", "simd", "cpus", "numa", "memory", "memlock",
         "shm", "huge-pages", "files", "clock", "copy", "expand",
         "gpu"]
STATES = ("ok", "note", "warn", "FAIL")


class Doctor(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.env.update(PATIENT)  # a lease longer than a check

    def doctor(self, *args, code=0, before=(), **options):
        env = dict(self.cluster.env, **options)
        shown = subprocess.run(
            [*before, FOREBAY, "doctor",
             *(arg if isinstance(arg, bytes) else str(arg) for arg in args)],
            check=False, text=True, capture_output=True, timeout=60 * SLOW,
            env=env)
        self.assertEqual(shown.returncode, code, shown.stdout + shown.stderr)
        return shown

    def findings(self, *args, **options):
        """The findings by check: lists of (state, finding, advice)."""
        shown = self.doctor(*args, "--json", **options)
        lines = json.loads(shown.stdout)
        said = {}
        for line in lines:
            self.assertEqual(set(line),
                             {"check", "state", "finding", "advice"})
            self.assertIn(line["state"], STATES)
            said.setdefault(line["check"], []).append(
                (line["state"], line["finding"], line["advice"]))
        return said

    def pipeline(self, splits, label, batch=1):
        path = self.cluster.path("p.yaml")
        splits = ", ".join(f"{name}: {{{split}}}" for name, split in
                           splits.items())
        path.write_text(f"forebay: 1\nglobal_batch: {batch}\nsplits: {{{splits}}}\n"
                        f"fields: {{label: {{{label}}}}}\n")
        return path

    def class_folders(self, *folders):
        for folder in folders:
            path = self.cluster.path("c") / folder
            path.mkdir(parents=True)
            (path / "1.txt").write_text("x")

    def test_a_machine_alone_has_a_line_for_each_check(self):
        text = self.doctor().stdout
        lines = [line.split() for line in text.splitlines()]
        self.assertEqual([line[1] for line in lines], ALONE)
        for line in lines:
            self.assertIn(line[0], STATES)

    def test_a_pipeline_has_its_sources_looked_at(self):
        self.cluster.photos(number=16)
        self.class_folders("like/c00", "like/c01", "apart/c01")
        said = self.findings("--pipeline", self.pipeline({
            "train": f"folder: {self.cluster.root}", "like": "folder: c/like",
            "val": "folder: c/apart, classes_from: val",
            "named": "folder: 'd:0'"},
            "from: folder"))
        begun = ALONE.index("copy")
        self.assertEqual(list(said), [
            *ALONE[:begun], "source", "cache", "data", "classes",
            *ALONE[begun:]])
        self.assertIn("libzmq", said["versions"][0][1])
        self.assertIsNone(said["versions"][0][2])
        self.assertEqual([line[0] for line in said["source"]],
                         ["ok", "ok", "ok", "note"])
        self.assertIn(str(self.cluster.root), said["source"][0][1])
        self.assertEqual(said["cache"][0][0], "ok")
        self.assertIn(str(self.cluster.path("cache")), said["cache"][0][1])
        (state, finding, _), = said["classes"]
        self.assertEqual(state, "warn")
        self.assertIn("split train: class 0 is the folder 'c00' here and 'c01' "
                      "in split 'val'", finding)

    def test_what_cannot_be_had_is_told(self):
        """Folders, a cache, CPUs and their instructions."""
        self.class_folders("train/cat")
        self.cluster.path("file").write_text("")
        cpus = os.sched_getaffinity(0)
        said = self.findings(
            "--pipeline", self.pipeline({
                "train": "folder: c/train", "gone": "folder: nowhere",
                "named": "folder: 'd:0'"}, "from: folder"),
            "--data", f"d={self.cluster.path('empty')}", code=1,
            before=("taskset", "-c", str(min(cpus))), FOREBAY_SIMD="portable",
            FOREBAY_CACHE_DIR=str(self.cluster.path("file") / "cache"))
        self.assertEqual([line[0] for line in said["source"]],
                         ["ok", "FAIL", "FAIL"])
        self.assertIn("No such file", said["source"][1][1])
        self.assertIn("/empty/0", said["source"][2][1])
        self.assertEqual(said["cache"][0][0], "warn")
        self.assertIn("Not a directory", said["cache"][0][1])
        if len(cpus) > 1:
            self.assertEqual(said["cpus"][0][0], "warn")
            self.assertIn("1 of ", said["cpus"][0][1])
        if " avx2 " in pathlib.Path("/proc/cpuinfo").read_text():
            self.assertEqual(said["simd"][0][0], "warn")
            self.assertEqual(said["simd"][0][2], "unset FOREBAY_SIMD")

    def test_a_path_that_is_too_long_is_not_a_missing_option(self):
        said = self.findings(
            "--pipeline", self.pipeline({"train": "folder: 'd:0'"},
                                        "from: folder"),
            "--data", "d=" + "/." * 2048, code=1)
        (state, finding, _), = said["source"]
        self.assertEqual(state, "FAIL")
        self.assertIn("cannot read d:0: File name too long", finding)

    def test_what_lies_in_a_source_is_looked_at(self):
        for i in range(6):
            self.cluster.path(f"{i}.cls").write_text(str(i % 4))
            subprocess.run(["tar", "-cf", f"s-{i}.tar", f"{i}.cls"],
                           check=True, cwd=self.cluster.path("."))
        shard = self.cluster.path("s-5.tar")
        shard.write_bytes(shard.read_bytes()[:700])
        said = self.findings("--pipeline", self.pipeline({
            "train": "shards: 's-{0..3}.tar'", "cut": "shards: 's-{4..5}.tar'",
            "none": "shards: 't-*.tar'", "few": "shards: 's-{0..1}.tar'"},
            "from: cls, classes: 4", batch=4), code=1)
        self.assertEqual([line[0] for line in said["source"][:2]], ["ok"] * 2)
        whole, cut, none, few = said["data"]
        self.assertEqual(
            whole, ("ok", "split train: 4 samples in 4 shards", None))
        self.assertEqual(cut[0], "FAIL")
        self.assertIn("split cut: shard s-5.tar: offset 0: the file is "
                      "truncated", cut[1])
        self.assertIn("fix or replace what it names", cut[2])
        self.assertRegex(none[1], r"no file matches /\S*/t-\*.tar")
        self.assertEqual(few[:2], (
            "FAIL", "split few: last: drop leaves no batch of 4 from 2 samples; "
            "use last: pad or short, or a smaller global_batch"))

    def test_a_cluster_that_runs_is_well(self):
        self.cluster.photos(number=64)
        self.cluster.start_server()
        for _ in range(2):  # slow: they use little CPU
            self.cluster.start_worker(faults="worker.slow:every_sample=1:ms=20")
        said = self.findings(
            "--server", self.cluster.server.endpoint, "--pipeline",
            self.cluster.pipeline(), "--data", f"data={self.cluster.root}")
        self.assertIn("it knows 2 workers", said["server"][0][1])
        self.assertEqual(len(said["worker"]), 2)
        for _, finding, _ in said["worker"]:
            self.assertIn("protocol 1, connected in ", finding)
        self.assertEqual(said["keys"][0][0], "ok")
        self.assertRegex(said["stream"][0][1],
                         r"^[1-9]\d* images/s, .* of 2 workers in use$")

    def test_an_up_cluster_is_well(self):
        self.cluster.photos(number=32)
        read_end, write_end = os.pipe()
        up = subprocess.Popen(
            [FOREBAY, "up", "--pipeline", self.cluster.pipeline(),
             "--listen", "tcp://127.0.0.1:*", "--workers", "1"],
            stdout=write_end, stderr=subprocess.DEVNULL, env=self.cluster.env)
        os.close(write_end)
        self.addCleanup(up.wait)
        self.addCleanup(up.terminate)
        with os.fdopen(read_end) as said:
            words = [word for line in (next(said), next(said))
                     for word in line.split()]
        server = ("--server", words[words.index("--server") + 1])
        keys = ("--keys", words[words.index("--keys") + 1])
        pipeline = ("--pipeline", words[words.index("--pipeline") + 1])
        data = ("--data", words[words.index("--data") + 1])
        found = self.findings(*server, *keys, *pipeline, *data)
        self.assertIn("it knows 1 worker", found["server"][0][1])
        self.assertIn("requires a ticket of its server, connected in",
                      found["worker"][0][1])
        self.assertEqual(found["keys"][0][:2], ("ok", "the cluster has keys"))
        self.assertEqual(found["stream"][0][0], "ok")
        found = self.findings(*server, code=1)
        self.assertIn("whether it has keys (--keys)", found["server"][0][2])

    def test_workers_are_told_apart(self):
        self.cluster.photos(number=16)
        stopped, gone, _, answers = self.cluster.start(4)
        stopped.process.send_signal(signal.SIGSTOP)
        gone.kill()
        said = self.findings(
            "--server", self.cluster.server.endpoint, code=1)
        found = {finding.split("(")[1].split(")")[0]: (state, finding)
                 for state, finding, _ in said["worker"]}
        self.assertEqual(len(found), 4)
        self.assertEqual(
            {worker for worker, (state, _) in found.items() if state == "FAIL"},
            {stopped.endpoint, gone.endpoint})
        for worker, words in ((stopped, "connected, but no answer"),
                              (gone, "Connection refused"),
                              (answers, "protocol 1, connected in ")):
            self.assertIn(words, found[worker.endpoint][1])
        self.assertEqual(
            said["keys"][0][:2], ("ok", "all addresses are on loopback"))

    def test_a_server_without_workers_and_a_wrong_pipeline_fail(self):
        self.cluster.start_server()
        path = self.cluster.path("p.yaml")
        path.write_text("forebay: 1\nnonsense: 2\n")
        said = self.findings(
            "--server", self.cluster.server.endpoint, "--pipeline", path,
            code=1)
        self.assertIn("it knows no worker", said["server"][0][1])
        self.assertNotIn("worker", said)
        self.assertEqual(said["pipeline"][0][0], "FAIL")
        self.assertIn("p.yaml:2", said["pipeline"][0][1])

    def test_an_unknown_name_fails_and_json_is_json(self):
        """Whatever the file is called."""
        path = os.fsencode(self.cluster.path("p")) + b"\xff.yaml"
        with open(path, "wb") as file:
            file.write(b"nonsense\n")
        said = self.findings(
            "--server", "nosuch.invalid:7070", "--pipeline", path, code=1)
        self.assertIn("nosuch.invalid", said["server"][0][1])
        self.assertIn("p?.yaml", said["pipeline"][0][1])

    def test_a_server_that_is_not_there_fails_within_seconds(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            endpoint = "tcp://127.0.0.1:%d" % free.getsockname()[1]
            begun = time.monotonic()
            said = self.findings("--server", endpoint, code=1)
        self.assertLess(time.monotonic() - begun, 15 * SLOW)
        self.assertEqual(said["server"][0][0], "FAIL")
        self.assertIn("Connection refused", said["server"][0][1])
        self.assertIn("no process listens there", said["server"][0][2])

    def test_a_port_of_something_else_is_told_apart(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            said = self.findings("--server", "tcp://127.0.0.1:%d"
                                 % other.getsockname()[1], code=1)
        self.assertIn("connected, but no answer", said["server"][0][1])

    def test_ctrl_c_ends_it_with_130(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            endpoint = "tcp://127.0.0.1:%d" % other.getsockname()[1]
            doctor = subprocess.Popen(
                [FOREBAY, "doctor", "--server", endpoint],
                stdout=subprocess.DEVNULL, env=self.cluster.env)
            other.accept()[0].close()  # the server has received it
            doctor.send_signal(signal.SIGINT)
            self.assertEqual(doctor.wait(harness.DEADLINE), 130)

    def test_wrong_usage_is_2(self):
        self.assertIn("NAME=DIR", self.doctor("--data", "x", code=2).stderr)
        self.assertIn("did you mean --pipeline p.yaml",
                      self.doctor("p.yaml", code=2).stderr)
        self.assertIn("--help", self.doctor("--nonsense", code=2).stderr)


if __name__ == "__main__":
    harness.main()
