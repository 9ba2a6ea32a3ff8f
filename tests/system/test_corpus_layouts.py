# SPDX-License-Identifier: Apache-2.0
"""Layouts of folders as people have them: `forebay init`, the command that it
prints, and then `forebay pull`. The rows are as in test_corpus.py."""

import json
import zipfile

from collections import Counter

import harness
import numpy
import test_corpus

from PIL import Image
from test_corpus import (IMAGE, Note, Remedy, all_of, encoded, mask, picture, save,
                         tar)


def files(*names, content=None):
    """Files of these names, of which {} is the number of each of four samples.
    Pictures called mask are masks."""
    def make(root):
        for i in range(4):
            for name in names:
                path = root / name.format(i)
                made = mask(i) if "mask" in path.name else picture(i)
                save(path, made if content is None else content)
    return make


def masks_in(folder, begin):
    def make(root):
        for i in range(4):
            save(root / folder / f"{begin}{i}.png", mask(i))
    return make


def xml(*names, size=(40, 20)):
    """Boxes as Pascal VOC's, in files of these names; the last is empty."""
    def make(root):
        for name in names:
            for i in range(4):
                box = "".join(
                    f"<{k}>{x}</{k}>" for k, x in zip(
                        ("xmin", "ymin", "xmax", "ymax"), (10, 5, 30, 15)))
                save(root / name.format(i),
                     f"<annotation><size><width>{size[0]}</width><height>"
                     f"{size[1]}</height></size>" + (f"<object><name>{'ab'[i % 2]}</name><bndbox>"
                                  f"{box}</bndbox></object>" if i < 3 else "")
                     + "</annotation>")
    return make


BOXES = {"image": (4, *IMAGE), "boxes": Counter(
    [0, .5, .5, .5, .5] * 2 + [1, .5, .5, .5, .5] + [0] * 5)}
BESIDE = ("left out: the .{} files beside the pictures are boxes{}; to read "
          "them, too, write lists, and run init again: (cd /")
XML = ("left out: annotations: its XML files are boxes as those of Pascal VOC; "
       "to read them, too, write lists, and run init again: (cd /")

KITTI = ("DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 "
         "-1000 -10\nCar 0.00 0 -1.58 6 10 18 30 1.65 1.67 3.64 -0.65 1.71 "
         "46.70 -1.59\n")


def arrays(*names):
    """Arrays of pictures and masks, for each sample."""
    def make(root):
        for name in names:
            for i in range(4):
                path = root / name.format(i)
                path.parent.mkdir(parents=True, exist_ok=True)
                shape = (8, 6) if "mask" in name else (8, 6, 3)
                numpy.save(path, numpy.full(shape, i, "u1"))
    return make


def tokens(dtype, most):
    """Token ids below `most`, of this type."""
    ids = numpy.random.default_rng(1).integers(0, most, 5000).astype(dtype)
    return lambda root: save(root / "train.bin", ids.tobytes())


def saved(**of_names):
    """Arrays of one number each, by their names: the rows and the number. An .npz
    has x and y; others are .npy files."""
    def make(root):
        root.mkdir(parents=True, exist_ok=True)
        for name, (rows, number) in of_names.items():
            x = numpy.full((rows, 4), number, "f4")
            if name.endswith("_npz"):
                numpy.savez(root / f"{name[:-4]}.npz", x=x, y=x[:, 0])
            else:
                numpy.save(root / f"{name}.npy", x[:, 0].astype("u2"))
    return make


def array_folders(folders, **shapes):
    """Four folders of such names with arrays of these shapes; None is a dimension
    that differs."""
    def make(root):
        for folder in (folders,) if isinstance(folders, str) else folders:
            for i in range(4):
                path = root / folder.format(i)
                path.mkdir(parents=True, exist_ok=True)
                for name, shape in shapes.items():
                    numpy.save(path / f"{name}.npy", numpy.full(
                        [5 + i if n is None else n for n in shape], i, "u1"))
    return make


def npz_of_samples(root):
    """As TransUNet reads them."""
    root.mkdir(parents=True, exist_ok=True)
    for i in range(4):
        numpy.savez(root / f"slice{i}.npz",
                    image=numpy.full((8, 6), i, "f4"),
                    label=numpy.full((8, 6), i, "f4"))


def npz_with_scalars(root):
    root.mkdir(parents=True, exist_ok=True)
    for i in range(4):
        numpy.savez(root / f"{i}.npz", label=numpy.int64(i % 2),
                    signal=numpy.full((8, 6), i, "f4"))


def medmnist(*names, only=None):
    def make(root):
        for name in names:
            numpy.savez(root / f"{name}.npz", **{
                f"{split}_{k}": numpy.full((n, *shape), n, "u1")
                for split, n in (("train", 8), ("val", 3), ("test", 4))
                for k, shape in (("images", (28, 28)), ("labels", (1,)))})
        return only and root / only
    return make


def npz_of_tables(root):
    for i in range(4):
        numpy.savez(root / f"{i}.npz",
                    image=numpy.full((3, 8, 6), i, "f4"),
                    label=numpy.full((3,), i, "i4"))


def coco_beside(folder, *splits, boxes=False, several=1):
    """COCO's JSON for each split beside the folder of pictures; test has no
    annotations."""
    def make(root):
        for k, split in enumerate(splits):
            rows = []
            for i in range(4 * k, 4 * k + 4):
                name = f"{folder.format(split, i % 2)}/{i}.jpg"
                save(root / name, picture(i))
                rows.append({"id": i, "file_name": name, "width": 48,
                             "height": 40})
            box = {"bbox": [12, 10, 24, 20]} if boxes else {}
            save(root / f"{split}19.json", json.dumps({
                "images": rows, **({} if split == "test" else {
                    "annotations": [
                        {"id": i, "image_id": i, "category_id": i % 2, **box}
                        for i in range(4 * k, 4 * k + 4)] * several})}))
    return make


def json_of_splits(form, file, folder):
    """JSON of labels for each split. The pictures have the same names in both, and
    are bright in val. `form` makes the JSON of the labels by name."""
    def make(root):
        for split, labels in (("train", [1, 2]), ("val", [5])):
            for i in range(3):
                save(root / folder.format(split) / f"{i}.png",
                     picture(250 if split == "val" else 0))
            save(root / file.format(split), json.dumps(form(
                {f"{i}.png": label for i, label in enumerate(labels)})))
    return make


def coco_of(labels):
    return {"images": [{"id": name, "file_name": name, "width": 48,
                        "height": 40} for name in labels],
            "annotations": [{"image_id": name, "category_id": label,
                             "bbox": [12, 10, 24, 20]}
                            for name, label in labels.items()]}


def classes_of(labels):
    """COCO without boxes, and in train with two classes of each picture."""
    made = coco_of(labels)
    made["annotations"] = [
        {key: row[key] for key in ("image_id", "category_id")}
        for row in made["annotations"] * len(labels)]
    return made


def is_dark(pictures):
    return pictures.max() < 0


def is_bright(pictures):
    """The others of the batch fill it."""
    return pictures[0].min() > 0


def split_files(line, file="{}.txt", more=None, header=""):
    """Six pictures and their masks, of which two are val by files of lines."""
    def make(root):
        for i in range(6):
            save(root / f"images/{i}.png", picture(0 if i < 4 else 250))
            if more is None:
                save(root / f"masks/{i}.png", mask(i))
            elif more:
                save(root / f"labels/{i}.{more[0]}", more[1])
        for split, numbers in (("train", range(4)), ("val", range(4, 6))):
            save(root / file.format(split),
                 header + "".join(line.format(i) + "\n" for i in numbers))
    return make


def imdb(operand):
    """Reviews, of which those in unsup have no label."""
    def make(root):
        for split in ("train", "test"):
            for name in ("neg", "pos", "unsup")[:3 if split == "train" else 2]:
                for i in range(4):
                    save(root / split / name / f"{i}_{len(name)}.txt",
                         f"Film {i}\nis {name}")
            save(root / split / "labeledBow.feat", "9 0:9\n")
        return root / operand
    return make


def number_texts(folder):
    """As UCI HAR: lines of numbers with blanks in front."""
    def make(root):
        for k, split in enumerate(("train", "test")):
            for name, line in (("X", "  1.5e+000 -2.5e-001 3.0e+000\n"),
                               ("y", "{}\n"), ("subject", "{0}{0}\n"),
                               ("Inertial Signals/gyro_x", "  0.5 {}\n")):
                save(root / folder.format(split) / f"{name}_{split}.txt",
                     "".join(line.format(i % 2 + k) for i in range(4)))
        save(root / "features.txt", "1 tBodyAcc-mean()-X\n")
    return make


def texts_as_labels(dtype, *folders):
    """The last folder lacks the first name."""
    def make(root):
        for i, folder in enumerate(folders):
            (root / folder).mkdir(parents=True, exist_ok=True)
            numpy.save(root / folder / "x.npy", numpy.zeros((4, 3), "f4"))
            names = ["cat", "dog", "owl", "owl"]
            numpy.save(root / folder / "y.npy",
                       numpy.array(names if i == 0 else names[1:] + ["dog"],
                                   dtype))
    return make


def objects(folder):
    """Pictures of nuclei, each with a mask for each nucleus."""
    def make(root):
        for i in range(4):
            sample = root / folder / f"{i}.ab"
            save(sample / f"images/{i}.ab.png", picture(i))
            for k in range(3):
                pixels = numpy.zeros((40, 48), "u1")
                pixels[10 * k:10 * k + 10] = 255
                save(sample / f"masks/m{k}.png", Image.fromarray(pixels))
    return make


def archives(names, folder="{}/", beside=""):
    """A zip archive of pictures or masks for each name, in this folder."""
    def make(root):
        root.mkdir(parents=True, exist_ok=True)
        for name in names:
            with zipfile.ZipFile(root / f"{name}.zip", "w") as out:
                for i in range(4):
                    made = (mask(i) if "mask" in name
                            else encoded(picture(i), "PNG"))
                    out.writestr(f"{folder.format(name)}{i}.png", made)
                if beside:
                    out.writestr(beside, b"x")
    return make


def davis(line, **texts):
    """Two videos of two frames, and lines for those of each split."""
    def make(root):
        for i in range(4):
            frame = f"480p/{'ab'[i % 2]}/{i:05}"
            save(root / f"JPEGImages/{frame}.jpg", picture(i))
            save(root / f"Annotations/{frame}.png", mask(i))
        for name, video in texts.items():
            folder, split = name.split("_")
            save(root / f"ImageSets/{folder[1:]}/{split}.txt",
                 line.format(video) + "\n")
    return make


VIDEOS = "the videos of JPEGImages/ and the masks of Annotations/ are not read"


def ilsvrc(root):
    """ImageNet as Kaggle has it."""
    data = root / "ILSVRC/Data/CLS-LOC"
    rows = {}
    for i in range(4):
        wnid = f"n0{i % 2}"
        rows.setdefault("train", {})[f"{wnid}_{i}"] = wnid
        rows.setdefault("val", {})[f"ILSVRC2012_val_{i:08}"] = wnid
        save(data / f"train/{wnid}/{wnid}_{i}.JPEG", picture(i))
        save(data / f"val/ILSVRC2012_val_{i:08}.JPEG", picture(i))
        save(data / f"test/ILSVRC2012_test_{i:08}.JPEG", picture(i))
    save(root / "ILSVRC/Annotations/CLS-LOC/train/n00/x.xml", "<annotation/>")
    save(root / "ILSVRC/ImageSets/CLS-LOC/val.txt", "x 1\n")
    save(root / "LOC_synset_mapping.txt", "n00 cat\nn01 dog\n")
    for split, ids in rows.items():
        save(root / f"LOC_{split}_solution.csv", "ImageId,PredictionString\n" +
             "".join(f"{i},{c} 1 2 3 4\n" for i, c in ids.items()))


PAIRS = {"image": (4, *IMAGE), "mask": (4, 224, 224, 1)}

OF_TABLES = "the tables are of several splits, as "
SEVERAL = ("the arrays are of several splits: move each split into a folder:"
           "\n(cd /")
U16 = ("train.bin may be token ids, without their type: give it, as --tokens u16 "
       "for ids below 65536")
TYPE = ("train.bin may be token ids, without their type: its type seems to be {}, "
        "since the upper bytes of all numbers are 0: forebay init --tokens ")
SHARDS = "the arrays seem to be shards of one, as "

ROWS = [
    ("Carvana", files("train/{}.jpg", "train_masks/{}_mask.png", "test/{}.jpg"),
     Remedy("train_masks has the masks of the pictures in train (", "pairs",
            PAIRS)),
    ("Carvana: the GIF masks are converted, and still there", all_of(
        files("train/{}.jpg", "train_masks/{}_mask.png"),
        lambda root: save(root / "train_masks/0_mask.gif", mask(0))),
     Remedy("train_masks has the masks of the pictures in train (", "pairs",
            PAIRS)),
    ("masks of one name in X_gt", all_of(
        files("data/x{}.jpg"), masks_in("data_gt", "x")),
     Remedy("data_gt has the masks of the pictures in data (", "pairs",
            PAIRS)),
    ("pairs of folders for each split", files(
        "train_images/{}.jpg", "train_masks/{}-mask.png", "val_images/{}.jpg",
        "val_masks/{}-mask.png"),
     Remedy("train_masks has the masks of the pictures in train_images (",
            "pairs", PAIRS), ("val", {"mask": (64, 224, 224, 1)})),
    ("classes of which one is called after another", files(
        "toys/{}.jpg", "toys_kids/{}.jpg"), {"label": (8,)}),
    ("a mask for a part of the pictures", all_of(
        files("train/{}.jpg", "train_masks/{}_mask.png"),
        files("train/more{}.jpg")),
     Remedy("train_masks has the masks of the pictures in train (", "pairs",
            PAIRS)),
    ("BUSI: names with blanks, and second masks", all_of(
        files("benign/benign ({}).png", "benign/benign ({})_mask.png",
              "normal/normal ({}).png", "normal/normal ({})_mask.png"),
        lambda root: save(root / "benign/benign (1)_mask_1.png", mask(1)),
        lambda root: save(root / "normal/x_masked.png", picture(1)),
        lambda root: save(root / "normal/x_masked_mask.png", mask(1))),
     Remedy("_mask.png seems to be the mask of the picture beside it", "",
            {"image": (9, *IMAGE), "mask": (9, 224, 224, 1),
             "label": Counter([0] * 4 + [1] * 5)})),
    *((f"masks {m} of {p}", all_of(files(*p), lambda root, m=m: [
        save(root / m.format(i), mask(i)) for i in range(4)]),
       Remedy(f"{m.format(0).split('/')[-1]} seems to be the mask of "
              f"{p[0].format(0).split('/')[-1]} beside it; files of a sample "
              "have one name up to the first dot: if it is a picture of its "
              f"own, add --class-depth {len(m.split('/')) - 1}, else rename "
              "both:\n(cd /", "",
              {"image": (len(p) * 4 if "/" in m else 4, *IMAGE),
               "mask": (4, 224, 224, 1)}))
      for m, p in (
          ("B_{}_seg_0.png", ["B_{}_t1_0.png"]),
          ("B_{}_seg_0.png", ["B_{}_flair_0.png", "B_{}_t1_0.png"]),
          ("{}-GT.png", ["{}.jpg"]), ("label_{}.png", ["img_{}.jpg"]),
          ("a/seg_{}.png", ["a/{}.jpg"]))),
    ("pictures of a label beside others", files(
        "x_label_{}.png", "x_front_{}.png"), {"image": (8, *IMAGE)}),
    ("second masks of some pictures", files(
        *(f"{name}/{{}}{end}.png" for name in "ab" for end in ("", ".mask")),
        "a/{}.mask_1.png"), Note(
            "left out: mask_1.png: of only 4 samples, and none of b/0; write such "
            "a file for each sample, or merge it into another mask\n",
            {"image": (8, *IMAGE), "mask": (8, 224, 224, 1)})),
    ("masks of names with blanks", files(
        "images/a ({}).png", "masks/a ({})_mask.png"),
     Remedy("_mask.png seems to be the mask of images/a (", "",
            {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)})),
    ("Images and Masks", all_of(
        files("Images/{}.jpg"), masks_in("My Masks", "")),
     Remedy("the folder Images seems to be one of parallel folders, whose "
            "names are lower-case letters, digits, _ and -: rename it:\n(cd ",
            "", {"images": (4, *IMAGE), "my_masks": (4, 224, 224, 1)})),
    ("dogs and cats of train and val", files(
        "train/cat.{}.jpg", "train/dog.{}.jpg", "val/cat.{}.jpg",
        "val/dog.{}.jpg", "test1/{}.jpg"),
     Remedy("that cat.0.jpg has the extension 0.jpg: move such files into "
            "class folders:\n(cd /", "",
            {"image": (8, *IMAGE), "label": Counter([0] * 4 + [1] * 4)}),
     ("val", {"label": [0, 0, 0, 0, 1, 1, 1, 1]})),
    ("dogs and cats in one folder", files("cat.{}.jpg", "dog.{}.jpg"),
     Remedy("move such files into class folders:\n(cd /", "",
            {"image": (8, *IMAGE), "label": Counter([0] * 4 + [1] * 4)})),
    *((f"blanks after dots: {shown}", make, Remedy(shown, "", shapes)) for shown, make, shapes in (
            ("a/Dr. Weiss 0.jpg has the extension ' Weiss 0.jpg': rename such "
             "files:", files("a/Dr. Weiss {}.jpg", "b/{}.jpg"),
             {"image": (8, *IMAGE), "label": (8,)}),
            ("images/No. x 0.jpg has the extension ' x 0.jpg': rename",
             all_of(files("images/No. x {}.jpg"), masks_in("masks", "No. x ")),
             {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)}),
            ("(all after the first dot) is longer than 63 bytes: rename such "
             "files:", files(
                "No. {}, a long name that says what is in the picture, at what "
                "hour.jpg"), {"image": (4, *IMAGE)}))),
    ("one word before the dots", files("img.{}.jpg"),
     Remedy("rename such files:\n(cd /", "", {"image": (4, *IMAGE)})),
    ("Cityscapes with val", test_corpus.cityscapes, Remedy(
        "Cityscapes' pictures and masks have different names", "",
        {"image": (3, *IMAGE), "mask": (3, 224, 224, 1)}),
     ("val", {"mask": (64, 224, 224, 1)})),
    ("Pascal VOC with val", test_corpus.voc, Remedy(
        "in VOCdevkit/VOC2012: Pascal VOC's ImageSets/", "VOCdevkit/VOC2012",
        {"image": (2, *IMAGE), "mask": (2, 224, 224, 1)}),
     ("val", {"mask": (64, 224, 224, 1)})),
    *((f"{name} beside {folders}", all_of(
        files(*folders), lambda root, name=name: save(root / name, "a/0 1\n")),
       Note(f"note: {name} is not read{sentence}", {"image": (n, *IMAGE)}))
      for name, folders, n, sentence in (
          *((name, ["train/{}.jpg", "val/{}.jpg"], 4,
             "; if it has labels or texts of the pictures, write them into a "
             ".csv with a column of paths\n")
            for name in ("labels.txt", "train.xlsx", "meta.parquet", "a.lst")),
          *((name, folders, 8,
             ": the classes are numbered from 0 in byte order of their "
             "folders' names; if it has other numbers, write a .csv with the "
             "columns image (paths) and label\n")
            for name, folders in (
                ("labels.json", ["a/{}.jpg", "b/{}.jpg"]),
                ("classes.txt", ["train/a/{}.jpg", "train/b/{}.jpg"]))))),
    *((f"{what} in parallel folders", all_of(
        files("images/{}.jpg"), *([masks_in("masks", "")] * of_masks), make),
       Note(f"left out: the {sentence}", {"images": (4, *IMAGE)}))
      for what, of_masks, make, sentence in (
          ("JSON", 0, files("labels/{}.json", content='{"age": 3}'),
           ".json files in labels; to read some of their keys, add to fields: "
           "age: {from: labels.json, key: age, decode: label}\n"),
          ("JSON beside masks", 1, files("masks/{}.json", content='[1]'),
           ".json files in masks: they have no keys that a field can read; "),
          ("one JSON beside masks", 1,
           lambda root: save(root / "masks/0.json", '{"age": 3}'),
           ".json files in masks: of only 1 sample\n"),
          ("XML beside masks", 1, files("masks/{}.xml", content="<a/>"),
           ".xml files in masks are not read; write what you need of them "),
          ("depths as arrays", 0, arrays("depth/{}.npy"),
           ".npy files in depth; to read them, add to fields: depth: {from: "
           "depth.npy, decode: array, shape: [8, 6, 3], wire: u8}; if an "
           "array has the height and width of the picture, replace "))),
    ("pictures and masks without a common name", files(
        "images/{}_sat.jpg", "masks/{}_mask.png"),
     "no file in images has the name of one in masks, up to its first dot: give "
     "the files of a pair one name, as images/7.jpg and masks/7.png\n"),
    ("images and masks beside the splits in JSON", all_of(
        files("images/p {}.jpg"), masks_in("masks", "p "),
        lambda root: save(root / "split.json", json.dumps(
            {"train": ["p 0.jpg", "images/p 1.jpg"], "test": ["p 2", "p 3"]}))),
     Remedy("split.json says which pictures in images are of which split: write "
            "a list of each, with the files of masks, and run init again:", "",
            {"images": (2, *IMAGE), "masks": (2, 224, 224, 1)}),
     ("test", {"images": (64, *IMAGE)})),
    *((f"pictures of the test without classes beside {path}", all_of(
        files("train/cat/{}.jpg", "train/dog/{}.jpg", "test/{}.jpg"),
        lambda root, path=path, ending=ending: save(
            root / path, "File Name,label\n" + "".join(
                f"{i}{ending},{['cat', 'dog'][i % 2]}\n" for i in range(4)))),
       Note(f"{path} names its pictures: move these into class folders as those "
            "of train: (cd /", {"label": Counter([0] * 4 + [1] * 4)},
            {"test": {"label": [0, 0, 1, 1]}}))
      for path, ending in (("test.csv", ".jpg"), ("test_labels.csv", ""))),
    *((f"{name} among pictures in {folder}", all_of(
        files(folder + "{}.jpg"), lambda root, name=name: save(
            root / name, "<a>0.jpg</a>")), Note(
                f"note: {name.split('/')[-1]} is not read; if it has labels or "
                "texts of the pictures, write them into a .csv with a column of "
                "paths", {"image": (4, *IMAGE)}))
      for folder, name in (("", "data.json"), ("", "annotations.xml"),
                           ("train/", "train/data.json"),
                           ("images/", "annotations.xml"))),
    ("DAVIS", davis("{}"), Remedy(
        VIDEOS, "", {"image": (4, *IMAGE), "mask": (4, 224, 224, 1)})),
    ("DAVIS of 2016, with paths", davis(
        "/JPEGImages/480p/{0}/00000.jpg /Annotations/480p/{0}/00000.png",
        f480p_train="a"), Remedy(VIDEOS, "", {"image": (2, *IMAGE)})),
    ("DAVIS of 2017, with texts of splits", davis(
        "{}", f2016_val="a", f2016_train="b", f2017_train="a", f2017_val="b"),
     Remedy(VIDEOS, "", {"image": (2, *IMAGE), "mask": (2, 224, 224, 1)}),
     ("val", {"image": (64, *IMAGE)})),
    ("dev/ beside train/", files(
        *(f"{split}/{name}/{{}}.jpg" for split in ("train", "dev")
          for name in ("cat", "dog"))),
     {"label": Counter([0] * 4 + [1] * 4)},
     ("val", {"label": [0] * 4 + [1] * 4})),
    ("a folder dev of classes", lambda root: files(
        "dev/cat/{}.jpg", "dev/dog/{}.jpg")(root) or root / "dev",
     {"label": (8,)}),
    ("splits of other names", files(
        *(f"{split}/{name}/{{}}.jpg" for split in ("01_fit", "02_check")
          for name in ("cat", "dog"))),
     "; if the outer ones are splits, rename them to train, val and test; if "
     "classes, add --class-depth 1, or 2 if each is one, as 01_fit/cat; to "
     "train on all, write a list, and run init again:\n(cd /"),
    ("splits with a word before", files(
        *(f"{split}/{name}/{{}}.jpg" for split in ("seg_train", "seg_test")
          for name in ("cat", "dog"))),
     "; or, so that all number the classes alike, rename them to train, val "
     "and test; "),
    ("folds of class folders", files(
        *(f"fold{k}/{name}/{k}{{}}.jpg" for k in range(3)
          for name in ("cat", "dog"))),
     Remedy("the folders fold0, fold1, fold2 are folds, not classes: for one "
            "of them: forebay init /", "",
            {"image": (16, *IMAGE), "label": Counter([0] * 8 + [1] * 8)}),
     ("val", {"label": [0, 0, 0, 0, 1, 1, 1, 1]})),
    ("folds of pictures", files("fold_1/{}.jpg", "fold_2/{}.jpg"),
     "are folds, not classes: to read all of them: forebay init /"),
    ("a test/ of pictures without masks", all_of(
        files("train/images/{}.jpg", "test/images/{}.jpg"),
        masks_in("train/masks", "")), Note(
            "/test: it is given as 'folder', not as 'parallel'; to stream it "
            "by itself: forebay init /", {"images": (4, *IMAGE)})),
    ("iNaturalist", coco_beside(
        "train_val19/Birds/{1}", "train", "val", "test"), Remedy(
            "19.json is not read as a list: write JSON lines, an object in "
            "each line:", "",
            {"image": (4, *IMAGE), "label": Counter([0, 0, 1, 1])}),
     ("val", {"label": [0, 1, 0, 1]})),
    ("COCO beside images", coco_beside("images", "train", "val", boxes=True),
     Remedy("19.json is not read as a list: write JSON lines, an object in "
            "each line:", "", {"image": (4, *IMAGE), "boxes": Counter(
                [0, 1] * 2 + [.5] * 16)}), ("val", {"boxes": (64, 5)})),
    ("COCO of several classes", coco_beside("images", "train", several=2),
     Remedy("19.json is not read as a list", "",
            {"labels": Counter([0] * 4 + [1] * 4)})),
    ("COCO beside train and val", coco_beside("{}", "train", "val"), Note(
        "19.json is not read as a list: write JSON lines, an object "
        "in each line: (cd /", {"image": (4, *IMAGE)},
        {"train": {"label": Counter([0, 0, 1, 1])},
         "val": {"label": [0, 1, 0, 1]}})),
    *((f"{form.__name__}, {file}: the same names in {folder}",
       json_of_splits(form, file, folder), kind(
           "is not read as a list: write JSON lines, an object in each line:",
           *arguments), *others)
      for form, file, labels, of_val in (
          (coco_of, "{}.json", {"boxes": Counter([1, 2] + [.5] * 8)},
           {"boxes": [[5, .5, .5, .5, .5]]}),
          (classes_of, "instances_{}.json", {"labels": (2, 2)},
           {"labels": [[5, 0]]}),
          (dict, "{}_labels.json", {"label": Counter([1, 2])}, {"label": [5]}),
          (lambda labels: {"labels": list(labels.items())}, "dataset_{}.json",
           {"label": Counter([1, 2])}, {"label": [5]}))
      for train, val in [({"image": is_dark, **labels},
                          {"image": is_bright, **of_val})]
      for folder, kind, arguments, others in (
          ("{}", Note, [{"image": (3, *IMAGE)}, {"train": train, "val": val}],
           []),
          ("images/{}", Remedy, ["", train], [("val", val)]))),
    *((f"lines {line} in {file} beside pictures and {what}",
       split_files(line, file, more, header), Remedy(
           f"{file.format('train')} says which pictures in images are of which "
           f"split: write a list of each, with the files of {what}, and run "
           "init again:", "", {"image" + "s" * (more is None): is_dark,
                               **train}),
       ("val", {"image" + "s" * (more is None): is_bright, **val}))
      for line, file, header, what, more, train, val in (
          ("{}", "{}.txt", "", "masks", None, {"masks": (4, 224, 224, 1)}, {}),
          ("/data/images/{0}.png masks/{0}.png", "lists/{}.txt", "", "masks",
           None, {"masks": (4, 224, 224, 1)}, {}),
          ("{0}.png {0}", "{}_list.txt", "", "masks", None,
           {"label": Counter([0, 1, 2, 3]), "masks": (4, 224, 224, 1)},
           {"label": [4, 5]}),
          ("{},0", "annotations/{}.csv", "id,label\n", "masks", None,
           {"label": Counter([0] * 4), "masks": (4, 224, 224, 1)}, {}),
          ("0,{}", "{}.csv", "label,id\n", "masks", None,
           {"label": Counter([0] * 4), "masks": (4, 224, 224, 1)}, {}),
          ("./images/{}.png", "{}.txt", "", "labels",
           ("txt", "1 0.5 0.5 0.25 0.5\n"), {"boxes": (4, 5)},
           {"boxes": [[1, .5, .5, .25, .5]]}))),
    *((f"COCO: {file} and {folder}", json_of_splits(coco_of, file, folder),
       Remedy("COCO's annotations (annotations/", "",
              {"image": is_dark, "boxes": Counter([1, 2] + [.5] * 8)}),
       ("val", {"image": is_bright, "boxes": [[5, .5, .5, .5, .5]]}))
      for file, folder in (("annotations/instances_{}.json", "{}"),
                           ("annotations/{}_boxes.json", "images/{}"))),
    *((f"lines {line} in {file} beside pictures alone",
       split_files(line, file, (), header), Remedy(
           f"{file.format('train')} is a list of the pictures in images: write "
           "one beside that folder, with their paths, and run init again:", "",
           {"images": is_dark, "y": Counter([0, 1, 2, 3])}),
       ("val", {"images": is_bright, "y": [4, 5]}))
      for line, file, header in (
          ("{0}.png,{0}", "annotations/{}.csv", "file,y\n"),
          ("{0},{0}", "labels/my_{}_labels.csv", "y,id\n"))),
    ("a .csv without a split in labels/", all_of(
        files("images/x{}.png"), lambda root: save(
            root / "labels/all.csv", "file,y\nx1.png,7\nx2,8\n")),
     Remedy("labels/all.csv is a list of the pictures in images", "",
            {"images": (2, *IMAGE), "y": Counter([7, 8])})),
    ("features beside pictures", all_of(
        files("faces/{}.jpg"), arrays("features/{}.npy")), Remedy(
            "features has files with the names of the pictures in faces, and "
            "such folders are read together if their names have words as images "
            "and labels: rename both:\n(cd /", "",
            {"images": (4, *IMAGE)})),
    *((f"IMDB reviews in '{folder}'", imdb(folder), Remedy(
        "texts in class folders are not read: write lists of those in the "
        "folders that all splits have", f"{folder}/texts".lstrip("/"),
        {"text": (8, 16), "label": Counter([0] * 4 + [1] * 4)}), *others)
      for folder, others in (
          ("", [("test", {"label": [0, 0, 0, 0, 1, 1, 1, 1]})]),
          ("train", []))),
    *((f"UCI HAR in '{folder}'", number_texts(folder), Remedy(
        "texts of numbers are not read (", "arrays",
        {"x": (4, 3), "y": Counter([0, 0, 1, 1]), "gyro_x": (4, 2),
         "subject": Counter([0, 0, 11, 11])}),
       ("test", {"y": [1, 2, 1, 2]})) for folder in ("{}", ".")),
    *((f"KITTI with {others}", all_of(
        files("training/image_2/{}.png", "testing/image_2/{}.png"),
        *(files(f"{split}/{name}", content="P0: 1 0\n") for name in others
          for split in ("training", "testing")),
        files("training/label_2/{}.txt", content=KITTI)), Note(
            "left out: label_2: its text files are boxes as those of KITTI "
            "(this needs Pillow); to read them, too, write lists, and run "
            "init again: (cd /", {"image": (4, *IMAGE)}, {"train": {
                "image": (4, *IMAGE),
                "boxes": Counter([0, .25, .5, .25, .5] * 4)}}),
       ("test", {"image": (64, *IMAGE)}))
      for others in ([], ["calib/{}.txt", "velodyne/{}.bin"])),
    ("XML of Pascal VOC", all_of(
        files("images/{}.jpg"), xml("annotations/{}.xml")),
     Note(XML, {"image": (4, *IMAGE)}, {"train": BOXES})),
    ("XML of Pascal VOC in capitals", all_of(
        files("JPEGImages/{}.jpg"), xml("Annotations/{}.xml")),
     Note(XML.replace("annotations", "Annotations"), {"image": (4, *IMAGE)},
          {"train": BOXES})),
    ("XML of Pascal VOC for each split", all_of(
        files("images/train/{}.jpg", "images/val/{}.jpg"),
        xml("annotations/train/{}.xml", "annotations/val/{}.xml")),
     Note(XML, {"image": (4, *IMAGE)},
          {"train": BOXES, "val": {"boxes": (64, 5)}})),
    ("other XML", all_of(
        files("images/{}.jpg"),
        files("annotations/{}.xml", content="<annotation/>")), Note(
        "left out: annotations: its XML files are not read; write what you "
        "need of them into a list", {"image": (4, *IMAGE)})),
    ("XML beside masks", all_of(
        files("images/{}.jpg"), masks_in("annotations", ""),
        xml("annotations/{}.xml")),
     {"images": (4, *IMAGE), "annotations": (4, 224, 224, 1)}),
    ("XML of Pascal VOC beside the pictures", all_of(
        files("train/{}.jpg", "test/{}.jpg"),
        xml("train/{}.xml", "test/{}.xml")),
     Note(BESIDE.format("xml", " as those of Pascal VOC"),
          {"image": (4, *IMAGE)}, {"train": BOXES, "test": {"boxes": (64, 5)}})),
    ("YOLO beside the pictures", all_of(
        files("{}.jpg"), files("{}.txt", content="1 0.5 0.5 0.2 0.4\n")),
     Note(BESIDE.format("txt", ""), {"image": (4, *IMAGE)},
          {"train": {"boxes": (4, 5)}})),
    ("other XML beside the pictures", all_of(
        files("{}.jpg"), files("{}.xml", content="<annotation/>")), Note(
            "left out: the .xml files beside the pictures are not read; write "
            "what you need of them into a list", {"image": (4, *IMAGE)})),
    ("XML of Pascal VOC in a folder of another name", all_of(
        files("images/{}.jpg"), xml("xmls/{}.xml")),
     Remedy("xmls has boxes of the pictures in images: write lists of both, "
            "and run init again:", "", BOXES)),
    ("YOLO in a folder of another name", all_of(
        files("images/{}.jpg"),
        files("yolo/{}.txt", content="1 0.5 0.5 0.2 0.4\n")),
     Remedy("yolo has boxes of the pictures in images: write lists of both",
            "", {"image": (4, *IMAGE), "boxes": (4, 5)})),
    ("XML in class folders", all_of(
        files("a/{}.jpg", "b/{}.jpg"), xml("a/{}.xml", "b/{}.xml")), Note(
            "left out: the .xml files beside the pictures are not read\n",
            {"label": (8,)})),
    ("CamVid", all_of(
        files("train/a{}.png", "val/a{}.png"), masks_in("trainannot", "a"),
        masks_in("valannot", "a")),
     Remedy("trainannot has the masks of the pictures in train (", "pairs",
            PAIRS), ("val", {"mask": (64, 224, 224, 1)})),
    *((f"pictures and masks of each patient in '{folder}'", all_of(
        *(files(f"{folder}p{k}/images/{{}}.jpg") for k in range(3)),
        *(masks_in(f"{folder}p{k}/masks", "") for k in range(3))),
       Remedy("each folder has pictures in images/ and their masks in masks/, "
              "as p0: write a list of all, and run init ", folder,
              {"image": (12, *IMAGE), "mask": (12, 224, 224, 1)}))
      for folder in ("", "train/", "all/")),
    ("PACS: the same classes in each folder", files(
        *(f"{domain}/{name}/{{}}.jpg" for domain in ("art", "photo")
          for name in ("cat", "dog", "horse"))),
     Remedy("the folders art, photo have the same folders (cat/dog/horse/), "
            "which seem to be the classes: for one of them: forebay init /", "",
            {"image": (24, *IMAGE),
             "label": Counter([0] * 8 + [1] * 8 + [2] * 8)})),
    ("the classes in folders with words of splits", files(
        *(f"{split}/{name}/{{}}.jpg" for split in ("01_train", "02_val")
          for name in ("cat", "dog"))),
     Remedy("the folders 01_train, 02_val have the same folders (cat/dog/), "
            "which seem to be the classes: if the outer ones are classes, add "
            "--class-depth 1, or 2 if each is one, as 01_train/cat; if they "
            "are splits, rename them:\n", "",
            {"image": (8, *IMAGE), "label": Counter([0] * 4 + [1] * 4)}),
     ("val", {"label": Counter({0: 32, 1: 32})})),  # padded
    ("Omniglot: numbered characters of each alphabet", files(
        *(f"{name}/character{k:02}/{{}}.png" for name, n in (
            ("Greek", 2), ("Latin", 3), ("Tagalog", 2))
          for k in range(1, n + 1))),
     "(character01/character02/), whose names are only numbered: if each is a "
     "class of its own, as Greek/character01: forebay init /"),
    ("LOL: pairs of splits", files(
        *(f"{split}/{name}/{{}}.png" for split in ("our485", "eval15")
          for name in ("low", "high"))),
     Remedy("high and low have the same file names in our485, so they look "
            "like pairs, not classes; if they are classes, add --class-depth "
            "2; for pairs write a list, and run init again:", "",
            {"high": (4, *IMAGE)}), ("val", {"high": (64, *IMAGE)})),
    ("GoPro: pairs of scenes", files(
        *(f"{split}/GOPR{k}/{name}/{{}}.png" for split in ("train", "test")
          for k in (1, 2) for name in ("blur", "sharp"))),
     Remedy("in train: blur and sharp have the same file names in GOPR1, so "
            "they look like pairs", "", {"blur": (8, *IMAGE)}),
     ("test", {"blur": (64, *IMAGE)})),
    ("pairs of scenes", files(
        *(f"scene {k}/{name}/{{}}.png" for k in (1, 2)
          for name in ("blur", "sharp"))),
     Remedy("blur and sharp have the same file names in scene 1, so they look "
            "like pairs", "", {"blur": (8, *IMAGE)})),
    ("captions", all_of(
        files("images/{}.jpg"), files("captions/{}.txt", content="a cat\n")),
     Remedy("captions has texts of the pictures in images: write a list of "
            "both, and run init again:", "",
            {"image": (4, *IMAGE), "text": (4, 8)})),
    ("arrays in parallel folders", arrays("images/{}.npy", "masks/{}.npy"),
     Remedy("the .npy files of one name in parallel folders seem to be a "
            "sample, and a table has samples as rows: write one (all arrays of "
            "a column must have the same shape), and run init again:", "",
            {"images": (4, 8, 6, 3), "masks": (4, 8, 6)})),
    ("arrays in parallel folders of train", arrays(
        "train/images/{}.npy", "train/masks/{}.npy"),
     Remedy("in train: the .npy files of one name in parallel folders", "",
            {"images": (4, 8, 6, 3), "masks": (4, 8, 6)})),
    *((f"a folder for each sample of {shapes} in '{folder}'",
       array_folders(folder, **shapes), Remedy(
           "whose shapes are those of one sample, and a table has samples as "
           "rows: write one:", "", {name: (4, *shape) for name, shape in
                                    (after or shapes).items()}), *others)
      for folder, shapes, after, others in (
          ("case_{}", {"image": (8, 6), "seg": (8, 6)}, None, ()),
          ("{}", {"image": (3, 8, 6), "mask": (8, 6)}, None, ()),
          ("smith {}", {"x": (3, 8, 6), "y": ()}, None, ()),
          ("patient{}", {"t1": (5, 8, 6), "seg": (5, 8, 6)}, None, ()),
          ("train/{}", {"image": (8, 6, 3), "label": (8, 6)}, None, ()),
          ("case_{}", {"image": (None, 8, 6), "seg": (None, 8, 6)},
           {"image": (32, 8, 6), "seg": (32, 8, 6)}, ()))),
    ("a folder for each sample in two groups", array_folders(
        ("a/{}", "b/{}"), image=(8, 6), seg=(8, 6)), Remedy(
            "whose shapes are those of one sample", "",
            {"image": (8, 8, 6), "group": Counter([0, 1] * 4)})),
    ("a folder for each sample in splits", array_folders(
        ("train/s{}", "val/s{}"), image=(8, 6), seg=(8, 6)), Remedy(
            "in train: s0 and the folders beside it have the same files "
            "(image.npy, seg.npy), whose shapes", "", {"image": (4, 8, 6)}),
     ("val", {"seg": (4096, 8, 6)})),
    ("an array and a volume of each sample", all_of(
        array_folders("case_{}", image=(8, 6)),
        files("case_{}/seg.nii.gz", content=b"x")), Remedy(
            "(image.npy, seg.nii.gz), whose shapes are those of one sample", "",
            {"image": (4, 8, 6)})),
    ("tables, or volumes", array_folders(
        "{}", image=(5, 8, 6), seg=(5, 8, 6)), Note(
            "note: 0 and the folders beside it are read as tables, whose rows "
            "are the samples; if each folder is a sample, write a table of "
            "them: (cd /", {"image": (20, 8, 6)},
            {"train": {"image": (4, 5, 8, 6), "seg": (4, 5, 8, 6)}})),
    *((f"tables of {shapes}", array_folders("part-{}", **shapes),
       {name: (4 * shape[0], *shape[1:]) for name, shape in shapes.items()})
      for shapes in (
          {"image": (6, 8, 6), "label": (6,)}, {"x": (6, 4), "y": (6, 4)},
          {"image": (6, 8, 6), "seg": (6, 8, 7)})),
    ("TransUNet", npz_of_samples, Remedy(
        "the arrays of each .npz file seem to be a sample", "",
        {"image": (4, 8, 6), "label": (4, 8, 6)})),
    ("TransUNet's folder", lambda root: npz_of_samples(root / "train_npz"),
     Remedy("in train_npz: the arrays of each .npz file seem to be a sample",
            "train_npz", {"image": (4, 8, 6), "label": (4, 8, 6)})),
    ("an .npz for each sample, with scalars", npz_with_scalars, Remedy(
        "the arrays of each .npz file seem to be a sample", "",
        {"signal": (4, 8, 6), "label": Counter([0, 0, 1, 1])})),
    *((f"MedMNIST: {names} of which {only} is given",
       medmnist(*names, only=only), Remedy(
           "the arrays are of several splits: write each split into a folder, "
           "then: forebay init /", folder,
           {"images": (8, 28, 28), "labels": (8, 1)}),
       ("val", {"images": (4096, 28, 28)}), ("test", {"labels": (4096, 1)}))
      for names, only, folder in (
          ("a", None, ""), ("a", "a.npz", "a"), ("ab", None, "a"),
          ("ab", "b.npz", "b"))),
    ("tables of pictures", npz_of_tables, {"image": (12, 8, 6)}),
    *((f"NumPy: texts ({dtype}) as labels in {folders}",
       texts_as_labels(dtype, *folders), Remedy(
           "y.npy has texts, and an array of labels has numbers: write those "
           "of the sorted names, which the command prints (the texts stay in "
           "y.npy.texts):\n(cd /", "",
           {"y": Counter([0, 1, 2, 2])}), *others)
      for dtype, folders, others in (
          ("U3", ["."], []),
          ("S3", ["train", "val"], [("val", {"y": [1, 2, 2, 1]})]))),
    *((f"Data Science Bowl 2018 in '{folder}'", objects(folder), Remedy(
        "each folder has a picture in images/ and masks of its objects in "
        "masks/, as 0.ab: merge the masks", f"{folder}/merged".lstrip("/"),
        {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)}))
      for folder in ("", "stage1_train")),
    *((f"images.zip and masks.zip of '{folder}' and '{beside}'",
       archives(["images", "masks"], folder, beside), Remedy(
           "several zip archives are read only as splits, of which one is "
           "called train.zip (found: images.zip, masks.zip): for one of them "
           "give init its path; for all, unpack them, and run init again:", "",
           {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)}))
      for folder, beside in (
          ("{}/", ""), ("", ""), ("{}/", "__MACOSX/{}/._0.png"))),
    ("an .npz of each split", saved(
        mnist_train_npz=(6, 1), mnist_VAL_npz=(3, 2), mnist_test_npz=(3, 3)),
     Remedy(OF_TABLES, "", {"x": (6, 4), "y": Counter([1] * 6)}),
     ("val", {"y": [2, 2, 2]}), ("test", {"y": [3, 3, 3]})),
    *((f"{names} alone", saved(**dict.fromkeys(names, (3, 2))), Note(
        f"note: the split is called {split}, so it is neither shuffled nor "
        "augmented; to train on it, rename it, as to train.npz, and run init "
        "again\n", {field: (4096, *shape), "valid": Counter([1] * 3 + [0] * 4093)}))
      for names, split, field, shape in (
          (("test_npz",), "test", "x", (4,)), (("val",), "val", "val", ()),
          (("x_test", "y_test"), "test", "y_test", ()))),
    ("arrays of which one is called val", saved(key=(3, 2), val=(3, 1)),
     {"val": (3,)}),
    ("class folders of val, while train is beside", lambda root: files(
        "train/a/{}.jpg", "train/b/{}.jpg", "val/b/{}.jpg", "val/c/{}.jpg")(root)
        or root / "val", Note(
            "note: classes are numbered by their names in val alone, and train "
            "may have others: to number those of both alike: forebay init /",
            {"image": (64, *IMAGE)})),
    ("an .npz without a word beside one of test", saved(
        data_npz=(6, 1), test_npz=(3, 2)), Remedy(
            OF_TABLES, "", {"y": Counter([1] * 6)}), ("test", {"y": [2, 2]})),
    ("arrays in capitals", saved(
        y_TRAIN=(6, 1), y_TEST=(6, 2), n_TRAIN=(6, 1), n_TEST=(6, 2)), Remedy(
            SEVERAL, "", {"y": Counter([1] * 6), "n": (6,)}),
     ("test", {"y": [2, 2]})),
    ("shards of splits with as many rows", saved(
        f_train_000001=(5000, 1), f_train_000002=(5000, 1),
        f_val_000000=(5000, 2)), Remedy(
            "the arrays are of several splits (for token ids instead: --tokens "
            "TYPE): ", "", {"f": Counter([1] * 4096)}),
     ("val", {"f": [2, 2]})),
    ("shards of train", saved(x_train_0=(8, 1), x_train_1=(8, 1)), Remedy(
        SHARDS, "", {"x": Counter([1] * 16)})),
    ("shards with zeros in front", saved(a_000=(2000, 1), a_001=(2000, 1)),
     Remedy(SHARDS, "", {"a": Counter([1] * 4000)})),
    *((f"folds of {rows} rows", saved(
        X_fold0=(8, 0), X_fold1=(rows, 1), X_fold2=(8, 1),
        y_fold0=(8, 0), y_fold1=(rows, 1), y_fold2=(8, 1)), Remedy(
            "the arrays are of several folds, as X_fold0: move each fold into "
            "a folder, with the first one as val:\n(cd /", "",
            {"x": Counter([1] * (8 + rows)), "y": (8 + rows,)}),
       ("val", {"x": [0] * 8})) for rows in (7, 8)),
    ("arrays, and a list of their labels", all_of(saved(x=(4, 1)), lambda root:
        save(root / "y.csv", "y,name\n1,a\n2.5,b\n3,a\n4,c\n")), Note(
            "left out: y.csv: only the .npy files beside are read; write its "
            "columns as arrays of as many rows, and run init again: (cd /",
            {"x": Counter([1] * 4)}, {"train": {
                "y": Counter([1, 2.5, 3, 4]), "name": Counter([0, 1, 0, 2])}})),
    ("arrays, and other files", all_of(
        saved(x=(4, 1)), files("y.pt", "y.nii.gz", "readme.txt", "a.mat", "b.txt",
                               "c.json", content=b"x")), Note(
            "left out: a.mat, b.txt, c.json, y.nii.gz, ...: only the .npy files "
            "beside are read; save what you need as arrays of as many rows\n",
            {"x": Counter([1] * 4)})),
    ("a folder of pictures and a volume each", all_of(
        files("c{}/t1.png", "c{}/t2.png"),
        files("c{}/seg.nii.gz", content=b"x")), Remedy(
            "(seg.nii.gz, t1.png, t2.png), so they look like samples", "",
            {"t1": (4, *IMAGE)})),
    ("a list of pictures and volumes", all_of(
        files("c{}/t1.png"), files("c{}/seg.nii.gz", content=b"x"),
        lambda root: save(root / "train.csv", "image,seg\n" + "".join(
            f"c{i}/t1.png,c{i}/seg.nii.gz\n" for i in range(4)))), Note(
                'left out: column "seg": a medical volume (*.nii.gz) is not read '
                "yet; save its arrays as NumPy files", {"image": (4, *IMAGE)})),
    ("volumes in parallel folders", all_of(
        files("images/{}.png"), files("labels/{}.nii.gz", content=b"x")), Note(
            "left out: the .nii.gz files in labels are not read; ",
            {"images": (4, *IMAGE)})),
    ("a folder of train, and an archive of val", all_of(
        files("train/{}.jpg"), archives(["val"], "")), Note(
            "left out: val.zip, which seems to be the split val: unpack it: "
            "(cd /", {"image": (4, *IMAGE)},
            {"train": {"image": (4, *IMAGE)}, "val": {"image": (64, *IMAGE)}})),
    ("tokens of train, and an array of val", all_of(
        saved(val=(40, 1)), lambda root: save(root / "train.bin", b"ab" * 99)),
     "train.bin seems to be the split train, but other data is read: write it "
     "in the format of the others: all splits have one\n"),
    *((f"tokens of type {dtype} below {most}", tokens(dtype, most), sentence)
      for dtype, most, sentence in (
          ("i8", 30000, TYPE.format("i64")), ("u4", 100000, TYPE.format("u32")),
          ("u4", 4, TYPE.format("u32")), ("u2", 4, U16), ("u2", 30000, U16))),
    *((f"a blank after a dot in {name}", files(*names), Remedy(
        "the key of a sample ends at the first dot of a name, so that "
        f"{first} has the extension ", "", shapes))
      for name, names, first, shapes in (
          ("class folders", ("a/Dr. W {}.jpg", "b/{}.jpg"), "a/Dr. W 0.jpg",
           {"image": (8, *IMAGE), "label": Counter([0, 1] * 4)}),
          ("a flat folder", ("No. {} x.jpg",), "No. 0 x.jpg",
           {"image": (4, *IMAGE)}),
          ("parallel folders", ("images/{}. x.jpg", "masks/{}. x.png"),
           "images/0. x.jpg", {"images": (4, *IMAGE)}))),
    ("a blank after a dot in a tar", lambda root: tar(root / "t.tar", {
        f"No. {i} x.jpg": encoded(picture(i)) for i in range(4)}),
     "t.tar: the key of a sample ends at the first dot of a name, so that No. 0 "
     "x.jpg has the extension  0 x.jpg: write tars with other names into new/"),
    ("columns with numbers", saved(x1=(2000, 1), x2=(2000, 2)),
     {"x1": Counter([1] * 2000), "x2": Counter([2] * 2000)}),
    ("five zip archives", archives("abcde", ""), Remedy(
        "(found: a.zip, b.zip, c.zip, d.zip, ...)", "",
        {"image": (20, *IMAGE), "label": (20,)})),
    ("ImageNet of Kaggle", ilsvrc, Remedy(
        "LOC_val_solution.csv has the classes of the pictures in val: move "
        "them into class folders:\n(cd /", "ILSVRC/Data/CLS-LOC",
        {"image": (4, *IMAGE), "label": Counter([0, 0, 1, 1])}),
     ("val", {"label": [0, 0, 1, 1]})),
    ("DIV2K", files(*(
        f"DIV2K_{split}_{name}.png" for split in ("train", "valid")
        for name in ("HR/000{}", "LR_bicubic/X2/000{}x2",
                     "LR_bicubic/X4/000{}x4"))),
     Remedy("DIV2K's pictures of two sizes have different names; write a list, "
            "and run init again:\n(cd /", "",
            {"hr": (4, *IMAGE)}), ("valid", {"hr": (64, *IMAGE)})),
]


class Layouts(test_corpus.Corpus):
    rows = ROWS


if __name__ == "__main__":
    harness.main()
