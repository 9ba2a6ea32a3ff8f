# SPDX-License-Identifier: Apache-2.0
"""`forebay lint`: each finding on a pipeline that has the problem, none on
others. The advised pipeline loads and saves as much as lint predicts."""

import io
import json
import os
import subprocess
import tarfile

import numpy
from PIL import Image

import harness
from harness import FOREBAY, SystemTest

FINE = """\
forebay: 1
splits: {{train: {{folder: "{root}"}}}}
global_batch: 8
fields:
  image:
    from: jpg
    ops:
      - random_resized_crop: {{size: 32}}
      - horizontal_flip
  label: {{from: folder, classes: 4}}
"""

# A line a finding: the tests name them.
COSTLY = """\
forebay: 1
splits:
  train: {{shards: "{root}/{{000..139}}.tar"}}
global_batch: 400
fields:
  image:
    from: jpg
    dct_scale: off
    ops: [{{resize: {{size: 16}}}}]
    wire: {{codec: store}}
  number: {{from: json, key: n, wire: i64}}
  real: {{from: json, key: n}}
  fraction: {{from: json, key: f}}
  same: {{from: json, key: c, wire: u8}}
  kind: {{from: cls}}
  few: {{from: cls, classes: 7, wire: u8}}
"""

# Pixel ops before an op that makes pictures smaller; `kept` may not be moved.
ORDERS = """\
forebay: 1
splits: {{train: {{folder: "{root}"}}}}
global_batch: 8
fields:
  blurred:
    from: jpg
    ops:
      - gaussian_blur: {{kernel: 9}}
      - center_crop: {{size: 48}}
  jittered:
    from: jpg
    ops:
      - resize: {{shorter: 200}}
      - colour_jitter: {{brightness: 0.4}}
      - horizontal_flip
      - center_crop: {{size: 48}}
  kept:
    from: jpg
    ops:
      - gaussian_blur: {{kernel: 15, sigma: 5}}
      - resize: {{size: 16}}
  label: {{from: folder, classes: 4}}
"""

LINES = {("dct-scale", "image"): 8, ("codec", "image"): 10,
         ("wire-type", "number"): 11, ("wire-type", "real"): 12,
         ("twice", "real"): 12, ("constant", "same"): 14,
         ("wire-type", "kind"): 15, ("twice", "kind"): 15,
         ("shards", None): 3}


class Lint(SystemTest):
    def lint(self, pipeline, *args, code=0):
        shown = self.run_forebay("lint", "--pipeline", pipeline, *args)
        self.assertEqual(shown.returncode, code, shown.stderr)
        return shown.stdout if code == 0 else shown.stderr

    def findings(self, pipeline, *args):
        report = json.loads(self.lint(pipeline, "--json", *args))
        return {(f["kind"], f["field"]): f for f in report["findings"]}

    def costly(self):
        """140 shards of eight samples each, of 28 pictures."""
        root = self.cluster.path("shards")
        subprocess.run([FOREBAY, "photos", root, "--number", "28",
                        "--classes", "4", "--side", "256"], check=True)
        photos = [name.read_bytes() for name in sorted(root.rglob("*.jpg"))]
        self.cluster.root = root
        for i in range(140):
            with tarfile.open(root / f"{i:03}.tar", "w") as tar:
                for j in range(8 * i, 8 * i + 8):
                    numbers = {"n": j, "c": 5, "f": j / 7,
                               "id": 2**60 + j, "next": 2**60 + j + 1}
                    self.add(tar, f"{j:04}.jpg", photos[j % 28])
                    self.add(tar, f"{j:04}.cls", str(j % 7).encode())
                    self.add(tar, f"{j:04}.json", json.dumps(numbers).encode())
        return self.cluster.pipeline(COSTLY)

    @staticmethod
    def add(tar, name, data):
        member = tarfile.TarInfo(name)
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))

    def test_a_pipeline_that_costs_no_more_than_it_must_has_no_finding(self):
        self.cluster.photos(number=40)
        text = self.lint(self.cluster.pipeline(FINE))
        self.assertRegex(text, "p.yaml: nothing found, measured on 40 samples")
        self.assertEqual(self.findings(self.cluster.pipeline(FINE)), {})

    def test_each_finding_is_found_in_its_line(self):
        found = self.findings(self.costly(), "--samples", 64)
        lines = {key: finding["line"] for key, finding in found.items()}
        self.assertEqual(lines, LINES)
        for key, finding in found.items():
            self.assertGreater(finding["before"], finding["after"], key)
            self.assertGreater(finding["saving_percent"], 0, key)

    def test_ops_that_work_on_pixels_dropped_later_are_found(self):
        root = self.cluster.root = self.cluster.path("large")
        subprocess.run([FOREBAY, "photos", root, "--number", "16",
                        "--classes", "4", "--side", "320"], check=True)
        found = self.findings(self.cluster.pipeline(ORDERS))
        self.assertEqual({key: f["line"] for key, f in found.items()},
                         {("op-order", "blurred"): 9,
                          ("op-order", "jittered"): 16})
        blurred, jittered = (found["op-order", f]
                             for f in ("blurred", "jittered"))
        self.assertIn("center_crop before gaussian_blur", blurred["write"])
        self.assertIn("center_crop before colour_jitter", jittered["write"])
        self.assertGreater(blurred["saving_percent"], 20)

    def test_levels_are_0_to_1(self):
        self.cluster.photos(number=16)
        device = ("    device: [{{normalize: {{"
                  "mean: [123.675, 116.28, 103.53], "
                  "std: [58.395, 57.12, 57.375]}}}}]\n")
        text = FINE.replace("  label:", device + "  label:")
        found = self.findings(self.cluster.pipeline(text))
        self.assertEqual(list(found), [("levels", "image")])
        found = found["levels", "image"]
        self.assertEqual(found["line"], 10)
        for numbers in ("mean: [0.485, 0.456, 0.406]",
                        "std: [0.229, 0.224, 0.225]"):
            self.assertIn(numbers, found["write"])
        fine = FINE.replace("  label:", "    device: [{{normalize: {{" + found[
            "write"].split("{")[1].split("}")[0] + "}}}}]\n  label:")
        self.assertEqual(self.findings(self.cluster.pipeline(fine)), {})
        floats = FINE.replace("  label:", "    out: {{dtype: f32}}\n  label:")
        found = self.findings(self.cluster.pipeline(floats))
        self.assertEqual(list(found), [("levels", "image")])
        found = found["levels", "image"]
        self.assertEqual(found["line"], 10)
        self.assertIn("floats of 0 to 255", found["found"])

    def test_savings_are_those_of_the_data(self):
        found = self.findings(self.costly(), "--samples", 64)
        number = found["wire-type", "number"]
        self.assertEqual((number["before"], number["after"]), (8, 2))
        self.assertIn("wire: u16,", number["write"])
        self.assertEqual(found["wire-type", "kind"]["after"], 1)
        codec = found["codec", "image"]
        self.assertEqual(codec["before"], 16 * 16 * 3)
        self.assertLess(codec["after"], 0.875 * codec["before"])
        self.assertAlmostEqual(found["shards", None]["before"], 140, delta=8)
        self.assertLess(found["shards", None]["after"], 129)
        self.assertFalse(codec["changes_content"])
        self.assertTrue(number["changes_content"])

    def test_what_is_advised_is_not_advised_again(self):
        self.costly()
        text = (COSTLY.replace("    dct_scale: off\n", "")
                .replace("    wire: {{codec: store}}\n", "")
                .replace("tar\"", "tar\", shuffle: {{block: 1}}")
                .replace("  real: {{from: json, key: n}}\n", "")
                .replace("  same: {{from: json, key: c, wire: u8}}\n", "")
                .replace("  kind: {{from: cls}}\n", "")
                .replace("i64", "u16"))
        self.assertEqual(self.findings(self.cluster.pipeline(text)), {})

    def test_large_numbers_that_differ_by_one_are_not_the_same(self):
        self.costly()
        found = self.findings(self.cluster.pipeline(
            "forebay: 1\nglobal_batch: 8\n"
            "splits: {{train: {{shards: '{root}/{{000..139}}.tar'}}}}\n"
            "fields:\n"
            "  id: {{from: json, key: id, wire: i64}}\n"
            "  next: {{from: json, key: next, wire: i64}}\n"
            "  again: {{from: json, key: id, wire: i64}}\n"))
        self.assertEqual(list(found), [("twice", "id")])

    def test_the_table_has_place_saving_and_advice(self):
        pipeline = self.costly()
        text = self.lint(pipeline, "--samples", 64)
        for words in (f"{pipeline}:11: wire-type (field number)",
                      "saves  6 of 8 bytes a sample (75 %)",
                      "write  wire: u16,", "and so its digest",
                      "9 findings, measured on 64 samples"):
            self.assertIn(words, text)

    def test_samples_that_are_refused_are_counted(self):
        root = self.cluster.photos(number=40)
        bad = sorted(root.rglob("*.jpg"))[:3]
        good = bad[0].read_bytes()
        for name in bad:
            name.write_bytes(b"no picture")
        text = self.lint(self.cluster.pipeline(FINE))
        self.assertIn("measured on 37 samples (3 more were refused)", text)
        self.assertRegex(text, r"p.yaml:5: refused \(field image\)\n"
                         r"  found  sample \d+ \(c00/.*\): field image: .*\n"
                         r"  write  on_bad_sample: substitute.* pull stops at "
                         r"a bad sample, and 3 of 40 checked are bad\n")
        text = self.lint(self.cluster.pipeline(
            FINE + "on_bad_sample: {{do: substitute, limit: 5}}\n"))
        self.assertIn("takes other samples instead (3 of 40", text)
        bad[0].write_bytes(good)
        bad[1].write_bytes(good)
        text = self.lint(self.cluster.pipeline(FINE))
        self.assertIn("measured on 39 samples (1 more was refused)", text)
        for name in root.rglob("*.jpg"):
            name.write_bytes(b"no picture")
        text = self.lint(self.cluster.pipeline(FINE), code=1)
        self.assertIn("none of 40 samples can be used; the last: sample", text)
        self.assertIn("field image", text)

    def test_class_folders_of_two_splits_are_compared(self):
        root = self.cluster.photos(number=40)
        text = FINE.replace('folder: "{root}"}}', 'folder: "{root}/train"}}, '
                            'val: {{folder: "{root}/val"}}')
        for split, first in (("train", ("c00", "c01", "c03")),
                             ("val", ("c01", "c03"))):
            (root / split).mkdir()
            for name in first:
                subprocess.run(["cp", "-r", root / name, root / split],
                               check=True)
        found = self.findings(self.cluster.pipeline(text))
        self.assertNotIn(("classes", "label"), found)
        own = text.replace("/val", '/val", classes_from: "val')
        found = self.findings(self.cluster.pipeline(own))
        self.assertIn("class 0 is the folder 'c00' here and 'c01' in split "
                      "'val'", found["classes", "label"]["found"])
        found = self.findings(self.cluster.pipeline(own), "--split", "val")
        self.assertIn("'c01' here and 'c00' in split 'train'",
                      found["classes", "label"]["found"])
        for name in ("c00", "c01", "c03"):
            for split in ("train", "val"):
                subprocess.run(["cp", "-r", root / name, root / split],
                               check=True)
        found = self.findings(self.cluster.pipeline(own))
        self.assertNotIn(("classes", "label"), found)

    def test_pictures_of_16_bits_are_counted(self):
        root = self.cluster.photos(number=16)
        names = sorted(root.rglob("*.jpg"))
        for name, dtype in zip(names[:3], ("u2", "u2", "u1")):
            Image.fromarray(numpy.full((40, 40), 200, dtype)).save(
                name.with_suffix(".png"))
            name.unlink()
        found = self.findings(self.cluster.pipeline(
            FINE.replace("from: jpg", "from: [jpg, png]")))
        self.assertIn("PNG in grey of 16 bits: 2 of 16 pictures; ",
                      found["clipped", "image"]["found"])

    def test_all_splits_are_looked_at_unless_one_is_named(self):
        self.cluster.photos(number=16)
        text = FINE.replace("}}}}", '}}, val: {{folder: "{root}"}}}}', 1)
        text += "  flat: {{from: jpg, ops: [{{resize: {{size: 8}}}}], " \
                "wire: {{codec: store}}}}\n"
        pipeline = self.cluster.pipeline(text)
        shown = self.lint(pipeline)
        self.assertIn(f"{pipeline}: split train: 1 finding, measured on 16 "
                      "samples\n", shown)
        self.assertRegex(
            shown, r"p.yaml:8: random \(field image\)\n  found  "
            "random_resized_crop, horizontal_flip in split 'val', which is "
            "for evaluation by its name\n(.*\n)*"
            f"{pipeline}: split val: 1 finding, measured on 16 samples\n$")
        report = json.loads(self.lint(pipeline, "--json"))
        self.assertEqual(report["samples"], 32)
        self.assertEqual([(f["kind"], f["split"]) for f in report["findings"]],
                         [("codec", "train"), ("random", "val")])
        self.assertEqual(list(self.findings(pipeline, "--split", "train")),
                         [("codec", "flat")])
        self.assertEqual(self.lint(pipeline, "--split", "train").count(
            "split"), 0)

    def test_json_is_json_whatever_the_file_is_called(self):
        self.cluster.photos(number=16)
        path = os.fsencode(self.cluster.path("p")) + b"\xff.yaml"
        os.rename(self.cluster.pipeline(FINE), path)
        report = json.loads(self.lint(path, "--json"))
        self.assertIsNone(report["file"])
        self.assertEqual(report["samples"], 16)

    def test_wrong_usage_is_2_and_what_is_missing_is_1(self):
        self.cluster.photos(number=16)
        pipeline = self.cluster.pipeline(FINE)
        self.assertIn("--samples", self.lint(pipeline, "--samples", 0, code=2))
        self.assertIn("train", self.lint(pipeline, "--split", "x", code=2))
        self.assertIn("nowhere", self.lint("/nowhere.yaml", code=1))


if __name__ == "__main__":
    harness.main()
