# SPDX-License-Identifier: Apache-2.0
"""A zip archive is the folder that it was made of: the same pictures, the same
digest of the data and the same tokens. A damaged entry is a bad sample."""

import json
import zipfile

import harness

from harness import SystemTest

PIPELINE = """\
forebay: 1
splits:
  train: {{folder: "{root}", shuffle: full, last: short}}
global_batch: 16
seed: 4
on_bad_sample: {bad}
fields:
  image:
    from: [jpg]
    ops:
      - random_resized_crop: {{size: 32}}
  label: {{from: folder}}
"""

SAMPLES = 96


def pack(folder, path, method):
    """Pack the files of `folder`, below photos/train, in any order."""
    with zipfile.ZipFile(path, "w", method) as out:
        for file in sorted(folder.rglob("*.*"), key=lambda f: f.name[::-1]):
            out.write(file, f"photos/train/{file.relative_to(folder)}")


def damage(path, number):
    """Change a byte of an entry's data. Returns the entry's name."""
    with zipfile.ZipFile(path) as archive:
        entry = [e for e in archive.infolist() if not e.is_dir()][number]
    data = bytearray(path.read_bytes())
    data[entry.header_offset + 30 + len(entry.filename) +
         entry.compress_size // 2] ^= 0xff
    path.write_bytes(data)
    return entry.filename.removeprefix("photos/train/")


class Zip(SystemTest):
    def setUp(self):
        super().setUp()
        self.folder = self.cluster.photos(SAMPLES)

    def packed(self, method, name):
        path = self.cluster.path(name)
        pack(self.folder, path, method)
        return path

    def pipeline_of(self, root, bad="fail"):
        path = self.cluster.path(f"{root.parent.name}-{root.name}.yaml")
        path.write_text(PIPELINE.format(root=root, bad=bad))
        return path

    def pulled(self, root, *args):
        out = self.forebay("pull", "-p", self.pipeline_of(root), "--json",
                           *args)
        return json.loads(out)

    def test_an_archive_streams_as_its_folder(self):
        stored = self.packed(zipfile.ZIP_STORED, "stored.zip")
        packed = self.packed(zipfile.ZIP_DEFLATED, "packed.zip")
        whole = self.pulled(self.folder)
        half = self.pulled(self.folder, "--steps", "3")
        self.assertEqual(whole["images"], SAMPLES)
        for archive in (stored, packed):
            root = archive / "photos/train"
            other = self.pulled(root)
            self.assertEqual(other["digest"], whole["digest"])
            self.assertEqual(other["token"], whole["token"])
            rest = self.pulled(
                root, "--resume", half["token"], "--epochs", "1")
            self.assertEqual(rest["images"], SAMPLES - 48)

    def test_a_damaged_entry_is_a_bad_sample(self):
        archive = self.packed(zipfile.ZIP_DEFLATED, "x.zip")
        name = damage(archive, 7)
        root = archive / "photos/train"
        failed = self.run_forebay("pull", "-p", self.pipeline_of(root))
        self.assertEqual(failed.returncode, 1)
        for words in (f"{root}: file {name}, sample ",
                      "the entry of the archive is damaged: "):
            self.assertIn(words, failed.stderr)
        pipeline = self.pipeline_of(root, "{do: substitute, limit: 1}")
        self.forebay("pull", "-p", pipeline)
        bad = self.cluster.path("bad.txt")
        checked = self.run_forebay("lint", "--check", "-p",
                                   self.pipeline_of(root))
        self.assertIn(name, checked.stdout + checked.stderr)
        bad.write_text(f"{name}\n")
        text = self.pipeline_of(root).read_text()
        pipeline.write_text(
            text.replace("shuffle:", "exclude: bad.txt, shuffle:"))
        self.forebay("pull", "-p", pipeline)

    def test_lint_check_refuses_an_entry_that_no_worker_can_read(self):
        """130 MiB of zeros after a picture are few bytes in the archive."""
        archive = self.packed(zipfile.ZIP_DEFLATED, "x.zip")
        picture = next(self.folder.rglob("*.jpg")).read_bytes()
        with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as out:
            out.writestr("photos/train/c00/zeros.jpg",
                         picture + bytes(130 << 20))
        checked = self.run_forebay(
            "lint", "--check", "-p",
            self.pipeline_of(archive / "photos/train"))
        size = len(picture) + (130 << 20)
        self.assertRegex(
            checked.stdout,
            rf"^c00/zeros.jpg: sample \d+: the sample has {size} bytes, this "
            rf"worker can read at most {128 << 20}; raise its --memory\n")
        self.assertIn(f"read {SAMPLES + 1} samples: 1 bad", checked.stdout)


if __name__ == "__main__":
    harness.main()
