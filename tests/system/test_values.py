# SPDX-License-Identifier: Apache-2.0
"""Delivered values: images show their labels, batches match the model."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import numpy

from harness import FOREBAY, PIPELINE, SystemTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "model"))
import forebay_model  # noqa: E402


class Values(SystemTest):
    def test_every_delivered_image_shows_its_label(self):
        self.cluster.photos(number=240, classes=6)
        self.cluster.start(2)
        text = PIPELINE.replace(
            "    device:\n      - normalize: {{mean: [0.485, 0.456, 0.406], "
            "std: [0.229, 0.224, 0.225]}}\n", "")
        self.assertNotEqual(text, PIPELINE)
        pipeline = self.cluster.pipeline(
            text.replace("size: 64", "size: 224"), batch=16)
        shown = subprocess.run(
            [os.environ["CHECK_LABELS"], self.cluster.server.endpoint,
             pipeline, f"data={self.cluster.root}"],
            capture_output=True, text=True, check=False, timeout=600)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        classes = sorted(os.listdir(self.cluster.root))
        self.assertEqual(len(classes), 6)
        self.assertEqual(shown.stdout.split(), [*classes, "480"])


    def test_floats_are_the_scaled_pixels_whatever_the_codec(self):
        """A batch has three chunks of 13 pictures or fewer."""
        self.cluster.photos(number=30)
        normalize = PIPELINE[PIPELINE.index("    device:"):
                             PIPELINE.index("    out:")]
        pixels = (PIPELINE.replace(normalize, "").replace("size: 64", "size: 224")
                  .replace("{{dtype: f32, layout: chw}}", "{{dtype: u8}}"))
        self.assertIn("dtype: u8", pixels)
        raw = next(self.first_batches(self.cluster.pipeline(
            pixels, batch=30, last="drop"), 1))["image"].astype("f4")
        mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
        scale = (1 / (255 * numpy.array(std))).astype("f4")
        offset = (-numpy.array(mean) / numpy.array(std)).astype("f4")
        right = (raw * scale + offset).transpose(0, 3, 1, 2)
        for wire in ("store", "pack", "lz4"):
            text = PIPELINE.replace("size: 64", "size: 224")
            made = next(self.first_batches(self.cluster.pipeline(
                text, batch=30, codec=wire, last="drop"), 1))["image"]
            self.assertEqual(made.dtype, right.dtype)
            self.assertTrue(numpy.array_equal(made, right), wire)


class Floats(SystemTest):
    """Pictures that become floats, in chunks that decode threads check. Unlike
    `forebay pull`, the trainer computes no digests, which need raw pixels."""

    FAULTS = ("worker.corrupt_chunk:every_chunk=4",
              "worker.exit:after_chunk=11", "worker.lost:every_request=3")

    def rows(self, *faults, **changes):
        """The rows of two epochs, from a worker for each of `faults`, and the
        faults that took effect."""
        self.cluster.start_server()
        workers = [self.cluster.start_worker(faults=each) for each in faults]
        pipeline = self.cluster.pipeline(
            PIPELINE.replace("size: 64", "size: 224"), batch=28, **changes)
        seen = subprocess.run(
            [os.environ["SEE_TENSORS"], self.cluster.server.endpoint, pipeline,
             f"data={self.cluster.root}", "0", "1", "job", "14"],
            capture_output=True, text=True, check=False, timeout=300,
            env=self.cluster.env)
        for process in (*workers, self.cluster.server):
            process.kill()
        self.assertEqual(seen.returncode, 0, seen.stderr)
        return seen.stdout.splitlines(), {
            fault for worker, fault in zip(workers, faults) if worker.faults()}

    def assert_faults_change_no_row(self, right, **changes):
        """Each fault must take effect in one of five runs: a worker that is
        slow to start may get no request before the stream ends."""
        left = set(self.FAULTS)
        for _ in range(5):
            rows, took_effect = self.rows(*self.FAULTS, "", **changes)
            self.assertEqual(rows, right)
            left -= took_effect
            if not left:
                return
        self.fail(f"these faults took no effect in five runs: {left}")

    def test_damaged_lost_and_unfinished_answers_change_no_float(self):
        self.cluster.photos()
        for last, n_rows in ("short", 2 * 192), ("pad", 2 * 196):
            right, _ = self.rows("", last=last, codec="pack")
            self.assertEqual(len(right), n_rows + 1)
            for codec in "pack", "store":
                with self.subTest(last=last, codec=codec):
                    self.assert_faults_change_no_row(
                        right, last=last, codec=codec)


class Plan(SystemTest):
    def plan(self, pipeline, *args):
        shown = subprocess.run(
            [FOREBAY, "plan", "--pipeline", pipeline, "--json",
             *map(str, args)], capture_output=True, text=True, check=False,
            env=self.cluster.env)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout)

    def test_plan_agrees_with_the_model(self):
        self.cluster.photos(number=100)
        for shuffle in ("full", "none", "{block: 1}"):
            for last in ("drop", "pad", "short"):
                pipeline = self.cluster.pipeline(
                    shuffle=shuffle, last=last, batch=24, seed=7)
                for epoch in (0, 3):
                    self.compare(pipeline, shuffle, last, epoch)

    def compare(self, pipeline, shuffle, last, epoch):
        steps = self.plan(pipeline, "--epoch", epoch)["steps_per_epoch"]
        model = forebay_model.Order(
            100, 24, shuffle="block" if "block" in shuffle else shuffle,
            last=last, shards=[100], seed=7, epoch=epoch)
        self.assertEqual(model.steps, steps)
        for step in range(steps):
            shown = self.plan(pipeline, "--epoch", epoch, "--step", step)
            self.assertEqual([row["sample"] for row in shown["rows"]],
                             model.batch(step))
            for row in shown["rows"]:
                self.compare_ops(row, epoch)

    def compare_ops(self, row, epoch):
        field = row["fields"]["image"]
        crop, flip = field["ops"]
        draw = forebay_model.Draw(7, epoch, row["sample"], "image",
                                  "random_resized_crop", 0)
        box = forebay_model.random_resized_crop(
            draw, field["width"], field["height"], (0.08, 1.0),
            (0.75, 4 / 3))
        self.assertEqual([crop[k] for k in "xywh"], list(box))
        draw = forebay_model.Draw(7, epoch, row["sample"], "image",
                                  "horizontal_flip", 0)
        self.assertEqual(flip["flip"], forebay_model.flip(draw, 0.5))
        self.assertEqual(flip["steps"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
