# SPDX-License-Identifier: Apache-2.0
"""Masks and boxes as people have them: `forebay init`, the command that it prints, and
then `forebay pull`. The rows are as in test_corpus.py."""

import io
import json
import os
import subprocess
import sys

from collections import Counter

import harness
import numpy
import test_corpus

from PIL import Image
from test_corpus import IMAGE, Note, Remedy, all_of, encoded, mask, picture, save
from test_corpus_layouts import PAIRS, files, masks_in, xml


def coco(name, folder="", **more):
    """COCO's JSON of four pictures in a folder, with two boxes each; the second has
    more keys."""
    def make(root):
        for i in range(4):
            save(root / folder / f"{i}.jpg", picture(i))
        save(root / name, json.dumps({
            "images": [{"id": i, "file_name": f"{i}.jpg", "width": 48,
                        "height": 40} for i in range(4)],
            "annotations": [{"id": 2 * i + k, "image_id": i, "category_id": 3 + k,
                             "bbox": [12, 10, 24, 20], **(more if k else {})}
                            for i in range(4) for k in range(2)]}))
    return make


def exported(value):
    """Pictures beside a JSON file with this value."""
    def make(root):
        for i in range(4):
            save(root / f"images/{i}.jpg", picture(i))
        save(root / "project.json", json.dumps(value))
    return make


def coloured(number):
    """Rows of two colours of class_dict(): pole and sky, or for 0 pole and tree."""
    pixels = numpy.full((40, 48, 3), (64, 0, 128), "u1")
    pixels[::2] = (128, 128, 128) if number else (0, 128, 0)
    return Image.fromarray(pixels)


def coloured_files(*names):
    """Files of these names, of which {} is the number of each of four samples; those
    with an L or called mask are masks."""
    def make(root):
        for i in range(4):
            for name in names:
                is_mask = "L." in name or "mask" in name or "label" in name
                save(root / name.format(i),
                     coloured(i) if is_mask else picture(i))
    return make


def class_dict(root, name="class_dict.csv"):
    save(root / name,
         "name,r,g,b\nsky,128,128,128\npole,64,0,128\ntree,0,128,0\n")


def ids(**wanted):
    """The ids of four masks of coloured(), and how many masks have these."""
    return lambda masks: Counter(
        "_" + "".join(str(i) for i in sorted({*mask.ravel().tolist()}))
        for mask in masks[:4]) == wanted


CLASSES = ids(_01=3, _12=1)


def listed_masks(name, text):
    def make(root):
        for i in range(4):
            save(root / f"im/{i}.jpg", picture(i))
            save(root / f"ma/{i}.png", coloured(i))
        save(root / name, text)
    return make


def drive(kind, *splits):
    """As DRIVE: mask/ is the field of view, and 1st_manual/ has the vessels."""
    def make(root):
        for split in splits:
            word = split.rstrip("/") or "x"
            for i in range(21, 25):
                names = (f"images/{i}_{word}", f"mask/{i}_{word}_mask",
                         f"1st_manual/{i}_manual1")
                for number, name in enumerate(names):
                    if kind == "same":
                        name = f"{name.split('/')[0]}/img_{i}"
                    ending = ("png" if kind != "tif" else
                              "gif" if number else "tif")
                    path = root / f"{split}{name}.{ending}"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    pixels = numpy.full((40, 48), 255, "u1")
                    pixels[::max(number, 1)] = 0  # all rows in mask/
                    image = Image.fromarray(pixels) if number else picture(i)
                    image.save(path)
    return make


DRIVE = Remedy(
    "1st_manual and mask may both have the masks of the pictures in images: write "
    "lists with those that you need, and run init again; for those in 1st_manual:\n"
    "(cd /", "", {"image": (4, *IMAGE), "mask": lambda masks: masks.max() > 0})


def renamed(make, name, new):
    def make_renamed(root):
        make(root)
        (root / name).rename(root / new)
    return make_renamed


def labelme(name, *kinds):
    """LabelMe's JSON in files of this name, with a shape of each kind."""
    corners = {"rectangle": [[36, 30], [12, 10]],
               "polygon": [[1, 2], [30, 4], [20, 30]]}

    def make(root):
        for i in range(4):
            save(root / name.format(i), json.dumps({
                "version": "5.0.1", "flags": {}, "shapes": [{
                    "label": f"{kind} {i % 2}", "points": corners[kind],
                    "group_id": None, "shape_type": kind, "flags": {}}
                    for kind in kinds],
                "imagePath": f"../images/{i}.jpg", "imageData": "x" * 20000,
                "imageHeight": 40, "imageWidth": 48}))
    return make


def turned(width, height, orientation=6):
    """A picture that is stored with this size, and upright by EXIF."""
    exif = Image.Exif()
    exif[274] = orientation
    out = io.BytesIO()
    Image.new("RGB", (width, height), (200, 90, 30)).save(out, "JPEG", exif=exif)
    return out.getvalue()


def turned_with_masks(width, height):
    """Masks of the stored size of their pictures."""
    def make(root):
        for i in range(4):
            save(root / f"images/{i}.jpg", turned(width, height))
            save(root / f"masks/{i}.png", Image.fromarray(
                numpy.full((height, width), i, "u1")))
    return make


LABELME = {"image": (4, *IMAGE), "boxes": Counter(
    [.5] * 16 + [0, 0, 1, 1])}
BOXES = " boxes as those of LabelMe; to read them, too, write lists, and run init again"
POLYGONS = (" polygons of LabelMe, which are not read: draw them into masks, a PNG of "
            "class ids in grey for each picture (as Pillow's ImageDraw.polygon does), "
            "into masks/ beside images/, or save rectangles in their place\n")
COLOURS = "mask.png: its colours are no class ids; if it is a second picture, "

ROWS = [
    ("colours in label_images, beside original_images", coloured_files(
        "original_images/{}.jpg", "label_images/{}.png"), Remedy(
            "label_images and original_images have the same file names, so they "
            "look like pairs", "", Note(
                "label_images.png: its colours are no class ids", {
                    "original_images": (4, *IMAGE)}, {
                "train": {"label_images": (4, 224, 224, 1)}}))),
    *((f"JSON of {tool}", exported(value), f"project.json is in the format of {tool}, "
       "which is not read: export it there as COCO, and run init again")
      for tool, value in (
          ("Label Studio", [{"id": 1, "annotations": [{"result": [{
              "from_name": "label", "to_name": "image", "value": {
                  "x": 1, "y": 2, "width": 3, "height": 4}}]}]}]),
          ("VIA", {"0.jpg9": {"filename": "0.jpg", "regions": [{
              "shape_attributes": {"name": "rect", "x": 1, "y": 2}}]}}))),
    *((f"CamVid, the masks end with {end}: {name}", all_of(
        coloured_files("train/{}.png", "train_labels/{}" + end, "val/{}.png",
                       "val_labels/{}" + end), *tables), Remedy(
           "train_labels has the masks of the pictures in train (", "pairs",
           Note(COLOURS, {"image": (4, *IMAGE)},
                {"train": {"mask": found},
                 "val": {"mask": (64, 224, 224, 1)}})))
      for end in ("_L.png", ".png") for name, tables, found in (
          ("class_dict.csv", [class_dict], CLASSES),
          ("no class_dict.csv", [], ids(_01=1, _12=3)))),
    *((f"DeepGlobe in '{folder}' with class_dict.csv", all_of(
        coloured_files(folder + "{}_sat.jpg", folder + "{}_mask.png"),
        class_dict), Remedy(
            "_mask.png seems to be the mask of the picture beside it; ", "",
            Note(COLOURS, {"image": (4, *IMAGE)},
                 {"train": {"mask": CLASSES}})))
      for folder in ("", "train/")),
    *((f"a list of masks in colours: {name}, {table}", all_of(
        listed_masks(name, text), lambda root, table=table: class_dict(root, table)),
       Note(COLOURS, {"image": (4, *IMAGE)}, {"train": {"mask": CLASSES}}))
      for name, table, text in (
          ("train.csv", "Class_Dict.csv", "Image,Mask\n" + "".join(
              f"im/{i}.jpg,ma/{i}.png\n" for i in range(4))),
          ("train.jsonl", "class_dict.csv", "".join(json.dumps(
              {"image": f"im/{i}.jpg", "mask": f"ma/{i}.png"}) + "\n"
              for i in range(4))))),
    *((f"COCO's JSON beside images: a second box with {more}",
       coco("annotations.json", "images", **more), Remedy(
           "annotations.json is not read as a list: write JSON lines", "",
           {"image": (4, *IMAGE), "boxes": (4, n)}))
      for n, more in ((5, {"iscrowd": 1}), (10, {"iscrowd": 0}),
                      (10, {"iscrowd": None}))),
    ("Pascal VOC with a folder of masks, and splits of boxes alone", all_of(
        files("JPEGImages/{}.jpg"), xml("Annotations/{}.xml"),
        masks_in("SegmentationClass", ""),
        lambda root: save(root / "ImageSets/Main/train.txt", "0\n1\n2\n3\n")),
     "for the masks in SegmentationClass instead, a list in pairs/: (cd /"),
    *((f"LabelMe's rectangles in {name}", all_of(
        files(f"{pictures}{{}}.jpg"), labelme(name, "polygon", "rectangle")), Note(
            f"left out: {what}" + BOXES, {"image": (4, *IMAGE)},
            {"train": LABELME}))
      for pictures, name, what in (
          ("", "{}.json", "the .json files beside the pictures are"),
          ("images/", "annotations/{}.json", "annotations: its JSON files are"),
          ("images/", "labels/{}.json", "labels: its JSON files are"))),
    ("LabelMe's rectangles in a folder of another name", all_of(
        files("images/{}.jpg"), labelme("json/{}.json", "rectangle")), Remedy(
            "json has boxes of the pictures in images: write lists of both, ",
            "", LABELME)),
    *((f"LabelMe's polygons in {name}", all_of(
        files(f"{pictures}{{}}.jpg"), labelme(name, "polygon")), Note(
            f"left out: {what}" + POLYGONS, {"image": (4, *IMAGE)}))
      for pictures, name, what in (
          ("", "{}.json", "the .json files beside the pictures are"),
          ("images/", "annotations/{}.json", "annotations: its JSON files are"))),
    ("LabelMe's JSON without pictures", labelme("{}.json", "polygon"),
     "0.json is not read as a list, and its form is not known"),
    ("masks as their pictures are stored, nearly square",
     turned_with_masks(100, 99),
     "masks/0.png has 100 x 99 pixels, its picture images/0.jpg 99 x 100: rotate "
     "the masks by the EXIF orientation of the pictures; "),
    *((f"DRIVE: {name}", drive(kind, *splits), DRIVE)
      for kind, name, *splits in (
          ("png", "splits", "training/", "test/"), ("png", "no splits", ""),
          ("same", "files of the same names", "training/"))),
    ("DRIVE with a name that needs quotes", renamed(
        drive("png", ""), "1st_manual", "1st manual"),
     "1st manual and mask may both have the masks of the pictures in images: write "
     "lists with those that you need, and run init again\n"),
    ("DRIVE in an archive", test_corpus.zipped(drive("png", "")), Remedy(
        "write lists with those that you need, and run init again; unpack the "
        "archive first:\n(cd /", "data", DRIVE)),
    ("DRIVE as it is", drive("tif", "training/", "test/"), Remedy(
        "TIFF pictures (training/images/", "", Remedy(
            "GIF pictures (training/1st_manual/", "", DRIVE)),
     ("test", {"mask": (64, 224, 224, 1)})),
    ("masks beside a folder of pictures in colours", all_of(
        files("images/{}.jpg", "overlays/{}.png"), masks_in("masks", "")),
     {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)}),
    ("ISIC: pictures of Test, without masks", all_of(
        files("Train/{}.jpg", "Test/{}.jpg"),
        masks_in("Train_GroundTruth", "")),
     Remedy("): write lists of the pairs, without the pictures in Test, then: "
            "forebay init /", "pairs", PAIRS)),
]


class Masks(test_corpus.Corpus):
    rows = ROWS

    def fails(self, command):
        path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
        made = subprocess.run(
            command, shell=True, check=False, capture_output=True, text=True,
            env=dict(os.environ, PATH=path))
        self.assertNotEqual(made.returncode, 0)
        return made.stderr

    def test_boxes_of_pictures_as_they_are_stored_are_refused(self):
        for number, (make, picture_name, boxes_name) in enumerate((
                (coco("annotations.json", "images"), "images/1.jpg",
                 "annotations.json"),
                (coco("annotations/instances_train.json", "train"),
                 "train/1.jpg", "annotations/instances_train.json"),
                (xml("Annotations/{}.xml", size=(48, 40)), "images/1.jpg",
                 "Annotations/1.xml"),
                (xml("{}.xml", size=(48, 40)), "1.jpg", "1.xml"))):
            for size, is_stored in (((48, 40), True), ((40, 48), False)):
                with self.subTest(boxes_name, size=size):
                    root = self.cluster.path(f"stored{number}{is_stored}")
                    make(root)
                    for i in range(4):
                        save(root / picture_name.replace("1.", f"{i}."),
                             turned(*size) if i == 1 else picture(i))
                    said = self.run_one("init", root).stderr
                    command = said[said.index("(cd "):].split(
                        " && forebay init ")[0].strip()
                    if not is_stored:
                        subprocess.run(["sh", "-c", command.splitlines()[0]],
                                       check=True)
                        continue
                    self.assertEqual(
                        self.fails(command.splitlines()[0]),
                        f"{picture_name} is turned by its EXIF orientation, but "
                        f"{boxes_name} has its boxes for 48 x 40 pixels, as it is "
                        "stored: remove the orientation from copies of such "
                        "pictures (exiftool -Orientation=), or turn their boxes\n")

    def test_boxes_without_the_size_of_their_picture_are_refused(self):
        def sizes_removed(root):
            coco("annotations.json", "images")(root)
            data = json.loads((root / "annotations.json").read_text())
            del data["images"][2]["width"]
            save(root / "annotations.json", json.dumps(data))

        def null_sizes(root):
            labelme("labels/{}.json", "rectangle")(root)
            path = root / "labels/2.json"
            save(path, path.read_text().replace(": 48", ": null"))

        for name, make in (("annotations.json", sizes_removed),
                           ("labels/2.json", null_sizes),
                           ("Annotations/0.xml", xml("Annotations/{}.xml",
                                                     size=(0, 0)))):
            with self.subTest(name):
                root = self.cluster.path(name.replace("/", "."))
                make(root)
                files("images/{}.jpg")(root)
                said = self.run_one("init", root).stderr
                command = said[said.index("(cd "):].splitlines()[0].split(
                    " && forebay init ")[0]
                number = "0" if "xml" in name else "2"
                self.assertEqual(
                    self.fails(command),
                    f"{name} has no width and height of images/{number}.jpg, by "
                    "which its boxes are divided: add them\n")

    def test_a_mask_as_its_picture_is_stored_is_not_stretched(self):
        root = self.cluster.path("turned")
        turned_with_masks(48, 40)(root)
        made = self.run_one("init", "--stretch", root)
        self.assertEqual(made.returncode, 1, made.stderr)
        self.assertIn("masks/0.png has 48 x 40 pixels, its picture images/0.jpg "
                      "40 x 48: rotate the masks by the EXIF orientation of the "
                      "pictures; ", made.stderr)


if __name__ == "__main__":
    harness.main()
