# SPDX-License-Identifier: Apache-2.0
"""Bad input: an error that names the file and position; never other bytes."""

import os
import shutil
import subprocess
import unittest

import harness
from harness import PIPELINE, SystemTest


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

    def test_an_empty_folder_says_what_was_expected(self):
        empty = self.cluster.path("empty")
        empty.mkdir()
        self.cluster.root = empty
        self.fails(self.cluster.pipeline(), f"is {empty}", "one folder a class")

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

    def test_a_worker_without_a_shard_is_left_aside_and_named(self):
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
        self.assertEqual(result["workers_left_aside"], 1)
        self.assertEqual(result["images"], 128)
        self.assertIn(lacking.endpoint, pull.error)
        self.assertIn("t-1.tar", pull.error)

    def test_a_worker_with_other_bytes_is_left_aside_and_named(self):
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
        self.assertEqual(result["workers_left_aside"], 1)
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
