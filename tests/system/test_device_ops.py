# SPDX-License-Identifier: Apache-2.0
"""Ops of the device: the same tensors for any world, workers and resume."""

import json
import os
import struct
import subprocess
import unittest

from harness import SystemTest

PIPELINE = """\
forebay: 1
splits:
  train: {{folder: "{root}", shuffle: {shuffle}, last: {last}}}
global_batch: {batch}
seed: {seed}
on_bad_sample: {{do: substitute, limit: 100}}
fields:
  image:
    from: jpg
    dct_scale: off
    ops: [{{random_resized_crop: {{size: [40, 56]}}}}, horizontal_flip]
    wire: {{type: {wire}, codec: {codec}}}
    device:
      - horizontal_flip
      - colour_jitter: {{brightness: 0.4, contrast: 0.4, saturation: 0.4,
                         hue: 0.1}}
      - normalize: {{mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}}
      - random_erasing
      - {mixing}: {{alpha: 0.8, label: label}}
    out: {{dtype: bf16, layout: channels_last}}
  label: {{from: folder, classes: 4, one_hot: {{smoothing: 0.1}}}}
"""

TWO_VIEWS = """\
forebay: 1
splits: {{train: {{folder: "{root}"}}}}
global_batch: 8
fields:
  left:
    from: jpg
    ops: [{{random_resized_crop: {{size: 32}}}}]
    device: [horizontal_flip, {{colour_jitter: {{brightness: 0.4}}}}]
    out: {{dtype: f32, layout: chw}}
  right:
    from: jpg
    ops: [{{random_resized_crop: {{size: 32}}}}]
    device: [horizontal_flip, {{colour_jitter: {{brightness: 0.4}}}}]
    out: {{dtype: f32, layout: chw}}
  again:
    from: jpg
    group: right
    ops: [{{random_resized_crop: {{size: 32}}}}]
    device: [horizontal_flip, {{colour_jitter: {{brightness: 0.4}}}}]
    out: {{dtype: f32, layout: chw}}
"""


def real(x):
    """The nearest binary32."""
    return struct.unpack("f", struct.pack("f", x))[0]


class DeviceOps(SystemTest):
    def setUp(self):
        super().setUp()
        self.cluster.photos(number=50)
        self.cluster.start(2)

    def text(self, mixing="mixup", **changes):
        values = dict(last="pad", batch=32, mixing=mixing, wire="u8")
        values.update(changes)
        return self.cluster.pipeline(PIPELINE, **values)

    def see(self, pipeline, job, rank=0, world=1, steps=4, token=None):
        return subprocess.Popen(
            [os.environ["SEE_TENSORS"], self.cluster.server.endpoint, pipeline,
             f"data={self.cluster.root}", str(rank), str(world), job,
             str(steps), *([token] if token else [])],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=self.cluster.env)

    def world(self, pipeline, job, world, **options):
        """All rows in order of (epoch, step, row), and the token."""
        seers = [self.see(pipeline, job, rank, world, **options)
                 for rank in range(world)]
        lines, tokens = [], set()
        for seer in seers:
            out, error = seer.communicate(timeout=120)
            self.assertEqual(seer.returncode, 0, error)
            *rows, token = out.splitlines()
            lines += [row.split() for row in rows]
            tokens.add(token)
        self.assertEqual(len(tokens), 1)
        lines.sort(key=lambda words: [int(w) for w in words[:3]])
        return lines, tokens.pop()

    def plan(self, pipeline, *args):
        return self.run_forebay("plan", "--pipeline", pipeline, *args)

    def test_ranks_see_the_rows_of_one_global_batch(self):
        for mixing in ("mixup", "cutmix"):
            for last in ("pad", "short", "drop"):
                pipeline = self.text(mixing, last=last)
                name = mixing + last
                whole, _ = self.world(pipeline, name + "1", 1)
                for world in (2, 4):
                    rows, _ = self.world(pipeline, f"{name}{world}", world)
                    self.assertEqual(rows, whole, (name, world))

    def test_ranks_see_the_rows_of_planes_too(self):
        pipeline = self.text(wire="yuv420")
        whole, _ = self.world(pipeline, "one", 1)
        ranks, _ = self.world(pipeline, "four", 4)
        self.assertEqual(ranks, whole)

    def test_resume_with_another_world_sees_the_same(self):
        pipeline = self.text()
        whole, _ = self.world(pipeline, "one", 1)
        head, token = self.world(pipeline, "two", 2, steps=1)
        self.cluster.daemons[-1].terminate()
        tail, _ = self.world(pipeline, "four", 4, token=token)
        self.assertEqual(head + tail, whole)

    def test_substitutes_are_drawn_for_by_their_own_number(self):
        files = sorted(self.cluster.root.rglob("*.jpg"))
        for victim in files[3:40:9]:
            victim.write_bytes(b"no picture")
        pipeline = self.text()
        whole, _ = self.world(pipeline, "one", 1)
        ranks, _ = self.world(pipeline, "four", 4)
        self.assertEqual(ranks, whole)

    def test_a_world_that_splits_a_group_is_refused(self):
        pipeline = self.text()
        seer = self.see(pipeline, "job", 0, 8)
        _, error = seer.communicate(timeout=60)
        self.assertEqual(seer.returncode, 1)
        self.assertIn("mixup mixes rows within groups of 8", error)
        self.assertIn("a world of 8 gives each rank 4 rows", error)
        shown = self.plan(pipeline, "--world", 8)
        self.assertNotEqual(shown.returncode, 0)
        self.assertIn("a world of 8 gives each rank 4 rows", shown.stderr)

    def test_labels_are_mixed_as_plan_says(self):
        classes = sorted(p.name for p in self.cluster.root.iterdir())
        on, off = real(1 - 0.1 + 0.1 / 4), real(0.1 / 4)
        for mixing in ("mixup", "cutmix"):
            pipeline = self.text(mixing)
            rows, _ = self.world(pipeline, mixing, 1, steps=2)
            for step in (0, 1):
                shown = json.loads(self.plan(
                    pipeline, "--step", step, "--json").stdout)["rows"]
                owns = [classes.index(r["key"].split("/")[0]) for r in shown]
                for row in shown:
                    op = row["fields"]["image"]["device"][-1]
                    drawn = op["steps"][0]
                    share = drawn["lambda_q24"] / 2**24
                    if mixing == "cutmix":
                        share = 1 - drawn["w"] * drawn["h"] / (40 * 56)
                    mine, other = owns[row["row"]], owns[op["with_row"]]
                    right = [real(real((on if k == other else off) *
                                       real(1 - share)) +
                                  real((on if k == mine else off) *
                                       real(share))) for k in range(4)]
                    words = rows[32 * step + row["row"]]
                    self.assertEqual(int(words[2]), row["row"])
                    got = [float.fromhex(w) for w in words[7].split(",")]
                    self.assertEqual(got, right, row)

    def test_two_views_of_a_picture_differ_and_a_group_does_not(self):
        pipeline = self.cluster.pipeline(TWO_VIEWS)
        rows, _ = self.world(pipeline, "views", 1)
        for words in rows:
            row = dict(zip(words[4::2], words[5::2]))
            self.assertNotEqual(row["left"], row["right"])
            self.assertEqual(row["again"], row["right"])

    def test_plan_and_show_say_what_is_drawn(self):
        pipeline = self.text()
        shown = self.plan(pipeline, "--step", 1)
        self.assertRegex(shown.stdout,
                         r"device: mixup 0\.\d+ with row \d+")
        self.assertIn("device: colour_jitter", shown.stdout)
        sheet = self.cluster.path("sheet.png")
        self.forebay("show", "--pipeline", pipeline, "--output", sheet)
        self.assertGreater(sheet.stat().st_size, 1000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
