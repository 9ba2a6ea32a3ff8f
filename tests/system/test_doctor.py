"""`forebay doctor`: what it says of a machine that is well, of a cluster that
runs, and of each part that does not."""

import json
import os
import signal
import socket
import subprocess
import time

import harness
from harness import FOREBAY, PATIENT, SLOW, SystemTest

# Always there, whatever the machine is like.
ALONE = ["versions", "kernel", "simd", "cpus", "numa", "memory", "memlock",
         "shm", "huge-pages", "files", "clock", "copy", "expand",
         "gpu"]
STATES = ("ok", "note", "warn", "FAIL")


class Doctor(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.env.update(PATIENT)  # a lease longer than a check

    def doctor(self, *args, code=0, **options):
        env = dict(self.cluster.env, **options)
        shown = subprocess.run(
            [FOREBAY, "doctor", *map(str, args)], check=False, text=True,
            capture_output=True, timeout=60 * SLOW, env=env)
        self.assertEqual(shown.returncode, code, shown.stdout + shown.stderr)
        return shown

    def findings(self, *args, code=0, **options):
        """What was said, by check: a list of (state, finding, advice)."""
        shown = self.doctor(*args, "--json", code=code, **options)
        lines = json.loads(shown.stdout)
        said = {}
        for line in lines:
            self.assertEqual(set(line),
                             {"check", "state", "finding", "advice"})
            self.assertIn(line["state"], STATES)
            said.setdefault(line["check"], []).append(
                (line["state"], line["finding"], line["advice"]))
        return said

    def start(self, workers):
        self.cluster.photos(number=64)
        return self.cluster.start(workers)

    def test_a_machine_alone_has_a_line_for_each_check(self):
        text = self.doctor().stdout
        lines = [line.split() for line in text.splitlines()]
        self.assertEqual([line[1] for line in lines], ALONE)
        for line in lines:
            self.assertIn(line[0], STATES)

    def test_json_says_the_same(self):
        said = self.findings()
        self.assertEqual(list(said), ALONE)
        self.assertIn("libzmq", said["versions"][0][1])
        self.assertIsNone(said["versions"][0][2])

    def test_simd_that_is_held_back_is_told_with_what_to_do(self):
        if not self.findings()["simd"][0][1].startswith("avx"):
            self.skipTest("this CPU has nothing to hold back")
        said = self.findings(FOREBAY_SIMD="portable")["simd"]
        self.assertEqual(said[0][0], "warn")
        self.assertEqual(said[0][2], "unset FOREBAY_SIMD")

    def test_affinity_is_told(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one CPU")
        one = str(min(os.sched_getaffinity(0)))
        shown = subprocess.run(["taskset", "-c", one, FOREBAY, "doctor"],
                               check=False, capture_output=True, text=True)
        self.assertRegex(shown.stdout, "(?m)^warn  cpus .* 1 of ")

    def test_a_pipeline_has_its_sources_looked_at(self):
        self.cluster.photos(number=16)
        said = self.findings("--pipeline", self.cluster.pipeline())
        self.assertEqual(said["source"][0][0], "ok")
        self.assertIn(str(self.cluster.root), said["source"][0][1])
        self.assertEqual(said["cache"][0][0], "ok")
        self.assertIn(str(self.cluster.path("cache")), said["cache"][0][1])
        self.assertNotIn("stream", said)

    def test_a_source_that_is_not_there_fails(self):
        self.cluster.root = self.cluster.path("nowhere")
        said = self.findings("--pipeline", self.cluster.pipeline(), code=1)
        self.assertEqual(said["source"][0][0], "FAIL")
        self.assertIn("No such file", said["source"][0][1])

    def test_a_root_is_looked_for_below_its_data(self):
        self.cluster.photos(number=16)
        pipeline = self.cluster.pipeline(
            "forebay: 1\nglobal_batch: 8\nsplits: {{val: {{folder: 'd:0'}}}}\n"
            "fields: {{label: {{from: folder, classes: 4}}}}\n")
        said = self.findings("--pipeline", pipeline)
        self.assertEqual(said["source"][0][0], "note")
        said = self.findings("--pipeline", pipeline, "--data",
                             f"d={self.cluster.path('empty')}", code=1)
        self.assertIn("/empty/0", said["source"][0][1])

    def shards(self, pattern):
        path = self.cluster.path("p.yaml")
        path.write_text(f"forebay: 1\nglobal_batch: 2\nsplits: {{train: "
                        f"{{shards: '{pattern}'}}}}\n"
                        "fields: {label: {from: cls, classes: 4}}\n")
        return path

    def test_what_lies_in_a_source_is_looked_at(self):
        for i in range(4):
            self.cluster.path(f"{i}.cls").write_text(str(i))
            subprocess.run(["tar", "-cf", f"s-{i}.tar", f"{i}.cls"],
                           check=True, cwd=self.cluster.path("."))
        path = self.shards("s-{0..3}.tar")
        said = self.findings("--pipeline", path)
        self.assertEqual(said["data"], [
            ("ok", "split train: 4 samples in 4 shards", None)])
        shard = self.cluster.path("s-2.tar")
        shard.write_bytes(shard.read_bytes()[:700])
        said = self.findings("--pipeline", path, code=1)
        self.assertEqual(said["source"][0][0], "ok")
        state, finding, advice = said["data"][0]
        self.assertEqual(state, "FAIL")
        self.assertIn("split train: shard s-2.tar: offset 0: the file is "
                      "truncated", finding)
        self.assertIn("mend or replace what it names", advice)
        said = self.findings("--pipeline", self.shards("t-*.tar"), code=1)
        self.assertIn("no file matches data0:t-*.tar", said["data"][0][1])

    def test_splits_that_number_their_classes_apart_are_a_warning(self):
        for folder in ("train/cat", "train/dog", "val/cat"):
            path = self.cluster.path("c") / folder
            path.mkdir(parents=True)
            (path / "1.txt").write_text("x")
        path = self.cluster.path("p.yaml")
        path.write_text(
            "forebay: 1\nglobal_batch: 1\nsplits: {train: {folder: c/train}, "
            "val: {folder: c/val}}\nfields: {label: {from: folder}}\n")
        self.assertNotIn("classes", self.findings("--pipeline", path))
        self.cluster.path("c/val/cat").rename(self.cluster.path("c/val/dog"))
        said = self.findings("--pipeline", path)
        self.assertEqual(said["classes"][0][0], "warn")
        self.assertIn("split train: class 0 is the folder 'cat' here and 'dog' "
                      "in split 'val'", said["classes"][0][1])

    def test_a_wrong_pipeline_fails_with_its_line(self):
        path = self.cluster.path("p.yaml")
        path.write_text("forebay: 1\nnonsense: 2\n")
        said = self.findings("--pipeline", path, code=1)
        self.assertEqual(said["pipeline"][0][0], "FAIL")
        self.assertIn("p.yaml:2", said["pipeline"][0][1])

    def test_json_is_json_whatever_the_file_is_called(self):
        path = os.fsencode(self.cluster.path("p")) + b"\xff.yaml"
        with open(path, "wb") as file:
            file.write(b"nonsense\n")
        shown = subprocess.run(
            [FOREBAY, "doctor", "--json", "--pipeline", path], check=False,
            capture_output=True)
        lines = {line["check"]: line for line in json.loads(shown.stdout)}
        self.assertIn("p?.yaml", lines["pipeline"]["finding"])

    def test_a_cache_that_cannot_be_written_is_a_warning(self):
        self.cluster.photos(number=16)
        self.cluster.path("file").write_text("")
        said = self.findings("--pipeline", self.cluster.pipeline(),
                             FOREBAY_CACHE_DIR=str(
                                 self.cluster.path("file") / "cache"))
        self.assertEqual(said["cache"][0][0], "warn")
        self.assertIn("Not a directory", said["cache"][0][1])

    def test_a_cluster_that_runs_is_well(self):
        self.start(2)
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
            endpoint = next(word for line in said for word in line.split()
                            if word.startswith("tcp://"))
            found = self.findings("--server", endpoint)
        self.assertIn("it knows 1 worker", found["server"][0][1])
        self.assertNotEqual(found["worker"][0][0], "FAIL")

    def test_a_stopped_worker_is_named_beside_one_that_answers(self):
        stopped, answers = self.start(2)
        stopped.process.send_signal(signal.SIGSTOP)
        said = self.findings(
            "--server", self.cluster.server.endpoint, code=1)["worker"]
        states = {finding.split("(")[1].split(")")[0]: (state, finding)
                  for state, finding, _ in said}
        self.assertEqual(states[stopped.endpoint][0], "FAIL")
        self.assertIn("connected, but no answer", states[stopped.endpoint][1])
        self.assertNotEqual(states[answers.endpoint][0], "FAIL")

    def test_a_worker_that_is_gone_is_named(self):
        gone, _ = self.start(2)
        gone.kill()
        said = self.findings(
            "--server", self.cluster.server.endpoint, code=1)["worker"]
        failed = [finding for state, finding, _ in said if state == "FAIL"]
        self.assertEqual(len(failed), 1)
        self.assertIn(gone.endpoint, failed[0])
        self.assertIn("Connection refused", failed[0])

    def test_an_address_beyond_loopback_is_a_warning(self):
        self.cluster.photos(number=16)
        self.cluster.start_server()
        self.cluster.start_worker("--advertise", "tcp://192.0.2.1:7999")
        said = self.findings(
            "--server", self.cluster.server.endpoint, code=1)
        self.assertEqual(said["keys"][0][0], "warn")
        self.assertIn("1 of 2 addresses listen beyond loopback without keys, "
                      "as tcp://192.0.2.1:7999", said["keys"][0][1])

    def test_a_server_without_workers_fails(self):
        self.cluster.start_server()
        said = self.findings(
            "--server", self.cluster.server.endpoint, code=1)
        self.assertIn("it knows no worker", said["server"][0][1])
        self.assertNotIn("worker", said)

    def test_a_server_that_is_not_there_fails_within_seconds(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            endpoint = "tcp://127.0.0.1:%d" % free.getsockname()[1]
            begun = time.monotonic()
            said = self.findings("--server", endpoint, code=1)
        self.assertLess(time.monotonic() - begun, 15 * SLOW)
        self.assertEqual(said["server"][0][0], "FAIL")
        self.assertIn("Connection refused", said["server"][0][1])
        self.assertIn("nothing listens there", said["server"][0][2])

    def test_a_port_of_something_else_is_told_apart(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            said = self.findings("--server", "tcp://127.0.0.1:%d"
                                 % other.getsockname()[1], code=1)
        self.assertIn("connected, but no answer", said["server"][0][1])

    def test_a_name_that_nobody_knows_fails(self):
        said = self.findings("--server", "nosuch.invalid:7070", code=1)
        self.assertIn("nosuch.invalid", said["server"][0][1])

    def test_ctrl_c_ends_it_with_130(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            endpoint = "tcp://127.0.0.1:%d" % other.getsockname()[1]
            doctor = subprocess.Popen(
                [FOREBAY, "doctor", "--server", endpoint],
                stdout=subprocess.DEVNULL, env=self.cluster.env)
            other.accept()[0].close()  # it has come to the server
            doctor.send_signal(signal.SIGINT)
            self.assertEqual(doctor.wait(harness.DEADLINE), 130)

    def test_wrong_usage_is_2(self):
        self.assertIn("NAME=DIR", self.doctor("--data", "x", code=2).stderr)
        self.assertIn("did you mean --pipeline p.yaml",
                      self.doctor("p.yaml", code=2).stderr)
        self.assertIn("--help", self.doctor("--nonsense", code=2).stderr)


if __name__ == "__main__":
    harness.main()
