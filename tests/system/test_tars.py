# SPDX-License-Identifier: Apache-2.0
"""`forebay init` and tars, archives and token files as people download them:
each is streamed, or one sentence has the command that makes what is read."""

import json
import os
import re
import shutil
import sys
import tarfile
import unittest
import zipfile

import harness
import numpy

from init_data import InitTest
from test_corpus import jpg, samples, save, tar

LLMC = ("{} begins with a header of llm.c, and its tokens are {}: copy the tokens "
        "of all such files:\n")


UNPACK = ("unpack it (else number the names: 0.tar, 1.tar):\n(cd {} && for f "
          "in ./*.tar; do d=classes/${{f%.tar}}; mkdir -p \"$d\" && tar -xf "
          "\"$f\" -C \"$d\"; done)")

NO_LABELS = ("note: no labels: the samples are pictures alone, without .cls or "
             ".json")


def pictures(*names):
    return {name: jpg(i) for i, name in enumerate(names)}


def classes(folder, *names, each=2):
    return pictures(*(f"{folder}{name}/{i}.jpg" for name in names
                      for i in range(each)))


class Download(InitTest):
    def made(self, path="", *args):
        """The same, where an epoch of the data can be pulled."""
        said = super().made(path, *args)
        self.forebay("pull", "-p", self.pipeline)
        return said


class Folders(Download):
    def note(self, path=""):
        return re.search("note: (.*)", self.made(path))[1]

    def check_command(self, said):
        """Run the command, which ends with `forebay init FOLDER`."""
        command, folder = said.split("unpack it: ")[1].split("forebay init ")
        self.shell(command.rstrip("& ;"))
        return self.made(folder)

    def test_a_tar_of_class_folders_is_unpacked_for_its_classes(self):
        tar(self.root / "t.tar", classes("photos/", "cat", "dog"))
        said = self.note()
        self.assertEqual(
            said, "no labels: folders in a tar (cat, dog) are not read as "
            f"classes; to use them, unpack it: cd {self.root} && tar -xf "
            "./t.tar && forebay init photos")
        self.assertIn("found 4 samples in 1 tar shard", self.made())
        self.assertIn("found 4 samples in 2 class folders",
                      self.check_command(said))

    def test_a_tar_without_a_folder_of_its_own_gets_one(self):
        tar(self.root / "t.tar", classes("./", "a", "ab", "abc"))
        said = self.note()
        self.assertTrue(said.endswith(
            " && mkdir unpacked && tar -xf ./t.tar -C unpacked && forebay init "
            "unpacked"))
        self.assertIn("found 6 samples in 3 class folders",
                      self.check_command(said))

    def test_several_tars_of_class_folders_are_unpacked_together(self):
        for i in range(2):
            tar(self.root / f"p-{i}.tar",
                pictures(f"/p/train/cat/{i}.jpg", f"/p/train/dog/{i}.jpg",
                         f"/p/val/dog/{i}9.jpg"))
        said = self.note()
        self.assertTrue(said.endswith(
            ' && for f in ./p-[0-9]*.tar; do tar -xf "$f"; done; forebay init '
            'p'), said)
        said = self.check_command(said)
        self.assertIn("found 4 samples in 2 class folders", said)
        self.assertIn("and split 'val'", said)

    def test_a_command_that_would_need_quotes_is_left_out(self):
        tar(self.root / "my pets.tar", classes("p/", "cat", "dog"))
        self.assertTrue(self.note().endswith("to use them, unpack it"))
        tar(self.root / "x" / f"{'l' * 230}.tar", classes("p/", "cat", "dog"))
        self.assertTrue(self.note("x").endswith(".tar && forebay init p"))

    def test_other_folders_in_a_tar_are_no_classes(self):
        tar(self.root / "a/00000.tar", classes("", "00000", "00001"))
        tar(self.root / "b/t.tar", classes("", "train"))
        tar(self.root / "c/t.tar", pictures("1.jpg", "2.jpg"))
        for folder in "abc":
            self.assertIn(NO_LABELS, self.made(folder))
        tar(self.root / "d/t.tar",
            {**classes("", "cat", "dog"), "cat/0.cls": "0", "cat/1.cls": "1"})
        self.assertNotIn("note:", self.init("d").stderr)

    def test_images_and_masks_in_a_tar_are_unpacked(self):
        tar(self.root / "t.tar", classes("seg/", "images", "masks"))
        said = self.refused()
        self.assertEqual(
            said, "the files of a sample in a tar have one name up to the first "
            "dot, and folders (images, masks) are a part of it; unpack the tar: "
            f"cd {self.root} && tar -xf ./t.tar && forebay init seg")


class TarsOfTars(Download):
    def image_net(self, root, *words):
        for word in words:
            tar(root / f"{word}.tar",
                pictures(*(f"{word}_{i}.JPEG" for i in range(3))))

    def command(self, said):
        return said[said.index("(cd "):]

    def test_image_net_as_downloaded(self):
        words = "n01440764", "n01443537", "n15075141"
        self.image_net(self.root / "w", *words)
        name = "ILSVRC2012_img_train.tar"
        tar(self.root / name, {f"{word}.tar": (
            self.root / f"w/{word}.tar").read_bytes() for word in words})
        tar(self.root / "ILSVRC2012_img_val.tar",
            pictures(*(f"ILSVRC2012_val_{i:08}.JPEG" for i in range(4))))
        said = self.refused()
        self.assertEqual(said, f"{name} holds tar files; unpack each into a "
                         f"folder of its name: (cd {self.root} && mkdir classes "
                         f"&& cd classes && tar -xf ../{name} && for f in "
                         './*.tar; do d=${f%.tar}; mkdir "$d" && tar -xf "$f" '
                         '-C "$d" && rm "$f" || exit; done)')
        self.assertEqual(self.refused(name), said)
        self.shell(self.command(said))
        self.assertEqual(sorted(os.listdir(self.root / "classes")),
                         sorted(words))
        self.assertIn("found 9 samples in 3 class folders",
                      self.made("classes"))
        self.assertIn(NO_LABELS, self.made("ILSVRC2012_img_val.tar"))

    def test_tars_in_a_folder_of_a_tar(self):
        self.image_net(self.root / "w", "n1", "n2")
        tar(self.root / "t.tar", {f"x/train/{word}.tar": (
            self.root / f"w/{word}.tar").read_bytes() for word in ("n1", "n2")})
        said = self.refused("t.tar")
        self.assertIn("for f in ./x/train/*.tar; do", said)
        self.shell(self.command(said))
        self.assertIn("in 2 class folders", self.made("classes/x/train"))

    def test_a_folder_of_the_tars_of_image_net(self):
        self.image_net(self.root / "train", "n01440764", "n01443537")
        said = self.refused("train")
        right = ("n01440764.tar and 1 more tar have pictures alone, without "
                 "labels; if each is a class, " +
                 UNPACK.format(self.root / "train"))
        self.assertEqual(said, right)
        self.assertEqual(self.refused(), f"in train: {right}")
        self.shell(self.command(said))
        self.assertIn("found 6 samples in 2 class folders",
                      self.made("train/classes"))

    def test_a_folder_of_tars_with_a_folder_each(self):
        for word in "cat", "dog", "ox":
            tar(self.root / f"{word}.tar", classes("", word))
        said = self.refused()
        self.assertEqual(
            self.command(said), f"(cd {self.root} && mkdir classes && for f in "
            './*.tar; do tar -xf "$f" -C classes; done)')
        self.shell(self.command(said))
        self.assertIn("in 3 class folders", self.made("classes"))

    def test_shards_with_ordinary_names_are_shards(self):
        for names in (("shard-000",), ("a-0001", "a-0002"), ("00000", "00001"),
                      ("train-0", "val-0"), ("train", "extra"),
                      ("n00000001", "n00000002")):
            root = self.root / names[0]
            for i, name in enumerate(names):
                tar(root / f"{name}.tar", samples(4 * i, 4 * i + 4, jpg=jpg))
            self.assertIn(NO_LABELS, self.made(names[0]))
        for name in "cat", "dog":
            tar(self.root / f"l/{name}.tar",
                samples(0, 4, jpg=jpg, cls=lambda i: "1"))
        self.assertIn("left out: split 'dog'", self.made("l"))

    def test_files_beside_shards_are_left_out_with_a_word(self):
        root = self.root / "laion"
        for i in range(2):
            tar(root / f"{i:05}.tar", samples(0, 4, jpg=jpg, txt=str))
            save(root / f"{i:05}.parquet", b"PAR1")
            save(root / f"{i:05}_stats.json", "{}")
        (root / "logs").mkdir()
        self.assertIn("\nleft out: .json, .parquet, logs/ (beside the tar "
                      "files)\n", self.made("laion"))
        self.assertNotIn("beside the tar", self.made("laion/00000.tar"))


class Captions(Download):
    def shard(self, number, sizes):
        tar(self.root / f"{number:05}.tar", {
            f"{number}{i:04}.{extension}": data
            for i, size in enumerate(sizes) for extension, data in (
                ("jpg", jpg(0)),
                ("json", json.dumps({"caption": f"{i:04}".ljust(size, "x"),
                                     "caps": [f"{i:04}"], "w": i % 9 - 20})))})

    def test_texts_that_were_not_all_read_have_a_margin(self):
        note = ("  # Not all texts were read: max_length has a margin, and "
                "longer texts are cut.\n")
        self.shard(0, [70] * 256 + [250] * 5)
        self.made()
        self.assertIn(
            f"{note}  caption: {{from: json, decode: text, key: caption, "
            "max_length: 512, too_long: truncate}\n", self.pipeline.read_text())
        self.assertIn(
            f"{note}  caps: {{from: json, decode: text, key: caps, pick: "
            "random, max_length: 64, too_long: truncate}\n", self.pipeline.read_text())
        self.assertEqual(self.pipeline.read_text().count(note), 2)

    def test_texts_that_were_all_read_have_their_length(self):
        self.shard(0, [70] * 4)
        self.made()
        self.assertIn("max_length: 128, too_long: truncate}", self.pipeline.read_text())
        self.assertNotIn("Not all texts", self.pipeline.read_text())

    def test_texts_of_val_that_were_not_all_read_count(self):
        self.shard(0, [70] * 4)
        os.rename(self.root / "00000.tar", self.root / "train.tar")
        self.shard(0, [70] * 256 + [250])
        os.rename(self.root / "00000.tar", self.root / "val.tar")
        self.made()
        self.assertIn("key: caption, max_length: 512", self.pipeline.read_text())


class Archives(Download):
    def test_compressed_tars_are_unpacked_as_what_they_hold(self):
        tar(self.root / "a/t.tar", classes("", "cat", "dog"))
        for name, mode in (("t.tgz", "gz"), ("u.tar.xz", "xz"),
                           ("v.tar.bz2", "bz2")):
            with tarfile.open(self.root / name, f"w:{mode}") as out, \
                    tarfile.open(self.root / "a/t.tar") as data:
                for member in data:
                    out.addfile(member, data.extractfile(member))
        for name, stem, command in (("t.tgz", "t", "gunzip -k"),
                                    ("u.tar.xz", "u", "unxz -k"),
                                    ("v.tar.bz2", "v", "bunzip2 -k")):
            said = self.refused(name)
            self.assertEqual(
                said, f"a compressed tar file ({name}) is not read yet; unpack "
                f"shards to plain tars:\n(cd {self.root} && {command} {name})\n"
                f"class folders: (cd {self.root} && mkdir {stem} && tar -xf "
                f"{name} -C {stem})")
            self.shell(said.split("class folders: ")[1])
            self.assertIn("in 2 class folders", self.made(stem))
            self.shell(f"{command} {name}", "")
            self.assertIn("(cat, dog) are not read", self.made(f"{stem}.tar"))

    def zip(self, name, members):
        with zipfile.ZipFile(self.root / name, "w") as out:
            for member, data in members.items():
                out.writestr(member, data)

    def test_archives_in_a_zip_archive_are_unpacked(self):
        self.zip("train.zip", pictures("train/1.jpg", "train/2.jpg"))
        tar(self.root / "t.tar", classes("", "cat"))
        for name, inner in (("cats.zip", "train.zip"), ("tars.zip", "t.tar")):
            self.zip(name, {inner: (self.root / inner).read_bytes(),
                            "x.txt": "x"})
            stem = name.removesuffix(".zip")
            self.assertEqual(
                self.refused(name), "the archive has no pictures (.jpg, .jpeg, "
                f".png, .webp), but {inner}; a zip archive is read only as a "
                "folder of pictures; unpack the archive first:\n(cd "
                f"{self.root} && unzip -nq {name} -d {stem}) && forebay "
                f"init {self.root}/{stem}")
            self.shell(f"{sys.executable} -m zipfile -e {name} {stem}", "")
            self.assertIn("found 2 samples in", self.made(stem))

    @unittest.skipUnless(shutil.which("zip"), "it makes a split archive")
    def test_a_split_zip_archive_is_joined(self):
        for i in range(3):
            save(self.root / f"p/{i}.jpg", jpg(i) + os.urandom(60000))
        self.shell("zip -q -r -s 64k x.zip p && rm -r p", "")
        said = self.refused("x.zip")
        self.assertEqual(
            said, "a part of a split zip archive (x.z01) is not read; join the "
            f"parts:\n(cd {self.root} && zip -s 0 x.zip --out joined.zip)")
        self.assertEqual(self.refused(), said)
        self.assertEqual(self.refused("x.z01"), said)
        self.shell(said[said.index("(cd "):] + " >/dev/null")
        self.assertIn("found 3 samples", self.made("joined.zip"))

    def test_odd_names_in_a_tar(self):
        tar(self.root / "above.tar", pictures("../1.jpg", "../2.jpg"))
        self.assertEqual(
            self.refused("above.tar"), "shard above.tar: it has no samples: "
            "pack files such as 0001.jpg into it, or remove it; ../1.jpg is "
            "skipped (hidden, in .. or without an extension)")
        tar(self.root / "none.tar", {})
        self.assertEqual(
            self.refused("none.tar"), "shard none.tar: it has no samples: "
            "pack files such as 0001.jpg into it, or remove it")
        tar(self.root / "absolute.tar", pictures("/d/1.jpg", "/d/2.jpg"))
        tar(self.root / "long.tar", pictures(f"{'a' * 200}/1.jpg"))
        for name in "absolute.tar", "long.tar":
            self.assertIn(NO_LABELS, self.made(name))
        with tarfile.open(self.root / "linked.tar", "w") as out:
            member = tarfile.TarInfo("9.jpg")
            member.type, member.linkname = tarfile.LNKTYPE, "0.jpg"
            out.addfile(member)
        self.assertEqual(
            self.refused("linked.tar"), "shard linked.tar: offset 0: member "
            "9.jpg is a link; write the shard with --dereference and "
            "--hard-dereference")


class Tokens(Download):
    def llmc(self, name, number, magic=20240520, width="u2"):
        head = numpy.zeros(256, "i4")
        head[:3] = magic, 1, number
        ids = numpy.arange(number) % 50257
        save(self.root / name, head.tobytes() + ids.astype(width).tobytes())

    def test_files_of_llm_c_lose_their_header_first(self):
        self.llmc("fineweb_train_000001.bin", 70000)
        self.llmc("fineweb_train_000002.bin", 70000)
        self.llmc("fineweb_val_000000.bin", 2000)
        said = self.refused("", "--tokens", "u16")
        self.assertIn(LLMC.format("fineweb_train_000001.bin", "u16"), said)
        self.assertEqual(self.refused(), said)
        command, then = said[said.index("(cd "):].split(" && forebay init ")
        self.assertEqual(then, f"{self.root}/tokens --tokens u16")
        self.shell(command, "")
        said = self.made("tokens", "--tokens", "u16")
        self.assertIn("found 136 samples of 1024 tokens in 2 token files", said)
        self.assertIn("and split 'val'", said)
        first = numpy.fromfile(self.root / "tokens/fineweb_val_000000.bin", "u2")
        self.assertEqual(first[:3].tolist(), [0, 1, 2])
        self.llmc("llama/train.bin", 3000, 20240801, "u4")
        self.assertIn(LLMC.format("train.bin", "u32"), self.refused("llama"))

    def test_plain_tokens_need_their_type(self):
        save(self.root / "train.bin", numpy.arange(90000).astype("u2").tobytes())
        save(self.root / "val.bin", numpy.arange(9000).astype("u2").tobytes())
        save(self.root / "meta.pkl", b"\x80\x04.")
        save(self.root / "prepare.py", "pass\n")
        save(self.root / "input.txt", "a text\n")
        right = ("train.bin may be token ids, without their type: give it, as "
                 "--tokens u16 for ids below 65536 (GPT-2, nanoGPT), or "
                 "--tokens u32")
        self.assertEqual(self.refused(), right)
        self.assertEqual(self.refused("train.bin"), right)
        self.assertIn("found 87 samples of 1024 tokens in 1 token file",
                      self.made("", "--tokens", "u16"))

    def test_numpy_files_of_tokens_become_plain_ones(self):
        for name in ("train", "val"):
            numpy.save(self.root / f"{name}.npy", numpy.arange(70000) % 65536)
        said = self.refused("", "--tokens", "u16")
        self.assertEqual(said, "train.npy is a NumPy file: leave out --tokens "
                         "if its rows are samples; else write plain tokens:\n"
                         f"(cd {self.root} && "
                         "python3 -c \"import sys; sys.path[:] = "
                         "filter(None, sys.path); "
                         "import glob, numpy; [open(f[:-3] + "
                         "'bin', 'xb').write(numpy.load(f).astype('<u2')."
                         "tobytes()) for f in glob.glob('*.npy')]\")")
        self.assertEqual(self.refused("train.npy", "--tokens", "u16"), said)
        self.shell(said[said.index("(cd "):])
        self.assertIn("found 68 samples of 1024 tokens in 1 token file",
                      self.made("", "--tokens", "u16"))
        self.assertIn("and split 'val'", self.made("", "--tokens", "u16"))

    def test_a_numpy_file_of_numbers_may_be_tokens(self):
        numpy.save(self.root / "train.npy", numpy.arange(70000) % 65536)
        said = self.made("")
        self.assertIn("found 70000 samples in 1 table\nnote: each number of "
                      "train is a sample; if they are token ids, write plain "
                      f"tokens, and run init {self.root} again with --tokens "
                      "u32: (cd ", said)
        self.assertIn("note: each number of train", self.made("train.npy"))
        self.shell(said[said.index("(cd "):].splitlines()[0])
        self.assertIn("found 68 samples of 1024 tokens in 1 token file",
                      self.made("", "--tokens", "u32"))

    def test_arrow_files_have_a_command_without_their_notes(self):
        save(self.root / "data-00000-of-00001.arrow", b"x")
        save(self.root / "dataset_info.json", "{}")
        save(self.root / "state.json", "{}")
        said = self.refused()
        self.assertTrue(said.startswith(
            "Arrow (data-00000-of-00001.arrow) is not read yet; to write tar files, "
            "or lists if there are no pictures (with pyarrow) into a new folder:\n"
            f"(cd {self.root} && python3 -c "), said)
        self.assertTrue(said.endswith(
            f" && forebay init {self.root}/converted"), said)


if __name__ == "__main__":
    harness.main()
