# SPDX-License-Identifier: Apache-2.0
"""Little data sets made with the libraries that people use; more of them, made
with NumPy and Pillow, are in tests/system/test_corpus.py. `forebay init` and
then `forebay pull` is all that is typed."""

import pathlib
import sys

from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import package  # noqa: E402, F401, the path of the next ones
import harness  # noqa: E402
import test_corpus  # noqa: E402

import datasets  # noqa: E402
import h5py  # noqa: E402
import lmdb  # noqa: E402
import numpy  # noqa: E402
import pandas  # noqa: E402
import torch  # noqa: E402
import torchvision  # noqa: E402
import webdataset  # noqa: E402

from test_corpus import IMAGE, Remedy, mask, picture, save  # noqa: E402

SHARDS = "is not read yet; write its samples as files into tar shards first"
ARRAYS = "is not read yet; save its arrays as NumPy files first"
datasets.disable_progress_bars()


def fake_image_folder(root):
    for split, size in (("train", 9), ("val", 4)):
        fake = torchvision.datasets.FakeData(size, (3, 40, 48), 3)
        for i, (image, target) in enumerate(fake):
            save(root / split / f"class{target}" / f"{i}.png", image)
        for target in range(3):  # each class, whatever FakeData has drawn
            save(root / split / f"class{target}" / "x.png", picture(target))


def shards(**members):
    """Tar shards of 10 samples; a member is made from the sample's number."""
    def make(root):
        with webdataset.ShardWriter(str(root / "train-%06d.tar"), maxcount=6,
                                    verbose=0) as writer:
            for i in range(10):
                writer.write({"__key__": f"{i:06}", **{
                    name.replace("_", "."): value(i)
                    for name, value in members.items()}})
    return make


def compressed_shard(root):
    with webdataset.TarWriter(str(root / "train-0.tar.gz")) as writer:
        writer.write({"__key__": "0", "jpg": picture(0), "cls": 0})


def pictures_of_hugging_face():
    return datasets.Dataset.from_dict(
        {"image": [picture(i) for i in range(4)], "label": [0, 1, 0, 1]},
        features=datasets.Features({
            "image": datasets.Image(),
            "label": datasets.ClassLabel(names=["cat", "dog"])}))


def arrow(root):
    pictures_of_hugging_face().save_to_disk(root)


def arrow_splits(root):
    data = pictures_of_hugging_face()
    datasets.DatasetDict({"train": data, "test": data}).save_to_disk(root)


def parquet(*names):
    """Parquet files of 4 pictures each."""
    def make(root):
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            pictures_of_hugging_face().to_parquet(root / name)
    return make


def numbers_in_parquet(root):
    pandas.DataFrame({
        "x": [0.5, 1.5, numpy.nan], "y": [0, 1, 0], "text": ["a", "b c", "d"],
        "v": [[1.0, 2.0]] * 3, "when": pandas.to_datetime(["2024-01-02"] * 3),
        "raw": [b"\0a"] * 3}).to_parquet(root / "table.parquet")


PICTURES = {"image": (4, *IMAGE), "label": Counter([0, 0, 1, 1])}
CONVERT = ("is not read yet; to write tar files, or lists if there are no "
           "pictures (with pyarrow) into a new folder:\n(cd /")


def texts(write):
    """A file of texts, by a method of datasets.Dataset."""
    def make(root):
        write(datasets.Dataset.from_dict(
            {"text": ["a b", 'c, "d"', "é"], "label": [0, 1, 0]}), root)
    return make


def metadata(name):
    """Hugging Face's imagefolder: train/metadata.csv beside the pictures."""
    def make(root):
        for split, rows in (("train", 4), ("val", 2)):
            folder = root / split
            for i in range(rows):
                save(folder / f"{i:04}.png", picture(i))
            table = pandas.DataFrame({
                "file_name": [f"{i:04}.png" for i in range(rows)],
                "text": [f"a cat, {i}" for i in range(rows)]})
            if name.endswith(".csv"):
                table.to_csv(folder / name, index=False)
            else:
                table.to_json(folder / name, orient="records", lines=True)
    return make


def frame_with_index(root):
    for i in range(4):
        save(root / f"images/{i}.png", picture(i))
    pandas.DataFrame({
        "path": [f"images/{i}.png" for i in range(4)],
        "age": [1.5, numpy.nan, 3, 4], "breed": ["a", None, "b", "a"],
        "y": [0, 1, 0, 1]}).to_csv(root / "train.csv")


def dog_breeds(root):
    """Kaggle: ids without extension, and breeds as words."""
    for i in range(4):
        save(root / f"train/000{i}.jpg", picture(i))
    save(root / "test/000a.jpg", picture(9))
    pandas.DataFrame({
        "Id": [f"000{i}" for i in range(4)],
        "breed": ["pug", "cat", "pug", "cat"]}).to_csv(
            root / "labels.csv", index=False)


def table_with_tabs(root):
    for i in range(4):
        save(root / f"images/{i}.jpg", picture(i))
    pandas.DataFrame({
        "file": [f"images/{i}.jpg" for i in range(4)], "y": range(4)}).to_csv(
            root / "train.tsv", sep="\t", index=False)


def records(root):
    for i in range(4):
        save(root / f"images/{i}.jpg", picture(i))
    pandas.DataFrame({
        "image": [f"images/{i}.jpg" for i in range(4)], "y": range(4)}).to_json(
            root / "train.json", orient="records")


def hdf5(root):
    with h5py.File(root / "train.hdf5", "w") as file:
        file["x"] = numpy.zeros((4, 3))


def lmdb_folder(root):
    with lmdb.open(str(root / "train.lmdb"), map_size=1 << 20) as data:
        with data.begin(write=True) as transaction:
            transaction.put(b"0", b"x")


def saved_by_torch(root):
    torch.save({"x": torch.zeros(4)}, root / "train.pt")


DATA_SETS = [
    ("torchvision: ImageFolder of FakeData", fake_image_folder,
     {"image": (12, *IMAGE), "label": (12,)},
     ("val", {"image": (64, *IMAGE), "label": (64,)})),
    ("webdataset: jpg and cls", shards(jpg=picture, cls=lambda i: i % 3),
     {"image": (10, *IMAGE), "label": Counter(i % 3 for i in range(10))}),
    ("webdataset: jpg and json", shards(
        jpg=picture, json=lambda i: {"caption": f"a cat {i}", "width": 48}),
     {"image": (10, *IMAGE), "caption": (10, 8), "width": [48] * 10}),
    ("webdataset: jpg and txt", shards(
        jpg=picture, txt=lambda i: f"picture {i}"), {"image": (10, *IMAGE)}),
    ("webdataset: jpg and seg.png", shards(jpg=picture, seg_png=mask),
     {"image": (10, *IMAGE), "seg": (10, 224, 224, 1)}),
    ("webdataset: a compressed shard", compressed_shard,
     " && gunzip -k train-0.tar.gz)"),
    ("datasets: save_to_disk", arrow, Remedy(
        "Arrow (data-00000-of-00001.arrow) " + CONVERT, "converted", PICTURES)),
    ("datasets: save_to_disk of splits", arrow_splits, Remedy(
        "in train: Arrow (data-00000-of-00001.arrow) " + CONVERT, "converted",
        PICTURES), ("test", {"image": (64, *IMAGE)})),
    ("datasets: to_parquet", parquet(
        "data/train-00000-of-00002.parquet",
        "data/train-00001-of-00002.parquet",
        "data/validation-00000-of-00001.parquet"), Remedy(
            "in data: Parquet (train-00000-of-00002.parquet) " + CONVERT,
            "data/converted",
            {"image": (8, *IMAGE), "label": Counter([0] * 4 + [1] * 4)}),
     ("validation", {"image": (64, *IMAGE)})),
    ("datasets: Parquet files in folders of splits", parquet(
        "train/0000.parquet", "train/0001.parquet", "test/0000.parquet"),
     Remedy("in train: Parquet (0000.parquet) " + CONVERT, "converted",
            {"image": (8, *IMAGE)}), ("test", {"image": (64, *IMAGE)})),
    ("pandas: to_parquet", numbers_in_parquet, Remedy(
        "Parquet (table.parquet) " + CONVERT, "converted",
        {"y": Counter([0, 0, 1]), "v": (3, 2)})),
    ("datasets: to_csv", texts(lambda d, root: d.to_csv(root / "train.csv")),
     {"text": (3, 8), "label": Counter([0, 0, 1])}),
    ("datasets: to_json", texts(
        lambda d, root: d.to_json(root / "train.jsonl")),
     {"text": (3, 8), "label": Counter([0, 0, 1])}),
    ("datasets: JSON lines in .json", texts(
        lambda d, root: d.to_json(root / "train.json")),
     "train.json is not read as a list: write JSON lines, an object in each "
     "line:"),
    ("datasets: imagefolder, CSV", metadata("metadata.csv"),
     {"file_name": (4, *IMAGE), "text": (4, 8)},
     ("val", {"file_name": (64, *IMAGE), "text": (64, 8)})),
    ("datasets: imagefolder, JSON lines", metadata("metadata.jsonl"),
     {"file_name": (4, *IMAGE), "text": (4, 8)},
     ("val", {"file_name": (64, *IMAGE), "text": (64, 8)})),
    ("pandas: index and NaN", frame_with_index,
     {"path": (4, *IMAGE), "y": Counter([0, 0, 1, 1])}),
    ("Kaggle: dog breeds", dog_breeds, Remedy(
        "labels.csv: the column id names files without their path",
        "", {"id": (4, *IMAGE)})),
    ("pandas: a table with tabs", table_with_tabs, Remedy(
        "train.tsv has tabs", "train.csv",
        {"file": (4, *IMAGE), "y": Counter(range(4))})),
    ("pandas: records of JSON", records,
     "train.json is not read as a list: write JSON lines"),
    ("h5py", hdf5, "HDF5 (train.hdf5) " + SHARDS),
    ("lmdb", lmdb_folder, "in train.lmdb: LMDB (data.mdb) " + SHARDS),
    ("torch.save", saved_by_torch, "a file of torch.save (train.pt) " + ARRAYS),
]


class DataSets(test_corpus.Corpus):
    rows = DATA_SETS


if __name__ == "__main__":
    harness.main()
