# SPDX-License-Identifier: Apache-2.0
"""The tensors of a loader are those that `forebay show` writes, for every
pipeline in docs/pipeline.md, on data that is generated for it."""

import csv
import io
import itertools
import json
import pathlib
import re
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy  # noqa: E402
import torch  # noqa: E402
import yaml  # noqa: E402
from PIL import Image  # noqa: E402

from package import ROOT, PackageTest  # noqa: E402
import harness  # noqa: E402
from test_tokens import write_mds, write_megatron  # noqa: E402

SAMPLES, BATCH, STEP = 10, 4, 1  # SAMPLES of a shard, the STEP to compare
SIDES = 260, 520  # of a picture: every crop fits
OBJECT = {"class": {"id": 3}, "car": {"speed": 1.5}, "ratings": [3, 1, 2],
          "captions": ["one", "€"], "steering_angle": -0.5, "speed": 7}


def pipelines():
    text = (ROOT / "docs" / "pipeline.md").read_text()
    return [yaml.safe_load(block)
            for block in re.findall("```yaml\n(.*?)```", text, re.S)
            if block.startswith("forebay: 1")]


def saved(save, *args, **members):
    file = io.BytesIO()
    save(file, *args, **members)
    return file.getvalue()


class Data:
    """Data for the splits of a pipeline, in a folder below the root `all`."""

    def __init__(self, folder, pipeline):
        self.folder, self.fields = folder, pipeline["fields"]
        self.rng = numpy.random.default_rng(1)
        pipeline["global_batch"] = BATCH
        for split in pipeline["splits"].values():
            [kind] = {"shards", "folder", "list", "parallel", "columns",
                      "tokens"} & set(split)
            if kind == "tokens":
                split, kind = split["tokens"], "files"
            path = self.path(split[kind])
            split[kind] = f"all:{folder.name}/{path}"
            getattr(self, f"write_{kind}")(path, split)

    @staticmethod
    def path(text):
        """A path of the page as one in the folder, of two shards at most."""
        path = text.split(":")[-1].removeprefix("../").lstrip("/")
        return re.sub(r"\{(0+)\.\.\d+\}", lambda shards: "{%s..%s}" % (
            shards[1], shards[1][:-1] + "1"), path)

    def shards(self, path):
        numbers = re.search(r"\{(\d+)\.\.(\d+)\}", path)
        for number in numbers.groups() if numbers else ["0"]:
            shard = self.folder / re.sub(r"\{.*\}|\*", number, path)
            shard.parent.mkdir(parents=True, exist_ok=True)
            yield shard

    def write_shards(self, path, split):
        for shard in self.shards(path):
            with tarfile.open(shard, "w") as tar:
                for number, members in enumerate(self.samples()):
                    for extension, data in members.items():
                        member = tarfile.TarInfo(f"{number:04}.{extension}")
                        member.size = len(data)
                        tar.addfile(member, io.BytesIO(data))

    def write_folder(self, path, split):
        for number, members in enumerate(self.samples()):
            for extension, data in (members or {"jpg": b""}).items():
                self.write(f"{path}/{'ab'[number % 2]}/{number}.{extension}",
                           data)

    def write_parallel(self, path, split):
        for number, members in enumerate(self.samples()):
            for extension, data in members.items():
                side, kind = extension.split(".")
                self.write(f"{re.sub('{.*}', side, path)}/{number}.{kind}",
                           data)

    def write_list(self, path, split):
        rows = []
        for number, members in enumerate(self.samples()):
            rows.append({})
            for extension, data in members.items():
                column, _, kind = extension.partition(".")
                rows[-1][column] = data.decode() if not kind else (
                    self.write(f"{column}/{number}.{kind}", data))
        file = io.StringIO()
        if path.endswith(".csv"):
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        self.write(path, file.getvalue().encode())

    def write_columns(self, path, split):
        for shard in self.shards(path):
            shard.mkdir()
            for field in self.fields.values():
                for name, data in self.column(field).items():
                    (shard / name).write_bytes(data)

    def write_files(self, path, tokens):
        for shard in self.shards(path):
            documents = [self.rng.integers(0, 50000, 900).astype(
                tokens.get("type", "u2").replace("u16", "u2").replace(
                    "i64", "i8")) for _ in range(40)]
            if tokens["format"] == "mds":
                write_mds(shard, documents)
            elif tokens["format"] == "megatron":
                write_megatron(shard, documents)
            else:
                for document in documents:
                    document[-1] = 50256
                shard.write_bytes(b"".join(map(bytes, documents)))

    def write(self, path, data):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return path

    def samples(self):
        """The members of each sample, by extension."""
        for _ in range(SAMPLES):
            yield {extension: self.member(field, extension)
                   for field in self.fields.values()
                   for extension in self.extensions(field)}

    def extensions(self, field):
        names = field["from"]
        if isinstance(names, str):
            return [names] if names != "folder" else []
        return names if field.get("decode") == "maps" else names[:1]

    def member(self, field, extension):
        kind, decode = extension.split(".")[-1], field.get("decode")
        if kind in ("jpg", "jpeg", "png"):
            mask = decode in ("mask8", "maps")
            return saved(Image.fromarray(self.rng.integers(
                0, 2 if mask else 256, SIDES if mask else (*SIDES, 3),
                "u1")).save, {"jpg": "jpeg"}.get(kind, kind),
                compress_level=1)
        if kind == "json":
            return json.dumps(OBJECT).encode()
        if decode == "array":
            return saved(numpy.save, self.array(field, *(
                [self.length(field)] if "max_length" in field else [])))
        if decode == "sparse":
            return self.sparse(field, 1)
        if decode == "text":
            return ("a" * self.length(field)).encode()
        if "length" in field:
            return self.rng.bytes(field["length"])
        if "names" in field:
            return str(self.rng.choice(field["names"])).encode()
        return str(self.rng.integers(field.get("classes", 5))).encode()

    def length(self, field):
        return self.rng.integers(min(field["max_length"], 300))

    def array(self, field, *rows):
        """Numbers that the wire has exactly."""
        shape = (*rows, *field.get("shape", []))
        most = 2 if field.get("wire") == "bits" else field.get("classes", 200)
        return self.rng.integers(0, most, shape)

    def column(self, field):
        """A column's files."""
        name = field["from"]
        if field["decode"] == "sparse":
            return {f"{name}.npz": self.sparse(field, SAMPLES)}
        if "max_length" not in field:
            return {f"{name}.npy": saved(numpy.save,
                                         self.array(field, SAMPLES))}
        ends = numpy.cumsum([0, *(self.length(field)
                                  for _ in range(SAMPLES))])
        return {f"{name}.values.npy": saved(numpy.save,
                                            self.array(field, ends[-1])),
                f"{name}.offsets.npy": saved(numpy.save, ends)}

    def sparse(self, field, rows):
        """A file of scipy.sparse.save_npz: 30 values in each row."""
        size = int(numpy.prod(field["shape"]))
        at = [numpy.sort(self.rng.choice(size, 30, False))
              for _ in range(rows)]
        return saved(numpy.savez, format=b"csr", shape=(rows, size),
                     data=self.rng.integers(1, 200, 30 * rows),
                     indices=numpy.concatenate(at).astype("i4"),
                     indptr=numpy.arange(0, 30 * rows + 1, 30, "i4"))


class Values(PackageTest):
    def check(self, path, split, roots):
        loader = self.loader(path, split=split, server=self.server, info=True,
                             data=roots, framework="torch")
        for batch in itertools.islice(loader, STEP + 1):
            pass
        shown = self.batch(path, STEP, "--split", split, *(
            f"--data={name}={root}" for name, root in roots.items()))
        samples, valid = shown.pop("samples"), shown.pop("valid")
        self.assertEqual(batch.pop("forebay")["samples"], samples.tolist())
        self.assertEqual(batch.pop("valid", torch.tensor(valid)).tolist(),
                         valid.tolist())
        self.assertEqual(set(batch), set(shown))
        for name, tensor in batch.items():
            if tensor.dtype == torch.bfloat16:
                tensor = tensor.view(torch.uint16)
            self.assert_equal(tensor.numpy(), shown[name])
        loader.close()

    def test_values_are_those_of_show(self):
        self.server = self.cluster.start_batch_server()
        roots = {"all": self.cluster.dir}
        for number, pipeline in enumerate(pipelines()):
            Data(self.cluster.path(f"data-{number}"), pipeline)
            path = self.cluster.path(f"{number}.yaml")
            path.write_text(json.dumps(pipeline))
            for split in pipeline["splits"]:
                with self.subTest(pipeline=number, split=split):
                    self.check(path, split, roots)
        self.assertGreater(number, 20)


if __name__ == "__main__":
    harness.main()
