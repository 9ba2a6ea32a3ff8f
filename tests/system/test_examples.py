# SPDX-License-Identifier: Apache-2.0
"""The six complete pipelines of docs/pipeline.md, on generated data."""

import io
import pathlib
import re
import tarfile

import harness
import numpy

from PIL import Image

from harness import SystemTest

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "pipeline.md"
MAPS = "road kerb person car bike sign sky tree".split()
BATCH, SAMPLES = 8, 20


def examples():
    """The yaml below each heading of the chapter."""
    chapter = DOCS.read_text().split("\n## Six kinds of training\n")[1]
    chapter = chapter.split("\n## ")[0]
    return {part.split("\n")[0]: re.search("```yaml\n(.*?)```", part, re.S)[1]
            for part in chapter.split("\n### ")[1:]}


def picture(rng, kind="jpeg"):
    out = io.BytesIO()
    side = rng.integers(70, 120, 2)
    Image.fromarray(rng.integers(0, 256, (*side, 3)).astype("u1")).save(
        out, kind)
    return out.getvalue()


def mask(rng, height, width):
    out = io.BytesIO()
    Image.fromarray(rng.integers(0, 2, (height, width)).astype("u1")).save(
        out, "png")
    return out.getvalue()


def write_shard(path, samples):
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w") as tar:
        for number, members in enumerate(samples):
            for extension, data in members.items():
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))


class Examples(SystemTest):
    def setUp(self):
        super().setUp()
        self.rng = numpy.random.default_rng(1)
        self.data = self.cluster.path("data")
        self.data.mkdir()

    def samples(self, make):
        return [make(number) for number in range(SAMPLES)]

    def run_example(self, name, splits):
        """An epoch of each split; the tensors of its first batch, by name."""
        path = self.cluster.path("p.yaml")
        path.write_text(re.sub(r"global_batch: \d+", f"global_batch: {BATCH}",
                               examples()[name]))
        roots = [f"--data={root.name}={root}" for root in self.data.iterdir()]
        found = {}
        for split, steps in splits.items():
            pull = self.cluster.pull_alone(
                path, "--split", split, "--epochs", 1, *roots)
            self.assertEqual(pull.finish()["steps"], steps, split)
            found[split] = self.batch(path, 0, "--split", split, *roots)
        return found

    def assert_tensors(self, found, **wanted):
        """Types and shapes; bf16 is shown as its 16 bits."""
        for name, (dtype, shape) in wanted.items():
            name = name.replace("__", ".")
            self.assertEqual(found[name].dtype, numpy.dtype(dtype), name)
            self.assertEqual(found[name].shape, shape, name)

    def test_the_chapter_has_six(self):
        self.assertEqual(list(examples()), [
            "Classification", "Self-supervision", "Segmentation",
            "Image and caption", "Recommendation", "Language modelling"])

    def test_classification(self):
        for name in ("train-0", "train-1", "val-0"):
            write_shard(self.data / "in1k" / f"{name}.tar", self.samples(
                lambda n: {"jpg": picture(self.rng), "cls": str(n).encode()}))
        found = self.run_example("Classification", {"train": 5, "val": 3})
        self.assert_tensors(found["train"], image=("u2", (BATCH, 3, 176, 176)),
                            label=("u2", (BATCH, 1000)))
        self.assert_tensors(found["val"], image=("u2", (BATCH, 3, 224, 224)),
                            label=("i8", (BATCH,)), valid=("?", (BATCH,)))
        self.assertEqual(found["val"]["label"].tolist(), list(range(BATCH)))

    def test_self_supervision(self):
        folder = self.data / "in1k" / "train" / "dogs"
        folder.mkdir(parents=True)
        for number in range(SAMPLES):
            (folder / f"{number}.jpg").write_bytes(picture(self.rng))
        found = self.run_example("Self-supervision", {"train": 2})["train"]
        self.assert_tensors(found, view_a=("u2", (BATCH, 3, 224, 224)),
                            view_b=("u2", (BATCH, 3, 224, 224)))
        self.assertFalse(numpy.array_equal(found["view_a"], found["view_b"]))

    def test_segmentation(self):
        def sample(_):
            data = picture(self.rng)
            width, height = Image.open(io.BytesIO(data)).size
            return {"jpg": data, **{f"{name}.png": mask(
                self.rng, height, width) for name in MAPS}}
        for name in ("train-0", "val-0"):
            write_shard(self.data / "seg" / f"{name}.tar",
                        self.samples(sample))
        found = self.run_example("Segmentation", {"train": 2, "val": 3})
        for split in found.values():
            self.assert_tensors(split, image=("u2", (BATCH, 3, 256, 512)),
                                things=("u2", (BATCH, 8, 256, 512)))
            self.assertEqual(set(numpy.unique(split["things"])), {0, 0x3f80})

    def test_image_and_caption(self):
        captions = ["€" * n for n in self.rng.integers(0, 100, SAMPLES)]
        write_shard(self.data / "captions" / "0.tar", self.samples(
            lambda n: {"png": picture(self.rng, "png"),
                       "txt": captions[n].encode()}))
        found = self.run_example("Image and caption", {"train": 2})["train"]
        right = [captions[n].encode()[:255] for n in found["samples"]]
        self.assertEqual(found["caption"].tobytes(), b"".join(right))
        self.assertEqual(found["caption.offsets"].tolist(), numpy.cumsum(
            [0, *map(len, right)]).tolist())

    def test_recommendation(self):
        for split in ("train", "val"):
            folder = self.data / "rec" / split / "day-0"
            folder.mkdir(parents=True)
            lengths = self.rng.integers(0, 300, SAMPLES)
            for name, array in {
                    "dense": self.rng.random((SAMPLES, 13)).astype("f4"),
                    "ids": self.rng.integers(0, 2**31, (SAMPLES, 26)),
                    "seen.values": numpy.arange(lengths.sum()),
                    "seen.offsets": numpy.cumsum([0, *lengths]),
                    "click": self.rng.integers(0, 2, SAMPLES)}.items():
                numpy.save(folder / f"{name}.npy", array)
        found = self.run_example("Recommendation", {"train": 2, "val": 3})
        self.assert_tensors(
            found["train"], dense=("f4", (BATCH, 13)), ids=("i8", (BATCH, 26)),
            seen__offsets=("i4", (BATCH + 1,)), click=("u1", (BATCH,)))
        self.assertEqual(
            numpy.diff(found["val"]["seen.offsets"]).tolist(),
            numpy.minimum(lengths[:BATCH], 200).tolist())

    def test_language_modelling(self):
        folder = self.data / "owt"
        folder.mkdir()
        tokens = self.rng.integers(0, 65536, 20 * 2048 + 1).astype("<u2")
        for name in ("train-0", "train-1", "val"):
            tokens.tofile(folder / f"{name}.bin")
        found = self.run_example(
            "Language modelling", {"train": 5, "val": 3})["val"]
        for name, first in (("tokens", 0), ("labels", 1)):
            self.assert_tensors(found, **{name: ("i8", (BATCH, 2048))})
            self.assertEqual(found[name].ravel().tolist(),
                             tokens[first:first + BATCH * 2048].tolist())


if __name__ == "__main__":
    harness.main()
