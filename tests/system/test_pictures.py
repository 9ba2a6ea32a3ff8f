# SPDX-License-Identifier: Apache-2.0
"""Pictures and their masks, PNG and JPEG, through every op and the wire; and
pictures of all kinds that people have."""

import io
import json
import pathlib
import subprocess

import harness
import numpy
from PIL import Image

from harness import SystemTest

WIDTH, HEIGHT, BLOCK, ID = 96, 80, 16, 200
SAMPLES = 48

# Each keeps a picture of known size at one of known size.
GEOMETRIC = {
    "cut": "random_resized_crop: {size: [60, 70], scale: [0.3, 1]}",
    "scale": "resize: {size: [61, 140]}",
    "centre": "center_crop: {size: [50, 60]}",
    "crop": "random_crop: {size: [40, 90]}",
    "mirror": "horizontal_flip: {p: 0.5}",
    "turn": "vertical_flip: {p: 0.5}",
    "pad": "pad: {padding: [9, 17, 1, 30]}",
    "edge": "pad: {padding: 8, mode: edge}",
    "reflect": "pad: {padding: [20, 5], mode: reflect}",
    "symmetric": "pad: {padding: [20, 5], mode: symmetric}",
    "rotate": "rotate: {degrees: 170}",
    "affine": "affine: {degrees: 50, translate: [0.1, 0.3], "
              "scale: [0.7, 1.4], shear: [-20, 30]}",
}
POLICIES = {
    "trivial": "trivial_augment_wide: {bins: 31}",
    "rand": "rand_augment: {ops: 1, magnitude: 12}",
}

ALL_OPS = """\
forebay: 1
splits:
  train: {{folder: "{root}"}}
global_batch: 8
seed: 3
fields:
  image:
    from: [jpg, png]
    ops:
      - resize: {{shorter: 72}}
      - random_crop: {{size: 64}}
      - pad: {{padding: 4, mode: reflect}}
      - rotate: {{degrees: 20, fill: 7}}
      - affine: {{degrees: 9, translate: [0.1, 0.1], scale: [0.8, 1.2]}}
      - vertical_flip
      - colour_jitter: {{brightness: 0.4, contrast: 0.3, saturation: 1,
                          hue: 0.1}}
      - random_grayscale: {{p: 0.3}}
      - gaussian_blur: {{kernel: 5}}
      - trivial_augment_wide
      - rand_augment: {{ops: 2, magnitude: 9}}
      - random_erasing: {{p: 0.9, value: [1, 2, 3]}}
  grey:
    from: [jpg, png]
    ops: [{{random_resized_crop: {{size: 40}}}}, grayscale]
  mask:
    from: mask.png
    decode: mask8
    group: image
    ops:
      - resize: {{shorter: 72}}
      - random_crop: {{size: 64}}
      - pad: {{padding: 4, mode: reflect}}
      - rotate: {{degrees: 20, fill: 255}}
      - affine: {{degrees: 9, translate: [0.1, 0.1], scale: [0.8, 1.2]}}
      - vertical_flip
      - trivial_augment_wide: {{fill: 255}}
      - rand_augment: {{ops: 2, magnitude: 9, fill: 255}}
  label: {{from: folder}}
"""


def blocks(number):
    """Where it is white; a JPEG keeps such blocks exactly."""
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH] // BLOCK
    return (x * 5 + y * 3 + x * y * number) % 7 < 3


class Pictures(SystemTest):
    def data(self, kinds, name="data"):
        """Class folders of pictures, each with its mask; kinds take turns."""
        self.cluster.root = root = self.cluster.path(name)
        for i in range(SAMPLES):
            folder = root / f"c{i % 3}"
            folder.mkdir(parents=True, exist_ok=True)
            white = blocks(i)
            path = folder / f"{i:04}.{kinds[i % len(kinds)]}"
            Image.fromarray(numpy.uint8(white) * 255).convert("RGB").save(path)
            Image.fromarray(numpy.uint8(white) * ID).save(
                path.with_suffix(".mask.png"))
        return root

    def shard(self, root):
        subprocess.run(["tar", "--sort=name", "-cf", root / "s.tar", "-C",
                        root, *(f"c{i}" for i in range(3))], check=True)
        return root / "s.tar"

    def pipeline_of(self, source, ops):
        """A picture and its mask for each op, which share its draws."""
        text = (f"forebay: 1\nsplits: {{train: {{{source}}}}}\n"
                "global_batch: 16\nfields:\n")
        for name, op in ops.items():
            rest = (f"group: {name}, ops: [{{center_crop: {{size: "
                    f"[{HEIGHT}, {WIDTH}]}}}}, {{{op}}}]")
            text += (f"  {name}: {{from: [jpg, png], {rest}}}\n"
                     f"  {name}_mask: {{from: mask.png, decode: mask8, {rest}, "
                     "out: {dtype: i64, layout: hw}}\n")
        path = self.cluster.path("ops.yaml")
        path.write_text(text)
        return path

    def assert_matches(self, image, mask, name):
        """Where the image is black or white, so is the mask; in between is
        what interpolation mixed."""
        black, white = (image == 0).all(-1), (image == 255).all(-1)
        ids = mask
        self.assertEqual(ids.dtype, numpy.int64)
        self.assertTrue(numpy.isin(ids, (0, ID)).all(), name)
        self.assertTrue((ids[black] == 0).all(), name)
        self.assertTrue((ids[white] == ID).all(), name)
        self.assertGreater((black | white).mean(), 0.5, name)
        self.assertGreater(white.mean(), 0.05, name)

    def check_geometric(self, source):
        pipeline = self.pipeline_of(source, GEOMETRIC)
        for arrays in self.first_batches(pipeline, SAMPLES // 16):
            for name in GEOMETRIC:
                self.assert_matches(
                    arrays[name], arrays[name + "_mask"], name)

    def test_a_mask_matches_its_jpeg_after_every_geometric_op(self):
        self.check_geometric(f"folder: {self.data(['jpg'])}")

    def test_a_mask_matches_its_png_of_a_tar_after_every_geometric_op(self):
        shard = self.shard(self.data(["png", "jpg"]))
        self.check_geometric(f"shards: {shard}")

    def test_a_mask_follows_the_steps_of_a_policy_that_move_pixels(self):
        pipeline = self.pipeline_of(f"folder: {self.data(['png'])}", POLICIES)
        moved = 0
        for step, arrays in enumerate(
                self.first_batches(pipeline, SAMPLES // 16)):
            rows = json.loads(self.forebay(
                "plan", "-p", pipeline, "--step", step, "--json"))["rows"]
            for name in POLICIES:
                for i, row in enumerate(rows):
                    steps = row["fields"][name]["ops"][1]["steps"]
                    self.assertEqual(
                        steps, row["fields"][name + "_mask"]["ops"][1]["steps"])
                    if all(s["step"] == "affine" for s in steps):
                        self.assert_matches(
                            arrays[name][i], arrays[name + "_mask"][i], name)
                        moved += len(steps)
                    else:
                        white = blocks(int(row["key"].split("/")[1]))
                        ids = arrays[name + "_mask"][i]
                        self.assertTrue((ids == numpy.uint8(white) * ID).all())
        self.assertGreater(moved, 10)

    def test_all_ops_make_one_stream_for_any_workers(self):
        self.cluster.env.update(harness.PATIENT)
        self.data(["jpg", "png", "png"])
        pipeline = self.cluster.pipeline(ALL_OPS)
        whole = self.assert_one_stream(
            pipeline, (pipeline, "--workers", 3), head=5)
        self.assertEqual(len(whole.lines), 2 * SAMPLES // 8)
        plain = self.cluster.pull_alone(
            pipeline, "--workers", 2, "--epochs", 2,
            env={"FOREBAY_SIMD": "portable"})
        plain.finish()
        self.assertEqual(plain.lines, whole.lines)



MASKS = """\
forebay: 1
splits: {{train: {{parallel: "{root}/{{images,masks}}", shuffle: none}}}}
global_batch: 4
on_bad_sample: {bad}
fields:
  image:
    from: images.jpg
    ops: [{{random_crop: {{size: 24}}}}]
  mask:
    from: masks.png
    decode: mask8
    group: image
    {fit}
    ops: [{{random_crop: {{size: 24}}}}]
"""


class Masks(SystemTest):
    """Four pictures of 60 x 40 pixels; the mask of sample 2 is smaller than
    the crop."""

    def data(self, size=(20, 16), orientation=1, mask_size=(60, 40)):
        self.cluster.root = root = self.cluster.path("data")
        for i in range(4):
            image = Image.new("RGB", (60, 40), (9, 8, 7))
            exif = image.getexif()
            exif[0x112] = orientation
            for folder in ("images", "masks"):
                (root / folder).mkdir(parents=True, exist_ok=True)
            image.save(root / f"images/{i}.jpg", exif=exif)
            Image.new("L", size if i == 2 else mask_size, 5).save(
                root / f"masks/{i}.png")

    def pipeline(self, bad="fail", fit=""):
        path = self.cluster.path("masks.yaml")
        path.write_text(MASKS.format(root=self.cluster.root, bad=bad, fit=fit))
        return path

    def pull(self, *args, bad="fail", fit=""):
        return self.run_forebay("pull", "-p", self.pipeline(bad, fit),
                                "--epochs", 1, "--json", *args)

    def test_a_mask_of_another_size_than_its_picture_is_refused_by_name(self):
        self.data()
        got = self.pull()
        self.assertEqual(got.returncode, 1)
        sentence = ("field mask: the mask masks/2.png has 20 x 16 pixels, but "
                    "its picture images/2.jpg (field image) 60 x 40: if the "
                    "mask shows the whole picture, write 'fit: stretch' in its "
                    "field; else resize the file")
        self.assertIn(f"file masks/2.png, sample 2: {sentence}", got.stderr)
        checked = self.run_forebay("lint", "--check", "-p", self.pipeline())
        self.assertIn(f"masks/2.png: sample 2: {sentence}", checked.stdout)
        got = self.pull(bad="substitute")
        self.assertEqual(json.loads(got.stdout)["substituted"], 1, got.stderr)
        got = self.pull("--field", "image")  # no mask is decoded
        self.assertEqual(got.returncode, 0, got.stderr)

    def test_lint_check_names_the_mask_and_not_the_picture(self):
        self.data(size=(60, 40))
        (self.cluster.root / "masks/1.png").write_bytes(
            (self.cluster.root / "masks/1.png").read_bytes()[:40])
        checked = self.run_forebay("lint", "--check", "-p", self.pipeline())
        self.assertEqual(checked.returncode, 1, checked.stderr)
        self.assertRegex(checked.stdout,
                         r"^masks/1.png: sample 1: field mask: PNG: ")

    def test_fit_stretch_takes_it(self):
        self.data(size=(30, 25))
        got = self.pull(fit="fit: stretch")
        self.assertEqual(got.returncode, 0, got.stderr)

    def test_the_size_is_that_of_the_upright_picture(self):
        self.data(size=(40, 60), mask_size=(40, 60), orientation=6)
        got = self.pull()
        self.assertEqual(got.returncode, 0, got.stderr)
        self.data(size=(60, 40), mask_size=(40, 60), orientation=6)
        self.assertIn("turn the mask, as the orientation (EXIF) turns the "
                      "picture", self.pull().stderr)


ALL_KINDS = """\
forebay: 1
splits: {{train: {{folder: "{root}"}}}}
global_batch: {batch}
on_bad_sample: {{do: {policy}}}
fields:
  image: {{from: [jpg, png, webp], ops: [{{center_crop: {{size: 32}}}}]}}
"""
KINDS = pathlib.Path(__file__).parents[1] / "golden" / "pictures"


class Kinds(SystemTest):
    def folder(self, files):
        """A class folder of `files` (name: bytes), and its pipeline."""
        self.cluster.root = root = self.cluster.path("data")
        for name, data in files.items():
            path = root / "c0" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        path = self.cluster.path("kinds.yaml")
        path.write_text(ALL_KINDS.format(
            root=root, batch=len(files) - len(files) % 2,
            policy="substitute, limit: 20"))
        return path

    def test_all_kinds_decode_as_in_pillow(self):
        files = {path.name: path.read_bytes() for path in KINDS.iterdir()
                 if path.suffix in (".jpg", ".png", ".webp")}
        expected = []
        for data in files.values():
            image = Image.open(io.BytesIO(data))
            if image.mode in ("I", "I;16", "I;16B"):  # versions differ
                image = Image.fromarray(numpy.minimum(
                    numpy.asarray(image), 255).astype(numpy.uint8))
            pixels = numpy.asarray(image.convert("RGB"))
            top, left = (round((n - 32) / 2) for n in pixels.shape[:2])
            expected.append(pixels[top:top + 32, left:left + 32])
        batch = next(self.first_batches(self.folder(files), 1))["image"]
        for row in batch:
            self.assertTrue(any((row == e).all() for e in expected))
        self.assertGreaterEqual(len(batch), 20)

    def test_other_formats_are_refused_with_file_reason_and_command(self):
        files = {}
        for kind, name in (("GIF", "1.png"), ("BMP", "2.jpg"),
                           ("TIFF", "3.jpg")):
            out = io.BytesIO()
            Image.new("RGB", (40, 40), (9, 8, 7)).save(out, kind)
            files[name] = out.getvalue()
        files["4.jpg"] = b"\0\0\0\x1cftypavif" + bytes(90)
        for name in ("webp_lossy", "webp_palette"):
            files[name + ".jpg"] = (KINDS / f"{name}.webp").read_bytes()
        pull = self.cluster.pull_alone(self.folder(files), "--epochs", 1)
        self.assertGreaterEqual(pull.finish()["substituted"], 4)
        for name, kind in (("1.png", "a GIF"), ("2.jpg", "a BMP"),
                           ("3.jpg", "a TIFF"), ("4.jpg", "an AVIF")):
            line = next(line for line in pull.error.splitlines()
                        if f"is {kind} picture" in line)
            self.assertIn(name, line)
            self.assertIn("mogrify -format png FILE", line)


if __name__ == "__main__":
    harness.main()
