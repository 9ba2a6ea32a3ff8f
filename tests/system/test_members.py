# SPDX-License-Identifier: Apache-2.0
"""Members of tar samples, as people have them: `forebay init` and then `forebay
pull` is all that is typed. What a row means is said in test_corpus.py."""

import io
import json
import tarfile
import zipfile

from collections import Counter

import harness
import numpy
import test_corpus

from PIL import Image
from test_corpus import (IMAGE, Note, Remedy, encoded, id_text, jpg, mask,
                         picture, samples, save, tar)


def npy(array):
    out = io.BytesIO()
    numpy.save(out, array)
    return out.getvalue()


def made(last=5, **members):
    """A tar of samples 0 to `last` - 1; a member is made from its number."""
    return lambda root: tar(root / "t.tar", samples(0, last, **members))


def objects(make):
    return lambda number: json.dumps(make(number))


def of_size(width, height):
    return lambda number: encoded(Image.fromarray(
        numpy.full((height, width), number, "u1")), "PNG")


def masks_of(width, height):
    def make(root):
        for i in range(4):
            save(root / f"images/{i}.jpg", picture(i))
            save(root / f"masks/{i}.png", of_size(width, height)(i))
    return make


def named(change):
    """The members of eight samples, with names that `change` makes."""
    def make(root):
        tar(root / "t.tar", {
            change(name): data for name, data in samples(
                0, 8, jpg=jpg, cls=id_text).items()})
    return make


def long_names(root):
    with tarfile.open(root / "t.tar", "w", format=tarfile.PAX_FORMAT) as out:
        for name, data in samples(0, 4, jpg=jpg).items():
            member = tarfile.TarInfo(f"{'x' * 90}/{'y' * 90}/é{name}")
            member.size = len(data)
            out.addfile(member, io.BytesIO(data))


def tars_in_folders(root):
    for i in range(3):
        tar(root / f"part{i}/s-00000.tar",
            samples(0, 2, jpg=jpg, cls=id_text))


def masks_late(root):
    """Two tars, of which the second has masks in colours."""
    tar(root / "t-0.tar", samples(0, 4, **{"jpg": jpg, "mask.png": mask}))
    tar(root / "t-1.tar", samples(4, 8, **{
        "jpg": jpg, "mask.png": lambda i: encoded(
            Image.new("RGB", (48, 40), (i, 2, 3)), "PNG")}))


def a_readme(root):
    tar(root / "t.tar", {
        "README.md": "words", **samples(0, 4, jpg=jpg, cls=id_text)})


def two_readmes(root):
    tar(root / "a-0.tar", {
        "./README.md": "words", "x/notes.txt": "words",
        **{f"x/{name}": data for name, data in samples(
            0, 4, jpg=jpg, cls=id_text).items()}})
    tar(root / "a-1.tar", samples(4, 8, jpg=jpg, cls=id_text))


def unsorted(root):
    members = samples(0, 3, jpg=jpg, cls=id_text)
    tar(root / "t.tar", dict(sorted(
        members.items(), key=lambda item: item[0][::-1])))


def null_column(root):
    save(root / "1.jpg", picture(1))
    save(root / "t.jsonl", '{"image":"1.jpg","y":1,"n":null}\n' * 2)


def upper_zip(root):
    with zipfile.ZipFile(root / "D.ZIP", "w") as out:
        for i in range(4):
            out.writestr(f"{'ab'[i % 2]}/{i}.JPEG", jpg(i))


SEVERAL_KINDS = objects(lambda i: {
    "flag": i % 2 == 0, "yes": True, "none": None, "some": None if i else 1,
    "cap tion": f"n{i}", "boxes": [[1, 2], [3, 4]], "a.b": 1, "deep": {
        "er": {"still": 1}}, "mixed": i if i else "text", "": 2, "empty": {}})

def captions_of_train(root):
    tar(root / "train-0.tar", samples(0, 5, jpg=jpg, txt=id_text))
    tar(root / "val-0.tar", samples(0, 5, jpg=jpg))


def arrays_of_another_shape_in_val(root):
    for split, size in (("train", 3), ("val", 4)):
        tar(root / f"{split}-0.tar", samples(
            0, 5, npy=lambda i, size=size: npy(numpy.zeros((2, size)))))


def longer_arrays_in_val(root):
    for split, size in (("train", 3), ("val", 5)):
        tar(root / f"{split}-0.tar", samples(
            0, 5, npy=lambda i, size=size: npy(numpy.zeros((size, 2)))))


CORPUS = [
    ("captions in .caption", made(jpg=jpg, caption=lambda i: f"number {i}"),
     {"image": (5, *IMAGE), "caption": (5, 8)}),
    ("captions in .txt", made(jpg=jpg, txt=lambda i: f"number {i}"),
     {"image": (5, *IMAGE), "text": (5, 8)}),
    ("captions in .txt and .json", made(
        jpg=jpg, txt=lambda i: f"n{i}", json=objects(lambda i: {"text": "x"})),
     {"text": (5, 2), "json_text": (5, 1)}),
    ("long texts", made(jpg=jpg, txt=lambda i: "a" * (5000 + i)), Note(
        "note: txt: texts have up to 5004 bytes, and are cut after 4096: for "
        "more, raise max_length in the file\n", {"text": (5, 4096)})),
    ("texts and labels without pictures", made(
        txt=lambda i: f"n{i}", cls=id_text),
     {"text": (5, 2), "label": Counter([0, 1, 2, 3, 0])}),
    ("arrays and labels", made(
        npy=lambda i: npy(numpy.full((3, 4), i, "f8")), cls=id_text),
     {"array": (5, 3, 4), "label": Counter([0, 1, 2, 3, 0])}),
    ("arrays of two names", lambda root: [tar(
        root / f"{name}-0.tar", samples(0, 5, **{
            "x.npy": lambda i: npy(numpy.zeros((8, 2), "f2")),
            "y.npy": lambda i: npy(numpy.int64(i))})) and None
        for name in ("train", "val")] and None,
     {"x": (5, 8, 2), "y": Counter(range(5))}, ("val", {"x": (64, 8, 2)})),
    ("arrays of several lengths", made(
        npy=lambda i: npy(numpy.zeros((i + 1, 4), "i2")),
        json=objects(lambda i: {"label": i})),
     {"array": (5, 8, 4), "array.lengths": Counter(range(1, 6)),
      "label": Counter(range(5))}),
    ("captions that val lacks", captions_of_train, Note(
        "/val-0.tar: its samples have no txt\n", {"text": (5, 1)})),
    ("arrays of another shape in val", arrays_of_another_shape_in_val, Note(
        "/val-0.tar: its npy has another shape\n", {"array": (5, 2, 3)})),
    ("longer arrays in val", longer_arrays_in_val,
     {"array": (5, 8, 2), "array.lengths": Counter([3] * 5)},
     ("val", {"array.lengths": Counter([5] * 64)})),
    ("arrays beside pictures", made(
        jpg=jpg, npy=lambda i: npy(numpy.zeros(3, "u1"))),
     {"image": (5, *IMAGE), "array": (5, 3)}),
    ("arrays of several shapes", made(
        npy=lambda i: npy(numpy.zeros((2, i + 1))), cls=id_text),
     "0001.npy in t.tar is of another shape than the first (only the first "
     "dimension may differ): save arrays of one shape"),
    ("arrays in Fortran order beside pictures", made(
        jpg=jpg, npy=lambda i: npy(numpy.zeros((2, 3), order="F"))), Note(
            'left out: member "npy": 0000.npy in t.tar is in Fortran order: '
            "save np.ascontiguousarray(x)\n", {"image": (5, *IMAGE)})),
    ("no arrays but their name", made(jpg=jpg, npy=lambda i: "text"), Note(
        'left out: member "npy": 0000.npy in t.tar is no array that is read: ',
        {"image": (5, *IMAGE)})),
    ("arrays of objects", made(
        npy=lambda i: npy(numpy.array([{}], "O")), cls=id_text),
     "0000.npy in t.tar is no array that is read: its dtype is '|O'; bool, "
     "integers of 8 to 64 bits and floats of 16 to 64 bits are read; save "
     "rows of one shape with numpy.stack, "),
    ("arrays of five dimensions", made(
        npy=lambda i: npy(numpy.zeros((1, 2, 2, 2, 2))), cls=id_text),
     "0000.npy in t.tar is of shape [1, 2, 2, 2, 2]: a field has at most 4 "
     "dimensions, and none of 0: reshape the arrays\n"),
    ("arrays without values", made(
        jpg=jpg, npy=lambda i: npy(numpy.zeros(0))), Note(
            'left out: member "npy": the npy files that were read have no '
            "values: save arrays with some\n", {"image": (5, *IMAGE)})),
    ("arrays of no rows alone", made(
        npy=lambda i: npy(numpy.zeros((0, 3)))),
     "the npy files that were read have no values: save arrays with some\n"),
    ("an array that is cut", made(
        jpg=jpg, npy=lambda i: npy(numpy.zeros((2, 3)))[:-(i == 3) or None]),
     Note('left out: member "npy": 0003.npy in t.tar is cut: it has 47 bytes of '
          "values, and [2, 3] of float64 are 48: save it again\n",
          {"image": (5, *IMAGE)})),
    ("a long array that is too long", made(
        jpg=jpg, npy=lambda i: npy(numpy.zeros(90000, "u1")) + b"x"), Note(
            'left out: member "npy": 0000.npy in t.tar is too long: it has '
            "90001 bytes of values, and [90000] of uint8 are 90000: save it "
            "again\n", {"image": (5, *IMAGE)})),
    ("a text in Latin-1", made(
        jpg=jpg, txt=lambda i: "\xe4".encode("latin-1") if i == 2 else "a"),
     Note('left out: member "txt": 0002.txt in t.tar is not UTF-8: convert '
          "it\n", {"image": (5, *IMAGE)})),
    ("a caption with a NUL", made(
        jpg=jpg, caption=lambda i: "a\0" if i == 2 else "a"), Note(
            'left out: member "caption": 0002.caption in t.tar is no text: it '
            "has a NUL byte: write it again\n", {"image": (5, *IMAGE)})),
    ("a label in Latin-1", made(
        jpg=jpg, cls=lambda i: "\xe4".encode("latin-1") if i == 2 else "a"),
     Note('left out: member "cls": 0002.cls in t.tar is not UTF-8: convert '
          "it\n", {"image": (5, *IMAGE)})),
    ("a label of 2 MB", made(
        jpg=jpg, cls=lambda i: "x" * 2000000 if i == 3 else "dog"), Note(
            'left out: member "cls": 0003.cls in t.tar is no label: it has '
            "2000000 bytes: write a number or a name\n",
            {"image": (5, *IMAGE)})),
    ("labels of which one is long", made(
        jpg=jpg, cls=lambda i: "x" * 2000 if i == 3 else "dog"),
     {"label": (5, 2048)}),
    ("a key called null", made(
        jpg=jpg, json=objects(lambda i: {"null": i, "a": {"no": i + 1}, "012":
                                         "a b"})),
     {"null": Counter(range(5)), "a_no": Counter(range(1, 6)),
      "c_012": (5, 4)}),
    ("members called null and off", made(
        jpg=jpg, **{"null.npy": lambda i: npy(numpy.zeros(3)),
                    "off.txt": lambda i: "a b", "0.txt": id_text}),
     {"null": (5, 3), "off": (5, 4)}),
    ("control characters in JSON", made(
        jpg=jpg, json=lambda i: "\33[31m{"), Note(
            'left out: member "json": 0000.json in t.tar is no valid JSON '
            "(line 1: ", {"image": (5, *IMAGE)})),
    ("arrays in .npz", made(npz=lambda i: b"zip", cls=id_text),
     "member npz: it is not read: save each of its arrays as a member such as "
     "x.npy, and texts and numbers as json"),
    ("objects of Python beside pictures", made(
        jpg=jpg, pyd=lambda i: b"x", cls=id_text), Note(
            'left out: member "pyd": it is not read: save each of its arrays '
            "as a member such as x.npy, and texts and numbers as json\n",
            {"label": Counter([0, 1, 2, 3, 0])})),
    ("a member of an unknown type", made(
        jpg=jpg, foo=lambda i: b"x", **{"b.cls": id_text}, cls=id_text), Note(
            'left out: member "foo": if it is text, add a field: {from: foo, '
            "decode: text, max_length: 256, too_long: truncate}\n"
            'left out: member "cls": it is a second label: if it is needed, '
            "add {from: cls, decode: label}\n",
            {"label": Counter([0, 1, 2, 3, 0])})),
    ("a video and JSON", made(
        mp4=lambda i: b"x", json=objects(lambda i: {"n": i})), Note(
            'left out: member "mp4": video (*.mp4) is not read yet; ',
            {"n": Counter(range(5))})),
    ("JSON with values that no field reads", made(
        jpg=jpg, json=SEVERAL_KINDS), Note(
            'left out: member "json": it has further keys: add a field for '
            "each that is needed\n"
            'left out: key "flag": its values are true and false: write 1 and '
            "0, which a label can be\n"
            'left out: key "yes": its values are true and false: write 1 and '
            "0, which a label can be\n"
            'left out: key "boxes": its lists hold lists: write one list of '
            "numbers into each sample, as [1, 2, 3, 4, 5, 6, 7, 8] for two "
            "boxes and [] for none\n"
            'left out: key "a.b": no field can read a name with dots: rename '
            "it\n"
            'left out: key "deep.er": its values are objects: add a field for '
            "each member that is needed, as {from: json, decode: number, key: "
            "a.b.c}\n"
            'left out: key "mixed": its values are of several kinds: write '
            "numbers into all samples, or texts, or lists of numbers (also "
            "[]), or lists of texts\n"
            'left out: key "empty": its values are objects: add a field for '
            "each member that is needed, as {from: json, decode: number, key: "
            "a.b.c}\n"
            'left out: key "some": it is null in some samples: write a value '
            "into all of them\n"
            'left out: key "none": its values are all null: write numbers or '
            "texts\n", {"cap_tion": (5, 2)})),
    ("JSON of one list each", made(
        jpg=jpg, json=objects(lambda i: list(range(i)))),
     {"json": (5, 4), "json.lengths": Counter(range(5))}),
    ("JSON of one number each", made(
        jpg=jpg, **{"age.json": objects(lambda i: i)}),
     {"age": Counter(range(5))}),
    ("JSON of a list of objects", made(
        jpg=jpg, json=objects(lambda i: [{"bbox": [1, 2, 3, 4]}])), Note(
            'left out: member "json": its lists hold other values than texts '
            "or numbers: add a field for each entry that is needed (key: "
            '"0" is the first)\n', {"image": (5, *IMAGE)})),
    ("invalid JSON", made(
        jpg=jpg, json=lambda i: "{" if i == 3 else '{"a": 1}'), Note(
            'left out: member "json": 0003.json in t.tar is no valid JSON '
            "(line 1: ", {"image": (5, *IMAGE)})),
    ("JSON of empty objects", made(jpg=jpg, json=lambda i: "{}"), Note(
        'left out: member "json": its objects have no keys\n',
        {"image": (5, *IMAGE)})),
    ("a column of nulls", null_column, Note(
        'left out: column "n": it has no value in 2 rows of 2: write one into '
        "each\n", {"y": Counter([1, 1])})),
    ("two pictures", made(**{"a.jpg": jpg, "b.jpg": jpg}, cls=id_text), Note(
        "left out: b.jpg: a second picture; if it is needed, remove the # of its "
        "field in the file (of a mask, this compression changes class ids)\n", {"image": (5, *IMAGE)})),
    ("a mask too few", lambda root: tar(root / "t.tar", dict(list(samples(
        0, 5, **{"jpg": jpg, "mask.png": mask, "cls": id_text}).items())[:-6]
        + list(samples(4, 5, jpg=jpg, cls=id_text).items()))), Note(
            'left out: member "mask.png": some samples lack it: add it to all '
            "of them\n", {"label": (4,)})),
    ("masks in colours in the second tar", masks_late, Note(
        "left out: mask.png: 0004.mask.png has colours, so it has no class ids; "
        "if it is a second picture, remove the # of its field in the file; "
        "masks are PNG in grey or with a palette\n", {"image": (8, *IMAGE)})),
    ("masks of half the size", masks_of(24, 20), Note(
        "note: masks.png: a mask has 24 x 20 pixels, its picture 48 x 40, so "
        "masks are stretched (fit: stretch)\n",
        {"masks": (4, 224, 224, 1)})),
    ("masks of other pictures", masks_of(25, 40),
     "masks/0.png has 25 x 40 pixels, its picture images/0.jpg 48 x 40: correct "
     "the pairs, or, if both show the same scene, give init --stretch\n"),
    ("masks of other pictures in a tar", made(
        **{"jpg": jpg, "mask.png": of_size(40, 48)}),
     "0000.mask.png has 40 x 48 pixels, its picture 0000.jpg 48 x 40: rotate "
     "the masks by the EXIF orientation of the pictures; if they are masks of "
     "other pictures, correct the pairs\n"),
    ("names in upper case", named(str.upper),
     {"image": (8, *IMAGE), "label": Counter([0, 1, 2, 3] * 2)}),
    ("names with ./", named(lambda name: f"./a/{name}"),
     {"image": (8, *IMAGE), "label": Counter([0, 1, 2, 3] * 2)}),
    ("long names", long_names, {"image": (4, *IMAGE)}),
    ("an empty tar", lambda root: tar(root / "t.tar", {}),
     "shard t.tar: it has no samples: pack files such as 0001.jpg into it, or remove it"),
    ("tars in folders", tars_in_folders, Remedy(
        "the tar files are in several folders: link them into one, all, and "
        "give init that: (cd /", "all",
        {"image": (6, *IMAGE), "label": Counter([0, 1] * 3)})),
    ("a README among samples", a_readme, Remedy(
        "the sample README of t.tar has no picture, as the others have: write "
        "tars without such samples into new/, and give that to init:\n(cd /",
        "new", {"image": (4, *IMAGE), "label": Counter(range(4))})),
    ("a README in one of two tars, and a file of dots", two_readmes, Remedy(
        "the sample README of a-0.tar has no picture, as the others have: write "
        "tars without such samples into new/, and give that to init:\n(cd /",
        "new", {"image": (8, *IMAGE), "label": Counter([0, 1, 2, 3] * 2)})),
    ("the tar of a README itself", lambda root: a_readme(root) or root / "t.tar",
     Remedy("the sample README of t.tar has no picture", "new/t.tar",
            {"image": (4, *IMAGE)})),
    ("samples that are not sorted", unsorted,
     "the members of a sample must follow one another: unpack the tar, and "
     "pack it again with tar --sort=name\n"),
    ("a zip in upper case", upper_zip, {"label": Counter([0, 0, 1, 1])}),
]


class Members(test_corpus.Corpus):
    rows = CORPUS

    def test_masks_of_another_aspect_are_stretched_if_that_is_said(self):
        root = self.cluster.path("masks")
        masks_of(25, 40)(root)
        pipeline = self.cluster.path("masks.yaml")
        made = self.run_one("init", "--stretch", root, "-o", pipeline)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn(
            "note: masks.png: a mask has 25 x 40 pixels, its picture 48 x 40, "
            "so masks are stretched (fit: stretch)\n", made.stderr)
        self.assertEqual(self.arrays(pipeline, None, "")["masks"].shape,
                         (4, 224, 224, 1))


if __name__ == "__main__":
    harness.main()
