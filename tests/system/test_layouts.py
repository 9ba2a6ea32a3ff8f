# SPDX-License-Identifier: Apache-2.0
"""Layouts of well-known data sets: what `forebay init` writes, or the sentence
that it prints, and that the commands in these sentences work as they stand."""

import json
import re
import shutil
import subprocess

import harness
import numpy

from init_data import InitTest
from test_corpus import mask, picture, save


class Layouts(InitTest):
    def save(self, *names, content=None):
        for i, name in enumerate(names):
            save(self.root / name, picture(i) if content is None else content)

    def pictures(self, *folders, number=3, ending=".jpg"):
        for folder in folders:
            self.save(*(f"{folder}/{i:04}{ending}" for i in range(number)))

    def made(self, path="", *args):
        return super().made(path, *args).splitlines()

    def pulled(self, split="train"):
        """The number of pictures of an epoch."""
        got = self.run_forebay("pull", "-p", self.pipeline, "--json",
                               "--split", split)
        self.assertEqual(got.returncode, 0, got.stderr)
        return json.loads(got.stdout)["images"]

    def remove_data(self):
        shutil.rmtree(self.root)
        self.root.mkdir()

    def check_next(self, said, found):
        """The command at the end of the sentence finds so much."""
        folder = re.search(r"forebay init (/[^ ;]*)", said)[1]
        self.assertEqual(self.made(folder)[0], found)

    def test_ade_has_training_and_validation_in_parallel_folders(self):
        for split, number in (("training", 4), ("validation", 2)):
            for i in range(number):
                self.save(f"images/{split}/{i}.jpg")
                self.save(f"annotations/{split}/{i}.png", content=mask(i))
        said = self.made()
        self.assertIn("found 4 samples in parallel folders", said)
        self.assertIn(
            "and split 'validation' at "
            f"{self.root}/{{annotations,images}}/validation: neither shuffled "
            "nor augmented", said)
        self.assertEqual(self.pulled(), 4)
        self.assertEqual(self.pulled("validation"), 2)

    def test_a_single_folder_is_no_class(self):
        self.pictures("img_align_celeba", number=6)
        self.save("list_attr_celeba.txt", "a.mat", content="x")
        said = self.made()
        self.assertEqual(said[:3], [
            "found 6 samples in a folder without classes",
            "note: the only folder, img_align_celeba, is read without "
            "classes; if it is a class: --class-depth 1",
            "note: a.mat is not read; if it has labels or texts of the "
            "pictures, write them into a .csv with a column of paths"])
        self.assertIn("left out: 1 .mat file, 1 .txt file (no pictures)", said)
        self.assertIn("class_depth: 0", self.pipeline.read_text())
        self.assertNotIn("label:", self.pipeline.read_text())
        self.assertEqual(self.pulled(), 6)
        self.assertEqual(self.made("", "--class-depth", "1")[0],
                         "found 6 samples in 1 class folder")

    def test_single_folders_below_single_folders_are_followed(self):
        self.pictures("a/b")
        self.assertEqual(self.made()[1],
                         "note: the only folder, a/b, is read without "
                         "classes; if it is a class: --class-depth 1")
        self.pictures("a/b/Training/x", "a/b/Test/x")
        self.pictures("a/b/Training/y", "a/b/Test/y")
        for i in range(3):
            (self.root / f"a/b/{i:04}.jpg").unlink()
        said = self.refused()
        self.assertEqual(said, "the data is in the only folder, a/b: forebay "
                               f"init {self.root}/a/b")
        self.check_next(said, "found 6 samples in 2 class folders")

    def test_of_several_folders_only_one_has_pictures(self):
        self.pictures("images/001.a", "images/002.b")
        self.save("attributes/a.txt", "images.txt", content="x")
        said = self.refused()
        self.assertEqual(said, "only the folder images has pictures (left out: "
                               f"attributes): forebay init {self.root}/images")
        self.check_next(said, "found 6 samples in 2 class folders")
        self.remove_data()
        self.pictures("my images/a", "my images/b")
        self.save("Annotation/a/0000", content="x")  # as Stanford Dogs
        said = self.refused()
        self.assertEqual(said, "only the folder my images has pictures (left "
                               "out: Annotation): forebay init "
                               f"'{self.root}/my images'")

    def test_an_empty_class_folder_is_still_called_so(self):
        self.pictures("cat")
        (self.root / "dog").mkdir()
        self.assertIn("dog", self.refused())
        self.assertNotIn("only the folder", self.refused())

    def test_a_list_finds_its_pictures_two_levels_down(self):
        self.pictures("img_align_celeba/img_align_celeba", number=3)
        self.save("list_attr.csv", content="image_id,Male\n" + "".join(
            f"{i:04}.jpg,{i % 2}\n" for i in range(3)))
        said = self.refused()
        self.assertIn(
            "list_attr.csv: the column image_id names files without their "
            "path (img_align_celeba/img_align_celeba/0000.jpg): write a list "
            f"of paths:\n(cd {self.root} && python3 -c ", said)
        command = said[said.index("(cd "):].split(" && forebay init ")[0]
        subprocess.run(command, shell=True, check=True)
        self.made()
        self.assertEqual(self.pulled(), 3)

    def test_folders_named_as_splits_are_no_classes(self):
        self.pictures("trainA", "trainB", "testA", "testB")
        said = self.refused()
        self.assertEqual(
            said, "the folders testA, testB, trainA, ... look like splits, "
            f"not classes: write a pipeline for each: forebay init {self.root}"
            "/trainA; if files of one name in two folders are pairs, name the "
            "folders images and masks; if all are classes, add --class-depth "
            "1")
        self.check_next(said, "found 3 samples in a folder without classes")
        self.assertEqual(self.made("", "--class-depth", "1")[0],
                         "found 12 samples in 4 class folders")
        self.remove_data()
        self.pictures("cars_train/x", "cars_test/x")
        self.save("devkit/x.mat", content="x")
        self.assertIn("the folders cars_test, cars_train look like splits, ",
                      self.refused())

    def test_classes_may_begin_like_splits(self):
        self.pictures("trainers", "test_tube", "valley", "bus")
        self.assertEqual(self.made()[0],
                         "found 12 samples in 4 class folders")

    def test_two_folders_of_the_same_names_may_be_pairs(self):
        self.pictures("HR", "LR", ending=".png")
        said = self.refused()
        self.assertIn(
            "HR and LR have the same file names, so they look like pairs, not "
            "classes; if they are classes, add --class-depth 1; for pairs "
            f"write a list, and run init again:\n(cd {self.root} && ", said)
        self.assertEqual(self.made("", "--class-depth", "1")[0],
                         "found 6 samples in 2 class folders")
        self.shell(said[said.index("(cd "):])
        self.assertEqual(self.made()[:2], [
            "found 3 samples in a list",
            "left out: lr.png: its colours are no class ids; if it is a second "
            "picture, remove the # of its field in the file; masks are PNG in "
            "grey or with a palette"])
        self.pipeline.write_text(re.sub(
            r"(?m)^  # (?=lr:$|  .*)", "  ", self.pipeline.read_text()))
        batch = self.batch(self.pipeline)
        self.assertEqual(batch["hr"].shape, (3, 3, 224, 224))
        self.assertTrue(numpy.array_equal(batch["hr"], batch["lr"]))

    def test_numbered_folders_of_the_same_names_are_classes_of_their_own(self):
        self.pictures(*(f"{name}/character{i}" for name in ("Greek", "Latin")
                        for i in (1, 2)))
        self.assertIn("as Greek/character1: forebay init "
                      f"{self.root} --class-depth 2;", self.refused())
        self.assertEqual(self.made("", "--class-depth", "2")[0],
                         "found 12 samples in 4 class folders")
        classes = self.batch(self.pipeline)["label"]
        self.assertEqual(sorted(classes.tolist()),
                         [i // 3 for i in range(12)])

    def test_wikitext_becomes_bytes_of_each_split(self):
        for ending in ("tokens", "txt", "raw"):
            self.remove_data()
            for split, number in (("train", 40), ("valid", 9), ("test", 8)):
                save(self.root / f"wiki.{split}.{ending}",
                     " = Valkyrias = \n" * number)
            said = self.refused()
            self.assertIn(f"wiki.test.{ending} is a text without token ids: "
                          "write those of your tokenizer into wiki.test.bin; "
                          "or its bytes, as ids of type u8:", said)
            command, then = said[said.index("(cd "):].split(" && forebay init ")
            self.assertEqual(then, f"{self.root} --tokens u8")
            self.shell(command)
            made = self.made("", "--tokens", "u8")
            self.assertEqual(made[0],
                             "found 39 samples of 16 tokens in 1 token file")
            self.assertEqual([line.split()[2] for line in made[1:3]],
                             ["'test'", "'valid'"])
            for split, number in (("train", 39), ("valid", 8), ("test", 7)):
                self.assertEqual(self.pulled(split), number)

    def test_a_damaged_json_leaves_no_half_list(self):
        self.save("train.json", content='[{"a": 1}]')
        self.save("val.json", content='[{"a": 1}, {')
        command = self.refused()
        command = command[command.index("(cd "):].split(" && forebay init ")[0]
        with self.assertRaises(subprocess.CalledProcessError):
            self.shell(command)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()),
                         ["train.json", "train.jsonl", "val.json"])

    def test_files_of_other_names_are_no_pairs(self):
        self.pictures("HR", "LR", ending=".png")
        self.save("LR/more.png")
        self.assertNotIn("pairs", "".join(self.made()))

    def test_class_folders_with_numbered_files_are_no_pairs(self):
        self.pictures("cat", "dog")
        self.assertEqual(len(self.made()), 2)

    def test_a_list_of_pictures_wins_over_npy_files_beside_it(self):
        for i in range(3):
            self.save(f"{i}.jpg")
            numpy.save(self.root / f"{i}.npy", numpy.zeros(4, "f4"))
        self.save("labels.csv", content="file,label\n" + "".join(
            f"{i}.jpg,{i}\n" for i in range(3)))
        self.assertEqual(self.made()[0], "found 3 samples in a list")
        self.assertEqual(self.pulled(), 3)
        (self.root / "labels.csv").unlink()
        said = self.made()
        self.assertEqual(said[:2], [
            "found 3 samples in a folder without classes",
            "note: the .npy files beside the pictures have no field yet; add "
            "one: {from: npy, decode: array, shape: [N], wire: f32}"])
        field = said[1][said[1].index("{from"):].replace("N", "4")
        self.pipeline.write_text(
            f"{self.pipeline.read_text()}  extra: {field}\n")
        self.assertEqual(self.batch(self.pipeline)["extra"].shape, (3, 4))

    def test_npy_files_beside_the_pictures_of_classes_are_no_tables(self):
        for name in ("a", "b"):
            self.save(f"{name}/1.jpg")
            numpy.save(self.root / f"{name}/1.npy", numpy.zeros(4, "f4"))
        self.assertEqual(self.made()[0], "found 2 samples in 2 class folders")

    def test_a_picture_beside_a_table_is_no_sample(self):
        numpy.save(self.root / "x.npy", numpy.zeros((5, 4), "f4"))
        self.save("plot.png")
        self.save("notes.csv", content="a,b\n1,2\n")
        self.assertEqual(self.made()[0], "found 5 samples in 1 table")

    def tiny(self):
        """Tiny ImageNet."""
        for name in ("n01", "n02"):
            self.save(*(f"train/{name}/images/{name}_{i}.JPEG"
                        for i in range(4)))
            self.save(f"train/{name}/{name}_boxes.txt", content="x")
        self.save(*(f"val/images/val_{i}.JPEG" for i in range(4)))
        self.save(*(f"test/images/test_{i}.JPEG" for i in range(4)))
        self.save("val/val_annotations.txt", content="".join(
            f"val_{i}.JPEG\tn0{1 + i % 2}\t0\t0\t62\t62\r\n" + (
                "" if i else "../x.JPEG\tn01\r\nval_1.JPEG\t../x\r\n"
                "val_1.JPEG\t..\r\nval_2.JPEG\t.\r\nval_3.JPEG\r\n")
            for i in range(4)))

    def test_the_classes_of_a_split_may_be_in_a_text(self):
        self.tiny()
        said = self.made()
        val = f"left out: split 'val' at {self.root}/val: "
        line = next(line for line in said if line.startswith(val))
        links = f"{self.root}-renamed"
        self.assertTrue(line.startswith(
            f"{val}val_annotations.txt has its classes; move the pictures "
            f"into class folders: (cd {self.root} && python3 "), line)
        self.assertTrue(line.endswith(
            f" {links} && cd {links}/val && tr -d "
            "'\\r' < val_annotations.txt | while read -r f c x; do case "
            '$f$c/$c in */*/*|*/|*/.|*/..) continue;; esac; mkdir -p "./$c" && mv -n images/"$f" '
            f'"./$c"; done; rmdir images) && forebay init {links}'), line)
        self.assertIn(
            f"left out: split 'test' at {self.root}/test: its only folder, "
            "images, is no class of train; move the pictures into class "
            f"folders, or read them alone: forebay init {self.root}/test",
            said)
        self.shell(line[line.index("(cd"):line.index(" && forebay init ")])
        said = self.made(links)
        self.assertIn(f"and split 'val' at {links}/val: neither shuffled nor "
                      "augmented", said)
        batch = self.batch(self.pipeline, 0, "--split", "val")
        self.assertEqual(batch["label"][batch["valid"] > 0].tolist(),
                         [0, 0, 1, 1])

    def test_mvtec_has_splits_for_each_object(self):
        for name in ("bottle", "cable"):
            self.pictures(f"{name}/train/good", f"{name}/test/good",
                          f"{name}/test/broken")
            self.pictures(f"{name}/ground_truth/broken", ending="_mask.png")
        said = self.refused()
        self.assertEqual(
            said, "the folders bottle, cable hold a folder train each: "
            f"write a pipeline for each: forebay init {self.root}/bottle; if "
            "they are classes, add --class-depth 1")
        self.check_next(said, "found 3 samples in a folder without classes")
        self.assertIn(
            f"left out: split 'test' at {self.root}/bottle/test: it has class "
            "folders, 'train' has none; to read both without classes: "
            "--class-depth 0", self.made("bottle"))
        self.made("bottle", "-c", "0")
        self.assertEqual(self.pulled("test"), 6)

    def test_dagm_has_masks_in_a_folder_beside_the_pictures(self):
        self.pictures("Train", ending=".PNG")
        self.save("Train/Label/0000_label.PNG", content=mask(1))
        said = self.refused()
        self.assertEqual(
            said, "in Train: there are pictures beside the only folder, "
            "Label: for all of them without classes add --class-depth 0; for those in the "
            f"folder alone: forebay init {self.root}/Train/Label; if they are "
            "masks, give both folders of their own, images and masks")

    def test_a_validation_set_without_class_folders_says_so(self):
        self.pictures("train/a", "train/b", "val")
        self.assertIn(
            f"left out: split 'val' at {self.root}/val: it has no class "
            f"folders; to stream it by itself: forebay init {self.root}/val; "
            "to read both without classes: --class-depth 0", self.made())


if __name__ == "__main__":
    harness.main()
