# SPDX-License-Identifier: Apache-2.0
"""Tests of columns of NumPy files that apply to all kinds of rows.

The test of one kind of column defines the tables of three days and the expected
batch of their rows. It imports this module and not the class, which unittest
would run as a test of its own."""

import harness

SHUFFLES = ("shuffle: full", "shuffle: none", "shuffle: {block: 1}")


class TableTest(harness.SystemTest):
    FIELDS = ""  # end of a pipeline file; has {batch}
    FILE = ""  # a file of the first day that a test cuts short
    CUT = ""  # the error for such a file

    def days(self, rows=(700, 1, 301)):
        """Write day-0, day-1 and day-2; return all their rows, by column."""
        raise NotImplementedError

    def check_batch(self, got, rows):
        """Assert that the batch equals these rows."""
        raise NotImplementedError

    @property
    def folder(self):
        return self.cluster.path("rec")

    def pipeline(self, fields="", **others):
        return self.cluster.of_tables(fields or self.FIELDS, **others)

    def check_refused(self, words, pipeline=None):
        shown = self.run_forebay("index", "-p", pipeline or self.pipeline())
        self.assertNotEqual(shown.returncode, 0)
        self.assertIn(words, shown.stderr)

    def check_fields_refused(self, *changes):
        """Assert the errors of fields in which a text is replaced."""
        for old, new, words in changes:
            pipeline = self.pipeline(self.FIELDS.replace(old, new))
            pull = self.cluster.pull_alone(pipeline, "--epochs", 1)
            pull.finish(code=None)
            self.assertNotEqual(pull.process.returncode, 0)
            self.assertIn(words, pull.error)
            plan = self.run_forebay("plan", "-p", pipeline)
            self.assertEqual(plan.returncode, 1)
            self.assertIn(words, plan.stderr)

    def guess(self):
        """The pipeline that init writes, and its messages."""
        path = self.cluster.path("init.yaml")
        made = self.run_forebay("init", self.folder, "-o", path)
        self.assertEqual(made.returncode, 0, made.stderr)
        return path, made.stderr

    def test_rows_of_an_epoch_are_those_of_the_files(self):
        rows = self.days()
        for i, shuffle in enumerate(SHUFFLES):
            pipeline = self.pipeline(
                name=f"p{i}.yaml", batch=250, keys=shuffle + ", last: pad")
            seen = []
            for step, got in enumerate(self.first_batches(pipeline, 5)):
                self.check_batch(got, rows)
                seen.extend(got["samples"][:1002 - step * 250])
            self.assertEqual(sorted(seen), list(range(1002)))

    def test_one_stream_on_one_and_two_workers_and_resumed(self):
        self.days()
        pipeline = self.pipeline(batch=100)
        self.assert_one_stream(
            pipeline, (pipeline, "--workers", 2, "--audit", 1))

    def test_a_file_cut_short_during_a_run_ends_it_by_name(self):
        self.days((60000, 9, 9))
        pull = self.cluster.pull_alone(
            self.pipeline(batch=128), "--epochs", 1000, watched=True,
            env=harness.PATIENT)
        pull.steps(20)
        with open(self.folder / "day-0" / self.FILE, "r+b") as file:
            file.truncate(4096)
        pull.finish(code=None, deadline_s=harness.DEADLINE)
        self.assertEqual(pull.process.returncode, 1, pull.error)
        self.assertIn(self.CUT + ": was cut short", pull.error)
        self.assertTrue(pull.error.endswith(
            " now: restore the file and resume, or begin a new run with the "
            "data as it is now\n"), pull.error)
        self.assertEqual(pull.error.count("restore the file"), 1, pull.error)
        self.assertNotIn("WORKER-LOST", pull.error)

    def test_bytes_are_hashed_once_and_again_when_a_file_changed(self):
        self.days()
        pipeline = self.pipeline()
        first = self.forebay("index", "-p", pipeline, "--hash")
        self.assertIn("1002 samples in 3 shards, data", first)
        again = self.forebay("index", "-p", pipeline)
        self.assertEqual(again, first.replace(
            " shards,", " shards (3 unchanged, not read again),"))
        path = self.folder / "day-0" / self.FILE
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        changed = self.forebay("index", "-p", pipeline)
        self.assertIn("(2 unchanged, not read again)", changed)
        self.assertNotEqual(first.split("digest")[1],
                            changed.split("digest")[1])

    def test_lint_and_the_sheet_cope(self):
        self.days()
        self.forebay("lint", "-p", self.pipeline(), "--json")
        self.assert_sheet(self.pipeline())
