# SPDX-License-Identifier: Apache-2.0
"""Data that can be read in two ways, of which one would be wrong without a word:
splits or classes, pairs or classes, a header or a row. The rows are as in
test_corpus.py."""

import io
import json

import harness
import numpy
import test_corpus

from collections import Counter

from PIL import Image
from test_corpus import (IMAGE, LONG, Note, Remedy, all_of, deep, encoded,
                         files_named, mask,
                         pictures_at, picture, save, tar, zipped)


def folders(*names, files=("0.jpg", "1.jpg", "2.jpg")):
    """Pictures of these names in each of the folders."""
    return pictures_at(*(f"{name}/{file}" for name in names for file in files))


def paired(first, second, make_second=mask):
    """Four pictures in colours, and a file that is made for each: names in which
    {} is the number."""
    def make(root):
        for i in range(4):
            colours = numpy.full((40, 48, 3), (9 * i, 80, 200), "u1")
            save(root / first.format(i), Image.fromarray(colours))
            save(root / second.format(i), make_second(i))
    return make


def ended_pairs(pictures, masks, n=8):
    """Pairs with names of other ends, without the mask of the third."""
    def make(root):
        for i in range(n):
            save(root / pictures.format(i), picture(i))
            if i != 2:
                save(root / masks.format(i), mask(i))
    return make


def flickr(*splits, to="", token="Flickr8k.token.txt"):
    """Pictures with two captions each, and texts with those of splits."""
    def make(root):
        for i in range(6):
            save(root / f"Flicker8k_Dataset/1000{i}.jpg", picture(i))
        text = "".join(f"1000{i}.jpg#{k}\tChild {i} runs {'ab'[k]} .\n"
                       for i in range(6) for k in range(2))
        save(root / to / token, text)
        save(root / to / token.replace(".token", ".lemma.token"), text)
        for split, first, last in splits:
            save(root / to / f"Flickr_8k.{split}Images.txt", "".join(
                f"1000{i}.jpg\n" for i in range(first, last)))
    return make


def files_of_captions(root):
    for i in range(6):
        save(root / f"Images/{i}.jpg", picture(i))
    save(root / "x.token.txt", "".join(
        f"{i}.jpg#{k}\tA child runs .\n" for i in range(6) for k in range(2)))
    save(root / "trainImages.txt", "".join(f"{i}.jpg\n" for i in range(4)))


def newsgroups(*splits, operand):
    """Messages of two groups, of which one is not UTF-8."""
    def make(root):
        for split in splits:
            for name in ("comp.graphics", "sci.space"):
                text = f"Subject: a message of {name}\n"
                save(root / f"{split}{name}/37261", text)
                save(root / f"{split}{name}/9", f"Caf\xe9: {text}".encode("l1"))
        return root / operand
    return make


def drawing(number):
    """A picture in black and white, with three channels."""
    pixels = numpy.zeros((40, 48, 3), "u1")
    pixels[:number] = 255
    return Image.fromarray(pixels)


def array(*shape):
    out = io.BytesIO()
    numpy.save(out, numpy.zeros(shape, "f4"))
    return out.getvalue()


def with_arrays(name, *shape):
    """Four pictures of 40x48 pixels, and arrays of these names."""
    return lambda root: [save(root / path.format(i), content) for i in range(4)
                         for path, content in (("rgb/{}.jpg", encoded(picture(i))),
                                               (name, array(*shape)))] and None


def tar_of_arrays(*shape):
    return lambda root: tar(root / "train-0.tar", {
        f"{i}.{end}": content for i in range(4) for end, content in (
            ("jpg", encoded(picture(i))), ("depth.npy", array(*shape)))})


def csv(name, *lines):
    return lambda root: save(root / name, "".join(f"{x}\n" for x in lines))


def tables(*names):
    """A list of each name, with as many rows as the name has letters."""
    def make(root):
        for name in names:
            csv(f"{name}.csv", "a,b", *(f"{i},x" for i in range(len(name))))(
                root)
    return make


def numbered(*names, n=12, form="{}.jpg"):
    """Files with the numbers of a counter in each of the folders."""
    return folders(*names, files=[form.format(i) for i in range(n)])


def cases(n, *roles, form="case_{:03}", masks=()):
    """Folders of samples with a file for each role, in which * is the name of the
    folder."""
    def make(root):
        for i in range(n):
            case = form.format(i)
            for role in (*roles, *masks):
                content = mask(i) if role in masks else picture(i)
                save(root / case / role.replace(
                    "*", case.rsplit("/", maxsplit=1)[-1]), content)
    return make


def without(path, make):
    def remove(root):
        make(root)
        (root / path).unlink()
    return remove


MRI = ("flair.png", "t1.png", "t1ce.png", "t2.png")
BRATS = tuple(f"*_{role}" for role in MRI)
SAMPLES = ("and the folders beside it have the same files ({}), so they look "
           "like samples, not classes; if {}, add --class-depth 1; for samples "
           "write a list:\n(cd /")
MRI_SAMPLES = SAMPLES.format("flair.png, seg.png, t1.png, t1ce.png, t2.png",
                             "they are classes")
BRATS_SAMPLES = SAMPLES.format(
    "*_flair.png, *_seg.png, *_t1.png, *_t1ce.png, *_t2.png", "{}")


def mri(n):
    """The arrays of a list of such samples."""
    return {"flair": (n, *IMAGE), "seg": (n, 224, 224, 1)}


PAIRS = ("have the same file names, so they look like pairs, not classes; if "
         "they are classes, add --class-depth 1; for pairs write a list, and "
         "run init again:\n(cd /")
MAY_BE_PAIRS = ("have the same file names; if they are pairs, not classes, "
                "write a list, and run init again: (cd /")
ONLY_RESIZE = ("if an array has the height and width of the picture, replace "
               "the crop and flip of that by resize: {size: 224}, because no "
               "op moves both\n")
DOUBLE = '"'
CODES = ["00891_00.jpg", "00893_00.jpg", "01430_00.jpg"]
SPLITS = "look like splits, not classes: write a pipeline for each: forebay in"

def missing(names, *folders):
    """Folders of pictures of these names, of which the second lacks one."""
    def make(root):
        for folder in folders:
            for i, name in enumerate(names):
                if folder == folders[0] or i != 5:
                    save(root / folder / f"{name}.jpg", picture(i))
    return make


def turned_pictures(orientation, width):
    """Pictures with this EXIF orientation, and masks of the size of these."""
    def make(root):
        exif = Image.Exif()
        exif[274] = orientation
        for i in range(4):
            ids = numpy.full((40, width), i % 3, "u1")
            out = io.BytesIO()
            Image.fromarray(ids).convert("RGB").save(out, "JPEG", exif=exif)
            save(root / f"images/{i}.jpg", out.getvalue())
            out = io.BytesIO()
            Image.fromarray(ids).save(out, "PNG")
            save(root / f"masks/{i}.png", out.getvalue())
    return make


ROWS = [
    ("Places365: data_256 and val_256", folders(
        "data_256/a/airfield", "data_256/a/alley", "val_256"),
     f"the folders data_256, val_256 {SPLITS}"),
    ("Omniglot", folders(
        *(f"images_{split}/{name}" for split in ("background", "evaluation")
          for name in ("Greek/c1", "Latin/c1"))),
     f"the folders images_background, images_evaluation {SPLITS}"),
    ("a folder of files beside one of folders", folders("x", "y/k", "y/l"),
     "the folder x holds only files, and y only folders, so they do not look "
     "like classes: write a pipeline for each: forebay init /"),
    ("two classes, one called test_tube", folders(
        "bus", "test_tube", files=("7.jpg",)),
     {"image": (2, *IMAGE), "label": Counter([0, 1])}),
    ("VITON: cloth and image in each split", folders(
        *(f"{split}/{name}" for split in ("train", "test")
          for name in ("cloth", "image")), files=CODES), Remedy(
              f"in train: cloth and image {PAIRS}", "",
              {"cloth": (3, *IMAGE)})),
    ("LEVIR-CD: A, B and label", numbered(
        "train/A", "train/B", "train/label", "val/A", "val/B", "val/label",
        n=4, form="train_{}.png"), Remedy(
            f"in train: A, B and label {PAIRS}", "",
            {"a": (4, *IMAGE)})),
    ("clean, noisy and edge", numbered("clean", "noisy", "edge", n=4), Remedy(
        f"clean, edge and noisy {PAIRS}", "", {"clean": (4, *IMAGE)})),
    ("pairs of two formats", pictures_at(
        "A/x7.jpg", "A/x9.jpg", "B/x7.png", "B/x9.png"), Remedy(
            f"A and B {PAIRS}", "", {"a": (2, *IMAGE)})),
    ("numbered pairs of two formats", pictures_at(
        *(f"img/{i}.jpg" for i in range(6)),
        *(f"lbl/{i}.png" for i in range(6))), Remedy(
            f"img and lbl {PAIRS}", "", {"img": (6, *IMAGE)})),
    ("pairs whose folders no column can be called after", folders(
        "A set", "B set", files=CODES),
     "A set and B set have the same file names, so they look like pairs, not "
     "classes; if they are classes, add --class-depth 1; for pairs name the "
     "folders images, masks"),
    ("a zip of pairs", zipped(folders("A", "B", files=CODES)),
     "for pairs write a list; unpack the archive first:\n(cd /"),
    ("pairs of which one is missing", missing(
        [f"{i * i}z" for i in range(12)], "blurred", "sharpened"),
     Remedy("blurred and sharpened have nearly the same file names, so they look "
            "like pairs, not classes; if they are classes, add --class-depth 1; "
            "for pairs write a list, and run init again:", "",
            {"blurred": (11, *IMAGE)})),
    ("classes of numbers, one more in one", missing(range(12), "cat", "dog"),
     {"label": Counter([0] * 12 + [1] * 11)}),
    *((f"numbered pairs: {a} and {b}", paired(a + "/{}.png", b + "/{}.png", make),
       Remedy(f"{a} and {b} {PAIRS}", "", {
           ("raw" if b == "raw" else a.lower()): (4, *IMAGE)}))
      for a, b, make in (
          ("Original", "ground_truth", picture), ("annotated", "raw", picture),
          ("photos", "sketches", picture), ("day", "segmentation", picture),
          ("clear", "hazy", picture), ("x", "y_mask", picture),
          ("fg", "lines", drawing), ("fg", "ids", mask), ("A", "B", mask))),
    ("numbered pairs: a name with a blank", paired(
        "Original/{}.png", "Ground Truth/{}.png"),
     "Ground Truth and Original have the same file names, so they look like "
     "pairs, not classes; if they are classes, add --class-depth 1; for pairs "
     "name the folders images, masks"),
    ("numbered pairs of three folders", all_of(
        paired("fg/{}.jpg", "opacity/{}.jpg", drawing),
        paired("fg/{}.jpg", "merged/{}.jpg", lambda i: Image.fromarray(
            numpy.full((40, 48, 3), (90, 8, 200), "u1")))),
     Remedy(f"fg, merged and opacity {PAIRS}", "", {"fg": (4, *IMAGE)})),
    ("classes with and without a mask", numbered(
        "with_mask", "without_mask", n=4),
     {"label": Counter([0] * 4 + [1] * 4)}),
    *((f"pairs with other ends: {a} and {b}", paired(a, b),
       f"{x} and {y} have file names that differ only at their ends, so they "
       "look like pairs, not classes: give the files of a pair one name, as "
       "images/7.jpg and masks/7.png, and name the folders images and masks; "
       "if they are classes, add --class-depth 1")
      for a, b, x, y in (
          ("hazy/0{}_out_hazy.png", "GT/0{}_out_GT.png", "GT", "hazy"),
          ("view/img_{}.png", "gt/gt_{}.png", "gt", "view"),
          ("frames/f{}.jpg", "segmentation/f{}_seg.png", "frames",
           "segmentation"),
          ("scans/{}.jpg", "labels_png/{}_L.png", "labels_png", "scans"))),
    ("pairs with other ends beside a third folder", all_of(
        paired("a/f{}.jpg", "seg/f{}_seg.png"), folders("other")),
     "a and seg have file names that differ only at their ends"),
    ("DUTS: folders of pairs", all_of(*(paired(
        f"DUTS-{x}/DUTS-{x}-Image/{{}}.jpg", f"DUTS-{x}/DUTS-{x}-Mask/{{}}.png")
        for x in ("TE", "TR"))),
     "the class folders hold only folders, which look like pairs (DUTS-TE-Image, "
     "DUTS-TE-Mask), not classes: write a pipeline for each: forebay init /"),
    ("ISBI 2016", paired(
        "Part_Training_Data/I_000{}.jpg",
        "Part_Training_GroundTruth/I_000{}_Segmentation.png"), Remedy(
            "Part_Training_GroundTruth has the masks of the pictures in "
            "Part_Training_Data (I_000", "pairs",
            {"image": (4, *IMAGE), "mask": (4, 224, 224, 1)})),
    *((f"pictures without an extension in {where}", all_of(
        folders(f"{where}/cat", f"{where}/dog"),
        lambda root, where=where: [
            save(root / where / name, encoded(picture(1)))
            for name in ("cat/n0", "cat/n1", "dog/n0")] and
        save(root / where / "dog/README", "x")), Note(
            "left out: 3 pictures without an extension, as cat/n0: give each "
            "one, as .jpg\n", {"image": (6, *IMAGE)}))
      for where in (".", "train")),
    *((f"pictures and masks in {' and '.join(names)}", all_of(*(
        paired(f"{name}/images/{name}-{{}}.png", f"{name}/masks/{name}-{{}}.png")
        for name in names)), Remedy(
            f"each folder has pictures in images/ and their masks in masks/, as "
            f"{names[0]}: write a list of all, and run init again:", "", {
                "image": (4 * len(names), *IMAGE), **labels}))
      for names, labels in (
          (("COVID", "Normal"), {"label": Counter([0] * 4 + [1] * 4)}),
          (("COVID 19", "Normal", "Viral"), {
              "label": Counter([0] * 4 + [1] * 4 + [2] * 4)}))),
    *((f"a tar of pictures and arrays of {len(shape)} dimensions",
       tar_of_arrays(*shape), Note(
           "note: no op moves depth.npy with the picture, whose height and "
           "width it has, so the picture is only resized\n",
           {"image": (4, *IMAGE), "depth": (4, *shape)}))
      for shape in ((40, 48), (2, 40, 48))),
    ("folders of pictures and arrays of their size", with_arrays(
        "depth/{}.npy", 40, 48), Note(
            f"shape: [40, 48], wire: f32}}; {ONLY_RESIZE}", {})),
    ("pictures with arrays in one folder", with_arrays(
        "rgb/{}.depth.npy", 40, 48), Note(
            "note: the .depth.npy files beside the pictures have no field yet; "
            "add one: {from: depth.npy, decode: array, shape: [N], wire: f32}\n"
            "note: " + ONLY_RESIZE, {"image": (4, *IMAGE)})),
    ("a list of pictures and arrays", all_of(
        with_arrays("d/{}.npy", 40, 48), csv(
            "train.csv", "image,depth", *(
                f"rgb/{i}.jpg,d/{i}.npy" for i in range(4)))), Note(
                    f"shape: [N], wire: f32}}; {ONLY_RESIZE}",
                    {"image": (4, *IMAGE)})),
    ("two classes of a few numbered files", numbered("cat", "dog", n=4),
     {"label": Counter([0] * 4 + [1] * 4)}),
    ("two classes of many numbered files", numbered("cat", "dog"), Note(
        f"note: cat and dog {MAY_BE_PAIRS}",
        {"label": Counter([0] * 12 + [1] * 12)},
        {"train": {"cat": (12, *IMAGE)}})),
    ("six classes of numbered files", numbered(*"abcdef"),
     {"image": (64, *IMAGE)}),
    ("six cameras", folders(*"abcdef", files=CODES), Note(
        f"note: a, b, c, d, ... {MAY_BE_PAIRS}", {"image": (18, *IMAGE)},
        {"train": {"a": (3, *IMAGE)}})),
    *((f"BraTS: {n} folders of pictures of a patient", cases(
        n, *MRI, masks=["seg.png"]), Remedy(
            f"case_000 {MRI_SAMPLES}", "", mri(min(n, 64))))
      for n in (4, 6, 20, 100)),
    *((f"BraTS: {n} folders whose files are called after them", cases(
        n, *BRATS, form="BraTS_{:03}", masks=["*_seg.png"]), Remedy(
            "BraTS_000 " + BRATS_SAMPLES.format("they are classes"), "",
            mri(n)))
      for n in (4, 20)),
    ("samples as folders in train and val", all_of(
        *(cases(n, *MRI, form=f"{split}/case_{{:03}}", masks=["seg.png"])
          for split, n in (("train", 6), ("val", 4)))), Remedy(
              f"in train: case_000 {MRI_SAMPLES}", "", mri(6)),
     ("val", {"flair": (64, *IMAGE), "seg": (64, 224, 224, 1)})),
    ("BraTS: samples in two groups", all_of(
        cases(5, *BRATS, form="HGG/B_1{}", masks=["*_seg.png"]),
        cases(4, *BRATS, form="LGG/B_2{}", masks=["*_seg.png"])), Remedy(
            "HGG/B_10 " + BRATS_SAMPLES.format("each file is a sample"), "",
            {**mri(9), "group": Counter([0] * 5 + [1] * 4)})),
    ("samples as folders, of which one lacks a file", without(
        "case_003/t1.png", cases(8, *MRI, masks=["seg.png"])), Remedy(
            f"case_000 {MRI_SAMPLES}", "", mri(7))),
    ("samples as folders in the only folder", cases(
        6, *MRI, form="data/case_{}", masks=["seg.png"]), Remedy(
            f"in data: case_0 {MRI_SAMPLES}", "data", mri(6))),
    ("samples as folders of a picture, a mask, a depth and a text", all_of(
        cases(5, "a photo.png", form="{}", masks=["mask.png"]),
        lambda root: [save(root / f"{i}/caption.txt", "a b") for i in range(5)]
        and None), Remedy(
            "0 " + SAMPLES.format("a photo.png, caption.txt, mask.png",
                                  "they are classes"), "",
            {"a_photo": (5, *IMAGE), "mask": (5, 224, 224, 1)})),
    ("samples of TIFF pictures", cases(5, "ab.tif", "seg.tif"),
     "TIFF pictures (ab.tif) are not decoded; convert them with "
     "ImageMagick:\n(cd /"),
    ("a zip of samples", zipped(cases(5, *MRI)),
     "for samples write a list with a column of paths for each file; unpack the "
     "archive first:\n(cd /"),
    ("folders of frames of videos", numbered(
        *(f"video_{i:03}" for i in range(4)), n=3, form="{:05}.jpg"), Note(
            "note: video_000 and the folders beside it are taken as classes; if "
            "they are none, add --class-depth 0\n",
            {"label": Counter(list(range(4)) * 3)})),
    ("classes of five numbered files each", numbered(*"abcdef", n=5),
     {"label": Counter(list(range(6)) * 5)}),
    ("classes of files numbered after a word", numbered(
        *"abcdef", n=5, form="img_{:04}_00.jpg"), Note(
            f"note: a, b, c, d, ... {MAY_BE_PAIRS}",
            {"label": Counter(list(range(6)) * 5)},
            {"train": {"a": (5, *IMAGE)}})),
    ("ImageNet: files called after their classes", all_of(
        *(cases(1, *(f"*_{i}.jpg" for i in range(3)), form=f"n0{k}")
          for k in range(6))), {"label": Counter(list(range(6)) * 3)}),
    ("classes of one file each", cases(6, "photo.jpg"),
     {"label": Counter(range(6))}),
    ("four folders called after roles", folders(
        "hr", "lr", "gt", "noisy", files=["boat.png", "cat.png", "tree.png"]),
     Remedy(f"gt, hr, lr and noisy {PAIRS}", "", {"gt": (3, *IMAGE)})),
    ("FER2013: a column Usage", csv("fer2013.csv", "emotion,Usage", *(
        f"{i % 3},{('Training', 'PublicTest', 'PrivateTest')[i % 4 % 3]}"
        for i in range(12))), Remedy(
            "fer2013.csv: the column usage has the splits PrivateTest, "
            "PublicTest, Training: write a list for each, as the next line "
            "does, then: forebay init /", "",
            {"emotion": (6,)})),
    ("a column dataset of train, dev and test", csv(
        "all.csv", "y,dataset", *(
            f"{i},{('train', 'dev', 'test', ' train')[i % 4]}"
            for i in range(12))), Remedy(
                "all.csv: the column dataset has the splits dev, test, train: "
                "write a list for each, as the next line does, then: ",
                "", {"y": (6,)})),
    ("a column of train and bus", csv("a.csv", "y,what", "1,train", "2,bus"),
     {"y": (2,)}),
    ("Sentiment140: no header", csv("train.csv", *(
        f'"{i % 2 * 4}","14678{i}","Mon Apr 06 22:19:45 PDT 2009","NO_QUERY",'
        f'"user{i}","@switchfoot that {i}"' for i in range(4))), Remedy(
            "train.csv: line 1 has values (0) where the names of the columns "
            "must be: write a list with one more line:\n(cd /", "",
            {"c1": (4,), "c2": (4,)})),
    ("class ids and words without a header", csv(
        "train.csv", "1,cat", "2,dog", "1,cat"), Remedy(
            "train.csv: line 1 has values (1) where the names of the columns "
            "must be: write a list with one more line:\n(cd /", "",
            {"c1": Counter([1, 1, 2])})),
    ("columns called after years", csv(
        "a.csv", "region,2019,2020", "1,2,3", "4,5,6"), {"region": Counter([1, 4])}),
    ("pandas: a series without a name", csv("a.csv", "0,y", "1,2", "4,5"),
     {"y": Counter([2, 5])}),
    *((f"a column of numbers with {value!r}", csv(
        "a.csv", "a,b", *(f"{i},{value if i == 4499 else i + 0.5}"
                          for i in range(5000))), Note(
            "note: column b is text because row 4500 has "
            f"'{value.strip(DOUBLE)}'; to have numbers: write one there, as "
            "1200.5 or 0.03, or remove the row, and run init again\n",
            {"a": (64,), "b": (64, 8)},
            {"train": {"a": (64,), "b": (64,)}}))
      for value in ("NaN", "NA", "?", "x1", '"1,200.50"', "3%")),
    ("a column of few numbers, one of which is missing", csv(
        "a.csv", "a,b", *(f"{i},{'NA' if i == 2 else i}" for i in range(8))),
     Note("note: column b is text because row 3 has 'NA'; to have numbers: "
          "write one there, as 1200.5 or 0.03, or remove the row, and run init "
          "again\n", {"b": (8, 2)},
          {"train": {"b": Counter({0, 1, 3, 4, 5, 6, 7})}})),
    ("a column of percents", csv("a.csv", "a,b", *(
        f"{i},{i}%" for i in range(40))), Note(
            "note: column b is text because row 1 has '0%' (and 39 more); to "
            "have numbers: ", {"b": (40, 4)},
            {"train": {"b": Counter(round(i / 100, 6) for i in range(40))}})),
    ("a column of numbers with an empty one", csv(
        "a.csv", "a,b", *(f"{i},{'' if i == 4499 else i + 0.5}"
                          for i in range(5000))), Note(
            'left out: column "b": it has no value in 1 row of 5000 (the first '
            "is row 4500): write one into each\n", {"a": (64,)},
            {"train": {"a": (64,), "b": (64,)}})),
    ("columns of numbers with gaps in two splits", all_of(
        csv("train.csv", "a,b,y", *(
            f"{'' if i == 1 else i},{'NA' if i == 2 else i / 2},{i % 2}"
            for i in range(8))),
        csv("val.csv", "a,b,y", "1,2,0", ",3,1")), Note(
            "note: to have only numbers in 'b', 'a', without the rows that lack "
            "one (or, with how = 'mean', with the mean there): (cd /", {"y": (8,)},
            {"train": {"a": Counter({0, 3, 4, 5, 6, 7}), "b": (6,)},
             "val": {"a": Counter([1] * 64)}})),
    ("JSON lines with null and without a number", lambda root: save(
        root / "a.jsonl", "".join(json.dumps(
            {"y": i, **({} if i == 1 else {"b": None if i == 2 else i})}) + "\n"
            for i in range(8))), Note(
                "note: to have only numbers in 'b', without the rows that lack ",
                {"y": (8,)}, {"train": {"b": Counter({0, 3, 4, 5, 6, 7})}})),
    ("a column that no field can be called after, in a long path", deep(csv(
        "a.csv", "my age,b", "1,2", "3,4")), Note(
            "note: to write other names of columns: (cd /", {"b": (2,)},
            {"train": {"my_age": Counter([1, 3])}})),
    ("two formats of one name, in a long path", deep(pictures_at(
        "a/1.jpg", "a/1.png", "b/2.jpg")), Note(
            "only in the extension: files of one name are one sample; to give ",
            {"image": (2, *IMAGE)}, {"train": {"image": (3, *IMAGE)}})),
    ("the splits of a list in a long path", deep(csv(
        "all.csv", "y,dataset", "1,train", "2,test")), Remedy(
            "write a list for each, as the next line does, then: run init on "
            "that folder\n(cd /", LONG, {"y": (1,)})),
    ("a list above pictures, in a long path", lambda root: deep(all_of(
        csv("train.csv", "image,y", "images/1.jpg,1"),
        pictures_at("images/1.jpg")))(root) / "images", Note(
            "to have these, too: forebay init /", {"image": (1, *IMAGE)})),
    ("codes of digits and of letters", csv("a.csv", "a,b", *(
        f"{i},{'A' if i % 2 else ''}{i}" for i in range(40))),
     {"b": (40, 4)}),
    ("times in seconds with a fraction", csv("a.csv", "a,t", *(
        f"{i},{1700000000.25 + i}" for i in range(4))), Note(
            "note: f32 rounds column t, as 1700000000.25 to 1700000000: write "
            "whole numbers, such as milliseconds, which are read as i64, or "
            "the differences to the smallest number\n", {"t": (4,)})),
    ("JSON lines with times", lambda root: save(root / "a.jsonl", "".join(
        json.dumps({"t": [1.5, 1700000000.5 + i]}) + "\n"
        for i in range(4))), Note(
            "note: f32 rounds column t, as 1700000000.50 to 1700000000: write ",
            {"t": (4, 2)})),
    ("large whole numbers with a point", csv("a.csv", "t", "1.0", "16777217.0"),
     Note("note: f32 rounds column t, as 16777217.00 to 16777216: ",
          {"t": (2,)})),
    ("numbers with zeros before them", csv(
        "a.csv", "zip,y", "01234,1", "1234,2"), Note(
            "note: column zip has numbers, and 01234 is read as 1234; for "
            "texts replace its field by {from: zip, decode: text, max_length: "
            "8, too_long: truncate}\n", {"zip": Counter({1234: 2})})),
    ("an array of times in seconds", lambda root: numpy.save(
        root / "t.npy", numpy.arange(4) + 1700000000.25), Note(
            "note: f32 rounds t.npy, as 1700000000.25 to 1700000000: save "
            "whole numbers, such as milliseconds, as int64, or the "
            "differences to the smallest number\n", {"t": (4,)})),
    ("numbers with small fractions", csv("a.csv", "t", "0.1", "-1e30", "4194304.5"),
     {"t": (3,)}),
    ("MovieLens: three lists", tables("links", "movies", "ratings"),
     "found the lists links, movies, ratings, and none is called train: rename "
     "the one for training, as in train.csv; to stream one by itself: forebay "
     "init /"),
    ("MovieLens: the list of ratings", lambda root: tables(
        "links", "movies", "ratings")(root) or root / "ratings.csv",
     {"a": (7,)}),
    ("a single list", tables("ratings"), {"a": (7,)}),
    ("train.csv beside other lists", tables("train", "aaa", "movies"), Note(
        "left out: split 'aaa' at ", {"a": (5,)})),
    ("val.csv beside another list", tables("ratings", "val"),
     {"a": (7,)}, ("val", {"a": (64,)})),
    ("classes of other numbers of files", pictures_at(
        "A/x7.jpg", "A/x9.jpg", "B/x7.jpg"),
     {"label": Counter([0, 0, 1])}),
    ("splits of images and masks with blanks in their names", all_of(
        folders("images", files=[f"x {i}.jpg" for i in range(4)]),
        lambda root: [save(root / f"masks/x {i}.png", mask(i))
                      for i in range(4)] and None,
        csv("train.txt", "x 0.jpg", "x 1.jpg", "x 2.jpg"),
        csv("val.txt", "x 3")), Remedy(
            "train.txt says which pictures in images are of which split: write "
            "a list of each, with the files of masks, and run init again:\n(cd ",
            "", {"images": (3, *IMAGE), "masks": (3, 224, 224, 1)}),
     ("val", {"images": (64, *IMAGE)})),
    *((f"masks of pictures with orientation {n}, {side} wide", turned_pictures(
        n, side), Note(
            f"note: images/0.jpg has the EXIF orientation {n} and is turned "
            "upright, but its mask masks/0.png is not: turn such masks, too, "
            "unless they are upright already\n", {"masks": (4, 224, 224, 1)}))
      for n, side in ((2, 48), (3, 48), (4, 48), (6, 40))),
    ("class folders beside a list of values", all_of(
        folders("cat", "dog"), csv("train.csv", "age,y", "1,0", "2,1")), Note(
            "left out: the list train.csv: the folders are read; to stream the "
            "list instead: forebay init /",
            {"image": (6, *IMAGE), "label": Counter([0, 0, 0, 1, 1, 1])})),
    ("class folders of splits beside a list of values", all_of(
        folders("train/cat", "train/dog", "val/cat", "val/dog"),
        csv("train.csv", "age,y", "1,0", "2,1")), Note(
            "left out: the list train.csv: the folders are read; to stream the "
            "list instead: forebay init /",
            {"image": (6, *IMAGE), "label": Counter([0, 0, 0, 1, 1, 1])})),
    ("class folders beside a list of their pictures", all_of(
        folders("cat", "dog"), csv(
            "train.csv", "image,age", "cat/0.jpg,4", "cat/1.jpg,5",
            "dog/1.jpg,6")), Note(
                "note: the list is read, and not the folders of its pictures "
                "(cat, dog); if these are classes, add a column with them",
                {"image": (3, *IMAGE), "age": Counter([4, 5, 6])})),
    *((f"class folders of sides: {names[0]}", pictures_at(*(
        f"{name}/{name}{i}.jpg" for name in names for i in range(2))), Note(
            "note: a horizontal flip would change left and right in the class "
            "folders, so the picture is not flipped\n",
            {"image": (2 * len(names), *IMAGE)}))
      for names in (("go", "turn_left", "turn_right"), ("Left", "Right"))),
    *((f"an object of texts by picture: {name}", all_of(
        pictures_at(*(f"images/{i}.jpg" for i in range(6))),
        lambda root, name=name, texts=texts: save(root / name, json.dumps(
            {f"{i}.jpg": texts[i % len(texts)] for i in range(6)}))), Remedy(
                f"{name} is not read as a list: write JSON lines", "", shapes))
      for name, texts, shapes in (
          ("captions.json", [f"{n} dogs run on the long beach at the sea in the "
                             "evening sun" for n in range(6)],
           {"image": (6, *IMAGE), "caption": (6, 64)}),
          ("train.json", list("abcdef"), {"caption": (6, 1)}),
          ("train.json", ("cat", "dog"), {"label": Counter([0, 1] * 3)}),
          ("labels.json", list("abcdef"), {"label": Counter(range(6))}))),
    *((f"Speech Commands: {', '.join(lists)}", all_of(
        files_named(*(f"{name}/{i:04}.wav" for name in ("no", "yes")
                      for i in range(4))),
        lambda root, lists=lists: [save(root / name, "yes/0001.wav\n")
                                   for name in lists] and None),
       "audio (yes/0001.wav) is not read yet; save its arrays as NumPy files "
       "first, in a folder for each split: numpy.save('train/x.npy', x), "
       "numpy.save('train/label.npy', label); or each sample's array as "
       "0001.npy in tar shards; " + told)
      for lists, told in (
          (("testing_list.txt", "validation_list.txt"), "testing_list.txt, "
           "validation_list.txt say which files are of which split\n"),
          (("testing_list.txt",), "testing_list.txt says which files are of "
           "which split\n"))),
    ("configurations of Parquet", files_named("README.md", *(
        f"{name}/{split}-00000-of-00001.parquet" for name in ("de", "en")
        for split in ("test", "train"))),
     "the folders de, en are 2 configurations, each a data set of its own; for "
     "de: Parquet (test-00000-of-00001.parquet) is not read yet; to write tar "
     "files, or lists if there are no pictures (with pyarrow) into a new folder:"
     "\n(cd /"),
    *((f"20 Newsgroups: texts without an extension{where}", newsgroups(
        *splits, operand=operand), Remedy(
            "texts in class folders are not read: write lists of those in the "
            "folders that all splits have (none called unsup or unlabeled), "
            "then: forebay init /", f"{operand}texts",
            {"text": (4, 64), "label": Counter([0, 0, 1, 1])}), *others)
      for where, splits, operand, others in (
          ("", [""], "", []), (" in splits", ["train/", "test/"], "",
                               [("test", {"label": [0, 0, 1, 1]})]),
          (" of a split", ["20news-bydate-train/", "20news-bydate-test/"],
           "20news-bydate-train/", []))),
    *((f"class folders of texts in an archive: {name}", zipped(files), Remedy(
        f"{what} in class folders are not read; unpack the archive first:\n(cd /",
        "data", Remedy(f"{what} in class folders are not read: ", told, shapes)))
      for name, files, what, told, shapes in (
          ("no extension", newsgroups("", operand=""), "texts", "texts",
           {"label": Counter([0, 0, 1, 1])}),
          ("splits", newsgroups("train/", "test/", operand=""), "texts", "texts",
           {"label": Counter([0, 0, 1, 1])}))),
    ("class folders of other files without an extension", files_named(
        "a/1", "b/1", "c/x.bin"),
     "the class folder a has no files with an extension, such as 7.jpg: add"),
    *((f"class folders in two Unicode normal forms: {where}", pictures_at(
        *names), Remedy(
            "the class folders " + told + " have one name in two Unicode normal "
            "forms, as after a copy from macOS: if they are two classes, add "
            "--class-depth 1, else give all names the form NFC:\n(cd /", "",
            {"label": labels}), *others)
      for where, names, told, labels, others in (
          ("one split", ("caf\xe9/0.jpg", "cafe\u0301/0.jpg", "cafe/7.jpg",
                         "tea/0.jpg"),
           r"caf\xc3\xa9 and cafe\xcc\x81" + " (caf\xe9)",
           Counter([0, 1, 1, 2]), []),
          ("kana", ("\u30d1/0.jpg", "\u30cf\u309a/0.jpg", "a/0.jpg"),
           r"\xe3\x83\x91 and \xe3\x83\x8f\xe3\x82\x9a" + " (\u30d1)",
           Counter([0, 1, 1]), []),
          ("val", ("train/\ud55c\u30ac/0.jpg", "train/a/0.jpg",
                   "val/\u1112\u1161\u11ab\u30ab\u3099/0.jpg"),
           r"\xed\x95\x9c\xe3\x82\xac and \xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"
           r"\xe3\x82\xab\xe3\x82\x99 (" + "\ud55c\u30ac)",
           Counter([0, 1]), [("val", {"label": [1]})]))),
    ("class folders with and without an accent", pictures_at(
        "cafe\u0301/x.jpg", "cafe/y.jpg", "caff/z.jpg"),
     {"label": Counter([0, 1, 2])}),
    *((f"pairs with other ends, and one missing: {a} and {b}", ended_pairs(a, b),
       told) for a, b, told in (
           ("A/a_1{}_img.png", "seg/a_1{}_seg.png", "A and seg have file names "
            "that differ only at their ends, so they look like pairs, not "
            "classes (A/a_12_img.png has no partner): give the files of a pair "
            "one name, as images/7.jpg and masks/7.png, and name the folders "
            "images and masks; if they are classes, add --class-depth 1\n"),
           ("train/images/a_{}_img.png", "train/masks/a_{}_seg.png", "in train: "
            "no file in images has the name of one in masks, up to its first dot "
            "(train/images/a_2_img.png has no partner at all): give the files of "
            "a pair one name, as images/7.jpg and masks/7.png\n"))),
    ("classes of numbered files, of which one has more", all_of(
        numbered("seg", n=6, form="seg_{}.jpg"),
        numbered("other", n=12, form="other_{}.jpg")),
     {"label": Counter([0] * 12 + [1] * 6)}),
    ("a missing mask beside the pictures", ended_pairs(
        "{}.png", "{}.mask.png"), Note(
            "left out: mask.png: of only 7 samples, and none of 2; write such a "
            "file for each sample, or merge it into another mask\n",
            {"image": (8, *IMAGE)})),
    ("TIFF pictures, of which one was converted", pictures_at(
        "a/1.png", "a/1.tif", "a/2.tif", "b/1.png", "b/3.tif"), Note(
            "left out: the .tif files beside the pictures are not read, nor "
            "converted where a .png of their name is\nleft out: 2 .tif files (no "
            "pictures that can be decoded)\nto convert them with ImageMagick: "
            "find /", {"label": Counter([0, 1])},
            {"train": {"label": Counter([0, 0, 1, 1])}})),
    ("MovieLens 100k", all_of(
        csv("u.data", "196\t242\t3\t881250949", "186\t302\t3\t891717742"),
        csv("u.item", "1|Toy Story (1995)|01-Jan-1995", "2|GoldenEye|"),
        csv("u.user", "1|24|M|technician", "2|53|F|other")), Remedy(
            "u.data has rows of 4 columns, separated by tabs, and no header: "
            "write a list (not of u.item, u.user):\n(cd /", "u.csv",
            {"c3": [3, 3]})),
    ("FGVC-Aircraft: three texts of labels for each split", all_of(
        pictures_at(*(f"images/{i}.jpg" for i in range(4))), *(
            csv(f"images_{kind}{split}.txt", *(
                f"{i}{' ' * bool(kind)}{kind}{i % 2}"[:None if kind else 1]
                for i in ids)) for kind in ("family_", "", "variant_")
            for split, ids in (("test", (2, 3)), ("train", (0, 1))))), Remedy(
                "images_family_test.txt says which pictures in images are of "
                "which split (others: images_test.txt, images_variant_test.txt; "
                "to take one, change the names in the command): write a list of "
                "each, and run init again:\n(cd /", "",
                {"label": Counter([0, 1])}), ("test", {"label": [0, 1]})),
    *((f"Flickr8k: captions and splits in '{to}'", flickr(
        ("train", 0, 3), ("dev", 3, 5), ("test", 5, 6), to=to), Remedy(
            f"{to}Flickr8k.token.txt has captions of the pictures in "
            f"Flicker8k_Dataset, and {to}Flickr_8k.devImages.txt says which of "
            "these are of which split: write a list of each with them, and run "
            "init again:\n(cd /", "", {"image": (3, *IMAGE), "captions": (3, 16)}),
       ("val", {"captions": (64, 16)}), ("test", {"captions": (64, 16)}))
      for to in ("", "Flickr8k_text/")),
    *((f"masks, and only {name} of the splits", all_of(
        paired("images/000{}.png", "labels/000{}.png"),
        csv(name, *lines)), Remedy(
            f"{name} says which pictures in images are of which split: write a "
            "list of each, with the files of labels, and run init again:\n(cd /",
            "", {"images": (2, *IMAGE)}),
       (name.removesuffix(".txt"), {"images": (64, *IMAGE)}))
      for name, lines in (("val.txt", ("0000.png", "0003.png")),
                          ("valid.txt", ("0000", "0003")))),
    ("pictures, and only val.txt of the splits", all_of(
        pictures_at(*(f"images/{i}.jpg" for i in range(4))),
        csv("val.txt", "0.jpg", "3.jpg")), Remedy(
            "val.txt says which pictures in images are of which split: write a "
            "list of each, and run init again:\n(cd /", "",
            {"image": (2, *IMAGE)}), ("val", {"image": (64, *IMAGE)})),
    ("CreateML's boxes", all_of(
        pictures_at(*(f"{i}.jpg" for i in range(4))),
        csv("_annotations.createml.json", "[]")), Note(
            "note: _annotations.createml.json is not read; if it has labels or "
            "texts of the pictures, write them into a .csv with a column of paths"
            "\n", {"image": (4, *IMAGE)})),
    ("pairs of folders, and a list of their names", all_of(
        paired("images/{}.png", "masks/{}.png"),
        csv("meta.csv", "file,age", *(f"{i}.png,{i}" for i in range(4)))), Note(
            "note: meta.csv: the column file names pictures that are in folders "
            "(images/0.png), and these folders are read; to read "
            "the list instead, write a list of paths: (cd /",
            {"images": (4, *IMAGE)}, {"train": {"age": Counter(range(4))}})),
    ("captions and the names of train in one folder", files_of_captions, Remedy(
        "x.token.txt has captions of the pictures in Images, and trainImages.txt "
        "says which of these are of which split: write a list of each with them, "
        "and run init again:\n(cd /", "", {"image": (4, *IMAGE),
                                           "captions": (4, 16)})),
    ("Flickr30k: captions", flickr(token="results_20130124.token"), Remedy(
        "results_20130124.token has captions of the pictures in "
        "Flicker8k_Dataset: write a list with them, and run init again:\n(cd /",
        "", {"image": (6, *IMAGE), "captions": (6, 16)})),
    ("the pictures of Flickr30k alone", lambda root: flickr(
        token="results_20130124.token")(root) or root / "Flicker8k_Dataset", Note(
            "note: results_20130124.token in the folder above has captions of the "
            "pictures; to read them: forebay init /", {"image": (6, *IMAGE)})),
]


class Doubts(test_corpus.Corpus):
    rows = ROWS


if __name__ == "__main__":
    harness.main()
