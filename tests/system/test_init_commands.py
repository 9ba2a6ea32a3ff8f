# SPDX-License-Identifier: Apache-2.0
"""The commands that `forebay init` prints run in the user's folder: they run no file
of it as a program, write through no link, and leave nothing if they fail."""

import json
import os
import pathlib
import subprocess
import sys

import harness
import numpy
import PIL.Image

from init_data import InitTest
from test_corpus import picture, save


class InitCommands(InitTest):
    def text(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def command(self, path=""):
        said = self.refused(path)
        return said[said.index("(cd "):].split(" && forebay init ")[0].strip()

    def fails(self, command, cause):
        with self.assertRaises(subprocess.CalledProcessError) as caught:
            path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
            subprocess.run(command, shell=True, check=True, text=True,
                           capture_output=True, env=dict(os.environ, PATH=path))
        self.assertIn(cause, caught.exception.stderr)

    def files(self):
        return sorted(os.listdir(self.root))

    def sparse(self):
        self.text("train.txt", "1 1:0.5 3:2\n0 2:1\n" * 4)

    def test_a_file_called_after_a_module_is_not_run(self):
        self.sparse()
        for name in ("atexit.py", "os.py", "shutil.py", "numpy.py"):
            self.text(name, "open('run', 'w')\n")
        self.shell(self.command())
        self.assertNotIn("run", self.files())
        self.assertIn("table", self.files())

    def test_a_link_in_the_way_of_a_list_is_not_followed(self):
        self.text("train.txt", "__label__a good day\n__label__b bad day\n" * 4)
        command = self.command()
        os.symlink(self.root / "gone", self.root / "train.jsonl.part")
        self.fails(command, "there already")
        self.assertEqual(self.files(), ["train.jsonl.part", "train.txt"])

    def test_a_table_that_finds_no_space_leaves_no_folder(self):
        self.sparse()
        self.fails("ulimit -f 0; " + self.command(), "File too large")
        self.assertEqual(self.files(), ["train.txt"])

    def program(self, settings, *names):
        """The command of these programs, in the folder of the data."""
        programs = pathlib.Path(__file__).parents[2] / "cli/init/programs"
        text = "".join((programs / f"{name}.py").read_text() for name in names)
        return f"cd {self.root} && python3 -c \"{settings}\n{text}\""

    def test_arrays_of_samples_replace_no_file(self):
        for group in "ab":
            for i in range(3):
                folder = self.root / "train" / group / str(i)
                folder.mkdir(parents=True)
                numpy.save(folder / "x.npy", numpy.zeros((i + 1, 4), "f4"))
        command = self.program(
            "import glob; S = ['train/']; P = '*/*/'; N = {'x': 'x.npy'}; D = ''",
            "sample_arrays")
        for name in ("group.npy", "x.offsets.npy", "x.values.npy.part"):
            self.text(f"train/{name}", "mine")
            self.fails(command, "there already")
            self.assertEqual((self.root / "train" / name).read_text(), "mine")
            (self.root / "train" / name).unlink()
        self.fails("ulimit -f 0; " + command, "")
        self.assertEqual(sorted(os.listdir(self.root / "train")), ["a", "b"])
        self.shell(command)
        self.assertEqual(sorted(os.listdir(self.root / "train")), [
            "a", "b", "group.npy", "x.offsets.npy", "x.values.npy"])

    def test_a_copy_that_finds_no_space_leaves_no_file(self):
        self.text("train.txt", "It was a bright cold day in April.\n" * 100)
        command = self.command()
        self.fails("ulimit -f 1; " + command, "")
        self.assertEqual(self.files(), ["train.txt"])
        self.text("train.bin", "mine")
        self.fails(command, "")
        self.assertEqual((self.root / "train.bin").read_text(), "mine")

    def test_a_row_with_more_cells_than_the_header_is_not_cut(self):
        self.text("train.csv", "name,y\n0,1\n1,0\n")
        self.text("val.csv", "name,y\n2,1,7\n")
        self.fails(self.program("W = 'found'; S = ['val.csv']; C = []",
                                "list_begin", "list_csv", "list_found",
                                "list_end", "write_lists"),
                   "val.csv: a row has 3 columns, and the first one 2")
        self.fails(self.program("L = ['val.csv']; c = {'y'}", "blanks_csv",
                                "write_lists"),
                   "val.csv: a row has 3 columns, and the first one 2")
        self.fails(self.program("f = 'val.csv'; N = 1", "csv_arrays"),
                   "not all rows have as many columns")
        self.fails(self.program("L = [('train.csv', 'val.csv', 'train.csv')]",
                                "join_rows"),
                   "they have other numbers of rows")
        self.text("val.csv", "name,y\n0,1,7\n1,0\n")
        self.fails(self.program("L = [('train.csv', 'val.csv', 'train.csv')]",
                                "join_rows"),
                   "not all rows of labels have as many columns")
        self.assertEqual(self.files(), ["train.csv", "val.csv"])

    def test_a_row_of_boxes_with_more_or_fewer_cells_is_named(self):
        settings = ("F = 'f'; Y = ''; B = ''; X = 'x1 y1 x2 y2'.split(); S = []; "
                    "L = ['a.csv']")
        for row in ("0.jpg,0,0,1,1,7", "0.jpg,0,0,1"):
            self.text("a.csv", f"f,x1,y1,x2,y2\n0.jpg,0,0,1,1\n\n{row}\n")
            self.fails(self.program(settings, "box_rows", "write_lists"),
                       "a.csv, line 4: the row has not as many columns as the "
                       "first one\n")
        self.assertEqual(self.files(), ["a.csv"])

    def test_images_without_labels_are_not_converted(self):
        for name, shape in (("images-idx3", (4, 2, 2)), ("labels-idx1", (3,))):
            (self.root / f"train-{name}-ubyte").write_bytes(
                bytes([0, 0, 8, len(shape)])
                + numpy.array(shape, ">u4").tobytes()
                + bytes(int(numpy.prod(shape))))
        files = self.files()
        self.fails(self.command(), "samples, and")
        self.assertEqual(self.files(), files)

    def test_a_new_folder_of_lists_is_not_left_empty(self):
        self.text("a.csv", "x\n1\n")
        self.text("b.csv", "x\n2\n")
        command = self.command()
        self.fails("ulimit -f 0; " + command, "File too large")
        self.assertEqual(self.files(), ["a.csv", "b.csv"])
        self.shell(command)
        self.assertIn("joined", self.files())
        self.fails(command, "there already: joined: move it away first")

    def test_arrays_of_two_shapes_leave_no_folder(self):
        for i in range(3):
            numpy.save(self.root / f"s{i}.npy", numpy.zeros((4, 3)))
        command = self.command()
        numpy.save(self.root / "s1.npy", numpy.zeros((4, 2)))
        self.fails(command.split("\n")[0], "")
        self.fails("ulimit -f 0; " + command.split("\n")[0], "")
        self.assertEqual(self.files(), ["s0.npy", "s1.npy", "s2.npy"])

    def test_a_column_of_arrays_of_two_shapes_is_named(self):
        for i in range(3):
            numpy.savez(self.root / f"s{i}.npz", x=numpy.zeros((4, 3 + i)),
                        y=i)
        self.fails(self.command().split("\n")[0],
                   "x has arrays of (4, 3) and (4, 4): pad or cut them to one "
                   "shape")

    def test_what_a_killed_command_leaves_is_named(self):
        self.sparse()
        command = self.command()
        (self.root / "table.part").mkdir()
        self.fails(command, "/table.part: remove it")
        self.assertIn("the folder table.part seems to be of a command that did "
                      "not end: remove it, or give it another name",
                      self.refused())
        (self.root / "table.part").rmdir()
        (self.root / "train.txt").write_text("__label__a b\n__label__c d\n")
        self.text("train.jsonl.part", "")
        self.fails(self.command(),
                   "there already: train.jsonl.part: move it away first")

    def prints(self, command):
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        return subprocess.run(command, shell=True, check=True, text=True,
                              capture_output=True,
                              env=dict(os.environ, PATH=path)).stdout

    def test_numbers_that_32_bits_do_not_hold_are_named(self):
        self.text("train.txt", "1 1:0.1 3:16777217\n0 2:1\n")
        self.assertIn("rounded, since 32 bits do not hold them: 1 values, as "
                      "16777217\n", self.prints(self.command()))
        self.text("a.csv", "a,b,time,y\n" + "".join(
            f"{i},0.1,16777{i % 3}17,{i % 2}\n" for i in (5, 2, 7, 3)))
        for lists, label in (("('a.csv', '')", "y"), ("('a.csv', '')", "b")):
            self.assertIn(
                "rounded, since 32 bits do not hold them: numbers in time\n",
                self.prints(self.program(
                    f"label = '{label}'; O = '{label}'; L = [{lists}]",
                    "folder_begin", "wide_list", "folder_end")))
        self.text("day/0.csv", "t,a\n16777217,1\n")
        self.assertIn("1 values, as 16777217.0\n", self.prints(self.program(
            "O = 'series'; S = [('train', '.')]", "folder_begin",
            "class_series", "folder_end")))
        self.text("c.csv", "h,i\n16777217.5,1.5\n2.5,1\n")
        self.assertIn("numbers in h.npy\n", self.prints(self.program(
            "f = 'c.csv'; N = 2", "csv_arrays")))

    def test_polygons_of_coco_are_named(self):
        for split in ("train2017", "val2017"):
            (self.root / split).mkdir()
            picture(1).save(self.root / split / "0.jpg")
            self.text(f"annotations/instances_{split}.json", json.dumps({
                "images": [{"id": 0, "file_name": "0.jpg", "width": 48,
                            "height": 40}],
                "annotations": [
                    {"image_id": 0, "category_id": 1, "bbox": [1, 2, 8, 8],
                     "segmentation": polygons}
                    for polygons in ([[1, 2, 9, 2, 9, 9]], [])]}))
        self.assertIn(": 1 polygons of objects (segmentation): for masks, draw "
                      "them into pictures\n", self.prints(self.command()))

    def test_pictures_that_would_have_one_name_are_named(self):
        for number, name in enumerate(("a/1.jfif", "a/1.jpe", "b/2.jfif")):
            picture(number).save(self.root / "x.jpg")
            (self.root / name).parent.mkdir(exist_ok=True)
            os.rename(self.root / "x.jpg", self.root / name)
        said = self.refused()
        command = said[said.index("find "):].replace(
            "-iname '*.jfif'", "'(' -iname '*.jfif' -o -iname '*.jpe' ')'")
        for _ in range(2):
            printed = self.prints(command)
            self.assertRegex(printed, r"^left out: \S*/a/1.(jfif|jpe), since "
                             r"\S*/a/1.jpg is there\n$")
        self.assertEqual(sorted(os.listdir(self.root / "a")),
                         ["1.jfif", "1.jpe", "1.jpg"])

    def test_a_link_to_an_array_leads_to_it_in_a_new_folder(self):
        numpy.savez_compressed(self.root / "x.npz", x=numpy.zeros(8))
        numpy.save(self.root / "real.npy", numpy.zeros(8))
        os.symlink("real.npy", self.root / "y.npy")
        self.shell(self.program("import glob; O = 'new'; F = glob.glob('*.np[yz]')",
                                "folder_begin", "npz_stored", "folder_end"))
        self.assertFalse((self.root / "new" / "y.npy").is_symlink())

    def test_a_pickle_loads_no_module_but_those_of_arrays(self):
        for number in range(1, 6):
            self.text(f"data_batch_{number}", "cnumpy.f2py.__main__\nndarray\n.")
        self.fails(self.command(),
                   "a pickle of other objects: numpy.f2py.__main__.ndarray")

    def test_a_note_on_pictures_changes_none_of_them(self):
        """Nor one that is the same file in a folder of links."""
        picture16 = PIL.Image.fromarray(numpy.full((8, 8), 3000, "u2"))
        for i in range(4):
            (self.root / "p").mkdir(exist_ok=True)
            picture16.save(self.root / "p" / f"{i}.png")
        said = self.made()
        command = said[said.index("(cd "):].split(" && forebay init ")[0]
        self.shell(command)
        for folder, value in ((self.root, 3000), (f"{self.root}-8bit", 11)):
            with PIL.Image.open(f"{folder}/p/0.png") as image:
                self.assertEqual(image.getpixel((0, 0)), value)

    def test_two_texts_of_one_name_do_not_replace_each_other(self):
        labels = "__label__a good day\n__label__b bad day\n" * 4
        tags = "EU\tB-ORG\nrejects\tO\n\n" * 9
        for text in ("1 1:0.5 3:2\n0 2:1\n" * 4, labels, tags):
            with self.subTest(text=text[:12]):
                for name in ("train.txt", "train.data"):
                    self.text(name, text)
                self.fails(self.command(), "two texts would have one name")
                self.assertEqual(self.files(), ["train.data", "train.txt"])

    def test_links_that_lead_back_have_an_end(self):
        for split in ("Train_a", "Test_a"):
            save(self.root / split / "1.jpg", picture(1))
        os.symlink("..", self.root / "Train_a" / "up")
        os.symlink(".", self.root / "Train_a" / "same")
        os.symlink("../Test_a", self.root / "Train_a" / "other")
        made = f"{self.root}-renamed"
        out = subprocess.run(
            self.program(f"O = '{made}'", "folder_begin", "link_tree", "folder_end"),
            shell=True, check=True, capture_output=True, text=True,
            timeout=20).stdout
        self.assertEqual(sorted(os.path.relpath(os.path.join(d, f), made)
                                for d, _, names in os.walk(made) for f in names),
                         ["Test_a/1.jpg", "Train_a/1.jpg", "Train_a/other/1.jpg"])
        self.assertEqual(out.count("left out, a link to a folder above"), 2)


if __name__ == "__main__":
    harness.main()
