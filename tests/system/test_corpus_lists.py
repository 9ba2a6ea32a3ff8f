# SPDX-License-Identifier: Apache-2.0
"""Lists (.csv, .tsv, .jsonl) as people have them: `forebay init` and then
`forebay pull` is all that is typed. The rows are as in test_corpus.py."""

import gzip
import io
import json
import subprocess
import zipfile

from collections import Counter

import harness
import numpy
import test_corpus

from PIL import Image
from test_corpus import (IMAGE, Note, Remedy, all_of, encoded, files_named,
                         other_list, picture, pictures_at, save)


def listed(*columns, to="train.csv", rows=range(4)):
    """A list of pictures with these further columns, each with the values of
    four rows, and the numbers of the rows' pictures."""
    def make(root):
        for i in range(4):
            save(root / f"images/{i}.jpg", picture(i))
        values = zip(*(column[1] for column in columns))
        save(root / to, ",".join(["image", *(c[0] for c in columns)]) + "\n" +
             "".join(f"images/{i}.jpg,{','.join(map(str, row))}\n"
                     for i, row in zip(rows, values)))
    return make


def lists_of(name, values):
    """A list of pictures with these numbers, as a list, in each row."""
    def make(root):
        pictures_at(*(f"images/{i}.jpg" for i in range(4)))(root)
        save(root / "train.jsonl", "".join(json.dumps(
            {"image": f"images/{i}.jpg", name: values}) + "\n" for i in range(4)))
    return make


def texts_and_labels_in_files(root):
    listed(("caption", [f"c/{i}.txt" for i in range(4)]),
           ("label", [f"c/{i}.cls" for i in range(4)]))(root)
    for i in range(4):
        save(root / f"c/{i}.txt", f"picture {i}")
        save(root / f"c/{i}.cls", f"{i}")


def texts(files, only=None):
    """Files of these texts in Latin-1, by name."""
    def make(root):
        for name, text in files.items():
            save(root / name, text.encode("latin-1"))
        return only and root / only
    return make


def test_in_json_lines(root):
    for i in range(4):
        save(root / f"images/{i}.jpg", picture(i))
    save(root / "test.jsonl", "".join(
        json.dumps({"image": f"images/{i}.jpg", "y": i}) + "\n"
        for i in range(4)))


def lines(row, to="train.jsonl", ending="\n", n=4, **kinds):
    """JSON lines of row(i), beside four pictures."""
    def make(root):
        for i in range(4):
            save(root / f"images/{i}.jpg", picture(i))
        save(root / to, ending.join(
            json.dumps(row(i), **kinds) for i in range(n)) + "\n")
    return make


def line(number, **others):
    return {"Image": f"images/{number}.jpg", "y": number % 3, **others}


FOUR = {"image": (4, *IMAGE), "y": Counter([0, 0, 1, 2])}
THREE = {"image": (3, *IMAGE), "y": Counter([0, 1, 2])}


def two_folders_of_one_name(root):
    """Files of train and test have the same names."""
    for i in range(4):
        save(root / f"train_images/{i}.jpg", picture(i))
        save(root / f"test_images/{i}.jpg", picture(i))
    for name in ("train", "sample_submission"):
        save(root / f"{name}.csv", "image_id,label\n" + "".join(
            f"{i}.jpg,{i % 2}\n" for i in range(4)))


def picture_list(header, *rows):
    return f"{header}\n" + "".join(f"{row}\n" for row in rows)


def two_folders_of_pictures(root):
    """HAM10000: names without an ending, in either folder."""
    for i in range(6):
        save(root / f"images_part_{1 + i // 3}/ISIC_{i:07}.jpg", picture(i))
    save(root / "HAM_metadata.csv", picture_list(
        "image_id,age", *(f"ISIC_{i:07},{i}" for i in range(6))))


def names_in_two_lists(root):
    for split, n in (("train", 4), ("valid", 2)):
        for i in range(n):
            save(root / f"images/{split}_{i}.jpg", picture(i))
        save(root / f"{split}.csv", picture_list(
            "file,y", *(f"{split}_{i}.jpg,{i}" for i in range(n))))


def blanks_in_names_of_columns(root):
    """ChestX-ray14: the pictures are two folders down."""
    for i in range(4):
        save(root / f"images_{1 + i // 2:03}/images/{i:08}_000.png", picture(i))
    save(root / "Data_Entry.csv", picture_list(
        "Image Index,Follow-up #", *(f"{i:08}_000.png,{i}" for i in range(4))))


def splits_two_folders_down(root):
    """SIIM-ISIC, with the same names in train and test."""
    for split, label in (("train", ",target"), ("test", "")):
        for i in range(4):
            save(root / f"jpeg/{split}/ISIC_{i}.jpg",
                 picture(i + 100 * len(label)))
        save(root / f"{split}.csv", picture_list(f"image_name{label}", *(
            f"ISIC_{i}{label and ',' + str(i)}" for i in range(4))))


def folders_of_patients(root):
    """CheXpert: paths begin with the name of the archive."""
    for split, n in (("train", 4), ("valid", 2)):
        paths = [f"{split}/patient{i:05}/study1/view1.jpg" for i in range(n)]
        for i, path in enumerate(paths):
            save(root / path, picture(i))
        save(root / f"{split}.csv", picture_list(
            "Path,Edema", *(f"CheXpert-v1.0-small/{path},{i}"
                            for i, path in enumerate(paths))))


def lists_of_flat_folders(root):
    for split, n in (("train", 4), ("val", 2)):
        for i in range(n):
            save(root / f"{split}/{i}.jpg", picture(i))
        save(root / f"{split}.csv", picture_list(
            "file,y", *(f"{split}/{i}.jpg,{i}" for i in range(n))))


def list_of_class_folders(root):
    for i in range(4):
        save(root / f"train/{'ab'[i % 2]}/{i}.jpg", picture(i))
    save(root / "train.csv", picture_list(
        "file,y", *(f"train/{'ab'[i % 2]}/{i}.jpg,{i}" for i in range(4))))


def other_endings(root):
    for i in range(4):
        save(root / f"images/img_{i}.{'jpg' if i % 2 else 'JPG'}", picture(i))
    save(root / "train.csv", picture_list(
        "id,y", *(f"img_{i},{i}" for i in range(4))))


def names_beside_pictures(root):
    for i in range(4):
        save(root / f"{i}.jpg", picture(i))
    save(root / "train.csv", picture_list(
        "id,y", *(f"{i},{i}" for i in range(4))))


def imagenet_of_kaggle(root):
    deep = root / "ILSVRC/Data/CLS-LOC"
    for i in range(2):
        save(deep / f"train/n0{i}/n0{i}_1.JPEG", encoded(picture(i)))
        save(deep / f"val/val_{i}.JPEG", encoded(picture(i)))
    save(root / "LOC_val_solution.csv", picture_list(
        "ImageId,PredictionString", "val_0,n00 1 2 3 4"))


def dots_in_names(root):
    """Dogs vs. Cats, with a mask each."""
    for split, n in (("train", 4), ("val", 2)):
        for i in range(n):
            save(root / f"{split}/cat.{i}.jpg", picture(i))
            save(root / f"{split}/cat.{i}.mask.png", grey(i))
        save(root / f"{split}.csv", picture_list(
            "file,mask,y", *(f"{split}/cat.{i}.jpg,{split}/cat.{i}.mask.png,{i}"
                             for i in range(n))))


def dots_in_json_lines(root):
    for i in range(4):
        save(root / f"images/a.{i}.jpg", picture(i))
    save(root / "train.jsonl", "".join(
        json.dumps({"image": f"images/a.{i}.jpg", "y": i}) + "\n"
        for i in range(4)))


def pictures_and_masks_of_one_name(root):
    for i in range(4):
        save(root / f"all/images/{i}.png", picture(i))
        save(root / f"all/masks/{i}.png", grey(i))
    save(root / "train.csv", picture_list(
        "image,mask", *(f"{i}.png,{i}.png" for i in range(4))))


def one_name_in_two_folders(root):
    """GTSRB: the list has no names of folders."""
    for c in "ab":
        for i in range(2):
            save(root / f"all/{c}/{i}.jpg", picture(i))
    save(root / "paths-train.csv", picture_list("file", "0.jpg", "1.jpg"))


def all_differ(images):
    return len({float(image.mean()) for image in images}) == len(images)


def all_dark(images):
    return images.max() < 0


def with_list(name, header, *rows, pictures=(), bright=()):
    """Pictures of different levels, others that are white, and a list."""
    def make(root):
        pictures_at(*pictures)(root)
        for path in bright:
            save(root / path, picture(255))
        save(root / name, picture_list(header, *rows))
    return make


SLICES = tuple((f"p{j}", k) for j in (1, 2, 3) for k in range(3))
PETS = with_list("train.csv", "file,label", *(
    f"{k}.jpg,{pet}" for pet in ("cat", "dog") for k in (0, 1)), pictures=[
        f"images/{pet}/{k}.jpg" for pet in ("cat", "dog") for k in (0, 1)])


def numbered_pictures(form, first):
    """A folder of pictures called by numbers, and a list with these numbers and
    another column of such numbers."""
    def make(root):
        rows = range(first, first + 4)
        for i in (*rows, first + 4):
            save(root / f"train/{i}.jpg", picture(i))
        save(root / "trainLabels.csv", "id,age,label\n" + "".join(
            f"{form.format(i)},{i + 1},{('a', 'b')[(i - first) % 2]}\n"
            for i in rows))
    return make


def kaggle_archives(train=None):
    """Archives of train and test, a form for results, and perhaps a list."""
    def make(root):
        for split in ("train", "test"):
            with zipfile.ZipFile(root / f"{split}.zip", "w") as archive:
                for i in range(3):
                    archive.writestr(f"{i}.jpg", encoded(picture(i)))
        save(root / "sample_submission.csv", "id,label\n0,0\n")
        if train is not None:
            save(root / "train.csv", train)
    return make


def written(contents):
    """Files of these contents, by their names."""
    def make(root):
        for name, content in contents.items():
            save(root / name, content)
    return make


BOX_ROWS = Counter([.375, .5, .25, .5] * 6 + [1] * 3 + [0] * 13)


def box_rows(*columns, sides=("12", "10", "24", "30")):
    """Lists with a box in each row, of which two pictures have two, and these
    columns."""
    def make(root):
        for i in range(4):
            save(root / f"images/{i}.jpg", picture(i))
        for split in ("train", "val"):
            rows = [{"filename": f"images/{i % 4}.jpg", "width": "48",
                     "height": "40", "class_id": str(i % 2)} for i in range(6)]
            save(root / f"{split}.csv", "".join(
                ",".join(row) + "\n" for row in (
                    (*columns, "xmin", "ymin", "xmax", "ymax"),
                    *((*(row.get(c, "ab"[int(row["class_id"])])
                         for c in columns), *sides) for row in rows))))
    return make


def boxes_of_turned(orientation):
    """A list of pictures that the camera turned, with a box in each row: the boxes
    are those of the upright pictures."""
    def make(root):
        exif = Image.Exif()
        exif[274] = orientation
        for i in range(2):
            image = picture(i)
            image = image.transpose(Image.ROTATE_90) if orientation > 4 else image
            out = io.BytesIO()
            image.save(out, "JPEG", exif=exif)
            save(root / f"images/{i}.jpg", out.getvalue())
        save(root / "train.csv", picture_list(
            "image,class,xmin,ymin,xmax,ymax",
            *(f"images/{i}.jpg,{'a'},12,10,24,30" for i in range(2))))
    return make


def parts(form, text):
    """Two parts of the lists of train and val, of a row each."""
    return written({
        form.format(i).replace("train", split): text.format(4 * k + i)
        for k, split in enumerate(("train", "val")) for i in range(2)})


def other_machine(path, *files):
    """Lists of two pictures each, whose paths are made from the numbers."""
    def make(root):
        for k, file in enumerate(files):
            for i in range(2):
                save(root / file.format(i), picture(250 * k))
            save(root / f"{('train', 'val')[k]}.csv", picture_list(
                "image,y", *(f"{path.format(i)},{i + 2 * k}"
                             for i in range(2))))
    return make


def hugging_face_boxes(has_sizes, classes):
    def make(root):
        sizes = {"width": 48, "height": 40} if has_sizes else {}
        for split in ("train", "val"):
            for i in range(4):
                save(root / f"{split}/{i}.jpg", picture(i))
            save(root / f"{split}/metadata.jsonl", "".join(
                json.dumps({"file_name": f"{i}.jpg", **sizes, "objects": {
                    "bbox": [[12, 10, 24, 20]],
                    "categories": [classes[i % 2]]}}) + "\n"
                for i in range(4)))
    return make


def all_columns(*names):
    """A list with a column of pictures for each name."""
    def make(root):
        for name in names:
            for i in range(4):
                save(root / f"{name}/{i}.jpg", picture(i))
        save(root / "train.csv", picture_list(",".join(names), *(
            ",".join(f"{name}/{i}.jpg" for name in names) for i in range(4))))
    return make


def in_two_formats(ending, text):
    """Lists in a format that is not read, of train and val."""
    def make(root):
        for split, n in (("train", 4), ("val", 2)):
            for i in range(n):
                save(root / f"img/{split}{i}.jpg", picture(i))
            save(root / f"{split}{ending}", text([
                (f"img/{split}{i}.jpg", i) for i in range(n)]))
    return make


def chats(speaker, key, **others):
    """Chats of train and val, and other columns."""
    def make(root):
        for split, n in (("train", 4), ("val", 2)):
            save(root / f"{split}.jsonl", "".join(json.dumps({
                "messages": [{speaker: "user", key: f"hi {i}"},
                             {speaker: "bot", key: "a\n'b'"}], **others}) +
                "\n" for i in range(n)))
    return make


def prose(root):
    for split in ("train", "val"):
        save(root / f"{split}.txt", "hello world\n" * 9)


def wide_with_labels(root):
    save(root / "train.csv", picture_list(
        ",".join(["label", *(f"pixel{i}" for i in range(300))]),
        *(f"{i}" + ",7" * 300 for i in range(4))))


SECOND = ("so it has no class ids; if it is a second picture, remove the # of "
          "its field in the file; ")


def grey(level, dtype="u1"):
    return Image.fromarray(numpy.full((40, 48), level, dtype))


def masked(*masks, to="train.csv"):
    """A list of pictures with these files as masks."""
    def make(root):
        listed(("mask", [f"m/{i}.png" for i in range(4)]), to=to)(root)
        for i, content in enumerate(masks):
            save(root / f"m/{i}.png", content)
    return make


GREY_MASKS = [grey(i) for i in range(4)]
COLOURED = [*GREY_MASKS[:2], picture(2), picture(3)]


def coloured_masks_in_val(root):
    """The first of val has colours."""
    masked(*GREY_MASKS)(root)
    save(root / "v/0.png", picture(0))
    save(root / "val.csv", "image,mask\nimages/0.jpg,v/0.png\n")


def late_colours_in_val(root):
    masked(*GREY_MASKS)(root)
    save(root / "v/0.png", picture(0))
    save(root / "val.csv",
         "image,mask\nimages/0.jpg,m/0.png\nimages/1.jpg,v/0.png\n")


def grey_and_coloured(root):
    for i, name in enumerate("ab"):
        save(root / f"train/{name}/1.png", grey(i))
        save(root / f"val/{name}/1.png", picture(i))


def folders_of_masks(root):
    for i, content in enumerate(COLOURED):
        save(root / f"images/{i}.jpg", picture(i))
        save(root / f"masks/{i}.png", content)


def tar_of_masks(root):
    test_corpus.tar(root / "t.tar", {
        f"{i:04}.{name}": data for i, content in enumerate(COLOURED)
        for name, data in (("jpg", test_corpus.jpg(i)), ("mask.png", encoded(
            content, "PNG")))})


def columns_of_files(root):
    for i, content in enumerate(GREY_MASKS):
        save(root / f"images/{i}.jpg", picture(i))
        save(root / f"m/{i}.png", content)
    save(root / "train.csv", "null,off\n" + "".join(
        f"images/{i}.jpg,m/{i}.png\n" for i in range(4)))


MANY_SPLITS = ("train", "training", "val", "valid", "validation", "test",
               "testing", "dev", "PublicTest", "PrivateTest", "evaluation",
               "TRAIN", "Train", "VAL")
DEEP = ("d/train_img/0.jpg", "d/val2017/1.jpg", "d/train_img/2.jpg")


def folders_in_a_list(root):
    files = [f"{split}/{i}.png" for split, n in (("train", 3), ("test", 2))
             for i in range(n)]
    for i, file in enumerate(files):
        save(root / file, picture(i))
    save(root / "metadata.csv", picture_list(
        "file_name,y", *(f"{file},{i}" for i, file in enumerate(files))))


def classes_in_images(root, names="ab", n=3):
    """Returns the paths of pictures in class folders of images/."""
    files = [f"{name}/{i}.jpg" for name in names for i in range(n)]
    for i, file in enumerate(files):
        save(root / "images" / file, picture(i))
    return files


def food101(root):
    files = [file[:-4] for file in classes_in_images(root)]
    for split, its in (("train", "01"), ("test", "2")):
        save(root / f"meta/{split}.txt", "".join(
            f"{file}\n" for file in files if file[-1] in its))
    save(root / "meta/classes.txt", "a\nb\n")


def deep_fashion(root, pictures="", texts="", labels=None):
    """Splits and labels as words, after a count and a header."""
    files = [f"img/a_{name}/img_0000000{i}.jpg" for name in "xy"
             for i in range(1, 5)]
    for i, file in enumerate(files):
        save(root / pictures / file, picture(i))
    for name, column, values in (
            ("eval_partition", "evaluation_status", ("train", "test", "val")),
            ("category_img", "category_label", range(3))):
        if name == "eval_partition" or labels is not None:
            folder = texts if name == "eval_partition" else labels
            save(root / folder / f"list_{name}.txt",
                 f"{len(files)}\nimage_name  {column}\n" + "".join(
                     f"{file:40}  {values[i % 3]}\n"
                     for i, file in enumerate(files)))


def celeba_splits(texts, only=""):
    """As CelebA's site has it, with the text of the splits in this folder."""
    def make(root):
        for i in range(6):
            save(root / f"Img/img_align_celeba/00{i}.jpg", picture(i))
        save(root / texts / "list_eval_partition.txt", "".join(
            f"00{i}.jpg {i // 2}\n" for i in range(6)))
        save(root / "Anno/list_attr_celeba.txt", "6\nBald Young\n" + "".join(
            f"00{i}.jpg -1  {i}\n" for i in range(6)))
        save(root / "Anno/identity_CelebA.txt", "".join(
            f"00{i}.jpg {i + 100}\n" for i in range(6)))
        save(root / "Anno/list_names.txt", "".join(
            f"00{i}.jpg Ann\n" for i in range(6)))
        return root / only
    return make


def celeba_attributes(root):
    for i in range(4):
        save(root / f"img_align_celeba/00{i}.jpg", picture(i))
    save(root / "list_attr_celeba.txt", "4\nBald Young \n" + "".join(
        f"img_align_celeba/00{i}.jpg -1  {i}\n" for i in range(4)))
    return root / "list_attr_celeba.txt"


def cub(root):
    files = classes_in_images(root, ("001.Laysan_Bird", "002.Bird"))
    for i, file in enumerate(files):
        name = file.replace(".jpg", "_1.jpg")
        (root / "images" / file).rename(root / "images" / name)
        for text, value in (("images", name), ("train_test_split", i % 2)):
            with open(root / f"{text}.txt", "a", encoding="utf-8") as out:
                out.write(f"{i + 1} {value}\n")
    save(root / "parts/parts.txt", "1 back\n")


def indoor67(root):
    files = classes_in_images(root)
    for split, i in (("Train", 0), ("Test", 1)):
        save(root / f"{split}Images.txt", "\n".join(files[i::2]))


def class_folders(contents, images=""):
    """Class folders of three pictures each, beside files of this content."""
    def make(root):
        for i, name in enumerate("aaabbb"):
            save(root / f"{images}{name}/{i % 3}.jpg", picture(i))
        for name, content in contents.items():
            save(root / name, content)
    return make


def split_texts(contents, images=""):
    """The same beside texts, and init's answer with these labels of train."""
    return (class_folders(contents, images), Remedy(
        f"{min(contents)} says which pictures in "
        f"{images.strip('/') or 'the class folders'} are of which split: write "
        "a list of each, and run init again:\n(cd /", "",
        {"image": (3, *IMAGE), "label": Counter([0, 0, 1])}))


def aircraft(root):
    """Names without ending, and labels of several words."""
    files = classes_in_images(root, ".", 4)
    for split, i in (("train", 0), ("val", 1)):
        for kind, label in (("family", " Boeing 7{}7"), ("variant", "")):
            save(root / f"images_{kind}_{split}.txt", "".join(
                f"{file[2:-4]}{label.format(k)}\n"
                for k, file in enumerate(files[i::2])))


def squad(root):
    def question(i):
        return {"id": f"{i}", "question": f"what {i}?", "answers": [
            {"answer_start": i, "text": "a"}, {"answer_start": 9, "text": "b"}]
            if i != 1 else []}
    for split, n in (("train", 3), ("dev", 2)):
        save(root / f"{split}-v2.0.json", json.dumps({
            "version": "v2.0", "data": [{"title": "t", "paragraphs": [
                {"context": "It's \"so\"", "qas": [question(i)]}
                for i in range(n)]}]}))


def alpaca(ending, text):
    """Texts of which some are empty."""
    def make(root):
        for split, n in (("train", 4), ("val", 2)):
            save(root / f"{split}{ending}", text([
                {"Instruction": f"do {i}", "Input": "5n" * (i % 2), "y": i}
                for i in range(n)]))
    return make


def json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def csv_of(rows):
    return picture_list(",".join(rows[0]), *(
        ",".join(map(str, row.values())) for row in rows))


EMPTY_TEXTS = Note(
    "note: to have a blank as the text where 'input' has none: (cd /",
    {"instruction": (4, 4)}, {
        "train": {"input": Counter(b"5n 5n " + bytes(2))},
        "val": {"input": (64, 2)}})


def celeba(root):
    """The paths are those that the command for names without their folder
    writes."""
    for i in range(6):
        save(root / f"celeba/{i}.jpg", picture(i))
    for name, column, n in (("eval_partition", "partition", 3),
                            ("attr_celeba", "Bald", 6)):
        save(root / f"list_{name}.csv", picture_list(
            f"image_id,{column}", *(f"celeba/{i}.jpg,{i % n}"
                                    for i in range(6))))


KARPATHY = ("train2014", "val2014", "val2014", "val2014", "train2014")

def tab_lines(*cells):
    """A list in lines of eight pictures, with these cells."""
    def make(root):
        for i in range(8):
            save(root / f"images/{i}.png", picture(i))
        save(root / "train.txt", "".join(
            "\t".join(["images/{}.png", *cells]).format(*[i] * 9) + "\n"
            for i in range(8)))
    return make


ROWS = [
    ("triplets of pictures", all_columns("anchor", "positive", "negative"),
     Note("left out: positive.jpg: a second picture; if it is needed, remove the "
          "# of its field in the file (of a mask, this compression changes "
          "class ids)\n", {"anchor": (4, *IMAGE)})),
    *((f"boxes in objects of metadata.jsonl, {sizes}, {classes}",
       hugging_face_boxes(sizes, classes), Note(
           'note: to read the boxes of "objects" (x, y, width and height in '
           "pixels): (cd /", {"file_name": (4, *IMAGE)},
           {"train": {"boxes": Counter([0, 1] * 2 + [.5] * 16)},
            "val": {"boxes": [[0, .5, .5, .5, .5]]}}))
      for sizes, classes in ((True, [0, 1]), (False, ["cat", "dog"]))),
    *((f"{path} for {files}", other_machine(path, *files), Remedy(
        f"the column image has paths that lead to no file, such as "
        f"{path.format(0)} ({files[0].format(0)}): write a list of paths:", "",
        {"image": lambda array: array.max() < 0, "y": Counter([0, 1])}),
       *([("val", {"image": lambda array: array[0].min() > 0, "y": [2, 3]})]
         if len(files) > 1 else []))
      for path, files in (
          ("/mnt/x/p{}.jpg", ["images/p{}.jpg"]),
          ("/data/upload/{0}/p-{0}.jpg", ["images/p-{}.jpg"]),
          ("imgs/{}.JPG", ["imgs/{}.jpg"]),
          (".\\imgs\\{}.png", ["./imgs/{}.png"]),
          ("D:\\x\\{}.png", ["train/{}.png", "val/{}.png"]))),
    ("columns with names of members of tars", listed(
        ("cls", (0, 1, 2, 3)), ("label", "abab"), ("txt", ("a cat", "b c",
                                                           "d e", "f g")),
        ("json", (5, 6, 7, 8))),
     {"image": (4, *IMAGE), "cls": Counter([0, 1, 2, 3]),
      "label": Counter([0, 0, 1, 1]), "txt": (4, 8),
      "json": Counter([5, 6, 7, 8])}),
    ("columns called null and true", listed(
        ("Null", (0, 1, 2, 3)), ("true", (5, 6, 7, 8)),
        ("no", ("a b", "c", "d", "e")), ("on", "aabb")),
     {"null": Counter(range(4)), "true": Counter(range(5, 9)), "no": (4, 4),
      "on": Counter([0, 0, 1, 1])}),
    ("keys called null", lines(lambda i: {
        "null": f"images/{i}.jpg", "~": {"null": i}}),
     {"null": (4, *IMAGE)}),
    ("columns of files called null and off", columns_of_files,
     {"null": (4, *IMAGE), "off": (4, 224, 224, 1)}),
    ("a column cls of words", listed(("cls", "abcd")),
     {"cls": Counter([0, 1, 2, 3])}),
    ("a column with a dot in its name", listed(("image.cls", "0101")), Note(
        'left out: column "image.cls": no field can have this name: rename '
        "it, as in image_cls", {"image": (4, *IMAGE)},
        {"train": {"image_cls": Counter([0, 0, 1, 1])}})),
    ("columns of texts and labels in files", texts_and_labels_in_files, Note(
        'in a list\nleft out: text "caption.txt": choose its max_length in the '
        "file, and remove the # there\nwrote ",
        {"image": (4, *IMAGE), "label": Counter([0, 1, 2, 3])})),
    ("a later mask in colours", masked(*COLOURED), Note(
        f"left out: mask.png: m/2.png has colours, {SECOND}to number them: (cd ",
        {"image": (4, *IMAGE)}, {"train": {"mask": (4, 224, 224, 1)}})),
    ("a later mask that is a JPEG", masked(
        *GREY_MASKS[:3], encoded(GREY_MASKS[3])), Note(
            f"left out: mask.png: m/3.png is no PNG, {SECOND}masks are PNG in "
            "grey or with a palette\n", {"image": (4, *IMAGE)})),
    ("a later mask of 16 bits", masked(grey(1), *3 * [grey(300, "u2")]), Note(
        f"left out: mask.png: m/1.png has 16 bits, {SECOND}masks are PNG in "
        "grey or with a palette\n", {"image": (4, *IMAGE)})),
    ("masks in colours in val", coloured_masks_in_val, Note(
        "/val.csv: its mask.png has no class ids as in the first split: the "
        "first file has colours\n", {"mask": (4, 224, 224, 1)})),
    ("a later mask in colours in val", late_colours_in_val, Note(
        "/val.csv: its mask.png has no class ids as in the first split: "
        "v/0.png has colours\n", {"mask": (4, 224, 224, 1)})),
    ("pictures in grey, and in colours in val", grey_and_coloured,
     {"image": (2, *IMAGE)}, ("val", {"image": (64, *IMAGE)})),
    ("val.csv alone", listed(("y", (0, 1, 2, 3)), to="val.csv"), Note(
        "found 4 samples in a list\nnote: the split is called val, so it is "
        "neither shuffled nor augmented; to train on it, rename it, as to "
        "train.csv, and run init again\n",
        {"y": [0, 1, 2, 3], "valid": [1, 1, 1, 1, 0]})),
    *((f"{names} of which {only} is given", lambda root, names=names, only=only: [
        save(root / name, "y,breed\n1,b\n2,c\n3,b\n" + "4,a\n" * (k == 0))
        for k, name in enumerate(names)] and root / only, Note(
            "note: classes are numbered by their names in test alone, and "
            f"train may have others: {what}", {"breed": [0, 1, 0]}))
      for names, only, what in (
          (("train.csv", "test.csv"), "test.csv",
           "to number those of both alike: forebay init /"),
          (("data.csv", "test.csv"), "test.csv", "write the names of its "
           "classes into the file (names: [...])\n"))),
    ("test.jsonl alone", test_in_json_lines, Note(
        "note: the split is called test, so", {"y": [0, 1, 2, 3]})),
    ("a list in val/", lambda root: listed(("y", (3, 2, 1, 0)))(
        root / "val") or root / "val/train.csv", {"y": Counter(range(4))}),
    ("rows.csv in val/", lambda root: listed(("y", (3, 2, 1, 0)), to="rows.csv")
     (root / "val") or root / "val", {"y": [3, 2, 1, 0]}),
    ("JSON lines with names of files", lines(
        lambda i: line(i, Image=f"{i}.jpg")), Remedy(
            "train.jsonl: the column image names files without their path "
            "(images/0.jpg): write a list of paths:\n(cd /", "", FOUR)),
    ("JSON lines with numbers of pictures", lines(
        lambda i: {"Image": i, "y": i % 3, "text": "a \u00e4 'b'"}), Remedy(
            "(images/0.jpg): write a list of paths:\n(cd /", "", FOUR)),
    ("JSON lines with a file that is not there", lines(line, n=5), Remedy(
        "train.jsonl, line 5: there is no file images/4.jpg: correct its path, "
        "or remove the line: to leave such rows out:\n(cd /", "",
        FOUR)),
    ("JSON lines with an empty path", lines(
        lambda i: line(i, Image=f"images/{i}.jpg" if i < 3 else "")), Remedy(
            "train.jsonl: the column image has no path in 1 row of 4: to leave "
            "such rows out:\n(cd /", "", THREE)),
    ("JSON lines of which one has no path", lines(
        lambda i: line(i) if i < 3 else {"y": 1}), Remedy(
            "train.jsonl: the column image has no path in 1 row of 4: to leave "
            "such rows out:\n(cd /", "", THREE)),
    ("JSON lines with a column of splits", lines(
        lambda i: line(i, Split=("train", "val")[i % 2]), to="all.jsonl"),
     Remedy("all.jsonl: the column split has the splits train, val: write a "
            "list for each, as the next line does, then: forebay init /", "",
            {"image": (2, *IMAGE), "y": Counter([0, 2])})),
    ("CelebA: splits as numbers", listed(
        ("partition", (0, 1, 2, 0)), ("y", range(4)), to="all.csv"), Remedy(
            "all.csv: the column partition has the splits 0 (train), 1 (val), "
            "2 (test): write a list for each, as the next line does, then: ",
            "", {"y": Counter([0, 3])}), ("val", {"y": (64,)}),
     ("test", {"y": (64,)})),
    ("fast.ai: a column is_valid", listed(
        ("y", range(4)), ("is_valid", ("False", "True", "False", "False")),
        to="labels.csv"), Remedy(
            "labels.csv: the column is_valid has the splits False (train), "
            "True (valid): write a list for each, as the next line does, "
            "then: ",
            "", {"y": Counter([0, 2, 3])}), ("valid", {"y": (64,)})),
    ("JSON lines with truth values of splits", lines(
        lambda i: line(i, is_train=i != 1), to="all.jsonl"), Remedy(
            "all.jsonl: the column is_train has the splits 0 (val), 1 "
            "(train): "
            "write a list for each, as the next line does, then: ", "",
            {"image": (3, *IMAGE), "y": Counter([0, 0, 2])}),
     ("val", {"y": (64,)})),
    ("JSON lines with numbers of splits", lines(
        lambda i: line(i, split=i % 3), to="all.jsonl"), Remedy(
            "all.jsonl: the column split has the splits 0 (train), 1 (val), "
            "2 (test): ", "", {"image": (2, *IMAGE), "y": Counter([0, 0])}),
     ("val", {"y": (64,)}), ("test", {"y": (64,)})),
    ("many words of splits in one column", lambda root: save(
        root / "all.csv", "y,split\n" + "".join(
            f"{i},{word}\n" for i, word in enumerate(MANY_SPLITS))),
     Remedy("all.csv: the column split has the splits PrivateTest, "
            "PublicTest, "
            "TRAIN, VAL, dev, ", "",
            {"y": Counter([0, 1, 11, 12])}), ("val", {"y": (64,)}),
     ("test", {"y": (64,)}), ("validation", {"y": (64,)})),
    ("a column of numbers called subset", listed(
        ("subset", (0, 1, 2, 3))), {"subset": Counter(range(4))}),
    ("Hugging Face: metadata.csv above train and test", folders_in_a_list,
     Remedy("metadata.csv: the column file_name has paths in train, test: "
            "write a list for each, as the next line does, then: forebay init "
            "/",
            "", {"file_name": (3, *IMAGE), "y": Counter(range(3))}),
     ("test", {"y": (64,)})),
    ("JSON lines with folders of splits", lambda root: [
        save(root / f"{file}", picture(i)) for i, file in enumerate(DEEP)] and
     save(root / "all.jsonl", json_lines(
         [{"image": file, "y": i} for i, file in enumerate(DEEP)])),
     Remedy("all.jsonl: the column image has paths in train_img, val2017: ",
            "", {"y": Counter([0, 2])}), ("val", {"y": (64,)})),
    ("train.csv with folders of train and val", lambda root: [
        save(root / f"{file}", picture(i)) for i, file in enumerate(DEEP)] and
     save(root / "train.csv", picture_list("image", *DEEP)),
     {"image": (3, *IMAGE)}),
    ("JSON lines in Latin-1", lambda root: lines(line)(root) or save(
        root / "train.jsonl",
        '{"image": "images/0.jpg", "y": "K\u00e4se"}\n'.encode("latin-1")),
     Remedy("train.jsonl: line 1: JSON: unable to decode byte 0xe4 near '\"K': "
            "is not UTF-8 text: to convert it:\n(cd /", "", {"y": (1, 8)})),
    ("a list of JSON called .jsonl", lambda root: lines(line)(root) or save(
        root / "train.jsonl", json.dumps([line(i) for i in range(4)])),
     Remedy("train.jsonl: line 1: a list where an object is needed: {...}: to "
            "convert it:\n(cd /", "", FOUR)),
    ("JSON lines of several lines", lines(line, indent=1), Remedy(
        "train.jsonl: line 1: JSON: string or '}' expected near end of file: "
        "the line ends within its JSON: to convert it:\n(cd /", "", FOUR)),
    ("pandas: a table as JSON", lambda root: lines(line)(root) or (
        root / "train.jsonl").unlink() or save(root / "all.json", json.dumps(
            {"image": {str(i): f"images/{i}.jpg" for i in range(4)},
             "y": {str(i): line(i)["y"] for i in range(4)}})), Remedy(
                 "all.json is not read as a list: write JSON lines, an object "
                 "in each line:\n(cd /", "", FOUR)),
    ("JSON lines with paths in objects, and labels like names of files", lines(
        lambda i: {"image": {"path": f"images/{i}.jpg"}, "y": i}), Note(
            "note: train.jsonl is not read; if it has labels or texts of the "
            "pictures, write them into a .csv with a column of paths\n",
            {"image": (4, *IMAGE)})),
    ("tabs in a .csv", other_list(
        "train.csv", "image\ty\nimages/0.jpg\t1\n"), Remedy(
            "train.csv: line 1: it has no comma, but tabs; columns are "
            "separated by commas: write the file again with them: to convert "
            "it:\n(cd /", "", {"image": (1, *IMAGE), "y": [1]})),
    ("Flickr30k: bars in a .csv", other_list(
        "results.csv", "image| n| comment\nimages/0.jpg| 1| Two, three\n"),
     Remedy("results.csv: line 1: it has no comma, but '|'; columns are "
            "separated by commas: write the file again with them: to convert "
            "it:\n(cd /", "",
            {"image": (1, *IMAGE), "n": [1], "comment": (1, 16)})),
    ("a list in UTF-16", other_list(
        "train.csv", "image,y\nimages/0.jpg,1\n".encode("utf-16")), Remedy(
            "train.csv: line 1: a NUL byte; a list is UTF-8 text, so convert "
            "it if it is UTF-16: to convert it:\n(cd /", "",
            {"image": (1, *IMAGE), "y": [1]})),
    ("a list in UTF-16 without a mark", other_list(
        "train.csv", "image,y\nimages/0.jpg,1\n".encode("utf-16-be")), Remedy(
            "to convert it:\n(cd /", "",
            {"image": (1, *IMAGE), "y": [1]})),
    ("a list with a NUL byte", other_list(
        "train.csv", "image,y\nimages/0.jpg,\u20ac\0a\nimages/0.jpg,b\n"), Remedy(
            "train.csv: line 2: a NUL byte; a list is UTF-8 text, so convert "
            "it if it is UTF-16: to remove it:\n(cd /", "",
            {"image": (2, *IMAGE), "y": Counter([0, 1])})),
    ("JSON lines in UTF-16", other_list(
        "train.jsonl", '{"image": "images/0.jpg", "y": 1}\n'.encode("utf-16")),
     Remedy("to convert it:\n(cd /", "",
            {"image": (1, *IMAGE), "y": [1]})),
    ("a path with a point, and one that is like it", lambda root: listed(
        ("y", (0, 1, 2, 3)))(root) or save(
            root / "train.csv", "image,y,text\n../d/images/0.jpg,0,a\n"
            "../d/images/1.jpg,1,xx/d/b\n"), Remedy(
                "train.csv: the column image has paths that lead to no file, "
                "such as ../d/images/0.jpg (images/0.jpg): write a list of "
                "paths:\n(cd /", "", {"image": (2, *IMAGE), "text": Counter(
                    b"axx/d/b" + bytes(9))})),
    ("a list in capitals", other_list(
        "train.CSV", "image,y\nimages/0.jpg,1\n"), Remedy(
            "train.CSV is not read as a list: copy it:\n(cd /", "",
            {"image": (1, *IMAGE), "y": [1]})),
    *((f"a JSON list called {name!r}", all_of(other_list(
        name, '[{"image": "images/0.jpg", "y": 1}]'), files_named(*others)),
       Remedy("is not read as a list: write JSON lines, an object in each "
              "line:\n(cd /", "", {"image": (1, *IMAGE), "y": [1]}))
      for name, *others in (
          ("my train.json",), ("it's $x.json",), ("-a.json",),
          ("a" * 80 + ".json",), ("train.json", "train.json.part"))),
    ("JSON lines in .ndjson", other_list(
        "train.ndjson", '{"image": "images/0.jpg", "y": 1}\n'), Remedy(
            "train.ndjson is not read as a list: copy it:\n(cd /",
            "", {"image": (1, *IMAGE), "y": [1]})),
    ("a compressed list", other_list("train.csv.gz", gzip.compress(
        b"image,y\nimages/0.jpg,1\n")), Remedy(
            "train.csv.gz is not read as a list: unpack it:\n(cd /",
            "", {"image": (1, *IMAGE), "y": [1]})),
    ("names with blanks, without their folder", lambda root: (
        save(root / "my images/pic 0.jpg", picture(0)),
        save(root / "train.csv", "image,y\npic 0.jpg,1\n")) and None, Remedy(
            "train.csv: the column image names files without their path (my "
            "images/pic 0.jpg): write a list of paths:\n(cd /", "",
            {"image": (1, *IMAGE), "y": [1]})),
    ("a val.csv without rows", lambda root: listed(("y", (0, 1, 2, 3)))(
        root) or save(root / "val.csv", "image,y\n"), Note(
            "left out: val.csv: it has no rows: write one row for each sample\n",
            {"y": Counter(range(4))})),
    ("a list without rows", other_list("train.csv", "image,y\n"),
     "train.csv: it has no rows: write one row for each sample\n"),
    ("URLs of pictures", lambda root: save(
        root / "train.csv", "url,caption\nhttps://a.b/0.jpg,a picture\n"),
     Note("note: train.csv: the column url has URLs of pictures, which "
          "are not read: it is text; download the pictures, and write their "
          "paths into the list\n", {"caption": (1, 16)})),
    ("two columns of one name", other_list(
        "train.csv", "image,y,Y\nimages/0.jpg,1,2\n"),
     "train.csv: line 1: column 'Y' is there twice (the case of letters does "
     "not tell them apart): rename one of them\n"),
    ("a comma at the end of the header", other_list(
        "train.csv", "image,y,\nimages/0.jpg,1,\n"),
     Remedy("train.csv: line 1: a column without a name: write a name there, or "
            "remove the column: to write other names of columns:\n(cd /", "",
            {"image": (1, *IMAGE), "y": [1]})),
    ("a row that is too short", other_list(
        "train.csv", "image,y\nimages/0.jpg\n"),
     "train.csv: line 2: 1 field, but the header has 2: each row needs as "
     "many, and a field with a comma needs quotes\n"),
    ("several labels as columns", listed(
        ("cat", (0, 1, 0, 1)), ("dog", (1, 1, 0, 0))),
     {"cat": Counter([0, 0, 1, 1]), "dog": Counter([0, 0, 1, 1])}),
    ("line breaks and quotes in captions", listed(
        ("caption", ['"a ""b""\nc, d"'] * 4)), {"caption": (4, 16)}),
    ("labels with a point, labels below 0, and dates", listed(
        ("a", (0.0, 1.0, 0.0, 2.0)), ("b", (-1, 1, 1, -1)),
        ("date", [f"2024-01-0{i} 10:00" for i in range(4)])),
     {"a": Counter([0, 0, 1, 2]), "b": Counter([-1, -1, 1, 1]),
      "date": (4, 16)}),
    ("Excel: a mark, and lines that end in CR LF", other_list(
        "train.csv", "\ufeffimage,y\r\nimages/0.jpg,1\r\n".encode()),
     {"image": (1, *IMAGE), "y": [1]}),
    ("JSON lines of different keys", lines(
        lambda i: line(i, **({"a": 1} if i % 2 else {"b": 2}))), Note(
            'left out: column "a": it has no value in 2 rows of 4 (the first '
            "is row 1): write one into each\n", FOUR)),
    ("JSON lines with objects", lines(
        lambda i: line(i, meta={"score": i, "by": {"name": "x"}})), Note(
            'left out: column "meta": its values are objects: add a field for '
            "each member that is needed; the file lists them\n", FOUR)),
    ("JSON lines with integers near 2^63", lines(
        lambda i: line(i, id=2**63 - 1 - i)),
     {"id": Counter(float(2**63 - 1 - i) for i in range(4)), **FOUR}),
    ("JSON lines with very many keys", lines(
        lambda i: line(i, **{f"k{i}_{j}": 1 for j in range(100)})),
     "more than 256 different columns or keys (the next is k2_54): write several "
     "values as one list, or leave out what is not needed\n"),
    ("a name that would turn the text around", other_list(
        "a\u202eb.csv", "image,y\nimages/0.jpg\n"),
     "a?b.csv: line 2: 1 field, but the header has 2: each row needs as "
     "many, and a field with a comma needs quotes\n"),
    ("captions in JSON lines", lines(
        lambda i: line(i, caption=f'a "picture" \u00e4 {i}')),
     {"caption": (4, 16), **FOUR}),
    ("Hugging Face: metadata.jsonl in the folder of each split",
     lambda root: [lines(lambda i: {"file_name": f"images/{i}.jpg", "text":
                                    "a text"}, to="metadata.jsonl")(root / name)
                   for name in ("train", "validation")] and None,
     {"file_name": (4, *IMAGE), "text": (4, 8)},
     ("validation", {"text": (64, 8)})),
    ("Kaggle: the same names in train and test", two_folders_of_one_name,
     Remedy("train.csv: the column image_id names files without their path "
            "(train_images/0.jpg): write a list of paths:\n(cd /", "",
            {"image_id": (4, *IMAGE), "label": Counter([0, 0, 1, 1])})),
    ("GLUE: train.tsv, dev.tsv and test.tsv", lambda root: [
        save(root / f"{split}.tsv", "sentence\tlabel\na b\t0\nc d\t1\n")
        for split in ("train", "dev", "test")] and None,
     Remedy("dev.tsv has tabs: write a list with commas:\n(cd /", "",
            {"label": Counter([0, 1])}), ("val", {"label": (64,)})),
    ("GLUE: texts that begin with a quote", lambda root: [
        save(root / f"{split}.tsv", 'sentence\tlabel\n"Hello, he said\t0\n'
             'c d\t1\nsaid "\t2\n"a "b\t3\n') for split in ("train", "dev")]
     and None,
     Remedy("dev.tsv has tabs: write a list with commas:\n(cd /", "",
            {"label": Counter(range(4)), "sentence": Counter(
                b'"Hello, he saidc dsaid ""a "b' + bytes(35))}),
     ("val", {"label": (64,)})),
    ("tabs and line breaks in quotes", lambda root: save(
        root / "train.tsv", 'text\ty\n"a\tb"\t0\n"c ""d""\ne"\t1\nf\t2\n'),
     Remedy("train.tsv has tabs: write a list with commas:\n(cd /", "",
            {"y": Counter(range(3)), "text": Counter(
                b'a\tbc "d"\nef' + bytes(13))})),
    ("doubled quotes between tabs", lambda root: save(
        root / "train.tsv", 'text\ty\n"a ""b"""\t0\nc\t1\n'),
     Remedy("train.tsv has tabs: write a list with commas:\n(cd /", "",
            {"y": Counter(range(2)), "text": Counter(b'a "b"c' + bytes(10))})),
    ("tabs in a .csv, and texts that begin with a quote", lambda root: save(
        root / "train.csv", 'text\ty\n"a b\t0\nc\t1\nd "\t2\n'),
     Remedy("train.csv: line 1: it has no comma, but tabs; columns are", "",
            {"y": Counter(range(3)),
             "text": Counter(b'"a bcd "' + bytes(4))})),
    ("winequality: names in quotes, and semicolons", lambda root: save(
        root / "winequality-red.csv",
        '"acidity";"quality"\n7.4;5\n7.8;6\n'),
     Remedy("winequality-red.csv: line 1: it has no comma, but ';'; columns "
            "are "
            "separated by commas: write the file again with them: to convert "
            "it:\n(cd /", "", {"acidity": Counter([7.4, 7.8]),
                               "quality": Counter([5, 6])})),
    ("AG News: train and test without a header", lambda root: [
        save(root / f"{split}.csv", "".join(
            f'"{i + 3}","Bears, {i}","Reuters - ""x"" {i}."\n'
             for i in range(n)))
         for split, n in (("train", 3), ("test", 2))] and None, Remedy(
             "test.csv: line 1 has values (3) where the names of the columns "
             "must be: write a list with one more line:\n(cd /", "",
             {"c1": Counter([3, 4, 5]), "c2": (3, 8)}),
     ("test", {"c1": (64,)})),
    ("CoLA: an empty cell in the first row, and no header", lambda root: save(
        root / "train.csv", "gj04,1,,Our friends won't.\ngj04,0,*,The x.\n"),
     Remedy("train.csv: line 1 has values (gj04) where the names", "",
            {"c2": Counter([0, 1]), "c4": (2, 32)})),
    ("SMS spam: a name that is a value, and no header", lambda root: save(
        root / "train.csv", 'ham,"Go, until."\nspam,Free entry\nham,Ok\n'),
     Remedy("train.csv: line 1 has values (ham) where the names", "",
            {"c1": (3, 4), "c2": (3, 16)})),
    ("a header that is there twice", lambda root: save(
        root / "train.csv", 'a b,y\nu,1\na b,y\nv,2\n'), Note(
            'left out: column "a b": no field can have this name: rename it, '
            "as in a_b", {"y": (3,)}, {"train": {"a_b": (3, 4)}})),
    ("names of columns that no field can have, in two lists", lambda root: [
        save(root / f"{split}.csv", "a b,\u00e4,\u00df,1st,valid,y\n"
             "u v,1,2,3,7,0\nw,4,5,6,8,0\n")
        for split in ("train", "val")] and None, Note(
            "note: to write other names of columns: (cd /", {"y": (2,)},
            {"train": {"a_b": (2, 4), "c1": Counter([1, 4]),
                       "c2": Counter([2, 5]), "c_1st": Counter([3, 6]),
                       "c_valid": Counter([7, 8])}, "val": {"a_b": (64, 4)}})),
    ("names of keys that no field can have", lines(
        lambda i: line(i, **{"a b": f"u {i}", "c/d": i})), Note(
            "note: to write other names of columns: (cd /", FOUR,
            {"train": {"a_b": (4, 4), "c_d": Counter(range(4)), **FOUR}})),
    ("winequality: two lists with semicolons", lambda root: [
        save(root / f"{name}.csv", '"acidity";"quality"\n7.4;5\n')
        for name in ("white",)] and None or save(
            root / "train.csv", "acidity,quality\n1.5,2\n"), Note(
                "left out: white.csv: line 1: it has no comma, but ';'; "
                "columns are separated by commas: write the file again with "
                "them: to convert it: (cd /", {"acidity": [1.5]}, {
                    "train": {"acidity": [1.5]}})),
    ("X_train.csv and y_train.csv", texts({
        f"{x}_{split}.csv": head + "".join(
            f"{i},{i / 2}\n" if x == "X" else f"{i % 2}\n" for i in range(n))
        for x, head in (("X", "a,b\n"), ("y", "label\n"))
        for split, n in (("train", 4), ("test", 3))}), Remedy(
            "y_test.csv seems to have the labels of X_test.csv, and a sample "
            "is a row of one list: write lists of both:\n(cd /", "joined",
            {"a": Counter(range(4)), "label": Counter([0, 1, 0, 1])}),
     ("test", {"a": [0, 1, 2], "label": [0, 1, 0]})),
    ("features.csv and labels.csv with ids", texts({
        "features.csv": "id,a\n7,1.5\n8,2.5\n",
        "labels.csv": "id,y\n8,0\n7,1\n"}), Remedy(
            "labels.csv seems to have the labels of features.csv, and ",
            "joined", {"id": Counter([7, 8]), "y": Counter([0, 1])})),
    ("X.csv and y.csv without names of columns", texts({
        "X.csv": "1,1.5\n2,2.5\n", "y.csv": "1\n0\n"}), Remedy(
            "y.csv seems to have the labels of X.csv, and a sample", "joined",
            {"x1": Counter([1, 2]), "y1": Counter([0, 1])})),
    ("features.csv beside train.csv", texts({
        "train.csv": "a,b\n1,1.5\n2,2.5\n", "labels.csv": "id,n\n0,x\n",
        "features.csv": "n,t\na,whole\n"}), {"a": Counter([1, 2])}),
    ("UCI: adult.test is the split test", texts({
        "adult.data": "39, State-gov, <=50K\n50, Private, >50K\n\n" * 2,
        "adult.test": "|1x3 Cross validator\n" +
                      "25, Private, >50K.\n28, State-gov, <=50K.\n\n",
        "Index": "x\n", "adult.names": "1. Title: Adult\n"}),
     Remedy("adult.data has rows of 3 columns, separated by ',', and no header: "
            "write a list:\n(cd /", "",
            {"c1": Counter({39: 2, 50: 2}), "c3": Counter({0: 2, 1: 2})}),
     ("test", {"c1": [25, 28], "c3": [1, 0]})),
    ("UCI: iris.data", texts({"iris.data": "5.1,3.5,setosa\n.9,3.,other\n\n" * 2,
                              "Index": "x\n", "iris.names": "1. Title: Iris\n"}),
     Remedy("iris.data has rows of 3 columns, separated by ',', and no header: "
            "write a list:\n(cd /", "",
            {"c1": Counter([5.1, .9] * 2), "c2": Counter([3.5, 3] * 2),
             "c3": Counter([1, 0] * 2)})),
    ("UCI: adult.data and adult.test", texts({
        "adult.data": '39, State-gov, <=50K\n50, "a, b", >50K\n',
        "adult.test": "|1x3 Cross validator\n" + "25, Private, <=50K.\n" * 9}),
     Remedy("adult.data has rows of 3 columns, separated by ',', and no header",
            "", {"c1": Counter([39, 50]), "c2": (2, 16)})),
    ("UCI: auto-mpg.data", texts({"auto-mpg.data": (
        '18.0   8   3504.\t"chevrolet malibu"\n'
        '15.0   8   3693.\t"buick skylark 320"\n') * 2}), Remedy(
            "auto-mpg.data has rows of 4 columns, separated by blanks, and no ",
            "", {"c3": Counter([3504.0, 3693.0] * 2)})),
    ("MovieLens: ratings.dat and others", texts({
        "movies.dat": "1::Caf\xe9 (1995)::A|B\n2::b::C\n",
        "ratings.dat": "1::1193::5::978300760\n" * 5,
        "README": "x\ny z\n"}), Remedy(
            "ratings.dat, the largest table beside others, has rows of 4 "
            "columns, separated by '::', and no header: write a list (not of "
            "movies.dat):\n(cd /", "", {"c2": Counter([1193] * 5)})),
    ("MovieLens: the file movies.dat, in Latin-1", texts({
        "movies.dat": "".join(
            f'{i}::Caf\xe9 {i}, "b\n' for i in range(65)) + "3::x::y\n",
        "ratings.dat": "1::1\n" * 99}, "movies.dat"), Remedy(
            "movies.dat has rows of 2 columns, separated by '::', and no header",
            "movies.csv", {"c1": (64,), "c2": (64, 16)})),
    ("MovieLens: u.data", texts({
        "u.data": "196\t242\t3\n186\t302\t1\n", "u.info": "2 users\n"}),
     Remedy("u.data has rows of 3 columns, separated by tabs, and no header: ",
            "", {"c1": Counter([196, 186])})),
    ("SMSSpamCollection", texts({
        "SMSSpamCollection": "ham\tHi, \"crazy\" o\n" * 3 + 'spam\t"Free\n'
                             'ham\tok\n', "readme": "SMS\n"}), Remedy(
            "SMSSpamCollection has rows of 2 columns, separated by tabs, and no "
            "header: write a list:\n(cd /", "",
            {"c1": Counter([0] * 4 + [1])})),
    ("train.data and test.data with a header", texts({
        "train.data": "age;kind\n1;a b\n2;c\n", "test.data": "age;kind\n3;c\n",
        "more.data": "1;2;3\n" * 99}), Remedy(
            "train.data has rows of 2 columns, separated by ';': write a list (not "
            "of more.data):\n",
            "", {"age": Counter([1, 2])}),
     ("test", {"age": (64,)})),
    ("digits.tra and its names", texts({
        "digits.names": "1. Title\n", "my digits.tra": "0,1,6\n0,2,7\n"}),
     Remedy("my digits.tra has rows of 3 columns, separated by ',', and no ", "",
            {"c3": Counter([6, 7])})),
    ("a .txt with rows of numbers", texts({
        "seeds.txt": "15.26\t14.84\t\t1\n14.88\t14.57\t2\n"}), Remedy(
            "seeds.txt has rows of 3 columns, separated by blanks, and no header",
            "", {"c3": Counter([1, 2])})),
    ("SNLI: tabs in .txt", lambda root: [
        save(root / f"snli_{split}.txt", 'gold_label\ttext\n-\t"a b\nx\tc\n')
        for split in ("train", "dev")] and None,
     Remedy("snli_train.txt has rows of 2 columns, separated by tabs: write a "
            "list:\n(cd /", "",
            {"gold_label": (2, 1), "text": Counter(b'"a bc' + bytes(3))}),
     ("val", {"text": (64, 4)})),
    ("lists of splits made of metadata.csv", lambda root: [
        save(root / f"{split}/{i}.png", picture(i))
        for split in ("train", "test") for i in range(2)] and [
            save(root / f"{name}.csv", picture_list("file_name", *files))
            for name, files in (
                ("train", ["train/0.png", "train/1.png"]),
                ("test", ["test/0.png"]),
                ("metadata", ["train/0.png", "test/0.png"]))] and None, Note(
                    "left out: split 'metadata' at "
                    "/", {"file_name": (2, *IMAGE)}),
     ("test", {"file_name": (64, *IMAGE)})),
    ("Food-101: texts of splits in a folder", food101, Remedy(
        "meta/test.txt says which pictures in images are of which split: "
        "write "
        "a list of each, and run init again:\n(cd /", "",
        {"image": (4, *IMAGE), "label": Counter([0, 0, 1, 1])}),
     ("test", {"label": [0, 1]})),
    ("Food-101: the folder of the pictures",
     lambda root: food101(root) or root / "images", Note(
         "note: meta/test.txt in the folder above says which pictures are train "
         "and which are test; for these splits: forebay init /",
         {"label": Counter([0] * 3 + [1] * 3)})),
    ("DeepFashion: a partition beside the pictures", deep_fashion, Remedy(
        "list_eval_partition.txt says which pictures in img are of which split: "
        "write a list of each, and run init again:\n(cd /", "",
        {"image_name": (3, *IMAGE)}), ("val", {"image_name": (64, *IMAGE)}),
     ("test", {"image_name": (64, *IMAGE)})),
    ("DeepFashion: Anno, Eval and Img", lambda root: deep_fashion(
        root, "Img", "Eval", "Anno"), Remedy(
            "Eval/list_eval_partition.txt says which pictures in Img are of "
            "which split: write a list of each, and run init again:\n(cd /", "",
            {"category_label": Counter([0] * 3)}), ("val", {"category_label": [2]})),
    ("DeepFashion: the text of categories", lambda root: deep_fashion(
        root, labels="") or root / "list_category_img.txt", Remedy(
            "list_category_img.txt has rows of 2 columns, separated by blanks, "
            "after a line with their number: write a list:\n(cd /",
            "list_category_img.csv",
            {"category_label": Counter([0] * 3 + [1] * 3 + [2] * 2)})),
    *((f"CelebA: Anno, Img and '{texts}'", celeba_splits(texts), Remedy(
        "list_eval_partition.txt says which pictures in Img/img_align_celeba are "
        "of which split: write a list of each, and run init again:\n(cd /", "",
        {"image": (2, *IMAGE), "attr": Counter([-1, -1, 0, 1]),
         "identity": Counter([100, 101])}), ("val", {"image": (64, *IMAGE)}),
       ("test", {"image": (64, *IMAGE)})) for texts in ("Eval", "")),
    *((f"CelebA: '{only}'", celeba_splits(texts, only),
       "list_eval_partition.txt says which pictures are of which split: give init "
       "the folder that has both: forebay init /") for texts, only in (
           ("Eval", "Eval"), ("Eval", "Eval/list_eval_partition.txt"),
           ("", "list_eval_partition.txt"))),
    ("DeepFashion: the text of splits", lambda root: deep_fashion(
        root, "Img", "Eval") or root / "Eval/list_eval_partition.txt",
     "give init the folder that has both: forebay init /"),
    ("CelebA: the text of attributes", celeba_attributes, Remedy(
        "list_attr_celeba.txt has rows of 3 columns, separated by blanks, after "
        "a line with their number: write a list:\n(cd /",
        "list_attr_celeba.csv",
        {"bald": Counter([-1] * 4), "young": Counter(range(4))})),
    ("CUB: the folder of the pictures", lambda root: cub(root) or save(
        root / "images/002.Bird/9.jpg", picture(9)) or root / "images", Note(
            "note: train_test_split.txt in the folder above says which pictures "
            "are train and which are test; for these splits: forebay init /",
            {"label": Counter([0] * 3 + [1] * 4)})),
    ("the folder of the pictures of a list", lambda root: listed(
        ("y", range(4)))(root) or root / "images", Note(
            "note: train.csv in the folder above has columns for the pictures; "
            "to have these, too: forebay init /", {"image": (4, *IMAGE)})),
    ("a folder of pictures below other lists", lambda root: [
        save(root / "train.csv", "image,y\nother/0.jpg,1\n"),
        save(root / "images/1.jpg", picture(1))] and root / "images",
     {"image": (1, *IMAGE)}),
    ("CUB: splits by number", cub, Remedy(
        "train_test_split.txt says which pictures in images are of which "
        "split: write a list of each, and run init again:\n(cd /", "",
        {"image": (3, *IMAGE), "label": Counter([0, 1, 1])}),
     ("test", {"label": [0, 0, 1]})),
    ("MIT Indoor67: texts of splits beside the pictures", indoor67, Remedy(
        "TestImages.txt says which pictures in images are of which "
        "split: ", "",
        {"image": (3, *IMAGE), "label": Counter([0, 0, 1])}),
     ("test", {"label": [0, 1, 1]})),
    ("class folders and texts of the splits", *split_texts({
        "test.txt": "a/2.jpg\nb/2.jpg\n",
        "train.txt": "a/0.jpg\na/1.jpg\nb/0.jpg\n"}),
     ("test", {"label": [0, 1]})),
    ("class folders and texts of the splits with labels", *split_texts({
        "test.txt": "a/2.jpg cat\nb/2.jpg dog\n",
        "train.txt": "./a/0.jpg cat\n./a/1.jpg cat\n./b/0.jpg dog\n"}),
     ("test", {"image": (64, *IMAGE)})),
    ("class folders and texts of the splits in a folder", *split_texts({
        "splits/test.txt": "a/2.jpg\nb/2.jpg\n",
        "splits/train.txt": "a/0.jpg\na/1.jpg\nb/0.jpg\n"}),
     ("test", {"label": [0, 1]})),
    ("class folders and texts of all splits but train", *split_texts({
        "testing_list.txt": "a/2.jpg\nb/2.jpg\n",
        "validation_list.txt": "b/1.jpg\n"}),
     ("test", {"label": [0, 1]}), ("validation", {"label": [1]})),
    ("class folders and the splits in JSON", *split_texts({
        "split.json": json.dumps({"test": ["a/2.jpg", "b/2.jpg"], "train": [
            "a/0.jpg", "a/1.jpg", "b/0.jpg"]})}), ("test", {"label": [0, 1]})),
    ("class folders with the splits in JSON but for train", *split_texts({
        "split.json": json.dumps({"val": ["a/2.jpg"], "test": [
            "b/2.jpg", "./b/1.jpg"]}, indent=1)}), ("val", {"label": [0]})),
    ("a list of class folders that has other labels", class_folders({
        "labels.csv": picture_list("file,breed", *(
            f"{name}/{i}.jpg,{'xy'[i % 2]}" for name in "ab" for i in range(3)))}),
     Note("note: the list is read, and not the folders of its pictures (a, b); if "
          "these are classes, to have them as labels instead: forebay init /",
          {"breed": Counter([0, 0, 0, 0, 1, 1])})),
    ("class folders and a column of splits", class_folders({
        "splits.csv": picture_list("path,split", *(
            f"{name}/{i}.jpg,{'train' if i else 'val'}"
            for name in "ab" for i in range(3)))}), Remedy(
                "splits.csv: the column split has the splits ", "",
                {"path": (4, *IMAGE), "label": Counter([0, 0, 1, 1])}),
     ("val", {"label": [0, 1]})),
    ("images in class folders and a text of the test", *split_texts({
        "test.txt": "images/a/2.jpg 0\nimages/b/2.jpg 1\n",
        "val.txt": "images/b/1.jpg 1\n"}, "images/"), ("test", {"label": [0, 1]})),
    ("FGVC-Aircraft: names and labels of several words", aircraft, Remedy(
        "images_family_train.txt says which pictures in images are of which "
        "split (others: images_variant_train.txt; to take one, change the names "
        "in the command): ",
        "", {"image": (2, *IMAGE), "label": Counter([0, 1])}),
     ("val", {"label": [0, 1]})),
    ("SQuAD", squad, Remedy(
        "-v2.0.json is not read as a list: write JSON lines, an object in "
        "each line:\n(cd /", "",
        {"question": (3, 8), "context": (3, 16), "start": Counter([0, -1, 2]),
         "answer": Counter(b"a a")}), ("val", {"start": (64,)})),
    ("JSON of objects in a member", lambda root: save(
        root / "train.json", json.dumps(
            {"info": {"n": 2}, "samples": [{"text": f"x {i}", "y": i}
                                           for i in range(2)]})),
     Remedy("train.json is not read as a list: write JSON lines, an object in "
            "each line:\n(cd /", "", {"y": Counter([0, 1])})),
    ("Alpaca: empty texts in JSON lines", alpaca(".jsonl", json_lines),
     EMPTY_TEXTS),
    ("Alpaca: empty texts in a .csv", alpaca(".csv", csv_of), EMPTY_TEXTS),
    ("a list with a word of a split beside lists of splits", lambda root: [
        save(root / f"{name}.csv", picture_list("y", *rows))
        for name, rows in (("a_eval_partition", (5, 6)), ("train", (1, 2)),
                           ("val", (3, 4)))] and None,
     Note("left out: split 'a_eval_partition' at /", {"y": Counter([1, 2])}),
     ("val", {"y": [3, 4]})),
    ("texts of splits, and a text beside each picture", lambda root: [
        save(root / f"obj/{i}.{ending}", content) for i in range(4)
        for ending, content in (("jpg", picture(i)), ("txt", f"a {i}"))] and
     save(root / "train.txt", "obj/0.jpg\n") or save(
         root / "val.txt", "obj/1.jpg\n"), Note(
             'left out: text "txt": choose its max_length in the file',
             {"image": (4, *IMAGE)})),
    ("CelebA: a text of splits as numbers", lambda root: [
        save(root / f"img/{i:06}.jpg", picture(i)) for i in range(5)] and
     save(root / "list_eval_partition.txt", "".join(
         f"{i:06}.jpg {i % 3}\n" for i in range(5))), Remedy(
             "list_eval_partition.txt says which pictures in img are of which "
             "split: write a list of each, and run init again:\n(cd /", "",
             {"image": (2, *IMAGE)}), ("val", {"image": (64, *IMAGE)}),
     ("test", {"image": (64, *IMAGE)})),
    ("CelebA: splits in a list of its own", celeba, Remedy(
        "list_eval_partition.csv: the column partition has the splits 0 "
        "(train), 1 (val), 2 (test): write a list for each, as the next line "
        "does, then: forebay init /", "",
        {"image_id": (2, *IMAGE), "bald": Counter([0, 3])}),
     ("val", {"bald": [1, 4]}), ("test", {"bald": [2, 5]})),
    ("JSON lines called .json", lambda root: [
        save(root / f"{split}.json", json_lines(
            [{"text": f"{split} {i}", "y": i} for i in range(2)]))
        for split in ("train", "test")] and None, Remedy(
            " is not read as a list: write JSON lines, an object in each "
            "line:\n"
            "(cd /", "", {"y": Counter([0, 1])}),
     ("test", {"y": (64,)})),
    ("Karpathy: splits in a column and in folders, and other words",
     lambda root: [save(root / f"{folder}/{i}.jpg", picture(i)) for i, folder
                   in enumerate(KARPATHY)] and save(
         root / "coco.csv", picture_list("image,split", *(
             f"{folder}/{i}.jpg,{split}" for i, (folder, split) in enumerate(
                 zip(KARPATHY, "train val restval test train".split()))))),
     Remedy("coco.csv: the column split has the splits restval (in no list), "
            "test, train, val: write a list for each, as the next line does, "
            "then: forebay init /", "", {"image": (2, *IMAGE)}),
     ("val", {"image": (64, *IMAGE)}), ("test", {"image": (64, *IMAGE)})),
    ("a list of devices", lambda root: save(root / "devices.csv", "a\n1\n2\n"),
     {"a": Counter([1, 2])}),
    ("numbers above pictures with numbers", lambda root: (
        save(root / "cat/1.jpg", picture(1)),
        save(root / "t.csv", "a,y\n1,2\n4,5\n"), root / "t.csv")[-1],
     {"a": Counter([1, 4]), "y": Counter([2, 5])}),
    ("blanks around names of columns", lambda root: save(
        root / "train.csv", "a, b, y\n1, 2, 3\n4, 5, 6\n"),
     Remedy("train.csv: the column ' b' has blanks around its name: to write "
            "other names of columns:\n(cd /", "",
            {"a": Counter([1, 4]), "b": Counter([2, 5]), "y": Counter([3, 6])})),
    ("blanks in all names of columns", lambda root: save(
        root / "Data_Entry.csv", "Patient Name,Finding Labels\nx,A|B\ny,A\n"),
     Remedy("Data_Entry.csv: line 2: no column has a name that a field can "
            "have, as 'Patient Name': letters, digits, _ and -: to write other "
            "names of columns:\n(cd /", "",
            {"finding_labels": (2, 4)})),
    ("HAM10000: names in two folders", two_folders_of_pictures, Remedy(
        "HAM_metadata.csv: the column image_id names files without their path "
        "(images_part_1/ISIC_0000000.jpg): write a list of paths:\n(cd /", "",
        {"image_id": (6, *IMAGE), "age": Counter(range(6))})),
    ("names in two lists", names_in_two_lists, Remedy(
        "train.csv: the column file names files without their path (images/"
        "train_0.jpg): write a list of paths:\n(cd /", "",
        {"file": (4, *IMAGE)}), ("valid", {"y": (64,)})),
    ("ChestX-ray14: blanks, and pictures two folders down",
     blanks_in_names_of_columns, Remedy(
         "Data_Entry.csv: the column image index names files without their "
         "path (images_001/images/00000000_000.png): write a list of paths:\n",
         "", {"image_index": (4, *IMAGE), "follow-up_": Counter(range(4))})),
    ("SIIM-ISIC: splits two folders down", splits_two_folders_down, Remedy(
        "test.csv: the column image_name names files without their path (jpeg/"
        "test/ISIC_0.jpg): write a list of paths:\n(cd /", "",
        {"image_name": (4, *IMAGE), "target": Counter(range(4))})),
    ("CheXpert: folders of patients", folders_of_patients, Remedy(
        "train.csv: the column path has paths that lead to no file, such as "
        "CheXpert-v1.0-small/train/patient00000/study1/view1.jpg (train/",
        "", {"path": (4, *IMAGE), "edema": Counter(range(4))}),
     ("valid", {"edema": (64,)})),
    ("lists of flat folders of splits", lists_of_flat_folders, Note(
        "note: the lists are read, which have the paths of the pictures\n",
        {"file": (4, *IMAGE), "y": Counter(range(4))}),
     ("val", {"y": (64,)})),
    ("a list of class folders of train", list_of_class_folders, Note(
        "left out: the list train.csv: the class folders are read; to stream "
        "the list instead: forebay init /",
        {"image": (4, *IMAGE), "label": Counter([0, 0, 1, 1])})),
    ("names of pictures with other endings", other_endings, Remedy(
        "(images/img_0.JPG): write a list of paths:\n(cd /", "",
        {"id": (4, *IMAGE), "y": Counter(range(4))})),
    ("names without endings beside the pictures", names_beside_pictures, Remedy(
        "train.csv: the column id names files without their path (0.jpg): "
        "write a list of paths:\n(cd /", "",
        {"id": (4, *IMAGE), "y": Counter(range(4))})),
    ("Kaggle's ImageNet: a list of val", imagenet_of_kaggle,
     "LOC_val_solution.csv has the classes of the pictures in val: move them "
     "into class folders:\n(cd /"),
    ("names with dots in lists", dots_in_names, Remedy(
        "train.csv: the extension begins at the first dot of a name, so that "
        "train/cat.0.jpg has the extension 0.jpg: give such files a second "
        "name, and write a list of those:\n(cd /", "",
        {"file": (4, *IMAGE), "mask": (4, 224, 224, 1), "y": Counter(range(4))}),
     ("val", {"y": (64,)})),
    ("names with dots in JSON lines", dots_in_json_lines, Remedy(
        "train.jsonl: the extension begins at the first dot of a name, so that "
        "images/a.0.jpg has", "",
        {"image": (4, *IMAGE), "y": Counter(range(4))})),
    ("names of pictures and masks", pictures_and_masks_of_one_name, Remedy(
        "train.csv: the column image names files without their path (all/"
        "images/0.png): write a list of paths:\n(cd /", "",
        {"image": (4, *IMAGE), "mask": Counter(
            i for i in range(4) for _ in range(224 * 224))})),
    ("slices of the same names in folders of patients", with_list(
        "train.csv", "patient,slice,label", *(
            f"{p},{k}.png,{k % 2}" for p, k in SLICES),
        pictures=[f"data/{p}/{k}.png" for p, k in SLICES]), Remedy(
            "(data/p1/0.png): write a list of paths:\n(cd /", "",
            {"slice": all_differ})),
    ("the same names in two class folders", PETS, Remedy(
        "(images/cat/0.jpg): write a list of paths:\n(cd /", "",
        {"file": all_differ})),
    ("a list of no split beside folders of train and test", with_list(
        "labels.csv", "id,target", *(f"{k},{k % 3}" for k in range(6)),
        pictures=[f"images_train/{k}.png" for k in range(6)],
        bright=[f"images_test/{k}.png" for k in range(6)]), Remedy(
            "(images_train/0.png): write a list of paths:\n(cd /", "",
            {"id": all_dark, "target": Counter([0, 0, 1, 1, 2, 2])})),
    ("names of pictures that are in images and in full", with_list(
        "train.csv", "image,label", *(f"{k}.jpg,{k % 3}" for k in range(6)),
        pictures=[f"images/{k}.jpg" for k in range(6)],
        bright=[f"full/{k}.jpg" for k in range(6)]), Remedy(
            "train.csv: the column image names files without their path (", "",
            {"image": all_dark, "label": Counter([0, 0, 1, 1, 2, 2])})),
    ("lists in annotations of folders of splits in images", all_of(*(with_list(
        f"annotations/{split}.csv", "image,label", *(
            f"{k}.jpg,{(k + first) % 3}" for k in range(6)), **{level: [
                f"images/{split}/{k}.jpg" for k in range(6)]})
        for split, first, level in (("train", 1, "pictures"),
                                    ("val", 0, "bright")))), Remedy(
            "annotations/train.csv is a list of the pictures in images: write "
            "one beside that folder, with their paths, and run init again:\n",
            "", {"images": all_dark, "label": Counter([0, 0, 1, 1, 2, 2])}),
     ("val", {"label": [0, 1, 2, 0, 1, 2]})),
    ("numbers of three pictures in a row", with_list(
        "train.csv", "anchor,positive,negative", *(
            f"{i:04},{i + 1:04},{8 - i % 2:04}" for i in range(5)),
        pictures=[f"im/{i:04}.jpg" for i in range(9)]), Remedy(
            "(im/0000.jpg): write a list of paths:\n(cd /", "",
            Note("left out: positive.jpg: a second picture; if it is needed, "
                 "remove the # of its field in the file (of a mask, this "
                 "compression changes class ids)\nleft out: negative.jpg: a ",
                 {"anchor": (5, *IMAGE)}))),
    ("one name in two folders", one_name_in_two_folders,
     "(all/a/0.jpg): write paths that begin at the folder of the list\n"),
    ("lists with tabs of train and val", in_two_formats(
        ".tsv", lambda rows: "file\ty\n" + "".join(
            f"{file}\t{y}\n" for file, y in rows)), Remedy(
                "train.tsv has tabs: write a list with commas:\n", "",
                {"file": (4, *IMAGE), "y": Counter(range(4))}),
     ("val", {"y": (64,)})),
    ("lists of lines of train and val", in_two_formats(
        ".txt", lambda rows: "".join(f"{f} {y}\r\n" for f, y in rows)), Remedy(
            "train.txt is not read as a list: write one with commas and a "
            "header:\n", "", {"image": (4, *IMAGE), "label": Counter(range(4))}),
     ("val", {"label": (64,)})),
    *((f"PaddleOCR: lines with a tab before {text}", tab_lines(text, *more),
       Remedy("train.txt is not read as a list: write one with commas and a "
              "header:\n", "", shapes))
      for text, more, shapes in (
          ("hello w{}", (), {"image": (8, *IMAGE), "text": (8, 8)}),
          ("hello, \"w{}\"", (), {"image": (8, *IMAGE), "text": (8, 16)}),
          ("1{}", (), {"label": Counter(range(10, 18))}),
          ("-{}.5", (), {"label": Counter(-i - .5 for i in range(8))}),
          ("hello w{}", ("{}",), {"text": (8, 8), "c3": Counter(range(8))}))),
    ("texts of digits in JSON lines", written({"train.jsonl": "".join(
        json.dumps({"text": str(7 * i % 40), "Answer": f"{i}.5", "label": str(i),
                    "id": str(i), "n": i, "h": 2 ** 64 - 1 - i}) + "\n"
        for i in range(8))}),
     {"text": (8, 2), "answer": (8, 4), "label": Counter(range(8)),
      "id": Counter(range(8)), "n": Counter(range(8)), "h": (8, 32)}),
    *((f"numbers that are too large for i64 in {name}", written({name: text}), Note(
        "found 6 samples in a list\nnote: column h has whole numbers that are too "
        "large for i64: leave it out, or read it as text\n" + more +
        "wrote /", shapes))
      for name, text, more, shapes in (
          ("train.csv", "h,v\n" + "".join(
              f"{2 ** 64 - i if i != 2 else ''},{i}.5\n" for i in range(6)),
           'left out: column "h": it has no value in 1 row of 6 (the first is row '
           "3): write one into each\n", {"v": (6,)}),
          ("train.jsonl", "".join(
              json.dumps({"h": 2 ** 64 - 1 - i, "v": i + .5}) + "\n"
              for i in range(6)), "", {"h": (6, 32), "v": (6,)}))),
    ("numbers of JSON lines in a column of texts", written({
        "train.jsonl": "".join(json.dumps({"text": i}) + "\n" for i in range(8))}),
     {"text": Counter(range(8))}),
    ("JSON of train and val", in_two_formats(
        ".json", lambda rows: json.dumps([{"file": f, "y": y} for f, y in rows])
    ), Remedy("train.json is not read as a list: write JSON lines, an object in "
              "each line:\n", "", {"file": (4, *IMAGE), "y": Counter(range(4))}),
     ("val", {"y": (64,)})),
    *((f"CIFAR-10 of Kaggle: numbers such as {form.format(first)}",
       numbered_pictures(form, first), Remedy(
           "trainLabels.csv: the column id names files without their path "
           f"(train/{first}.jpg): write a list of paths:\n(cd /", "",
           {"id": (4, *IMAGE), "label": Counter([0, 1, 0, 1]),
            "age": Counter(range(first + 1, first + 5))}))
      for form, first in (("{}", 1), ("{}", 1000), ("{}.0", 1))),
    ("train in a .tsv, and a list of another name in a .csv", written({
        "Train.tsv": "y\tx\n0\t1.5\n1\t2.5\n", "data.csv": "y,x\n0,4.5\n"}),
     Remedy("Train.tsv seems to be the split train, but other data is read: "
            "Train.tsv has tabs: write a list with commas:\n(cd /", "",
            {"x": Counter([1.5, 2.5])})),
    ("train in a .tsv, and test in a .csv", written({
        "Train.tsv": "y\tx\n0\t1.5\n1\t2.5\n", "test.csv": "y,x\n0,4.5\n"}),
     Remedy("Train.tsv seems to be the split train, but other data is read: "
            "Train.tsv has tabs: write a list with commas:\n(cd /", "",
            {"x": Counter([1.5, 2.5])}), ("test", {"x": [4.5]})),
    *((f"train in {train}, val in {val}", written({
        train: texts[0], val: texts[1], other: texts[1]}), Note(
            f"left out: {val}, which seems to be the split val: {val} ",
            {"y": Counter([1, 2])},
            {"train": {"y": Counter([1, 2])}, "val": {"y": [3, 4]}}))
      for train, val, other, texts in (
          ("train.csv", "val.tsv", "train.tsv", ("x,y\n1,1\n2,2\n",
                                                "x\ty\n1\t3\n2\t4\n")),
          ("data_train.csv", "data_val.tsv", "notes.md", (
              "x,y\n1,1\n2,2\n", "x\ty\n1\t3\n2\t4\n")),
          ("train.jsonl", "val.json", "train.json", (
              '{"y": 1}\n{"y": 2}\n', '[{"y": 3}, {"y": 4}]')))),
    ("train in a .csv, test in a .tsv with a blank", written({
        "my train.csv": "x,y\n1,1\n2,2\n", "my test.tsv": "x\ty\n1\t3\n"}), Note(
            "left out: my test.tsv, which seems to be the split test: rename it "
            "to one without blanks and quotes, and run init again\n",
            {"y": Counter([1, 2])})),
    ("train in a .csv, test in a .txt", written({
        "train.csv": "x,y\n1,1\n2,2\n", "test.txt": "x,y\n1,3\n2,4\n"}), Note(
            "left out: test.txt, which seems to be the split test: write it in "
            "the format of the others: all splits have one\n",
            {"y": Counter([1, 2])})),
    ("a download of Kaggle", kaggle_archives(), Note(
        "left out: sample_submission.csv, which seems to be a form for "
        "results; to stream it by itself: forebay init /",
        {"image": (3, *IMAGE)}), ("test", {"image": (64, *IMAGE)})),
    ("a download of Kaggle with a list", kaggle_archives(
        "id,y\n" + "".join(f"7{i},{i + 5}\n" for i in range(3))), Note(
            "left out: test.zip, train.zip: only the lists beside are read; if "
            "they name files of the archives, unpack these, and run init "
            "again: (cd /", {"id": Counter([70, 71, 72]), "y": (3,)},
            {"train": {"image": (3, *IMAGE)}})),
    ("a list that names no picture of train/", numbered_pictures("x{}", 1),
     Note("note: trainLabels.csv is not read; if it has labels or texts of the "
          "pictures, write them into a .csv with a column of paths\n",
          {"image": (5, *IMAGE)})),
    ("CoNLL in JSON lines: words and tags", lines(lambda i: line(
        i, tokens=["EU", "x"], ner_tags=[i, 0], captions=["a", "b"])), Note(
            'left out: column "tokens": its values are lists of texts, and a '
            "field takes one of them: ",
            {"ner_tags": Counter([0, 1, 2, 3] + 4 * [0]), "captions": (4, 1)})),
    *((f"LJSpeech: bars without names of columns, {name}", written({
        "metadata.csv": "".join(f"LJ001-000{i}|{text}|{text}\n"
                                for i, text in enumerate(texts))}), Remedy(
            sentence, "", {"c1": (2, 16), "c2": (2, 16)}))
      for name, sentence, *texts in (
          ("with a comma in the first line", "metadata.csv: its columns seem to "
           "be separated by '|', not by commas: each line has as many: to "
           "convert it:\n(cd /", "Printing, in it", "being modern."),
          ("without one", "metadata.csv: line 1: it has no comma, but '|'; ",
           "Printing it", "being modern"))),
    ("JSON lines of which the last one is cut", written({
        "train.jsonl": '{"y": 1}\n{"y": 9007199254740993}\n{"y": 2, "t": '
                       '"tru'}), Remedy(
            "train.jsonl: line 3: JSON: ", "", {"y": (2,)})),
    *((f"parts of lists, as {form.format(0)}", parts(form, text), Remedy(
            "seems to be a part of a list, of which others are beside it, and a "
            "split has one list: join the parts (or give one of them to init), "
            "and run init again:\n(cd /", "", {"y": Counter([0, 1])}),
       ("val", {"y": [4, 5]}))
      for form, text in (
          ("train-0000{}-of-00002.jsonl", '{{"y": {}}}\n'),
          ("train_{}.csv", "x,y\n0,{}\n"))),
    *((f"numbers such as {values[0]}", written({
        "train.csv": "k,v\n" + "".join(
            f'{i},"{v}"\n' for i, v in enumerate(values))}), Note(
                "note: to have only numbers in 'v', without the rows that lack "
                "one (or, ", {"v": (len(values), longest)},
                {"train": {"v": Counter(numbers)}}))
      for longest, values, numbers in (
          (8, ["0,5", "1.200,75", "-3,25", "0,5"], [0.5, 1200.75, -3.25,
                                                    0.5]),
          (8, ["1,100", "2,200.5", "$3", "7%"], [1100, 2200.5, 3, 0.07]),
          (4, ["nan", "1.5", "inf", "1.5", "-0.5", "NaN"], [1.5, 1.5, -0.5]))),
    ("numbers whose commas are unclear", written({
        "train.csv": 'v\n"0,5"\n1.5\n2.5\n3.5\n'}), Note(
            "note: column v is text because row 1 has '0,5'; to have numbers: "
            "write one there, as 1200.5 or 0.03, or remove the row, and run init "
            "again\n", {"v": (4, 4)})),
    ("TensorFlow: a box in each row", box_rows(
        "filename", "width", "height", "class"), Note(
        "note: to have a sample for each picture with all its boxes, and not for "
        "each row with one (class, centre and size, from 0 to 1): (cd /",
        {"filename": (6, *IMAGE), "xmin": (6,)},
        {"train": {"filename": (4, *IMAGE), "boxes": BOX_ROWS},
         "val": {"boxes": (64, 10)}})),
    *((f"a box in each row, and no sizes: {sides}", box_rows(
        "filename", "class", sides=sides), Note(
            "note: to have a sample for each picture with all its boxes, and not "
            "for each row with one (class, centre and size, from 0 to 1; Pillow "
            "reads the sizes of the pictures): (cd /", {"filename": (6, *IMAGE)},
            {"train": {"filename": (4, *IMAGE), "boxes": BOX_ROWS},
             "val": {"boxes": (64, 10)}}))
      for sides in (("12", "10", "24", "30"), ("0.25", "0.25", "0.5", "0.75"))),
    *((f"a box in each row, with classes in {name}", box_rows(
        "filename", "width", "height", name), Note(
            "each row with one (class, centre and size, from 0 to 1): (cd /",
            {"filename": (6, *IMAGE)},
            {"train": {"filename": (4, *IMAGE), "boxes": BOX_ROWS}}))
      for name in ("class_id", "category_id", "LabelName", "name", "object",
                   "class_name")),
    ("a box in each row, with classes in a column of another name", box_rows(
        "filename", "width", "height", "thing"), Note(
            "from 0 to 1; no column of classes was recognised, so each class is "
            "0: set Y to the name of that column, if there is one): (cd /",
            {"filename": (6, *IMAGE)}, {"train": {"boxes": Counter(
                [.375, .5, .25, .5] * 6 + [0] * 16)}})),
    *((f"a box in each row, of a picture with orientation {orientation}",
       boxes_of_turned(orientation), Note(
           "note: to have a sample for each picture with all its boxes, ",
           {"image": (2, *IMAGE)}, {"train": {"image": (2, *IMAGE), "boxes":
               Counter([.375, .5, .25, .5] * 2 + [0] * 2)}}))
      for orientation in (3, 6, 8)),
    ("a German list: commas before fractions between semicolons", written({
        "train.csv": "x;y;z;w\n1,150;a,b;1.200,5;1,200.5\n2,250;1,5;3.400;2\n"}),
     Remedy("train.csv: line 1: it has no comma, but ';'; ", "",
            {"x": Counter([1.15, 2.25]), "z": Counter([1200.5, 3400]),
             "y": (2,), "w": (2, 8)})),
    ("GLUE: a test without labels, which are -1", written({
        f"{split}.jsonl": "".join(json.dumps({
            "sentence": f"{split} {i}", "label": -1 if split == "test" else i % 2})
            + "\n" for i in range(4)) for split in ("train", "test")}), Note(
                "its label has numbers below 0, such as the -1 of samples without "
                "a label: to stream the split by itself, give init its file "
                "alone; to stream all splits without labels, write all lists "
                "without this column\n", {"label": Counter([0, 1, 0, 1])})),
    ("whole numbers in train, fractions in val", written({
        "train.csv": "x,y\n1,a\n2,b\n3,a\n", "val.csv": "x,y\n1.5,a\n2,b\n"}),
     {"x": Counter([1, 2, 3])}, ("val", {"x": [1.5, 2]})),
    *((f"an unpacked file beside the archive: {name}", written({
        name: text, f"{name}.gz": gzip.compress(text.encode())}), Remedy(
            sentence, "", {column: Counter([1, 4])}))
      for name, text, sentence, column in (
          ("cover.data", "1,2,3\n4,5,6\n", "cover.data has rows of 3 columns, "
           "separated by ',', and no header: write a list:", "c1"),
          ("reviews.json", '[{"y": 1}, {"y": 4}]', "reviews.json is not read as "
           "a list: write JSON lines, an object in each line:", "y"))),
    ("a list beside folders that are no classes", all_of(
        pictures_at(*(f"site{s}/{s}_{i}.jpg" for s in "ab" for i in range(3))),
        written({"labels.csv": picture_list("filename,label", *(
            f"{s}_{i}.jpg,{('ok', 'defect')[i % 2]}"
            for s in "ab" for i in range(3)))})), Note(
                "note: labels.csv: the column filename names pictures that are in "
                "folders (sitea/a_0.jpg), and these folders are read; to "
                "read the list instead, write a list of paths: (cd /",
                {"label": Counter([0] * 3 + [1] * 3)},
                {"train": {"label": Counter([1, 0, 1] * 2)}})),
    *((f"a value that a flip changes: {name}", listed((name, values)), Note(
        f"note: a horizontal flip would change left and right in {name}, so the "
        "picture is not flipped\n", {"image": (4, *IMAGE), name: (4,)}))
      for name, values in (
          ("steering", (-0.5, 0.25, 0, 1.5)), ("steering_angle", (-1, 2, 0, 3)),
          ("turn", ("left", "right", "left", "right")))),
    *((f"ChestX-ray14: texts with the pictures of splits{name}", all_of(
        listed(("label", "abab"), to="Data_Entry.csv"), written(texts)), Remedy(
            "test_list.txt says which pictures of the list Data_Entry.csv are of "
            "its split: write a list of each split:\n(cd /", "",
            {"image": (3, *IMAGE), "label": Counter([0, 0, 1])}),
       ("test", {"label": [1]}))
      for name, texts in (
          ("", {"train_val_list.txt": "0.jpg\n1.jpg\n2.jpg\n",
                "test_list.txt": "3.jpg\n"}),
          (", and none of train", {"test_list.txt": "images/3.jpg\n"}))),
    ("numbers with question marks", written({
        "train.csv": "age,ca\n" + "".join(
            f"{41 + i},{v}\n" for i, v in enumerate(
                ("0.0", "1.0", "?", "2.0", "3.0", "0.0")))}), Note(
                    "note: to have only numbers in 'ca', without the rows that "
                    "lack one", {"ca": (6, 4)},
                    {"train": {"ca": Counter([0, 1, 2, 3, 0])}})),
    *((f"boxes as x, y, {w}, {h}", listed(
        ("x", (1, 2, 3, 4)), ("y", (1, 2, 3, 4)), (w, (9, 9, 9, 9)),
        (h, (9, 9, 9, 9))), Note(
            "note: no op moves x, y with the picture, so it is only resized: ",
            {"image": (4, *IMAGE)})) for w, h in (("w", "h"), ("width", "height"))),
    *((f"Kaggle's wheat: a box in each row{', and no sizes' * (not sizes)}", listed(
        *sizes, ("bbox", ['"[12.0, 10.0, 12.0, 20.0]"'] * 4),
        ("source", "abab"), rows=(0, 0, 1, 1)), Note(
            "note: to have a sample for each picture with all its boxes, and not "
            "for each row with one (class, centre and size, from 0 to 1; of x, y, "
            "width and height in bbox", {"bbox": (4, 4)},
            {"train": {"image": (2, *IMAGE), "boxes": Counter(
                [0] * 4 + [.375, .5, .25, .5] * 4)}}))
      for sizes in ((("width", [48] * 4), ("height", [40] * 4)), ())),
    *((f"several labels in a cell: {several}", listed(
        ("labels", [f'"{x}"' for x in (several, a, b, several)])), Note(
            f"note: column labels has several labels in a cell, as '{several}', "
            "and each combination is a class; to have 0 or 1 for each label: "
            "(cd /", {"labels": (4,)},
            {"train": {"labels": Counter(2 * [0] + 6 * [1])}}))
      for several, a, b in (
          ("cat,dog", "cat", "dog"), ("cat dog", "dog", "cat"),
          ("['cat', 'dog']", "['dog']", "['cat']"), ("16|0", "0", "16"))),
    ("VQA: answers and questions", all_of(
        pictures_at("images/0.jpg", "images/1.jpg"), written({
            f"{name}.json": json.dumps({name: [
                {"image_id": i, key: f"{key} {i}"} for i in range(2)]})
            for name, key in (("annotations", "answer"),
                              ("questions", "question"))})),
     "annotations.json is not read as a list (nor questions.json): write "
     "JSON lines, an object in each line:\n(cd /"),
    ("several labels in JSON lines", lines(
        lambda i: line(i, labels=["cat;dog", "cat", "dog", "cat;dog"][i])), Note(
            "note: column labels has several labels in a cell, as 'cat;dog', ",
            {"labels": Counter([0, 1, 1, 2])},
            {"train": {"labels": Counter(2 * [0] + 6 * [1])}})),
    ("labels of several words", listed(
        ("label", ("red apple", "red pear", "pear", "pear"))),
     {"label": Counter([0, 0, 1, 2])}),
    *((f"coordinates: {', '.join(names)}", listed(
        *((name, (1, 2, 3, 4)) for name in names)), Note(
            f"note: no op moves {shown or names[0]}",
            {"image": (4, *IMAGE), names[0]: Counter([1, 2, 3, 4])}))
      for shown, *names in (
          ("", "left_eye_center_x", "left_eye_center_y"),
          ("", "lefteye_x", "lefteye_y"),
          ("", "part_0_x", "part_0_y"), ("", "cx", "cy"), ("", "x0", "y0"),
          ("bbox_x, bbox_y with", "bbox_x", "bbox_y", "bbox_w", "bbox_h"),
          ("left, top with", "left", "top", "right", "bottom"),
          ("xtl, ytl, xbr, ybr with", "xtl", "ytl", "xbr", "ybr"),
          ("", "bx", "by"), ("", "pt0", "pt1"), ("", "point1", "point2"))),
    *((f"coordinates in lists: {name}", lists_of(name, [1, 2, 3, 4]), Note(
        f"note: no op moves {name} with the picture",
        {"image": (4, *IMAGE), name: (4, 4)}))
      for name in ("coords", "joints", "corners", "poly", "rect", "box2d",
                   "region", "segmentation")),
    ("UCR: lists without names, with splits in capitals", written({
        "Coffee_TRAIN.csv": "0,1.5\n1,2.5\n0,3.5\n",
        "Coffee_TEST.csv": "0,4.5\n1,5.5\n"}), Remedy(
            "Coffee_TEST.csv: line 1 has values (0) where the names of the "
            "columns must be: write a list with one more line:", "", {"c2": Counter([1.5, 2.5, 3.5])}),
     ("test", {"c2": [4.5, 5.5]})),
    ("lists with tabs of splits in capitals", written({
        "Coffee_TRAIN.tsv": "y\tx\n0\t1.5\n1\t2.5\n",
        "Coffee_TEST.tsv": "y\tx\n0\t4.5\n1\t5.5\n"}), Remedy(
            "Coffee_TEST.tsv has tabs: write a list with commas:\n", "",
            {"x": Counter([1.5, 2.5])}), ("test", {"x": [4.5, 5.5]})),
    ("texts of train and val", prose,
     "train.txt is a text without token ids: write those of your tokenizer "
     "into train.bin; or its bytes, as ids of type u8:\n(cd /"),
    ("chats", chats("role", "content", n=1), Remedy(
        "train.jsonl: the column messages has chats, lists of objects, which "
        "are not read: write a text of each:\n(set -C; cd /", "",
        {"text": Counter(b"".join(b"user: hi %d\nbot: a\n'b'" % i + bytes(
            11) for i in range(4)))}), ("val", {"text": (64, 32)})),
    ("ShareGPT's chats beside texts", chats("from", "value", text="x"), Note(
        "note: the column messages has chats, which are not read; to write a "
        "text of each: (set -C; cd /", {"text": (4, 1)},
        {"train": {"text": (4, 1), "chat": (4, 32)}})),
    ("ids of tokens, and numbers below 0", lines(
        lambda i: line(i, ids=[i, 2**24 + 1], n=-i)),
     {"ids": Counter([0, 1, 2, 3] + 4 * [2**24 + 1]),
      "n": Counter([0, -1, -2, -3]), **FOUR}),
    ("Kaggle's MNIST: a wide list with labels", wide_with_labels, Remedy(
        "train.csv: line 1: more than 256 columns: to have all columns of "
        "numbers as one, x, beside the label (needs NumPy; ",
        "table", {"x": (4, 300), "label": Counter(range(4))})),
    ("a later mask in colours in a folder", folders_of_masks, Note(
        f"left out: masks.png: masks/2.png has colours, {SECOND}to number "
        "them: (cd ", {"images": (4, *IMAGE)},
        {"train": {"images": (4, *IMAGE), "masks": (4, 224, 224, 1)}})),
    ("a later mask in colours in a tar", tar_of_masks, Note(
        f"left out: mask.png: 0002.mask.png has colours, {SECOND}masks are "
        "PNG in grey or with a palette\n", {"image": (4, *IMAGE)})),
    ("captions of pictures by name", all_of(
        pictures_at("images/0.jpg", "images/1.jpg"),
        lambda root: save(root / "captions.json", json.dumps(
            {f"{i}.jpg": ["a dog", "a pug"] for i in range(2)}))), Remedy(
                "captions.json is not read as a list: write JSON lines, an "
                "object in each line:\n(cd /", "",
                {"image": (2, *IMAGE), "captions": (2, 8)})),
    ("objects of pictures by name", all_of(
        pictures_at("images/0.jpg", "images/1.jpg"),
        lambda root: save(root / "train.json", json.dumps(
            {f"{i}.jpg": {"age": i} for i in range(2)}))), Remedy(
                "train.json is not read as a list: write JSON lines, an "
                "object in each line:\n(cd /", "",
                {"image": (2, *IMAGE), "age": Counter([0, 1])})),
    ("objects by id", lambda root: save(root / "train.json", json.dumps(
        {str(i + 7): {"age": i} for i in range(2)})), Remedy(
            "train.json is not read as a list: write JSON lines, an object in "
            "each line:\n(cd /", "",
            {"id": Counter([7, 8]), "age": Counter([0, 1])})),
    ("VQA: questions and answers", lambda root: [
        save(root / f"v2_{kind}_train2014_{key}.json", json.dumps({
            "info": {}, key: [{"image_id": i, "question_id": i, "x": "cat?"}
                              for i in range(3)]}))
        for kind, key in (("OpenEnded_mscoco", "questions"),
                          ("mscoco", "annotations"))] and None,
     "v2_OpenEnded_mscoco_train2014_questions.json has VQA's questions or "
     "answers, which are not joined: write JSON lines with image (its path), "
     "question and answer\n"),
    *((f"JSON without objects: {name}", lambda root, text=text: save(
        root / "x.json", text),
       "x.json is not read as a list, and its form is not known: write a "
       ".csv or .jsonl with a row for each sample\n")
      for name, text in (
          ("captions by stem", '{"a": ["x"], "b": ["y"]}'),
          ("numbers by picture", '{"a.jpg": [1, 2], "b.jpg": [3, 4]}'),
          ("settings", '{"size": 3}'),
          ("several arrays", '{"info": {}, "a": [{"x": 1}], "b": [{"x": 2}]}'))),
]


# What needs several commands: the file, its content, the number of commands,
# and the shapes at the end.
CHAINS = [
    ("Flickr8k: a list in .txt beside its pictures", "captions.txt",
     'image,caption\n0.jpg,"A ""b"", c ."\n0.jpg,D e .\n', 2,
     {"image": (2, *IMAGE), "caption": (2, 16)}),
    ("SMS spam of Kaggle: Latin-1, and no names at the end", "spam.csv",
     "v1,v2,,\nham,\"a \u00a3\",,\nspam,b,,\n".encode("latin-1"), 2,
     {"v1": (2, 4), "v2": (2, 4)}),
    ("winequality: blanks in names, too", "winequality-red.csv",
     '"fixed acidity";"quality"\n7.4;5\n7.8;6\n', 2,
     {"fixed_acidity": Counter([7.4, 7.8]), "quality": Counter([5, 6])}),
    ("CoLA: no header, and a column with gaps", "in_domain_train.tsv",
     'gj04\t1\t\t"A b\nks08\t0\t*\tC d\n', 3,
     {"c1": (2, 4), "c3": Counter(b" *"), "c4": Counter(b'"A bC d\0')}),
]


class Lists(test_corpus.Corpus):
    rows = ROWS

    def test_a_command_that_fails_leaves_no_list(self):
        root = self.cluster.path("cut") / "data"
        save(root / "train.jsonl", '{\n"y": 1\n}\n{\n"y": 2\n')
        made = self.run_one("init", root, "-o", root.parent / "p.yaml")
        with self.assertRaises(subprocess.CalledProcessError):
            self.run_command(made.stderr, root)
        self.assertEqual(list(root.glob("*.jsonl")), [root / "train.jsonl"])

    def test_a_name_in_several_folders_is_not_guessed(self):
        root = self.cluster.path("several") / "data"
        with_list("train.csv", "file,y", "0.jpg,1", "1.jpg,2",
                  pictures=[f"x/{p}/0.jpg" for p in "abc"] + ["x/a/1.jpg"])(root)
        made = self.run_one("init", root, "-o", root.parent / "p.yaml")
        line = test_corpus.COMMAND.search(made.stderr)[0]
        command = subprocess.run(line.split(" && forebay init ")[0], shell=True,
                                 stderr=subprocess.PIPE, text=True)
        self.assertEqual(
            command.stderr, "0.jpg is in 3 folders (x/a/0.jpg, x/b/0.jpg): "
            "write paths from the folder of the list\n")
        self.assertEqual(list(root.glob("*.csv")), [root / "train.csv"])

    def test_each_command_leads_to_the_next(self):
        for number, (name, file, content, n, shapes) in enumerate(CHAINS):
            with self.subTest(name):
                root = self.cluster.path(f"chain{number}") / "data"
                save(root / file, content)
                if "image" in shapes:
                    save(root / "Images/0.jpg", picture(0))
                pipeline = root.parent / "p.yaml"
                for i in range(n):
                    made = self.run_one("init", root, "-o",
                                        root.parent / f"{i}")
                    self.run_command(made.stderr, root)
                said = self.check_shapes(root, pipeline, [(None, shapes)])
                self.assertIsNone(test_corpus.COMMAND.search(said), said)


if __name__ == "__main__":
    harness.main()
