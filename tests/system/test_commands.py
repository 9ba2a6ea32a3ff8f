# SPDX-License-Identifier: Apache-2.0
"""The commands that `forebay init` prints: they keep what the user has, and
one that fails leaves nothing half done."""

import json
import os
import shutil
import subprocess
import unittest

import harness

from init_data import InitTest
from test_corpus import picture, save


class Commands(InitTest):
    def command(self, path="", *args):
        """The command of an error."""
        said = self.refused(path, *args)
        return said[said.index("\n(cd ") + 1:].split(" && forebay init ")[0]

    def files(self):
        return {str(path.relative_to(self.root)): path.read_bytes()
                for path in self.root.rglob("*") if path.is_file()}

    def fails(self, command):
        """The command fails, and changes no file."""
        before = self.files()
        done = subprocess.run(command, shell=True, check=False, cwd="/",
                              capture_output=True)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.files(), before)

    def pictures(self, *names):
        for i, name in enumerate(names):
            save(self.root / name, picture(i))

    def list(self, name, *files):
        save(self.root / name, "".join(
            json.dumps({"image": file, "y": 1}) + "\n" for file in files)
            if name.endswith(".jsonl") else "image,y\n" + "".join(
                f"{file},1\n" for file in files))

    def break_list(self, name):
        """Append what no program can read."""
        with open(self.root / name, "ab") as file:
            file.write(b"\xff\n")

    def test_a_list_of_paths_is_written_whole_or_not_at_all(self):
        self.pictures("images/0.jpg", "images/1.jpg")
        for name in "train.jsonl", "train.csv":
            self.list(name, "0.jpg", "1.jpg")
            command = self.command()
            before = (self.root / name).read_bytes()
            self.break_list(name)
            self.fails(command)
            (self.root / name).write_bytes(before)
            self.shell(command)
            self.assertIn(f"paths-{name}", os.listdir(self.root))
            self.fails(command)
            (self.root / name).unlink()
            (self.root / f"paths-{name}").unlink()

    def test_pictures_with_dots_keep_the_names_that_other_lists_have(self):
        names = [f"images/a.{i}.jpg" for i in range(4)]
        self.pictures(*names)
        for name in "train.csv", "old/all.csv", "val.jsonl":
            self.list(name, *names)
        command = self.command("train.csv")
        before = self.files()
        self.break_list("train.csv")
        self.fails(command)
        (self.root / "train.csv").write_bytes(before["train.csv"])
        self.shell(command)
        after = self.files()
        self.assertEqual({name: after[name] for name in before}, before)
        self.made("dots-train.csv")
        self.shell(self.command("val.jsonl"))
        self.made("dots-val.jsonl")

    def test_a_list_stays_as_it_is_beside_the_one_with_names(self):
        self.pictures("images/0.jpg", "images/1.jpg")
        save(self.root / "train.csv", "images/0.jpg,1\nimages/1.jpg,0\n")
        before = self.files()
        self.shell(self.command())
        after = self.files()
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertIn("note: names-train.csv is read in place of train.csv",
                      self.made())

    def test_rows_without_files_are_left_out_of_a_new_list(self):
        self.pictures("images/0.jpg", "images/2.jpg")
        for name in "train.csv", "train.jsonl":
            self.list(name, *(f"images/{i}.jpg" for i in range(3)))
            command = self.command(name)
            before = self.files()
            self.break_list(name)
            self.fails(command)
            (self.root / name).write_bytes(before[name])
            self.shell(command)
            self.assertEqual(self.files().keys() - before.keys(),
                             {f"found-{name}"})
            self.assertIn("found 2 samples", self.made(f"found-{name}"))
            (self.root / name).unlink()
            (self.root / f"found-{name}").unlink()

    @unittest.skipUnless(shutil.which("unzip"), "a command needs it")
    def test_a_list_in_a_zip_archive_is_read_after_two_commands(self):
        for folder in "pets", "other":
            for i in range(4):
                save(self.root / folder / f"images/{i}.jpg", picture(i))
            save(self.root / folder / "train.tsv", "image\ty\n" + "".join(
                f"images/{i}.jpg\t{i}\n" for i in range(4)))
            shutil.make_archive(self.root / "pets", "zip", self.root, folder)
            shutil.rmtree(self.root / folder)
            said = self.refused("pets.zip")
            self.assertIn("train.tsv has tabs: write a list with commas; "
                          "unpack the archive first:\n(cd ", said)
            command, path = said[said.index("\n(cd "):].split(
                " && forebay init ")
            self.shell(command)
            self.shell(self.command(path))
            self.made(path)


if __name__ == "__main__":
    harness.main()
