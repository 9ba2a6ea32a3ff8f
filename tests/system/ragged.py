# SPDX-License-Identifier: Apache-2.0
"""Tests of ragged fields in tar files that apply to all kinds of fields.

The test of one kind of field defines the members of a sample. It imports this
module and not the class, which unittest would run as a test of its own."""

import harness

SAMPLES, BATCH = 48, 16


class RaggedTest(harness.SystemTest):
    WHOLE = ""  # fields that become arrays of one shape
    PARTS = ""  # the same fields as rows of several lengths
    CODED = ("", "")  # a text of PARTS, and its replacement with another coding
    OFFSETS = ""  # an array of PARTS with rows + 1 numbers

    def sample(self, number):
        """A sample's rows, by field."""
        raise NotImplementedError

    def members(self, number):
        """The bytes of a sample's members, by extension."""
        raise NotImplementedError

    def right(self, numbers):
        """The rows of these samples, by field."""
        rows = [self.sample(number) for number in numbers]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def pipeline(self, fields, name="p.yaml", change=None, order="",
                 batch=BATCH):
        """`change` may change members, given their sample's number."""
        root = self.cluster.path("data")
        if not root.exists():
            samples = [self.members(number) for number in range(SAMPLES)]
            for number, files in enumerate(samples):
                if change:
                    change(number, files)
            self.cluster.tars(root, samples)
        path = self.cluster.path(name)
        path.write_text(
            f"forebay: 1\nsplits: {{train: {{shards: '{root}/*.tar'"
            f"{order}}}}}\nglobal_batch: {batch}\n"
            "on_bad_sample: {do: substitute, limit: 20}\nfields:\n" + fields)
        return path

    def batches(self, pipeline):
        """Each batch of an epoch, with the rows that it is made of."""
        seen = set()
        for arrays in self.first_batches(pipeline, SAMPLES // BATCH):
            numbers = arrays["samples"].tolist()
            seen.update(numbers)
            yield arrays, self.right(numbers)
        self.assertEqual(seen, set(range(SAMPLES)))

    def test_one_stream_for_any_coding_and_any_workers(self):
        plain = self.pipeline(self.WHOLE)
        other = self.pipeline(self.PARTS.replace(*self.CODED), "other.yaml")
        self.assertNotIn(self.CODED[0], other.read_text())
        self.assert_one_stream(
            plain, (plain, "--workers", 3),
            (other, "--workers", 3, "--audit", 1), head=2)

    def test_the_last_batch_may_be_short_or_filled(self):
        for last, rows in (("short", 8), ("pad", 20)):
            path = self.pipeline(self.PARTS, f"{last}.yaml",
                                 order=f", last: {last}", batch=20)
            arrays = self.batch(path, 2)
            self.assertEqual(len(arrays[self.OFFSETS]), rows + 1)

    def test_show_and_lint_and_plan_cope(self):
        path = self.pipeline(self.WHOLE)
        self.assert_sheet(path)
        self.assertIn("findings", self.forebay("lint", "-p", path, "--json"))
        self.forebay("plan", "-p", path, "--step", 0)
