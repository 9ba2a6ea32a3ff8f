# SPDX-License-Identifier: Apache-2.0
"""Little data sets as people have them: `forebay init` and then `forebay pull`
is all that is typed.

A row of CORPUS has a name, a function that makes the data in a folder, and the
result. The result is either the shapes of the arrays of the first batch, by
field (SHAPES; a list has the first values instead, a Counter how often each is
there, and a function is true of the array), or a sentence that `init` prints when it refuses the data (a text), or a
Remedy, or a Note. The results of other splits follow, as (split, shapes), or (split, text)
if pulling it is refused.
The rows run in parallel, one process after another each."""

import concurrent.futures
import dataclasses
import gzip
import io
import json
import os
import pathlib
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

from collections import Counter

import harness
import numpy
from PIL import Image

from harness import FOREBAY, SystemTest
from test_tokens import write_mds

IMAGE = (3, 224, 224)


@dataclasses.dataclass
class Remedy:
    """`init` prints this sentence, which ends with a command. After the command
    it makes a pipeline of `path` in the data, with these shapes. Or there is a
    Note then, or another Remedy."""
    sentence: str
    path: str
    shapes: dict


@dataclasses.dataclass
class Note:
    """`init` makes a pipeline with these shapes, and prints this sentence. If
    that has a command, `after` has the shapes by split once it was run."""
    sentence: str
    shapes: dict
    after: dict = None


COMMAND = re.compile(r"(\((set -C; )?cd /|find [/.]).*")

# ImageMagick's mogrify, as far as `init` advises it.
MOGRIFY = f"""#!{sys.executable}
import os
import sys
from PIL import Image
_, form, *files = sys.argv[1:]
for file in files:
    Image.open(file).save(os.path.splitext(file)[0] + "." + form)
"""


# Info-ZIP's unzip, as far as `init` advises it: only where it is not installed.
UNZIP = f"""#!{sys.executable}
import sys
import zipfile
_, _, archive, *rest = sys.argv
out = rest[rest.index("-d") + 1] if "-d" in rest else "."
with zipfile.ZipFile(archive) as file:
    file.extractall(out, [name for name in file.namelist()
                          if not name.startswith("__MACOSX/")])
"""


def picture(level, side=40):
    return Image.fromarray(
        numpy.full((side, side + 8, 3), level % 256, "u1"), "RGB")


def encoded(image, form="JPEG"):
    out = io.BytesIO()
    image.save(out, form)
    return out.getvalue()


def save(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content.save(path)


def tar(path, members):
    """Write a tar of {name: bytes or text}."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as out:
        for name, data in members.items():
            data = data.encode() if isinstance(data, str) else data
            member = tarfile.TarInfo(name)
            member.size = len(data)
            out.addfile(member, io.BytesIO(data))


def samples(first, last, **members):
    """Members of tar samples; a member is made from the sample's number."""
    return {f"{i:04}.{extension}": make(i) for i in range(first, last)
            for extension, make in members.items()}


def jpg(number):
    return encoded(picture(number))


def id_text(number):
    return str(number % 4)


NUMBERED = ("note: row i of {}, of {} and so on is sample i; if each file is a "
            "sample, or has other samples, make one array of them with "
            "numpy.stack, or with numpy.concatenate")


# ---- the data sets ----

def two_small_tars(root):
    tar(root / "t-0.tar", samples(0, 40, jpg=jpg, cls=id_text))
    tar(root / "t-1.tar", samples(40, 60, jpg=jpg, cls=id_text))


def one_sample(root):
    tar(root / "t.tar", samples(0, 1, jpg=jpg, cls=id_text))


def one_picture_in_a_folder(root):
    save(root / "cat/1.jpg", picture(1))


def one_row_of_a_csv(root):
    save(root / "x.csv", "a,b\n1,2.5\n")


def small_tables(root):
    for i, rows in enumerate((3000, 5)):
        folder = root / f"day-{i}"
        folder.mkdir(parents=True)
        numpy.save(folder / "x.npy", numpy.zeros((rows, 3), "f4"))


def train_and_val_tars(root):
    tar(root / "train-0.tar", samples(0, 70, jpg=jpg, cls=id_text))
    tar(root / "val-0.tar", samples(70, 79, jpg=jpg, cls=id_text))


def extra_tar(root):
    for name, first, last in (("extra-0", 0, 1), ("train-0", 1, 5)):
        tar(root / f"{name}.tar", samples(first, last, jpg=jpg, cls=id_text))


def train_and_val_classes(root):
    for split, number in (("train", 6), ("val", 2)):
        for i in range(number):
            save(root / split / ("cat", "dog")[i % 2] / f"{i}.png", picture(i))


def kaggle_lists(root):
    """The rows to predict have no label."""
    for i in range(8):
        save(root / f"images/{i}.jpg", picture(i))
    for name, label, rows in (("train", ",y", range(5)),
                              ("test", "", range(5, 8))):
        save(root / f"{name}.csv", f"file{label}\n" + "".join(
            f"images/{i}.jpg{label and ',' + str(i % 2)}\n" for i in rows))


def values_of_train_and_val(root):
    """The texts of val are longer."""
    save(root / "train.csv", "id,words\n1,short\n")
    save(root / "val.csv", "id,words\n1,a longer text than that\n")


def meta(number):
    return json.dumps({
        "caption": "a picture, number " + "x" * (number % 9),
        "size": {"width": 48, "height": 40}, "score": number / 2,
        "tags": ["x", "yz"], "box": [1, 2, 3, 4], "flag": True,
        "image": "a name that is taken",
        **({"rare": 1} if number == 3 else {})})


def tars_with_json(root):
    tar(root / "t.tar", samples(0, 5, jpg=jpg, json=meta))


def tars_of_json_alone(root):
    tar(root / "t.tar", samples(0, 5, json=meta))


def class_words(root):
    """Classes are numbered by their names in train."""
    for split, first, last in (("train", 0, 5), ("val", 5, 7)):
        tar(root / f"{split}-0.tar", samples(
            first, last, jpg=jpg, cls=lambda i: ("cat", "dog\n")[i % 2]))


def word(number):
    return ("dog", "cat", "3")[number % 3]


def list_of_words(root, last="3"):
    for name, words in (("train", map(word, range(9))),
                        ("val", ("dog", " cat", last))):
        save(root / f"{name}.csv", "caption,breed\n" + "".join(
            f"picture {i},{text}\n" for i, text in enumerate(words)))


def unknown_class_in_val(root):
    list_of_words(root, "cats")


def json_words(root):
    def note(number):
        return json.dumps({"species": word(number), "note": f"n{number}"})
    tar(root / "train-0.tar", samples(0, 9, jpg=jpg, json=note))
    tar(root / "val-0.tar", samples(1, 3, jpg=jpg, json=note))


def write_zip(path, members, method=zipfile.ZIP_DEFLATED):
    """Write a zip archive of {name: bytes}."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", method) as out:
        for name, data in members.items():
            out.writestr(name, data)


def classes_of(number, top=""):
    return {f"{top}{('cat', 'dog')[i % 2]}/{i}.jpg": jpg(i)
            for i in range(number)}


def kaggle_zip(root):
    """All in one folder, and the files that macOS adds."""
    write_zip(root / "photos.zip", {
        **classes_of(6, "photos/"), "photos/.DS_Store": b"x",
        **{f"__MACOSX/{name.replace('/', '/._')}": b"x"
           for name in classes_of(6, "photos/")}})


def stored_zip_of_splits(root):
    write_zip(root / "x.zip", {**classes_of(6, "train/"),
                               **classes_of(2, "val/")}, zipfile.ZIP_STORED)
    return root / "x.zip"


def zip_for_each_split(root):
    write_zip(root / "train.zip", classes_of(6))
    write_zip(root / "val.zip", classes_of(2))


def zip_of_pictures_alone(root):
    write_zip(root / "test.zip", {f"test/{i}.jpg": jpg(i) for i in range(5)})


def zip_cut_short(root):
    write_zip(root / "x.zip", classes_of(6))
    data = (root / "x.zip").read_bytes()
    (root / "x.zip").write_bytes(data[:-30])


def zip_of_tables(root):
    write_zip(root / "x.zip", {"train.csv": b"a,b", "test.csv": b"a,b"})


def zip_by_another_method(root):
    write_zip(root / "x.zip", classes_of(2), zipfile.ZIP_LZMA)


def sample_in_two_shards(root):
    members = list(samples(0, 8, jpg=jpg, cls=id_text).items())
    tar(root / "t-0.tar", dict(members[:7]))
    tar(root / "t-1.tar", dict(members[7:]))


def shard_without_pictures(root):
    tar(root / "t-0.tar", samples(0, 4, jpg=jpg, cls=id_text))
    tar(root / "t-1.tar", samples(4, 8, cls=id_text))


def files_named(*names):
    """Files whose formats are not read; their content does not matter."""
    def make(root):
        for name in names:
            save(root / name, b"x")
    return make


def mds_of_pictures(root):
    write_mds(root / "shard.00000.mds", [], others=[("image", b"x")])
    path = root / "shard.00000.mds"
    path.write_bytes(path.read_bytes().replace(b'"tokens"', b'"labels"'))


def address(text):
    return lambda root: text


def absolute_paths(root):
    """A list of absolute paths beside the folder of pictures."""
    for i in range(5):
        save(root / f"images/{i}.jpg", picture(i))
    save(root / "lists/train.csv", "file,y\n" + "".join(
        f"{root}/images/{i}.jpg,{i % 2}\n" for i in range(5)))
    save(root / "lists/val.csv", f"file,y\n{root}/images/0.jpg,1\n")
    return root / "lists"


def absolute_paths_below(root):
    save(root / "images/0.jpg", picture(0))
    save(root / "train.csv", f"file,y\n{root}/images/0.jpg,1\n")


def paths_upwards(root):
    save(root / "images/0.jpg", picture(0))
    save(root / "a/lists/train.jsonl", '{"file": "../../images/0.jpg"}\n')
    return root / "a/lists/train.jsonl"


def texts_among_pictures(root):
    for name in ("a/1.jpg", "b/2.jpg"):
        save(root / name, picture(1))
    save(root / "a/notes.txt", "notes")
    save(root / "b/list.csv", "a,b")


def folds(root):
    save(root / "img/1.jpg", picture(0))
    for name in ("train", "fold1"):
        save(root / f"{name}.csv", "image,y\nimg/1.jpg,1\n")


def missing_file(root):
    save(root / "images/1.jpg", picture(0))
    save(root / "train.csv", "file,y\nimages/1.jpg,1\nimages/2.jpg,1\n")


def missing_file_upwards(root):
    save(root / "images/1.jpg", picture(0))
    save(root / "a/train.csv", "file\n../images/1.jpg\n../images/2.jpg\n")
    return root / "a/train.csv"


def paths_with_a_dot(root):
    save(root / "images/0.jpg", picture(0))
    save(root / "train.csv", "file,y\n./images/0.jpg,1\n")


def mask(number):
    return encoded(Image.fromarray(
        numpy.full((40, 48), number % 3, "u1")), "PNG")


def binary_masks(root):
    for i in range(4):
        content = numpy.zeros((40, 48), "u1")
        content[:i] = 255
        save(root / f"images/{i}.jpg", picture(i))
        save(root / f"masks/{i}.png", Image.fromarray(content))


def palette(number):
    image = Image.fromarray(numpy.full((40, 48), number % 3, "u1"), "P")
    image.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])
    return encoded(image, "PNG")


def coco(root):
    for split in ("train2017", "val2017"):
        for i in range(3):
            save(root / f"{split}/{i:012}.jpg", picture(i))
        for kind in ("captions", "instances"):
            save(root / f"annotations/{kind}_{split}.json", json.dumps({
                "images": [{"id": i, "file_name": f"{i:012}.jpg", "width": 40,
                            "height": 20} for i in range(3)],
                "annotations": [{"id": 1, "image_id": 1, "category_id": 3,
                                 "bbox": [10, 5, 20, 10]},
                                {"id": 2, "image_id": 1, "category_id": 7,
                                 "bbox": [0, 0, 4, 4]}],
                "categories": [{"id": 3, "name": "cat"}]}))


def coco_without_annotations(root):
    coco(root)
    for file in (root / "annotations").iterdir():
        file.unlink()
    save(root / "annotations/image_info_train2017.json", '{"images": []}')


def coco_of(name, *others, **more):
    """COCO with files of another name, and more keys of the second annotation."""
    def make(root):
        coco(root)
        for split in ("train2017", "val2017"):
            (root / f"annotations/captions_{split}.json").unlink()
            file = root / f"annotations/instances_{split}.json"
            content = json.loads(file.read_text())
            content["annotations"][1].update(more)
            file.unlink()
            save(root / f"annotations/{name}_{split}.json", json.dumps(content))
            for other in others:
                content["annotations"] = [
                    {"id": 10 * i + k, "image_id": i, "caption": f"picture {i}"}
                    for i in range(3) for k in range(2)]
                save(root / f"annotations/{other}_{split}.json",
                     json.dumps(content))
    return make


def roboflow(root):
    """COCO's JSON beside the pictures, whose names have dots."""
    for split in ("train", "valid"):
        for i in range(3):
            save(root / f"{split}/{i}_jpg.rf.a{i}.jpg", picture(i))
        save(root / f"{split}/_annotations.coco.json", json.dumps({
            "images": [{"id": i, "file_name": f"{i}_jpg.rf.a{i}.jpg",
                        "width": 40, "height": 20} for i in range(3)],
            "annotations": [{"id": 0, "image_id": 2, "category_id": 1,
                             "bbox": [10, 5, 20, 10]}]}))
        save(root / "README.dataset.txt", "from Roboflow")


def roboflow_yolo(root):
    for split in ("train", "valid"):
        for i in range(4):
            name = f"{i}_jpg.rf.{'abcd'[i]}x"
            save(root / f"{split}/images/{name}.jpg", picture(i))
            save(root / f"{split}/labels/{name}.txt", "0 .5 .5 .1 .1\n" * i)


def dots_in_valid(root):
    roboflow_yolo(root)
    for file in sorted((root / "train").rglob("*.rf.*")):
        file.rename(str(file).replace(".rf.", "_rf_"))


def voc(root):
    root = root / "VOCdevkit/VOC2012"
    for i in range(4):
        save(root / f"JPEGImages/2007_{i:06}.jpg", picture(i))
        save(root / f"Annotations/2007_{i:06}.xml", "<annotation/>")
    for i in range(3):
        for folder in ("SegmentationClass", "SegmentationObject"):
            save(root / f"{folder}/2007_{i:06}.png", palette(i))
    for split, ids in (("train", (0, 1)), ("val", (2,))):
        save(root / f"ImageSets/Segmentation/{split}.txt",
             "".join(f"2007_{i:06}\n" for i in ids))


def voc_boxes(root):
    """The last picture has no objects."""
    objects = [("dog", 10, 5, 30, 15), ("cat", 0, 0, 4, 4)]
    for i in range(3):
        save(root / f"JPEGImages/{i:06}.jpg", picture(i))
        save(root / f"Annotations/{i:06}.xml",
             "<annotation><size><width>40</width><height>20</height></size>"
             + "".join(f"<object><name>{name}</name><bndbox><xmin>{a}</xmin>"
                       f"<ymin>{b}</ymin><xmax>{c}</xmax><ymax>{d}</ymax>"
                       "</bndbox></object>" for name, a, b, c, d in objects[i:])
             + "</annotation>")
    save(root / "ImageSets/Main/train.txt", "000000\n000002\n")
    save(root / "ImageSets/Main/val.txt", "000001\n")
    save(root / "ImageSets/Main/cat_train.txt", "000000  1\n000002 -1\n")


def cityscapes(root):
    for split, number in (("train", 3), ("val", 2)):
        for i in range(number):
            name = f"{split}/ulm/ulm_{i}"
            save(root / f"leftImg8bit/{name}_leftImg8bit.png", picture(i))
            save(root / f"gtFine/{name}_gtFine_labelIds.png", mask(i))
            save(root / f"gtFine/{name}_gtFine_polygons.json", "{}")


def masks(picture_name, mask_name, make_mask=mask):
    """Four pictures with their masks, in files of these names."""
    def make(root):
        for i in range(4):
            save(root / picture_name.format(i), picture(i))
            save(root / mask_name.format(i), make_mask(i))
    return make


medical_masks = masks("images/case{}.png", "masks/case{}_mask.png")


def masks_beside(root):
    """The masks of brain scans: a folder for each patient."""
    for i in range(4):
        save(root / f"patient{i % 2}/{i}.png", picture(i))
        save(root / f"patient{i % 2}/{i}_mask.png", mask(i))


def deepglobe(*folders):
    def make(root):
        for folder in folders:
            for i in range(4):
                save(root / f"{folder}{i}_sat.jpg", picture(i))
                save(root / f"{folder}{i}_mask.png", mask(i))
    return make


def mmsegmentation(root):
    for split, number in (("train", 4), ("val", 2)):
        for i in range(number):
            save(root / f"img_dir/{split}/{i}.jpg", picture(i))
            save(root / f"ann_dir/{split}/{i}.png", mask(i))


def img2dataset(root):
    for i in range(6):
        name = root / f"0000{i // 3}/0000{i // 3}000{i % 3}"
        save(name.with_suffix(".jpg"), picture(i))
        save(name.with_suffix(".txt"), f"picture {i}")
        save(name.with_suffix(".json"), json.dumps(
            {"caption": f"picture {i}", "width": 48, "score": i / 2}))


def ids_without_extension(root):
    """The ids are in train.csv, the pictures in train/ and test/."""
    for i in range(4):
        save(root / f"train/ab{i}.jpg", picture(i))
        save(root / f"test/cd{i}.jpg", picture(i))
    save(root / "train.csv", "Id,label\n" + "".join(
        f"ab{i},{i % 2}\n" for i in range(4)))
    save(root / "sample_submission.csv", "Id,label\ncd0,0\n")


def names_without_folder(root):
    for i in range(4):
        save(root / f"train_images/ab{i}.jpg", picture(i))
        save(root / f"test_images/cd{i}.jpg", picture(i))
    save(root / "train.csv", "image_id,label\n" + "".join(
        f"ab{i}.jpg,{i % 2}\n" for i in range(4)))


def other_list(name, text):
    """A list that is not read, beside the folder of its pictures."""
    def make(root):
        for i in range(4):
            save(root / f"images/{i}.jpg", picture(i))
        save(root / name, text)
    return make


def dotted(*names):
    """Pictures whose names have more dots than the one of the extension."""
    def make(root):
        for i, name in enumerate(names):
            save(root / name, picture(i))
    return make


def coloured_masks(*layout):
    """Masks in colours, of which val has one more."""
    def make(root):
        colours = {"train": [[[128, 64, 128], [244, 35, 232]]],
                   "val": [[[0, 0, 0], [244, 35, 232]]]}
        for split, row in colours.items():
            for i in range(4):
                names = [part.format(split) for part in layout]
                save(root / names[0] / f"{i}.jpg", picture(i))
                save(root / names[1] / f"{i}.png", Image.fromarray(
                    numpy.tile(numpy.array(row, "u1"), (40, 24, 1))))
    return make


def depths(*folders):
    """Photographs, and depths of 16 bits."""
    def make(root):
        for i in range(4):
            save(root / f"{folders[0]}/{i}.jpg", picture(i))
            save(root / f"{folders[1]}/{i}.png", Image.fromarray(
                numpy.full((40, 48), 256 * i, "u2")))
    return make


def jpeg_masks(root):
    for i in range(4):
        save(root / f"images/{i}.jpg", picture(i))
        save(root / f"masks/{i}.jpg", picture(i))


def yolo(*layout):
    """The last picture has no objects."""
    def make(root):
        for split in ("train", "val"):
            pictures, labels = (part.format(split) for part in layout)
            save(root / labels / "classes.txt", "cat\n")
            for i in range(4):
                save(root / pictures / f"{i}.jpg", picture(i))
            for i in range(3):
                save(root / labels / f"{i}.txt",
                     "0 .5 .5 .1 .1\n1 0.25 .5 .1 .1\n" * i)
    return make


def captions(root):
    for i in range(4):
        save(root / f"images/{i}.jpg", picture(i))
        save(root / f"labels/{i}.txt", "a cat")


def pictures_at(*names):
    """Pictures whose formats are those of their names."""
    def make(root):
        for i, name in enumerate(names):
            save(root / name, picture(i).convert("L") if "mask" in name
                 else picture(i))
    return make


def jpeg_named(*names):
    def make(root):
        for i, name in enumerate(names):
            save(root / name, jpg(i))
    return make


def test1_beside_train(root):
    classes = ("a", "b", "c")
    for i in range(6):
        save(root / f"train/{classes[i % 3]}/{i}.jpg", picture(i))
        save(root / f"test1/{i}.jpg", picture(i))


def flat_test(root):
    for i in range(6):
        save(root / f"train/{'ab'[i % 2]}/{i}.jpg", picture(i))
        save(root / f"test/{i}.jpg", picture(i))


def val_and_test(root):
    """A folder that lacks train/."""
    for i in range(4):
        for split in ("val", "test"):
            save(root / f"{split}/{'ab'[i % 2]}/{i}.jpg", picture(i))


def empty(folder):
    return lambda root: (root / folder).mkdir(parents=True)


def empty_class_in_val(root):
    train_and_val_classes(root)
    (root / "val/empty").mkdir()
    (root / "train/empty").mkdir()
    save(root / "train/empty/1.png", picture(1))


def grey16(root):
    for i in range(4):
        save(root / f"{'ab'[i % 2]}/{i}.png", Image.fromarray(
            numpy.full((40, 48), 256 * i, "u2")))


def grey16_among_others(folder, end):
    def make(root):
        for i in range(4):
            save(root / f"a/{i}.png", picture(i))
        for i in range(2):
            save(root / f"b/{i}.jpg", picture(i))
            save(root / f"{folder}/grey{i}.{end}", Image.fromarray(
                numpy.full((40, 48), 256 * i, "u2")))
    return make


def braces(root):
    for name in ("cat", "dog"):
        save(root / f"{{a,b}}/{name}/1.jpg", picture(1))
    return root / "{a,b}"


def masks_with_prefix(root):
    for i in range(4):
        save(root / f"images/img_{i:03}.jpg", picture(i))
        save(root / f"masks/mask_{i:03}.png", mask(i))


def masks_missing(images, masks, names=range(4)):
    def make(root):
        for i in names:
            save(root / f"{images}/{i}.jpg", picture(i))
            save(root / f"{masks}/{i}.png", mask(i))
        save(root / f"{images}/9 a.jpg", picture(9))
        save(root / f"{masks}/8.png", mask(8))
    return make


def empty_val(root):
    train_and_val_classes(root)
    shutil.rmtree(root / "val")
    (root / "val").mkdir()


def label_of_val(root):
    """Numbers in train, and texts in val."""
    for name, labels in (("train", "0120"), ("val", "abca")):
        save(root / f"{name}.csv", "x,label\n" + "".join(
            f"1,{label}\n" for label in labels))


def dogs_and_cats(number):
    """Kaggle's names, of more pictures than a sample may have extensions."""
    def make(root):
        image = encoded(picture(1))
        for i in range(number):
            save(root / f"train/cat.{i}.jpg", image)
            save(root / f"train/dog.{i}.jpg", image)
        save(root / "test1/1.jpg", image)
        save(root / "sampleSubmission.csv", "id,label\n1,0.5\n")
    return make


def dogs_and_cats_with_list(root):
    dogs_and_cats(3)(root)
    save(root / "train.csv", "file,y\ncat.0.jpg,0\ndog.1.jpg,1\n")


def dotted_tars(*names):
    """Two tars of samples whose names have a dot, each with a label."""
    def make(root):
        for i in range(2):
            tar(root / f"t-{i}.tar", {
                f"{name.format(2 * k + i)}.{extension}": member(k)
                for k in range(3) for name in names
                for extension, member in (("jpg", jpg), ("cls", id_text))})
    return make


def versions_in_a_tar(root):
    """One extension of a picture for all samples: it is no part of a name."""
    tar(root / "t.tar", samples(0, 4, **{"v2.jpg": jpg, "v2.cls": id_text}))


def csv_lines(*lines):
    """A CSV without a header, beside the folder of its pictures."""
    return other_list("train.csv", "".join(f"{line}\n" for line in lines))


def nnunet(ending, content):
    def make(root):
        for i in range(3):
            for folder, name in (("imagesTr", f"case_{i:03}_0000"),
                                 ("labelsTr", f"case_{i:03}")):
                save(root / f"set/{folder}/{name}{ending}",
                     content(folder, i))
        save(root / "set/dataset.json", "{}")
    return make


def nnunet_content(folder, number):
    return mask(number) if folder == "labelsTr" else encoded(
        picture(number), "PNG")


def pets(*lists):
    """The pictures, masks and lists of Oxford-IIIT Pets."""
    def make(root):
        names = [f"{('Abyssinian', 'great_pyrenees')[i % 2]}_{i}"
                 for i in range(6)]
        for i, name in enumerate(names):
            save(root / f"images/{name}.jpg", picture(i))
            save(root / f"annotations/trimaps/{name}.png", mask(i))
            save(root / f"annotations/trimaps/._{name}.png", b"x")
            save(root / f"annotations/xmls/{name}.xml", "<annotation/>")
        lines = [f"{name} {i % 2 + 1} 1 {i % 2 + 1}\n"
                 for i, name in enumerate(names)]
        save(root / "annotations/list.txt",
             "#Image CLASS-ID SPECIES BREED ID\n" + "".join(lines))
        for name, first, last in lists:
            save(root / f"annotations/{name}.txt", "".join(lines[first:last]))
    return make


def index_column(root):
    """What pandas writes: an index without a name, and empty cells."""
    for i in range(4):
        save(root / f"images/{i}.jpg", picture(i))
    save(root / "train.csv", ",path,age,y\n" + "".join(
        f"{i},images/{i}.jpg,{'' if i == 1 else i / 2},{i % 2}\n"
        for i in range(4)))


def listed(path, first=0):
    """Pictures 0.jpg, 1.jpg ..., and labels that are such numbers, too. The
    pictures before `first` are missing."""
    def make(root):
        for i in range(first, 6):
            save(root / f"img/{i}.jpg", picture(i))
        save(root / "train.csv", "image,label\n" + "".join(
            f"{path.format(i)},{i % 3}\n" for i in range(6)))
    return make


def column_of(*files, to="train.csv", **others):
    """A list with a column of files, and others with values of each row."""
    def make(root):
        for i, file in enumerate(files):
            if file.endswith(".npy"):
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                numpy.save(root / file, numpy.zeros(3, "f4"))
            elif file:
                save(root / file, picture(i))
        rows = zip(files, *others.values())
        save(root / to, ",".join(["image", *others]) + "\n" + "".join(
            ",".join(map(str, row)) + "\n" for row in rows))
    return make


def pictures_with_a_text(root):
    for name in ("a.jpg", "b.jpg"):
        save(root / name, picture(1))
    save(root / "a.txt", "a text")


def wide_list(root):
    save(root / "train.csv", "".join(
        ",".join(f"{name}{i}" for i in range(300)) + "\n"
        for name in ("c", "", "1")))


def idx(*names, pack=bytes):
    """MNIST's files of the splits train and t10k; `names` are those of the
    pictures and labels, with {} for the split."""
    def make(root):
        for split, rows in (("train", 4), ("t10k", 2)):
            contents = (
                struct.pack(">IIII", 0x803, rows, 28, 28) + bytes(rows * 784),
                struct.pack(">II", 0x801, rows) + bytes(range(rows)))
            for name, content in zip(names, contents):
                save(root / name.format(split), pack(content))
    return make


def cifar(*columns, files, meta, other=None):
    """Pickles of 2 rows each, and one of the names of classes."""
    def make(root):
        for i, file in enumerate(files):
            save(root / file, pickle.dumps({
                b"data": numpy.full((2, 3072), i, "u1"), **{
                    name: [2 * i, 2 * i + 1] for name in columns},
                **({b"x": other} if other else {})}, 2))
        save(root / meta, pickle.dumps({b"label_names": [b"car", b"cat"]}, 2))
    return make


def cifar_tables(root):
    for i in range(5):
        save(root / f"data_batch_{i + 1}.bin", bytes([i] * 3073) * 2)
    save(root / "test_batch.bin", bytes([7] * 3073))
    save(root / "batches.meta.txt", "car\ncat\n")


def two_numpy_splits(root):
    for split, rows in (("train", 10), ("val", 4)):
        folder = root / split
        folder.mkdir(parents=True)
        numpy.save(folder / "images.npy", numpy.zeros((rows, 28, 28), "u1"))
        numpy.save(folder / "labels.npy", numpy.arange(rows))


def one_npz(root):
    numpy.savez(root / "train.npz", x=numpy.zeros((10, 5)), y=numpy.arange(10))


def compressed_npz(root):
    numpy.savez_compressed(root / "train.npz", x=numpy.zeros((10, 5)))


def half_masks(root):
    """Masks of half the size; one of them in train, all in val."""
    for split, number in (("train", 6), ("val", 2)):
        for i in range(number):
            mask = picture(i).convert("L")
            small = i == 4 or split == "val"
            save(root / f"images/{split}/{i}.jpg", picture(i))
            save(root / f"masks/{split}/{i}.png", mask.resize(
                (mask.width // 2, mask.height // 2) if small else mask.size))


def arrays_of_splits(rows_of_test):
    def make(root):
        for name, rows in (("train", 10), ("test", rows_of_test)):
            numpy.save(root / f"X_{name}.npy", numpy.zeros((rows, 5), "f4"))
            numpy.save(root / f"y_{name}.npy", numpy.arange(rows))
    return make


def numbered_arrays(*names, rows=(10, 10, 7)):
    """Shards of columns: a name has {} for the number."""
    def make(root):
        for i, n in enumerate(rows):
            for name in names:
                numpy.save(root / f"{name.format(i)}.npy",
                           numpy.full((n, 2), i, "f4"))
    return make


def arrays_of_ids(*names):
    def make(root):
        for name in names:
            numpy.save(root / f"{name}.npy", numpy.arange(10))
    return make


def an_array_of_each_split(root):
    for name, rows in (("train", 10), ("val", 4)):
        numpy.save(root / f"{name}.npy", numpy.zeros((rows, 5), "f4"))


def npz_of_splits(file):
    def make(root):
        numpy.savez(root / file, **{
            f"{column}_{name}": numpy.arange(rows)
            for column in "xy" for name, rows in (("train", 10), ("test", 4))})
    return make


def array_for_each_sample(name, folders):
    def make(root):
        for i in range(6):
            folder = root / folders[i % len(folders)]
            folder.mkdir(parents=True, exist_ok=True)
            numpy.save(folder / name.format(i), numpy.zeros((3, 4), "f4"))
    return make


def texts_in_classes(root):
    for i in range(6):
        save(root / ("neg", "pos")[i % 2] / f"{i}_1.txt",
             f"Film {i}\nis \"long\", very")


def zipped(make):
    """The same data in an archive, with the folder's name."""
    def make_archive(root):
        make(root / "data")
        shutil.make_archive(root / "data", "zip", root, "data")
        return root / "data.zip"
    return make_archive


# Of 302 bytes, with those of the data above it more.
LONG = "/".join(letter * 100 for letter in "abc")


def deep(make):
    """The data in a folder of a long path."""
    def make_deep(root):
        (root / LONG).mkdir(parents=True)
        make(root / LONG)
        return root / LONG
    return make_deep


def all_of(*makers):
    """What several functions make, in one folder."""
    def make(root):
        for maker in makers:
            maker(root)
    return make


def in_a_long_path(rows, *names):
    """The rows of these names, with the data in a folder of a long path."""
    return [(f"{name}, in a long path", deep(make), dataclasses.replace(
        result, path=f"{LONG}/{result.path}"), *others)
        for name, make, result, *others in rows if name in names]


CORPUS = [
    ("60 samples in two tars", two_small_tars,
     {"image": (60, *IMAGE), "label": (60,)}),
    ("one sample in a tar", one_sample, {"image": (1, *IMAGE), "label": (1,)}),
    ("one picture in a single folder", one_picture_in_a_folder,
     {"image": (1, *IMAGE)}),
    ("a CSV of one row", one_row_of_a_csv, {"a": (1,), "b": (1,)}),
    ("two tables, the second small", small_tables, {"x": (3005, 3)}),
    ("tars of train and val", train_and_val_tars,
     {"image": (64, *IMAGE), "label": (64,)},
     ("val", {"image": (64, *IMAGE), "label": (64,), "valid": (64,)})),
    ("class folders in train/ and val/", train_and_val_classes,
     {"image": (6, *IMAGE), "label": Counter([0, 0, 0, 1, 1, 1])},
     ("val", {"image": (64, *IMAGE), "label": (64,)})),
    ("a tar that is no split, and comes first", extra_tar,
     {"image": (4, *IMAGE), "label": (4,)}),
    ("train/ in JPEG, val/ in PNG and WebP", pictures_at(
        "train/a/1.jpeg", "train/b/1.jpg", "val/a/1.png", "val/b/1.webp"),
     {"image": (2, *IMAGE), "label": Counter([0, 1])},
     ("val", {"image": (64, *IMAGE), "label": (64,)})),
    ("Kaggle: a list without labels", kaggle_lists,
     {"file": (5, *IMAGE), "y": (5,)}),
    ("tars of pictures and JSON", tars_with_json,
     {"image": (5, *IMAGE), "caption": (5, 32), "size_width": (5,),
      "score": (5,), "box": (5, 4), "json_image": (5, 32)}),
    ("tars of JSON alone", tars_of_json_alone, {"caption": (5, 32)}),
    ("tars with words as classes", class_words,
     {"image": (5, *IMAGE), "label": (5,)}, ("val", {"label": [1, 0]})),
    ("lists with words as classes", list_of_words,
     {"caption": (9, 16), "breed": (9,)}, ("val", {"breed": [2, 1, 0]})),
    ("a class in val that train lacks", unknown_class_in_val, Note(
        "note: split val has 'cats', which is no class of breed in train: add "
        "it to names in the file, or it is refused there", {"breed": (9,)}),
     ("val", "class 'cats' is not in names of field breed "
                       "(nearest: cat): add it to names")),
    ("JSON with words as classes", json_words,
     {"species": (9,)}, ("val", {"species": [1, 0]})),
    ("a sample in two tars", sample_in_two_shards,
     "sample 0003 is in two shards: t-0.tar has its .jpg, and t-1.tar its "
     ".cls"),
    ("a tar without pictures", shard_without_pictures,
     "shard t-1.tar has no picture (.jpg, .jpeg, .png, .webp)"),
    ("ImageNet's tar.gz", files_named("train.tar.gz"),
     "unpack shards to plain tars:\n(cd /"),
    ("a folder of .tgz", files_named("a-0.tgz", "a-1.tgz"), " && gunzip -k a-0.tgz)\nclass folders: (cd /"),
    ("tar.zst", files_named("a.tar.zst"), " && zstd -d a.tar.zst)\n"),
    ("a tar.gz of a name that is no option", files_named("-my data.tar.gz"),
     " && gunzip -k './-my data.tar.gz')\n"),
    ("Kaggle's zip", kaggle_zip, {"image": (6, *IMAGE), "label": (6,)}),
    ("a zip of train/ and val/", stored_zip_of_splits,
     {"image": (6, *IMAGE), "label": (6,)},
     ("val", {"image": (64, *IMAGE), "label": (64,)})),
    ("train.zip and val.zip", zip_for_each_split,
     {"image": (6, *IMAGE), "label": (6,)},
     ("val", {"image": (64, *IMAGE), "label": (64,)})),
    ("a zip of pictures alone", zip_of_pictures_alone,
     {"image": (64, *IMAGE), "valid": Counter([1] * 5 + [0] * 59)}),
    ("a zip that was cut short", zip_cut_short,
     "x.zip: the file does not end as a zip file: it is none, or was cut "
     "short"),
    ("a zip of tables", zip_of_tables, "the archive has no pictures (.jpg,"),
    ("a zip of LZMA", zip_by_another_method,
     "is compressed with LZMA (14), which is not read; unpack the archive and "
     "pack it again: 7z x x.zip -oFOLDER && cd FOLDER && zip -r0"),
    ("Parquet of Hugging Face", files_named(
        "README.md", "data/train-00000-of-00001.parquet"),
     "in data: Parquet (train-00000-of-00001.parquet) is not read yet"),
    ("TFRecord", files_named("t.tfrecord-00000-of-00010"), "TFRecord (t."),
    ("Arrow", files_named("dataset_info.json", "data-0.arrow"), "Arrow ("),
    ("HDF5", files_named("train.h5"), "HDF5 (train.h5) is not read yet"),
    ("LMDB", files_named("data.mdb", "lock.mdb"), "LMDB (data.mdb)"),
    ("RecordIO", files_named("train.idx", "train.rec"), "RecordIO ("),
    ("class folders of videos a level down", files_named(
        "clips/dance/1.mp4", "clips/jump/2.mp4"),
     "video (clips/dance/1.mp4) is not read yet"),
    ("class folders of videos", files_named("dance/1.mp4", "jump/2.mp4"),
     "video (*.mp4) is not read yet"),
    ("MDS of pictures", mds_of_pictures,
     "pictures in .mds files are not read yet: write tar shards"),
    ("an object store", address("s3://bucket/train"),
     "s3:// is not read yet; mount it or copy it"),
    ("a web server", address("https://host/train.tar"),
     "https:// is not read yet; mount it or copy it"),
    ("a list of absolute paths", absolute_paths,
     {"file": (5, *IMAGE), "y": (5,)}, ("val", {"file": (64, *IMAGE)})),
    ("absolute paths below the list", absolute_paths_below,
     {"file": (1, *IMAGE), "y": (1,)}),
    ("a missing file of a list", missing_file,
     "train.csv, line 3: there is no file images/2.jpg: correct its path, or "),
    ("a missing file of a list of ../ paths", missing_file_upwards,
     "/data/images/2.jpg: correct its path, or remove the line: to leave "),
    ("a list of ../ paths", paths_upwards, {"file": (1, *IMAGE)}),
    ("a list of ./ paths", paths_with_a_dot, {"file": (1, *IMAGE)}),
    ("lists of train and val", values_of_train_and_val, {"words": (1, 32)},
     ("val", {"words": (64, 32)})),
    ("COCO", coco, Remedy(
        "COCO's annotations (annotations/instances_", "",
        {"image": (3, *IMAGE), "boxes": Counter(
            [0] * 20 + [3, .5, .5, .5, .5, 7, .05, .1, .1, .2])})),
    ("COCO with captions", coco_of("instances", "captions"), Remedy(
        "COCO's annotations (annotations/instances_", "",
        {"captions": (3, 16), "boxes": (3, 10)})),
    ("COCO with a crowd", coco_of("instances", iscrowd=1), Remedy(
        "COCO's annotations (annotations/instances_", "", {"image": (3, *IMAGE), "boxes": (3, 5)})),
    ("COCO's keypoints alone", coco_of(
        "person_keypoints", keypoints=[10, 5, 2, 20, 10, 1]), Remedy(
            "COCO's annotations (annotations/person_keypoints_", "", {
                "boxes": (3, 10), "keypoints": Counter(
                    12 * [0] + [.25, .25, 2, .5, .5, 1])})),
    ("COCO's captions alone", coco_of("captions", "captions"), Remedy(
        "COCO's captions (annotations/captions_", "",
        {"captions": (3, 16)}), ("val", {"captions": (64, 16)})),
    ("COCO without annotations", coco_without_annotations,
     "are not read: write a list with a line for each picture into the same "
     'folder, train.jsonl: {"image": "train2017/1.jpg", "caption": "a cat", '
     '"boxes": [3, 0.5, 0.5, 0.2, 0.2, 7, 0.1, 0.1, 0.2, 0.2]}, two boxes of '
     "five numbers, or [] for none; or give a folder of the pictures alone"),
    ("Roboflow's COCO", roboflow, Remedy(
        "in train: COCO's annotations (_annotations.coco.json) are not read. "
        "In a list, a box is five numbers: class, and centre and size from 0 "
        "to 1. Write lists (and _ for dots in names of pictures):\n(cd /", "",
        {"image": (3, *IMAGE), "boxes": (3, 5)})),
    ("Roboflow's YOLO", roboflow_yolo, Remedy(
        "0_jpg.rf.ax.jpg has the extension rf.ax.jpg: rename such files:\n"
        "(cd /", "", {"image": (4, *IMAGE)})),
    ("names with dots in valid/ alone", dots_in_valid,
     "in valid: the key of a sample ends at the first dot of a name"),
    ("the pictures of COCO", lambda root: coco(root) or root / "train2017",
     {"image": (3, *IMAGE)}),
    ("Pascal VOC", voc, Remedy(
        "in VOCdevkit/VOC2012: Pascal VOC's ImageSets/ and Annotations/ are not "
        "read (the list here has the masks); write a list, and run init on that "
        "folder:\n(cd /", "VOCdevkit/VOC2012",
        {"image": (2, *IMAGE), "mask": (2, 224, 224, 1)})),
    ("Pascal VOC with boxes alone", voc_boxes, Remedy(
        "Pascal VOC's ImageSets/ and Annotations/ are not read. In a list, a "
        "box is five numbers: class, and centre and size from 0 to 1. Write "
        "lists, then: forebay init /", "",
        {"image": (2, *IMAGE), "boxes": Counter(
            [1, .5, .5, .5, .5, 0, .05, .1, .1, .2] + [0] * 10)})),
    ("Cityscapes", cityscapes, Remedy(
        "Cityscapes' pictures and masks have different names", "",
        {"image": (3, *IMAGE), "mask": (3, 224, 224, 1)})),
    ("medical masks", medical_masks, Remedy(
        "_mask.png seems to be the mask of images/case", "",
        {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)})),
    ("masks beside the pictures", masks_beside, Remedy(
        "_mask.png seems to be the mask of the picture beside it", "",
        {"image": (4, *IMAGE), "mask": (4, 224, 224, 1), "label": (4,)})),
    ("masks beside the pictures of train",
     masks("train/{}.jpg", "train/{}_mask.png"), Remedy(
        "_mask.png seems to be the mask of the picture beside it", "train",
        {"image": (4, *IMAGE), "mask": (4, 224, 224, 1)})),
    ("DeepGlobe", deepglobe(""), Remedy(
        "_mask.png seems to be the mask of the picture beside it", "",
        {"image": (4, *IMAGE), "mask": (4, 224, 224, 1)})),
    ("DeepGlobe's train/", deepglobe("train/", "valid/"), Remedy(
        "_mask.png seems to be the mask of the picture beside it; files "
        "of a sample have one name up to the first dot, so rename "
        "both:\n(cd ", "train",
        {"image": (4, *IMAGE), "mask": (4, 224, 224, 1)})),
    ("mmsegmentation", mmsegmentation,
     {"img_dir": (4, *IMAGE), "ann_dir": (4, 224, 224, 1)},
     ("val", {"ann_dir": (64, 224, 224, 1)})),
    ("masks of one name",
     masks("images/case{}.png", "masks/case{}.png", palette),
     {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)}),
    ("dogs and cats: numbers after a dot", dotted(
        "train/cat.0.jpg", "train/cat.1.jpg", "train/dog.0.jpg",
        "train/a b.0.jpg"), Remedy(
            "ends at the first dot of a name, so that ", "train",
            {"image": (4, *IMAGE)})),
    ("dates in names", dotted(*(f"{c}/2023.01.0{i}.jpg" for c in "ab"
                                for i in range(3))), Remedy(
        "2023.01.00.jpg has the extension 01.00.jpg", "",
        {"image": (6, *IMAGE), "label": Counter([0, 0, 0, 1, 1, 1])})),
    ("dogs and cats of Kaggle", dogs_and_cats(300), Remedy(
        "in train: the key of a sample ends at the first dot of a name, so "
        "that cat.", "", {"image": (64, *IMAGE), "label": (64,)})),
    ("dogs and cats with a list", dogs_and_cats_with_list,
     "train.csv: the column file names files without their path (train/cat.0."),
    ("dots in parallel folders", dotted(
        "images/a b.0.jpg", "images/a b.1.jpg", "masks/a b.0.png",
        "masks/a b.1.png"), Remedy(
            "so that images/a b.0.jpg has the extension 0.jpg: rename such "
            "files:\n(cd /", "", {"images": (2, *IMAGE)})),
    ("300 dots in parallel folders", dotted(
        *(f"{name}/cat.{i}.jpg" for i in range(300)
          for name in ("images", "targets"))), Remedy(
              "the key of a sample ends at the first dot", "",
              {"images": (64, *IMAGE)})),
    ("masks.mask.png in parallel folders", dotted(
        "images/1.jpg", "images/2.jpg", "masks/1.mask.png",
        "masks/2.mask.png"), {"images": (2, *IMAGE)}),
    ("one name with a dot", dotted(
        "a/1.jpg", "a/2.jpg", "b/1.jpg", "b/4.copy.jpg"), Remedy(
            "b/4.copy.jpg has the extension copy.jpg: rename such files", "",
            {"image": (4, *IMAGE), "label": Counter([0, 0, 1, 1])})),
    ("two formats of one name", pictures_at(
        "a/1.jpg", "a/1.png", "b/1.JPG", "b/1.png", "b/2.webp"), Note(
            "left out: 2 pictures whose names differ from another's only in "
            "the extension: files of one name are one sample; to give the ",
            {"image": (3, *IMAGE)},
            {"train": {"image": (5, *IMAGE),
                       "label": Counter([0, 0, 1, 1, 1])}})),
    ("a zip of two formats of one name", zipped(pictures_at(
        "a/1.jpg", "a/1.png", "b/2.jpg")), Note(
            "are one sample; unpack the archive to rename them",
            {"image": (2, *IMAGE)})),
    ("img2dataset", img2dataset, Note(
        "note: the folders are shards of img2dataset, as 00000, and are read "
        "without classes; if they are classes: --class-depth 1\n"
        "left out: the .json files beside the pictures; to read some of their "
        "keys, add to fields: caption: {from: json, key: caption, decode: "
        "text, max_length: 256, too_long: truncate}; width: {from: json, key: "
        "width, decode: label}; score: {from: json, key: score}\n",
        {"image": (6, *IMAGE)})),
    ("braces in the path", braces,
     "/{a,b} has a comma in braces, which the path of a folder in a pipeline "
     "cannot have: rename the folder"),
    ("pairs of folders", pictures_at(
        "HR/1.png", "HR/2.png", "LR/1.png", "LR/2.png"), Remedy(
            "HR and LR have the same file names, so they look like pairs, not "
            "classes; if they are classes, add --class-depth 1; for pairs "
            "write a list, and run init again:\n(cd ", "",
            {"hr": (2, *IMAGE)})),
    ("masks of 0 and 255", binary_masks, Note(
        "note: masks.png: the first masks have only 0 and 255, which stay as "
        "they are; for 0 and 1 write decode: maps in place of decode: mask8\n",
        {"masks": (4, 224, 224, 1)})),
    ("numbers as names of class folders", pictures_at(
        *(f"{i}/1.jpg" for i in range(12))), Note(
            "note: the class folders are numbered in byte order of their "
            "names: 10 is class 2; for the order of their numbers add to "
            "label: names: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n",
            {"label": Counter(range(12))})),
    ("a picture beside class folders", pictures_at(
        "a/1.jpg", "b/1.jpg", "x.jpg"), Note(
            "left out: pictures beside the class folders, as x.jpg: move them "
            "into one of these\n", {"label": Counter([0, 1])})),
    ("prefixes of pictures and masks", masks_with_prefix, Remedy(
        "but files of a sample have one name up to the first dot: rename the "
        "masks:\n(cd /", "",
        {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)})),
    ("missing masks", masks_missing("images", "masks"), Remedy(
        "2 files missing: 8.* in images, 9 a.* in masks; each folder has a "
        "file of each name, up to its first dot; to move the others away:\n"
        "(cd ", "", {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)})),
    ("missing masks of a split", masks_missing(
        "images/train", "masks/train"), Remedy(
            "to move the others away:\n(cd ", "",
            {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)})),
    ("a missing mask of another prefix", pictures_at(
        "images/cat_1.jpg", "images/dog_1.jpg", "masks/dog_1.png"),
     "1 file missing: cat_1.* in masks"),
    ("an empty val/", empty_val,
     "in val: the folder is empty: fill it, or remove it: rmdir /"),
    ("another kind of label in val", label_of_val, Note(
        "its label has texts, that of the first split whole numbers: make "
        "them alike, and run init again\n", {"label": (4,)})),
    ("masks of which one has no picture", dotted(
        "a/1.jpg", "a/1.mask.png", "a/2.mask.png", "b/3.jpg", "b/3.mask.png"),
     "pictures of 1 sample have only an extension such as mask.png (a/1.mask"),
    ("a second picture with a dot", dotted(
        "a/1.jpg", "a/1.depth.jpg", "b/2.jpg", "b/2.depth.jpg"),
     {"image": (2, *IMAGE), "label": Counter([0, 1])}),
    ("tars with numbers after a dot", dotted_tars("cat.{}", "./dog.{}"), Remedy(
        "so that cat.0.jpg has the extension 0.jpg: write tars with", "new",
        {"image": (12, *IMAGE), "label": Counter([0, 1, 2] * 4)})),
    ("tars with versions after a dot", dotted_tars("a{}.v1", "b{}.v2"), Remedy(
        "so that a0.v1.jpg has the extension v1.jpg: write tars with", "new",
        {"image": (12, *IMAGE), "label": Counter([0, 1, 2] * 4)})),
    ("a tar with one version", versions_in_a_tar,
     {"image": (4, *IMAGE), "label": Counter(range(4))}),
    ("a CSV without a header", csv_lines("images/0.jpg,1", "images/1.jpg,0"),
     Remedy("line 1 has values (images/0.jpg) where the names of the columns "
            "must be: write a list with one more line:\n(cd /", "",
            {"image": (2, *IMAGE), "label": Counter([0, 1])})),
    ("boxes without a header", csv_lines("images/0.jpg,1,1,2", "images/1.jpg,,,"),
     Remedy("write a list with one more line:\n(cd /", "",
            {"c1": (2, *IMAGE)})),
    ("numbers without a header", csv_lines("2,2,0.5", "3,3,0.25"),
     Remedy("line 1 has values (2)", "names-train.csv",
            {"c1": Counter([2, 3]), "c3": Counter([0.5, 0.25])})),
    ("texts without a header", csv_lines('3,"Wall St. falls"', '1,"It rains"'),
     Remedy("line 1 has values (3)", "names-train.csv",
            {"c1": Counter([1, 3])})),
    ("pandas: columns without names", csv_lines("0,1,2", "7,8,9"),
     Remedy("write a list with another line:\n(cd /", "names-train.csv",
            {"c1": [7]})),
    ("names of pictures without a header", csv_lines("0.jpg,1", "1.jpg,0"),
     "write a list with one more line:\n(cd /"),
    ("a list of another machine", listed("/home/al/p.1/img/{}.jpg"), Remedy(
        "train.csv: the column image has paths that lead to no file, such as "
        "/home/al/p.1/img/0.jpg (img/0.jpg): write a list of paths:\n(cd /",
        "", {"image": (6, *IMAGE), "label": Counter([0, 1, 2] * 2)})),
    ("a list of the folder above", listed("data/img/{}.jpg"), Remedy(
        "such as data/img/0.jpg (img/0.jpg): write a list of paths:\n(cd /",
        "", {"image": (6, *IMAGE), "label": Counter([0, 1, 2] * 2)})),
    ("a list in the only folder", lambda root: listed("set/img/{}.jpg")(
        root / "set"),
     "in set: the list train.csv is in this folder: give init the folder "
     "itself: forebay init /"),
    ("a list with backslashes", listed("C:\\a b\\img\\{}.jpg"), Remedy(
        "C:\\a b\\img\\0.jpg (img/0.jpg): write a list of paths:\n(cd /",
        "", {"image": (6, *IMAGE), "label": Counter([0, 1, 2] * 2)})),
    ("a list of names", listed("{}.jpg"), Remedy(
        "train.csv: the column image names files without their path "
        "(img/0.jpg): write a list of paths:\n(cd /", "", {"image": (6, *IMAGE), "label": Counter([0, 1, 2] * 2)})),
    ("a list whose first pictures are missing", listed("img/{}.jpg", 2), Remedy(
        "train.csv, line 2: there is no file img/0.jpg: correct its path, or "
        "remove the line: to leave such rows out:\n(cd /",
        "", {"image": (4, *IMAGE), "label": Counter([2, 0, 1, 2])})),
    ("a list with an empty path", column_of(
        "a.jpg", "", "b.jpg", y=(1, 2, 3)), Remedy(
            "train.csv: the column image has no path in 1 row of 3: to leave "
            "such rows out:\n(cd /", "",
            {"image": (2, *IMAGE), "y": Counter([1, 3])})),
    ("a list of PNG and TIFF", column_of("a.TIF", "b.png", y=(1, 2)), Remedy(
        "train.csv: the column image has TIFF pictures (*.tif), which are not "
        "decoded; convert them, and write a list of the new ones:\n(cd /", "",
        {"image": (2, *IMAGE), "y": Counter([1, 2])})),
    ("a list of .npy files", column_of(
        "x/a.npy", "x/b.npy", y=(1, 2)), Note(
        'left out: column "image": add a field: {from: image.npy, decode: '
        "array, shape: [N], wire: f32}", {"y": Counter([1, 2])})),
    ("a list with a mask too few", column_of(
        "a.jpg", "b.jpg", mask=("a.jpg", "")), Note(
            'left out: column "mask": it has no file in 1 row of 2: write one '
            "into each", {"image": (2, *IMAGE)})),
    ("times in milliseconds", column_of(
        "a.jpg", "b.jpg", ts=(1700000000123, 1700000000125), big=(-5, 16777217),
        both=(0.5, 16777217)), Note(
            'left out: column "both": f32 cannot hold its largest whole '
            "numbers exactly: write them with a point, as 5.0", {
                "ts": Counter([1700000000123, 1700000000125]),
                "big": Counter([-5, 16777217])})),
    ("texts that repeat", column_of(
        "a.jpg", "b.jpg", "c.jpg", "d.jpg", says=("it is", "no", "no", "it is")
    ), Note(
        "note: column says is taken as 2 classes, since its texts repeat; to "
        "have the texts: {from: says, decode: text, max_length: 8, too_long: "
        "truncate}", {"says": Counter([0, 0, 1, 1])})),
    ("a number that is none among labels", column_of(
        "a.jpg", "b.jpg", "c.jpg", label=(0, 1, "NaN")), Note(
            "note: 'NaN' of column label is a class beside numbers: change "
            "it, if it is none", {"label": Counter([0, 1, 2])})),
    ("texts that some samples lack", pictures_with_a_text, Note(
        'left out: text "txt": some samples lack it: add it to all of them',
        {"image": (2, *IMAGE)})),
    ("a column of splits", column_of(
        "a.jpg", "b.jpg", "c.jpg", y=(1, 2, 3), split=("train", "val", "train")
    ), Remedy("train.csv: the column split has the splits train, val: write a "
              "list for each, as the next line does:\n(cd /", "",
              {"y": Counter([1, 3])}), ("val", {"y": (64,)})),
    ("a column of splits in a list of another name", column_of(
        "a.jpg", "b.jpg", "c.jpg", y=(1, 2, 3), split=("train", "val", "train"),
        to="all.csv"), Remedy(
            "all.csv: the column split has the splits train, val: write a list "
            "for each, as the next line does, then: forebay init /", "", {"y": Counter([1, 3])})),
    ("a column of paths with a blank in its name", csv_lines(
        "my file,y", "images/0.jpg,1"),
     "the column 'my file' has paths of files, but no field can read a column "
     "of that name: rename it in the list, as in my_file"),
    ("nnU-Net", nnunet(".png", nnunet_content), Remedy(
        "in set: nnU-Net's pictures and masks have different names", "set",
        {"image": (3, *IMAGE), "mask": (3, 224, 224, 1)})),
    ("nnU-Net with NIfTI", nnunet(".nii.gz", lambda folder, number: b"x"),
     "in set: nnU-Net's volumes (imagesTr, labelsTr) are not read: save each "
     "slice as a PNG"),
    ("Oxford-IIIT Pets", pets(("trainval", 0, 4), ("test", 4, 6)), Remedy(
        "the annotations of Oxford-IIIT Pets are not read", "",
        {"image": (4, *IMAGE), "label": Counter([1, 1, 2, 2]),
         "mask": (4, 224, 224, 1)})),
    ("Oxford-IIIT Pets with one list", pets(), Remedy(
        "the annotations of Oxford-IIIT Pets are not read", "",
        {"image": (6, *IMAGE), "label": Counter([1, 2] * 3),
         "mask": (6, 224, 224, 1)})),
    ("Kaggle: ids without extension", ids_without_extension, Remedy(
        "train.csv: the column id names files without their path (train/ab0.jp",
        "", {"id": (4, *IMAGE), "label": Counter([0, 0, 1, 1])})),
    ("Kaggle: names without a folder", names_without_folder, Remedy(
        "the column image_id names files without their path (train_images/ab0",
        "", {"image_id": (4, *IMAGE), "label": Counter([0, 0, 1, 1])})),
    ("a list of lines in a .txt", other_list(
        "train.txt", "images/0.jpg 1\nimages/3.jpg 0\n"), Remedy(
            "train.txt is not read as a list", "",
            {"image": (2, *IMAGE), "label": Counter([0, 1])})),
    ("a list with tabs", other_list(
        "train.tsv", "file\ty\nimages/0.jpg\tNA\nimages/1.jpg\tb\n"), Remedy(
            "train.tsv has tabs: write a list with commas:\n(cd /", "",
            {"file": (2, *IMAGE), "y": Counter([0, 1])})),
    ("a list with tabs in UTF-16", other_list(
        "train.tsv", "file\ty\nimages/0.jpg\t1\n".encode("utf-16")), Remedy(
            "train.tsv has tabs: write a list with commas:\n(cd /", "",
            {"file": (1, *IMAGE), "y": [1]})),
    ("a list with semicolons", other_list(
        "a.csv", "\ufefffile;y\nimages/0.jpg;1\n"), Remedy(
            "a.csv: line 1: it has no comma, but ';'; columns are separated by "
            "commas: write the file again with them: to convert it:\n(cd /",
            "", {"file": (1, *IMAGE), "y": [1]})),
    ("semicolons beside a folder of another name", lambda root: (
        save(root / "pics/0.jpg", picture(0)),
        save(root / "a.csv", "file;y\npics/0.jpg;1\n")) and None,
     "a.csv: line 1: it has no comma, but ';'"),
    ("captions beside the pictures", lambda root: (
        save(root / "Images/0.jpg", picture(0)),
        save(root / "captions.txt", "0.jpg,a picture\n")) and None, Note(
            "note: captions.txt is not read; if it has labels or texts of the "
            "pictures, write them into a .csv with a column of paths",
            {"image": (1, *IMAGE)})),
    ("a list in Latin-1", other_list(
        "a.csv", "file,y\nimages/0.jpg,K\u00e4se\n".encode("latin-1")), Remedy(
            "a.csv: line 2: is not UTF-8 text: to convert it:\n(cd /",
            "", {"file": (1, *IMAGE), "y": (1, 8)})),
    ("a list of 300 columns", wide_list, Remedy(
        "train.csv: line 1: more than 256 columns: to have all columns of "
        "numbers as one, x, beside the label (needs NumPy; ",
        "table", {"x": (2, 300)})),
    ("LLaVA: a JSON of objects", other_list(
        "chat.json", '[{"image": "images/0.jpg"}]'), Remedy(
            "chat.json is not read as a list: write JSON lines", "",
            {"image": (1, *IMAGE)})),
    ("a JSON of labels by name", other_list(
        "labels.json", '{"0.jpg": 2, "1.jpg": 1}'), Remedy(
            "labels.json is not read as a list: write JSON lines", "",
            {"image": (2, *IMAGE), "label": Counter([2, 1])})),
    ("StyleGAN's labels", other_list(
        "dataset.json", '{"labels": [["images/0.jpg", 2]]}'), Remedy(
            "dataset.json is not read as a list: write JSON lines", "",
            {"image": (1, *IMAGE), "label": [2]})),
    ("pandas: an index column", index_column,
     {"path": (4, *IMAGE), "y": Counter([0, 0, 1, 1])}),
    ("a zip of pictures and their list", zipped(index_column), Remedy(
        "the list train.csv in the archive is not read; unpack the archive "
        "first:\n(cd /", "data", {"path": (4, *IMAGE)})),
    ("Kaggle's zip of ids", zipped(ids_without_extension),
     "the list train.csv in the archive is not read; unpack the archive first"
     ":\n(cd /"),
    ("a zip of medical masks", zipped(medical_masks),
     "have one name up to the first dot: rename the masks; unpack the archive "
     "first:\n(cd /"),
    ("a zip of a JSON of labels", zipped(other_list(
        "labels.json", '{"0.jpg": 2, "1.jpg": 1}')),
     "labels.json is not read as a list: write JSON lines, an object in each "
     "line; unpack the archive first:\n(cd /"),
    *((f"MNIST: {images}", idx(images, labels, pack=pack), Remedy(
        f"{images.format('t10k').split('/')[-1]}) is not read yet; to write "
        "arrays of each split (with NumPy) into a new folder:\n(cd /",
        f"{folder}converted",
        {"image": (4, 28, 28), "label": Counter(range(4))}),
        ("test", {"image": (4096, 28, 28)}))
      for images, labels, folder, pack in (
          ("MNIST/raw/{}-images-idx3-ubyte", "MNIST/raw/{}-labels-idx1-ubyte",
           "MNIST/raw/", bytes),
          ("{}-images.idx3-ubyte", "{}-labels.idx1-ubyte", "", bytes),
          ("emnist-mnist-{}-images-idx3-ubyte.gz",
           "emnist-mnist-{}-labels-idx1-ubyte.gz", "", gzip.compress))),
    ("EMNIST", all_of(
        idx("emnist-a-{}-images-idx3-ubyte", "emnist-a-{}-labels-idx1-ubyte"),
        idx("emnist-b-{}-images-idx3-ubyte", "emnist-b-{}-labels-idx1-ubyte")),
     Remedy("MNIST's idx format (emnist-a-t", "converted/emnist-b",
            {"image": (4, 28, 28), "label": Counter(range(4))})),
    ("CIFAR-10", cifar(b"labels", meta="batches.meta", files=(
        *(f"data_batch_{i}" for i in range(1, 6)), "test_batch")), Remedy(
            "a batch of CIFAR (data_batch_1) is not read yet; to write arrays",
            "converted",
            {"image": (10, 3, 32, 32), "label": Counter(range(10))}),
     ("test", {"label": [10, 11]})),
    ("CIFAR-100", cifar(b"fine_labels", b"coarse_labels", meta="cifar/meta",
                        files=("cifar/train", "cifar/test")), Remedy(
        "in cifar: pickles of CIFAR-100 (train, test) are not read yet; to",
        "cifar/converted", {"image": (2, 3, 32, 32), "label": Counter([0, 1]),
                            "coarse_label": Counter([0, 1])}),
     ("test", {"label": [2, 3]})),
    ("CIFAR-10 in binary", cifar_tables, Remedy(
        "a batch of CIFAR (data_batch_1.bin) is not read yet; to write arrays",
        "converted", {"image": (10, 3, 32, 32),
                      "label": Counter([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])}),
     ("test", {"label": [7]})),
    ("CIFAR", files_named("cifar-10-batches-py/batches.meta",
                          "cifar-10-batches-py/data_batch_1"),
     "in cifar-10-batches-py: a batch of CIFAR (data_batch_1) is not read yet"),
    ("a pickle", files_named("train.pkl"), "a pickle (train.pkl) is not read"),
    ("class folders of audio", files_named("yes/1.wav", "no/2.wav"),
     "audio (*.wav) is not read yet; save its arrays as NumPy files"),
    ("NumPy: train/ and val/", two_numpy_splits,
     {"images": (10, 28, 28), "labels": Counter(range(10))},
     ("val", {"images": (4096, 28, 28)})),
    ("NumPy: arrays called null", lambda root: numpy.savez(
        root / "a.npz", null=numpy.zeros((4, 2)), no=numpy.arange(4)),
     {"null": (4, 2), "no": Counter(range(4))}),
    ("NumPy: one .npz", one_npz, {"x": (10, 5), "y": (10,)}),
    ("NumPy: an .npz with texts", lambda root: numpy.savez(
        root / "train.npz", x=numpy.zeros((10, 5)), name=numpy.array(["ab"] * 10)),
     "its dtype is '<U2'; bool, integers of 8 to 64 bits and floats of 16 to 64 "
     "bits are read; save texts as numbers: numpy.unique(x, "
     "return_inverse=True)"),
    ("NumPy: a compressed .npz", compressed_npz, Remedy(
        "x.npy: it is compressed, so its rows cannot be read in place; to "
        "write files of numpy.savez into a new folder:\n(cd /", "converted",
        {"x": (10, 5)})),
    *((f"Keras' {file}", npz_of_splits(file), Remedy(
        ": the arrays are of several splits: write each split into a folder, "
        "then: forebay init /", "",
        {"x": Counter(range(10)), "y": Counter(range(10))}))
      for file in ("mnist.npz", "my $x.npz")),
    *((f"NumPy: shards of {x} and {y}, {rows}",
       numbered_arrays(x, y, rows=rows), Remedy(
           f": the arrays seem to be shards of one, as {first}: move each "
           "shard into a folder:\n(cd /", "",
           {field: Counter({0: 20, 1: 20, 2: 2 * rows[-1]})
            for field in fields}))
      for x, y, first, *fields in (
          ("x_{}", "y_{}", "x_0", "x", "y"),
          ("features_{}", "labels_{}", "features_0", "features", "labels"),
          ("img_emb_{}", "text_emb_{}", "img_emb_0", "img_emb", "text_emb"),
          ("batch{}_x", "batch{}_y", "batch0_x", "x", "y"))
      for rows in ((10, 10, 10), (10, 10, 7))),
    ("NumPy: columns with numbers", numbered_arrays(
        "left_{}", "right_{}", rows=(10, 10)), Note(
            NUMBERED.format("left_0", "left_1"),
            {"left_0": Counter({0: 20}), "right_1": Counter({1: 20})})),
    *((f"NumPy: ids in numbered files, {names}", arrays_of_ids(
        *(f"{name}_{i}" for name in names for i in range(3))), Note(
           NUMBERED.format(f"{names[0]}_0", f"{names[0]}_1"),
           {f"{names[0]}_2": Counter(range(10))}))
      for names in (["x"], ["mask", "tokens"])),
    ("NumPy: more arrays than fields", arrays_of_ids(
        *(f"{a}{b}" for a in "abcdef" for b in "abcdef")), Note(
            "left out: 4 of 36 arrays, as fc: to read it, too, add a field; "
            "arrays of numbers that belong together can be one of two dimensions",
            {"aa": Counter(range(10))})),
    ("NumPy: train.npy and val.npy", an_array_of_each_split, Remedy(
        ": the arrays are of several splits: move each split into a folder:\n"
        "(cd ", "", {"x": (10, 5)})),
    ("NumPy: a file for each sample, in one folder",
     array_for_each_sample("s{}.npy", "."), Remedy(
         ": each .npy file seems to be a sample, and a table has them as rows "
         "(all of one shape): write one, and run init again:\n(cd ", "",
         {"x": (6, 3, 4)})),
    ("NumPy: a file for each sample, in train and val",
     array_for_each_sample("{:03}.npy", ("train", "val")), Remedy(
         ": each .npy file seems to be a sample, and a table has them as rows "
         "(all of one shape): write one of each split:\n(cd ", "table",
         {"x": (3, 3, 4)})),
    *((f"NumPy: parts, {rows}", numbered_arrays("part-0000{}", rows=rows),
       Remedy(": the arrays seem to be shards of one, as part-00000: move each "
              "shard into a folder:\n(cd /", "",
              {"x": (sum(rows), 2)})) for rows in ((9, 9, 9), (9, 7), (9, 9, 7))),
    *((f"NumPy: a file for each sample, {name} in {folders}",
       array_for_each_sample(name, folders), Remedy(
        ": each .npy file seems to be a sample, and a table has them as rows "
        "(all of one shape): write one, and run init again:\n(cd ", "",
        {"x": (6, 3, 4), "label": labels}))
      for name, folders, labels in (
          ("{:03}.npy", "ab", Counter([0, 0, 0, 1, 1, 1])),
          ("patient_{:03}.npy", "ab", Counter([0, 0, 0, 1, 1, 1])),
          ("s{}.npy", ("train/a", "train/b"), Counter([0, 0, 0, 1, 1, 1])))),
    ("IMDB: texts in class folders", texts_in_classes, Remedy(
        "texts in class folders are not read: write lists of those in the "
        "folders that all splits have (none called unsup or unlabeled), then: "
        "forebay init /", "texts",
        {"text": (6, 32), "label": Counter([0, 0, 0, 1, 1, 1])})),
    ("a text of a language model", lambda root: save(
        root / "input.txt", "First Citizen"),
     "input.txt is a text without token ids: write those of your tokenizer "
     "into input.bin; or its bytes, as ids of type u8:\n(cd /"),
    ("masks in colours", coloured_masks("images/{}", "masks/{}"), Note(
        "left out: masks.png: its colours are no class ids; if it is a second "
        "picture, remove the # of its field in the file; to number them: (cd ", {"images": (4, *IMAGE)},
        {"train": {"masks": (4, 224, 224, 1)},
         "val": {"masks": (64, 224, 224, 1)}})),
    ("masks in colours for each split", coloured_masks(
        "{}/images", "{}/masks"), Note(
            "left out: masks.png: its colours are no class ids; if it is a "
            "second picture, remove the # of its field in the file; to number "
            "them: (cd ", {"images": (4, *IMAGE)},
            {"train": {"masks": (4, 224, 224, 1)},
             "val": {"masks": (64, 224, 224, 1)}})),
    ("a zip of masks in colours", zipped(coloured_masks(
        "images/{}", "masks/{}")), Note(
            "left out: masks.png: its colours are no class ids; if it is a "
            "second picture, remove the # of its field in the file; masks are "
            "PNG in grey or with a palette", {"images": (4, *IMAGE)})),
    ("masks of JPEG",
     masks("images/{}.jpg", "masks/{}.jpg", picture), Note(
        "left out: masks.jpg: its compression changes class ids; save masks "
        "as PNG in grey or with a palette; if it is a second picture, remove "
        "the # of its field in the file\n", {"images": (4, *IMAGE)})),
    ("rgb/ and depth/", depths("rgb", "depth"), Note(
        "left out: depth.png: ids of masks have 8 bits, not 16",
        {"rgb": (4, *IMAGE)})),
    ("YOLO", yolo("images", "labels"), Note(
        "left out: labels: its text files are boxes; to read them, too, write "
        "lists, and run init again: (cd ", {"image": (4, *IMAGE)},
        {"train": {"image": (4, *IMAGE), "boxes": (4, 20)}})),
    ("YOLO: images/train", yolo("images/{}", "labels/{}"), Note(
        "left out: labels: its text files are boxes", {"image": (4, *IMAGE)},
        {"train": {"boxes": (4, 20)}, "val": {"boxes": (64, 20)}})),
    ("YOLO: train/images", yolo("{}/images", "{}/labels"), Note(
        "left out: labels: its text files are boxes", {"image": (4, *IMAGE)},
        {"train": {"boxes": (4, 20)}, "val": {"boxes": (64, 20)}})),
    ("a zip of YOLO", zipped(yolo("images", "labels")), Note(
        "left out: labels: its text files are boxes, which a list can have: "
        '{"image": "images/1.jpg", "boxes": [0, 0.5, 0.5, 0.2, 0.2]}',
        {"image": (4, *IMAGE)})),
    ("pictures and texts in parallel folders", captions, Note(
        "left out: text \"labels.txt\": choose its max_length in the file, and "
        "remove the # there", {"images": (4, *IMAGE)})),
    ("class folders of TIFF", pictures_at("a/1.tif", "b/2.TIF"), Remedy(
        "TIFF pictures (*.tif) are not decoded; convert them with "
        "ImageMagick: find /", "",
        {"image": (2, *IMAGE), "label": Counter([0, 1])})),
    ("a class folder of TIFF", pictures_at("a/1.jpg", "b/2.tif"), Remedy(
        "TIFF pictures (b/2.tif) are not decoded; convert them with "
        "ImageMagick:\n(cd /", "",
        {"image": (2, *IMAGE), "label": Counter([0, 1])})),
    ("class folders of .jfif", jpeg_named("a/1.jfif", "b/2.JFIF"), Remedy(
        "JPEG pictures are read as .jpg and .jpeg (not *.jfif); give them "
        "such a name, too: find /", "",
        {"image": (2, *IMAGE), "label": Counter([0, 1])})),
    ("a class folder of .jpe", jpeg_named("a/1.jpe", "a/2.jpe", "b/3.JPG"),
     Remedy("JPEG pictures are read as .jpg and .jpeg (not a/1.jpe); give "
            "them such a name, too:\n(cd /", "",
            {"image": (3, *IMAGE), "label": Counter([0, 0, 1])})),
    (".jfif among pictures", jpeg_named("a/1.jfif", "a/2.jpg", "b/3.jpg"), Note(
        "left out: 1 .jfif file (no pictures)\nto read "
        "JPEG files as .jpg: find /", {"image": (2, *IMAGE)},
        {"train": {"image": (3, *IMAGE)}})),
    ("a folder of TIFF", pictures_at("1.tif", "2.tif"), Remedy(
        "are not decoded; convert them with ImageMagick:\n(cd /", "", {"image": (2, *IMAGE)})),
    ("TIFF in parallel folders", pictures_at(
        "images/1.tif", "images/2.png", "masks/1.png", "masks/2.png"), Remedy(
            "TIFF pictures (images/*.tif) are not decoded; convert them with "
            "ImageMagick:\n(cd /", "",
            {"images": (2, *IMAGE), "masks": (2, 224, 224, 1)})),
    ("Carvana: masks of GIF", pictures_at(
        "images/1.jpg", "images/2.jpg", "masks/1.gif", "masks/2.gif"), Remedy(
            "GIF pictures (masks/*.gif) are not decoded; convert them with", "",
            {"images": (2, *IMAGE), "masks": (2, 224, 224, 1)})),
    ("texts beside class folders of pictures", texts_among_pictures, Note(
        "left out: 1 .txt file, 1 .csv file (no pictures)\n",
        {"image": (2, *IMAGE)})),
    ("folds of a list", folds, Note(
        "fold1.csv: it is called neither train nor val, valid, validation, dev "
        "or test; add it under splits: if it is needed\n",
        {"image": (1, *IMAGE)})),
    ("TIFF and BMP among pictures", pictures_at(
        "a/1.jpg", "b/2.jpg", "a/3.tif", "b/4.bmp"), Note(
            "left out: 1 .tif file, 1 .bmp file (no pictures that can be "
            "decoded)\nto convert them with ImageMagick: find /", {"image": (2, *IMAGE)},
            {"train": {"image": (4, *IMAGE)}})),
    ("a GIF in val", pictures_at(
        "train/a/1.png", "train/b/2.png", "val/a/3.png", "val/b/4.png",
        "val/b/5.gif"), Note(
            "left out of split 'val': 1 .gif file (no pictures that can be "
            "decoded)\nto convert them with ImageMagick: find /", {"image": (2, *IMAGE)},
            {"val": {"label": [0, 1, 1]}})),
    ("test1/ beside train/", test1_beside_train, Note(
        "left out: folder test1: a split is called train, val, valid, "
        "validation, dev or test; to stream it by itself: forebay init /",
        {"image": (6, *IMAGE), "label": Counter([0, 0, 1, 1, 2, 2])})),
    ("a test/ without class folders", flat_test, Note(
        "/test: it has no class folders; to stream it by itself: forebay "
        "init /", {"image": (6, *IMAGE), "label": Counter([0, 0, 0, 1, 1, 1])}
    )),
    ("the same test/ by itself",
     lambda root: flat_test(root) or root / "test", Note(
         "note: the split is called test, so it is neither shuffled nor "
         "augmented; to train on it, rename it, as to train, and run init "
         "again\n", {"valid": Counter([1] * 6 + [0] * 58)})),
    ("val/ and test/ without train/", val_and_test,
     "the folders test, val are splits, and none is called train: rename the "
     "one for training to train; to stream one by itself: forebay init /"),
    ("an empty class folder in val/", empty_class_in_val, Remedy(
        "in val: the class folder empty is empty: a class has a number, so add "
        "files, or, to remove the empty folders:\n(cd /", "",
        {"label": Counter([0, 0, 0, 1, 1, 1, 2])})),
    ("empty class folders", all_of(
        pictures_at("a/1.jpg", "c/1.jpg"), empty("b"), empty("d/e")), Remedy(
            "the class folder b is empty: a class has a number, so add files, ",
            "", {"label": Counter([0, 1])})),
    ("a class folder of hidden files", all_of(
        pictures_at("a/1.jpg", "c/1.jpg"), files_named("b/.x")),
     "the class folder b has no files with an extension, such as 7.jpg: add "
     "some, or, if it is no class, move it elsewhere"),
    ("folders beside train/ and dev/", pictures_at(
        "train/a/1.jpg", "train/b/1.jpg", "dev/a/1.jpg", "odd/1.jpg"), Note(
            "left out: folder odd: a split is called train, val, valid, "
            "validation, dev or test; ", {"label": Counter([0, 1])}),
     ("val", {"label": [0]})),
    ("lost+found beside class folders", all_of(
        pictures_at("a/1.jpg", "c/1.jpg"), empty("lost+found")),
     {"label": Counter([0, 1])}),
    ("small pictures of a NAS beside and in class folders",
     pictures_at("a/1.jpg", "c/1.jpg", "@eaDir/1.jpg", "c/@eaDir/2.jpg"),
     {"label": Counter([0, 1])}),
    ("lost+found beside a flat folder", all_of(
        pictures_at("1.jpg", "2.jpg"), empty("lost+found")),
     {"image": (2, *IMAGE)}),
    ("lost+found beside images/ and masks/", all_of(
        masks("images/case{}.png", "masks/case{}.png", palette),
        empty("lost+found")), {"masks": (4, 224, 224, 1)}),
    ("PNG of 16 bits in grey", grey16, Note(
        "note: the pictures are grey of 16 bits: all above 255 becomes white, "
        "as Pillow's convert(\"RGB\") does; scale them to 8 bits: (cd /", {"image": (4, *IMAGE)},
        {"train": {"image": (4, *IMAGE)}})),
    *((f"PNG of 16 bits among others in {folder}",
       grey16_among_others(folder, end), Note(
           "note: some pictures are grey of 16 bits: all above 255 becomes "
           "white, as Pillow's convert(\"RGB\") does; scale copies of them to "
           "8 bits, or, if they are depths, move them out of the pictures\n",
           {"image": (8, *IMAGE)})) for folder, end in (
               ("a", "PNG"), ("b", "png"))),
    ("masks of half the size", half_masks,
     {"images": (6, *IMAGE), "masks": (6, 224, 224, 1)},
     ("val", {"masks": (64, 224, 224, 1)})),
]
CORPUS += in_a_long_path(
    CORPUS, "dogs and cats of Kaggle", "dates in names", "medical masks",
    "masks beside the pictures", "Cityscapes", "Pascal VOC",
    "NumPy: X_train and X_test of 4 rows", "NumPy: train.npy and val.npy",
    "tars with numbers after a dot", "missing masks", "a list with tabs",
    "prefixes of pictures and masks", "pairs of folders", "a list in Latin-1",
    "a list with semicolons", "a list of names")


def described_as(value, array):
    """The description of an array in the form of `value`."""
    if callable(value):
        return value if value(array) else array.mean()
    if isinstance(value, tuple):
        return array.shape
    if isinstance(value, dict):
        return Counter(array.ravel().astype("f8").round(6).tolist())
    return array.tolist()[:len(value)]


def contents(folder):
    """The files below a folder, by path, which no command changes."""
    return {path: path.read_bytes() for path in folder.rglob("*")
            if path.is_file()}


def folder_after(said, folder):
    """The folder in the one with links that the command makes, if it does."""
    links = re.search(r" && forebay init (\S+-(renamed|8bit|numbered))\S*$",
                      said, re.M)
    if links is None:
        return folder
    data = links[1].removesuffix("-" + links[2])
    below = (str(folder).removeprefix(data).rstrip("/")
             if str(folder).startswith(data) else "")
    return pathlib.Path(links[1] + below)


class Corpus(SystemTest):
    rows = CORPUS

    def run_one(self, *command):
        return subprocess.run(
            [FOREBAY, *command], check=False, capture_output=True, text=True,
            env=self.cluster.env, timeout=60 * harness.SLOW)

    def arrays_with_root(self, pipeline, *args):
        """The same for a pipeline that needs --data, with its own workers."""
        pulled = self.run_one("pull", "-p", pipeline, "--json", *args)
        self.assertEqual(pulled.returncode, 0, pulled.stderr)
        saved = pipeline.with_suffix(f".{len(args)}.npz")
        shown = self.run_one("show", "-p", pipeline, "-o", saved, *args)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        with numpy.load(saved) as batch:
            return dict(batch)

    def pull(self, pipeline, *args):
        return self.run_one("pull", "-p", pipeline, "--json", "--server",
                            self.server, "--data", f"all={self.cluster.dir}",
                            *args)

    def arrays(self, pipeline, split, said):
        """The arrays of the first batch, by field, of an epoch that is taken
        to its end."""
        args = [] if split is None else ["--split", split]
        if " --data " in said:
            root = said.split(" --data ")[1].split()[0]
            return self.arrays_with_root(pipeline, "--data", root, *args)
        folder = pipeline.with_suffix(f".{split}")
        folder.mkdir()
        taken = subprocess.run(
            [harness.TAKE_BATCHES, self.server, pipeline,
             f"all={self.cluster.dir}", "0", folder, *args[1:]], check=False,
            capture_output=True, text=True, env=self.cluster.env,
            timeout=60 * harness.SLOW)
        self.assertEqual(taken.returncode, 0, taken.stderr)
        with numpy.load(folder / "0.npz") as batch:
            return dict(batch)

    def check_remedy(self, root, pipeline, said, remedy, others):
        self.assertIn(remedy.sentence, said)
        before = contents(root)
        folder = root / remedy.path
        self.run_command(said, folder)
        folder = folder_after(said, folder)
        after = contents(root)
        self.assertEqual(
            before, {path: after.get(path) for path in before})
        if isinstance(remedy.shapes, Note):
            self.check_note(folder, pipeline, remedy.shapes, others)
        elif isinstance(remedy.shapes, Remedy):
            said = self.run_one("init", folder, "-o", pipeline).stderr
            self.check_remedy(folder, pipeline, said, remedy.shapes, others)
        else:
            self.check_shapes(
                folder, pipeline, [(None, remedy.shapes), *others])

    def check_note(self, operand, pipeline, note, others):
        said = self.check_shapes(operand, pipeline,
                                 [(None, note.shapes), *others])
        self.assertIn(note.sentence, said)
        if note.after is None:
            self.assertIsNone(COMMAND.search(said), said)
            return
        before = contents(operand) if operand.is_dir() else {}
        self.run_command(said, operand)
        after = contents(operand) if before else {}
        self.assertEqual(
            before, {path: after.get(path) for path in before})
        operand = folder_after(said, operand)
        said = self.check_shapes(operand, pipeline.with_name("after.yaml"),
                                 note.after.items())
        self.assertNotIn(note.sentence, said)

    def run_command(self, said, folder):
        path = [str(self.cluster.path("bin")), os.path.dirname(sys.executable),
                os.environ["PATH"]]
        line = COMMAND.search(said)[0]
        subprocess.run(["sh", "-nc", line], check=True)  # it can be pasted
        command = line.split(" && forebay init ")[0]
        with tempfile.TemporaryDirectory() as elsewhere:
            subprocess.run(command, check=True, shell=True,
                           cwd=folder if command.startswith("find .")
                           else elsewhere,
                           env=dict(os.environ, PATH=":".join(path)))
            self.assertEqual(os.listdir(elsewhere), [])

    def check_shapes(self, operand, pipeline, splits):
        made = self.run_one("init", operand, "-o", pipeline)
        self.assertEqual(made.returncode, 0, made.stderr)
        if harness.SLOW > 1 and zlib.crc32(pipeline.parent.name.encode()) % 4:
            return made.stderr  # a sanitizer sees enough in a fourth of them
        for split, wanted in splits:
            if isinstance(wanted, str):
                pulled = self.pull(pipeline, "--split", split)
                self.assertEqual(pulled.returncode, 1, pulled.stderr)
                self.assertIn(wanted, pulled.stderr)
                continue
            got = self.arrays(pipeline, split, made.stderr)
            for name, value in wanted.items():
                self.assertIn(name, got)
                self.assertEqual(described_as(value, got[name]), value,
                                 (split, name))
        return made.stderr

    def check(self, number, make, result, others):
        root = self.cluster.path(f"{number}") / "data"
        root.mkdir(parents=True)
        operand = make(root) or root
        pipeline = root.parent / "p.yaml"
        if isinstance(result, dict):
            self.check_shapes(operand, pipeline, [(None, result), *others])
            return
        if isinstance(result, Note):
            self.check_note(operand, pipeline, result, others)
            return
        made = self.run_one("init", operand, "-o", pipeline)
        self.assertEqual(made.returncode, 1, made.stderr)
        if isinstance(result, Remedy):
            self.check_remedy(root, pipeline, made.stderr, result, others)
        else:
            self.assertIn(result, made.stderr)

    def setUp(self):
        super().setUp()
        self.server = self.cluster.start_batch_server()
        tools = {"mogrify": MOGRIFY}
        if shutil.which("unzip") is None:
            tools["unzip"] = UNZIP
        for name, text in tools.items():
            path = self.cluster.path("bin") / name
            save(path, text)
            path.chmod(0o755)

    def test_init_and_pull_are_all_that_is_typed(self):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            rows = [(row[0], pool.submit(self.check, i, *row[1:3], row[3:]))
                    for i, row in enumerate(self.rows)]
            for name, result in rows:
                with self.subTest(name):
                    result.result()


if __name__ == "__main__":
    harness.main()
