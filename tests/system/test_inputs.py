# SPDX-License-Identifier: Apache-2.0
"""Bad input: an error that names the file and position; never other bytes."""

import errno
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

import harness
from harness import PIPELINE, SLOW, SystemTest


class Inputs(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.photos(number=64)
        self.files = sorted(self.cluster.root.rglob("*.jpg"))

    def fails(self, pipeline, *words, args=()):
        pull = self.cluster.pull_alone(pipeline, *args)
        pull.finish(code=1)
        for word in words:
            self.assertIn(str(word), pull.error)
        return pull

    def test_less_memory_than_a_batch_takes_is_said_with_both_numbers(self):
        self.cluster.start_server()
        self.cluster.start_worker("--memory", "32M", "--encode-threads", "1")
        text = PIPELINE.replace("size: 64", "size: 512")
        pull = self.cluster.pull(self.cluster.pipeline(text, batch=32))
        pull.finish(code=1)
        last = pull.error.splitlines()[-1]
        self.assertIn("the batch takes 25167040 bytes", last)
        self.assertIn("this worker has 15335424 for batches", last)

    def test_own_workers_have_the_memory_that_pull_was_given(self):
        text = PIPELINE.replace("size: 64", "size: 512")
        pipeline = self.cluster.pipeline(text, batch=32)
        self.cluster.pull_alone(pipeline, "--memory", "256M").finish()
        self.fails(pipeline, "the batch takes 25167040 bytes",
                   args=("--memory", "32M"))
        wrong = self.cluster.pull_alone(pipeline, "--memory", "lots")
        wrong.finish(code=2)
        self.assertIn("--memory: 'lots' is not a size", wrong.error)

    def tars(self, text_of_label=lambda i: str(i % 4), count=2):
        shards = self.cluster.path("shards")
        shards.mkdir(exist_ok=True)
        for shard in range(count):
            work = self.cluster.path(f"work{shard}")
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            for i, name in enumerate(self.files[shard::count]):
                shutil.copy(name, work / f"{i:04}.jpg")
                (work / f"{i:04}.cls").write_text(text_of_label(i))
            subprocess.run(["tar", "--sort=name", "-cf",
                            shards / f"t-{shard}.tar", "-C", work, "."],
                           check=True)
        text = PIPELINE.replace(
            'folder: "{root}"',
            'shards: "' + str(shards) + '/t-{{0..%d}}.tar"' % (count - 1)
        ).replace("from: folder", "from: cls")
        return shards, self.cluster.pipeline(text)

    def test_a_corrupt_jpeg_is_named(self):
        victim = self.files[7]
        victim.write_bytes(victim.read_bytes()[:200])
        self.fails(self.cluster.pipeline(), victim.name)

    def test_one_bad_file_is_one_sentence_and_no_table(self):
        victim = self.files[7]
        victim.write_bytes(b"no picture")
        env = {**os.environ, "FOREBAY_CACHE_DIR": self.cluster.env[
            "FOREBAY_CACHE_DIR"]}
        env.pop("FOREBAY_LOG", None)
        run = subprocess.run(
            [harness.FOREBAY, "pull", "--pipeline", self.cluster.pipeline()],
            env=env, capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        lines = run.stderr.splitlines()
        name = victim.relative_to(self.cluster.root)
        self.assertTrue(lines[-1].startswith(
            f"forebay pull: in {self.cluster.root}: file {name}, sample 7: "),
            lines)
        self.assertEqual(run.stderr.count(victim.name), 1, lines)
        self.assertNotIn("part-0", run.stderr)
        # Before it stands only how to resume, if a step was received.
        self.assertIn(len(lines), (1, 3))
        if len(lines) == 3:
            self.assertIn("; resume with", lines[0])

    def lint_check(self, pipeline, *args, **process):
        return subprocess.run(
            [harness.FOREBAY, "lint", "--pipeline", pipeline, "--check", *args],
            cwd=self.cluster.path("."), env=self.cluster.env,
            capture_output=True, text=True, check=False, **process)

    @unittest.skipUnless(os.getuid() == 0, "needs another user")
    def test_a_file_that_may_not_be_opened_is_a_bad_sample(self):
        pipeline = self.cluster.pipeline()
        for path in (self.cluster.dir, *self.cluster.dir.rglob("*")):
            path.chmod(0o777)
        self.files[7].chmod(0)
        found = self.lint_check(pipeline, user=65534, group=65534)
        name = self.files[7].relative_to(self.cluster.root)
        self.assertRegex(found.stdout, rf"^{name}: sample 7: field image: cannot "
                         rf"open .*: Permission denied\n{pipeline}: read 64 "
                         "samples: 1 bad\n$", found.stderr)

    def test_bad_samples_are_listed_and_excluded(self):
        for victim in (self.files[40], self.files[7]):
            victim.write_bytes(b"no picture")
        names = [str(self.files[i].relative_to(self.cluster.root))
                 for i in (7, 40)]
        pipeline = self.cluster.pipeline()
        failed = self.fails(pipeline, names[0]).error.splitlines()[-1]
        self.assertTrue(failed.endswith(
            ": replace it, set on_bad_sample: substitute, or list all bad "
            "samples with forebay lint --pipeline FILE --check"), failed)
        bad = self.cluster.path("bad.txt")
        bad.write_text("# mine\nc99/none.jpg")
        found = self.lint_check(pipeline, "-o", "bad.txt")
        self.assertEqual(found.returncode, 1, found.stderr)
        lines = found.stdout.splitlines()
        self.assertTrue(lines[0].startswith(
            f"{names[0]}: sample 7: field image: JPEG: "), lines)
        self.assertTrue(lines[1].startswith(f"{names[1]}: sample 40: "), lines)
        self.assertEqual(lines[2:], [f"{pipeline}: read 64 samples: 2 bad"])
        self.assertIn(f"exclude: {bad.resolve()}\n", found.stderr)
        self.assertEqual(
            [line for line in bad.read_text().splitlines()
             if not line.startswith("#")], ["c99/none.jpg", *names])
        # Without them the split is that of a folder without the files.
        without = self.cluster.pipeline(
            PIPELINE.replace("shuffle:", "exclude: bad.txt, shuffle:"),
            name="without.yaml")
        clean = self.lint_check(without)
        self.assertEqual((clean.returncode, clean.stdout.splitlines()),
                         (0, [f"{without}: read 62 samples: 0 bad"]))
        digests = []
        for file, workers in ((without, 1), (without, 3), (pipeline, 2)):
            pull = self.cluster.pull_alone(file, "--workers", workers)
            digests.append(pull.finish()["digest"])
            if len(digests) == 2:
                for victim in (self.files[40], self.files[7]):
                    victim.unlink()
        self.assertEqual(len(set(digests)), 1, digests)

    def test_control_characters_of_two_bytes_are_read_and_not_printed(self):
        """U+0085 ends a line for libyaml, U+009B begins an escape sequence for
        some terminals."""
        root = self.cluster.path("u\x85x")
        for split in ("train", "val"):
            folder = root / split / "c\x9b1m"
            folder.mkdir(parents=True)
            (folder / "1.jpg").write_bytes(self.files[0].read_bytes())
            (folder / "2.jpg").write_bytes(b"no picture")
        (root / "val/zz").mkdir()
        (root / "val/zz/1.jpg").write_bytes(b"no picture")
        file = self.cluster.path("p.yaml")
        made = self.run_forebay("init", root, "-c", "1", "-o", file)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("u?x/val: it has the class folder 'zz'", made.stderr)
        checked = self.run_forebay("lint", "--check", "-p", file)
        self.assertIn("c?1m/2.jpg: sample 1: field image", checked.stdout)
        self.assertIn("read 2 samples: 1 bad", checked.stdout)
        shown = made.stderr + checked.stdout + checked.stderr
        self.assertNotRegex(shown.replace(str(file), ""), "[\x80-\x9f]")

    def test_a_corrupt_jpeg_is_substituted_alike_by_any_number_of_workers(self):
        victim = self.files[7]
        victim.write_bytes(victim.read_bytes()[:200])
        pipeline = self.cluster.pipeline(
            PIPELINE + "on_bad_sample: {{do: substitute, limit: 5}}\n")
        lines = []
        for workers in (1, 2, 4):
            pull = self.cluster.pull_alone(pipeline, "--workers", workers,
                                           "--epochs", 2)
            result = pull.finish()
            self.assertEqual(result["substituted"], 2)
            self.assertEqual(pull.error.count("substituted:"), 2)
            self.assertIn(victim.name, pull.error)
            lines.append(pull.lines)
        self.assertEqual(lines[0], lines[1])
        self.assertEqual(lines[0], lines[2])

    def test_more_substitutes_than_the_limit_end_it(self):
        for victim in self.files[:4]:
            victim.write_bytes(b"no picture")
        self.fails(self.cluster.pipeline(
            PIPELINE + "on_bad_sample: {{do: substitute, limit: 2}}\n"),
            "limit")

    def test_where_no_substitute_is_good_either_it_says_so(self):
        for victim in self.files:
            victim.write_bytes(b"no picture")
        self.fails(self.cluster.pipeline(
            PIPELINE + "on_bad_sample: substitute\n"),
            "last of 8 substitutes of sample", "too many samples are bad")

    def test_a_truncated_tar_is_named(self):
        shards, pipeline = self.tars()
        victim = shards / "t-1.tar"
        os.truncate(victim, victim.stat().st_size // 2)
        self.fails(pipeline, "t-1.tar")

    def pull_with_faults(self, pipeline, faults, *args):
        self.cluster.start_server()
        worker = self.cluster.start_worker(faults=faults)
        pull = self.cluster.pull(pipeline, *args)
        pull.finish(code=1)
        return worker, pull

    def open_with_fault(self, pipeline, fault, cause):
        """The last line of pull, which waits longer if it lacks the cause."""
        for timeout_ms in (2000, 10000, 50000):
            _, pull = self.pull_with_faults(
                pipeline, fault, "--open-timeout-ms", timeout_ms)
            last = pull.error.splitlines()[-1]
            if cause in last:
                break
        return last

    def test_a_file_that_cannot_be_opened_or_read_is_named_to_the_trainer(self):
        root = self.cluster.path("shards")
        self.cluster.tars(root, [{"jpg": file.read_bytes()}
                                 for file in self.files[:32]])
        self.cluster.root = root
        text = PIPELINE.replace("folder:", "shards:").replace(
            "{root}", "{root}/*.tar").split("  label:")[0]
        pipeline = self.cluster.pipeline(text, batch=4)
        for point, number in (("open_error", errno.EIO),
                              ("open_error", errno.ESTALE),
                              ("read_error", errno.EIO)):
            with self.subTest(point=point, errno=number):
                last = self.open_with_fault(
                    pipeline, f"worker.{point}:errno={number}",
                    os.strerror(number))
                for word in ("worker ", "00", ".tar", os.strerror(number)):
                    self.assertIn(word, last)

    def test_a_socket_in_place_of_a_file_is_named_at_once(self):
        path = self.cluster.path("x.tar")
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
        text = PIPELINE.replace("folder:", "shards:").split("  label:")[0]
        pipeline = self.cluster.pipeline(text, root=path)
        self.fails(pipeline, "x.tar is not a plain file")

    def test_a_read_error_during_the_stream_names_worker_and_file(self):
        worker, pull = self.pull_with_faults(
            self.cluster.pipeline(),
            f"worker.read_error:after_read=70:times=1000:errno={errno.EIO}",
            "--epochs", 9)
        last = pull.error.splitlines()[-1]
        for word in ("worker ", ".jpg", os.strerror(errno.EIO)):
            self.assertIn(word, last)

    def test_a_wrong_member_is_said_once(self):
        shards, pipeline = self.tars()
        pipeline.write_text(pipeline.read_text().replace(
            "from: [jpg]", "from: [nope]").replace(f"{shards}/", "data:"))
        self.cluster.start_server()
        worker = self.cluster.start_worker(root=shards)
        self.cluster.pull(pipeline).finish(code=1)
        self.assertEqual(worker.text().count("no member .nope"), 1)

    @staticmethod
    def thread_names(pid):
        """The names of the threads of a process and of its children."""
        tasks = pathlib.Path(f"/proc/{pid}/task")
        names = {(task / "comm").read_text().strip()
                 for task in tasks.iterdir()}
        for child in (tasks / str(pid) / "children").read_text().split():
            names |= Inputs.thread_names(child)
        return names

    def wait_for_scan(self, process):
        """Wait until the process or a child of it has begun to scan files."""
        until = time.monotonic() + harness.DEADLINE
        found = False
        while not found:
            self.assertLess(time.monotonic(), until)
            try:
                found = "fby-scan" in self.thread_names(process.pid)
            except (FileNotFoundError, ProcessLookupError):
                pass  # a thread that has just ended

    def test_a_scan_is_given_up_at_once(self):
        shard = self.cluster.path("x.tar")
        shard.touch()
        os.truncate(shard, 1 << 40)  # one that takes minutes to read
        text = PIPELINE.replace("folder:", "shards:").split("  label:")[0]
        pipeline = self.cluster.pipeline(text, root=shard)
        for args, number, code in (
                (("pull", "--workers", "1"), signal.SIGINT, 130),
                (("pull", "--workers", "1"), signal.SIGTERM, 143),
                (("pull", "--workers", "1", "--open-timeout-ms", "500"), 0, 1),
                (("index",), signal.SIGINT, 130)):
            with self.subTest(args=args, signal=number), subprocess.Popen(
                    [harness.FOREBAY, *args, "--pipeline", pipeline],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    env=self.cluster.env) as process:
                if number:
                    self.wait_for_scan(process)
                    process.send_signal(number)
                begin = time.monotonic()
                self.assertEqual(process.wait(harness.DEADLINE), code)
                took_s = time.monotonic() - begin
                # 0.5 s on a machine with nothing else to do
                self.assertLess(took_s, 2 * SLOW + (0 if number else 3))

    def test_an_empty_folder_says_what_was_expected(self):
        empty = self.cluster.path("empty")
        empty.mkdir()
        self.cluster.root = empty
        self.fails(self.cluster.pipeline(), f"the folder {empty} has",
                   "one folder a class")

    def test_a_label_that_is_no_number_is_named(self):
        _, pipeline = self.tars(
            lambda i: "dog" if i == 3 else str(i % 4))
        self.fails(pipeline, "dog", "0003")

    def test_a_field_that_does_not_exist_is_named(self):
        self.fails(self.cluster.pipeline(), "nofield",
                   args=("--field", "nofield"))

    def test_a_member_that_no_sample_has_is_named(self):
        text = PIPELINE.replace("from: [jpg]", "from: [jpeg]")
        self.fails(self.cluster.pipeline(text), "jpeg")

    def test_a_shard_missing_from_a_range_is_named(self):
        shards, pipeline = self.tars()
        (shards / "t-0.tar").unlink()
        self.fails(pipeline, "t-0.tar")

    def ends_by_name_when_changed(self, change):
        """Assert that a run ends with an error that names t-1.tar when the file
        changes, and delivers no other bytes before."""
        shards, pipeline = self.tars()
        self.cluster.root = shards
        calm = self.cluster.pull_alone(pipeline, "--epochs", 50)
        calm.finish()
        self.cluster.start(1, "--memory", "64M")
        pull = self.cluster.pull(pipeline, "--epochs", 50, "--step-ms", 20,
                                 "--window", "1M", watched=True)
        pull.steps(6)
        change(shards / "t-1.tar")
        pull.finish(code=1)
        self.assertIn("t-1.tar", pull.error)
        self.assertEqual(pull.lines, calm.lines[:len(pull.lines)])

    def test_a_shard_appended_to_during_a_run_ends_it_by_name(self):
        def append(path):
            with open(path, "ab") as file:
                file.write(bytes(10240))
        self.ends_by_name_when_changed(append)

    def test_a_shard_replaced_during_a_run_ends_it_by_name(self):
        def replace(path):
            stat = path.stat()
            other = path.with_suffix(".new")
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            other.write_bytes(data)
            os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            other.rename(path)
        self.ends_by_name_when_changed(replace)

    def test_a_star_in_a_folder_is_no_wildcard(self):
        pipeline = self.cluster.path("star.yaml")
        pipeline.write_text(
            "forebay: 1\nsplits: {train: {folder: '/nowhere/a*'}}\n"
            "global_batch: 1\nfields: {image: {from: jpg, ops: [{resize: "
            "{size: 8}}]}}\n")
        shown = self.run_forebay("pull", "--pipeline", pipeline)
        self.assertIn("cannot open the directory /nowhere/a*: No such file or "
                      "directory: * and ? are no wildcards here: write a split "
                      "for each folder\n", shown.stderr)

    def test_a_worker_without_a_shard_is_not_used_and_named(self):
        shards, _ = self.tars()
        poor = self.cluster.path("poor")
        shutil.copytree(shards, poor)
        (poor / "t-1.tar").unlink()
        text = PIPELINE.replace('folder: "{root}"',
                                'shards: "data:t-{{0..1}}.tar"')
        pipeline = self.cluster.pipeline(
            text.replace("from: folder", "from: cls"), name="two.yaml")
        self.cluster.start_server()
        self.cluster.start_worker(root=shards)
        lacking = self.cluster.start_worker(root=poor)
        pull = self.cluster.pull(
            pipeline, "--epochs", 2, env=harness.PATIENT)
        result = pull.finish()
        self.assertEqual(result["workers_not_used"], 1)
        self.assertEqual(result["images"], 128)
        self.assertIn(lacking.endpoint, pull.error)
        self.assertIn("t-1.tar", pull.error)

    def test_a_worker_with_other_bytes_is_not_used_and_named(self):
        copy = self.cluster.path("copy")
        shutil.copytree(self.cluster.root, copy)
        victim = sorted(copy.rglob("*.jpg"))[3]
        data = bytearray(victim.read_bytes())
        data[-10] ^= 1
        stat = victim.stat()
        victim.write_bytes(data)
        os.utime(victim, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        pipeline = self.cluster.pipeline()
        self.cluster.start_server()
        for number, root in enumerate((self.cluster.root, self.cluster.root,
                                       copy)):
            cache = self.cluster.path(f"cache{number}")
            named = self.cluster.pipeline(
                PIPELINE.replace("{root}", str(root)), name="i.yaml")
            subprocess.run([harness.FOREBAY, "index", "--pipeline", named,
                            "--hash", "--cache", cache], check=True,
                           stdout=subprocess.DEVNULL)
            self.cluster.start_worker("--cache", cache, root=root)
        pull = self.cluster.pull(
            pipeline, "--epochs", 2, env=harness.PATIENT)
        result = pull.finish()
        self.assertEqual(result["workers_not_used"], 1)
        self.assertEqual(result["images"], 128)
        self.assertIn(self.cluster.daemons[-1].endpoint, pull.error)

    def test_paths_outside_a_root_are_refused_by_name(self):
        outside = self.cluster.path("outside")
        outside.mkdir()
        (self.cluster.root / "link").symlink_to(outside)
        self.cluster.start(1)
        for path, word in (("/etc", "/etc"), ("data:../x", ".."),
                           ("data:link", "link"), ("other:x", "other")):
            text = PIPELINE.replace("{root}", path)
            pull = self.cluster.pull(
                self.cluster.pipeline(text, name="o.yaml"))
            pull.finish(code=1)
            self.assertIn(word, pull.error)

    def test_a_wrong_pipeline_file_is_shown_its_line(self):
        for change, line, words in (
                (("global_batch: {batch}", "global_batsh: {batch}"), 4,
                 "global_batch"),
                (("horizontal_flip", "horizontal_flop"), 13,
                 "horizontal_flip"),
                (("global_batch: {batch}", "global_batch: 4x"), 4, "4x"),
                (("codec: {codec}", "codec: zip"), 14, "lz4")):
            pipeline = self.cluster.pipeline(PIPELINE.replace(*change))
            self.fails(pipeline, f"{pipeline}:{line}:", words)

    def test_a_token_of_another_pipeline_is_refused(self):
        pipeline = self.cluster.pipeline()
        first = self.cluster.pull_alone(pipeline, "--steps", 2)
        token = first.finish()["token"]
        other = self.cluster.pipeline(batch=8, name="other.yaml")
        self.fails(other, "content", args=("--resume", token, "--epochs", 1))
        self.fails(pipeline, "token",
                   args=("--resume", token[:-3] + "xyz", "--epochs", 1))


if __name__ == "__main__":
    unittest.main(verbosity=2)
