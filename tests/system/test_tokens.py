# SPDX-License-Identifier: Apache-2.0
"""Sequences of token files: a consumer gets the sequences that NumPy cuts.

The files of MosaicML and Megatron are written here, byte for byte as their
writers lay them out; tests/golden/token_files has some that those wrote
themselves (streaming 0.13 MDSWriter, megatron-core 0.16
IndexedDatasetBuilder)."""

import json
import os
import pathlib
import shutil
import struct
import sys

import harness
import numpy

from harness import SystemTest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "model"))

import forebay_model  # noqa: E402

LENGTH, BATCH = 32, 8
WRITTEN = pathlib.Path(__file__).parents[1] / "golden" / "token_files"


def write_flat(path, tokens, dtype="<u2"):
    path.write_bytes(numpy.asarray(tokens, dtype).tobytes())


def write_mds(path, documents, encoding="bytes", others=()):
    """`others`: columns beside the tokens, (name, bytes a sample)."""
    names = sorted(["tokens", *(name for name, _ in others)])
    config = json.dumps({
        "version": 2, "format": "mds", "compression": None, "hashes": [],
        "size_limit": 1 << 26, "column_names": names,
        "column_encodings": [encoding if name == "tokens" else "bytes"
                             for name in names],
        "column_sizes": [None] * len(names)}, sort_keys=True).encode()
    samples = []
    for document in documents:
        tokens = document.tobytes()
        if encoding.startswith("ndarray"):
            count = len(document)
            size = 0 if count < 256 else 1 if count < 65536 else 2
            tokens = (bytes([1 << 2 | size])
                      + count.to_bytes(1 << size, "little") + tokens)
        columns = [tokens if name == "tokens" else dict(others)[name]
                   for name in names]
        samples.append(
            b"".join(struct.pack("<I", len(column)) for column in columns)
            + b"".join(columns))
    begin = 4 + 4 * (len(samples) + 1) + len(config)
    offsets = numpy.cumsum([begin, *map(len, samples)]).astype("<u4")
    path.write_bytes(struct.pack("<I", len(samples)) + offsets.tobytes()
                     + config + b"".join(samples))


CODES = {"u1": 1, "i4": 4, "i8": 5, "u2": 8}


def write_megatron(path, documents, dtype="u2"):
    sizes = numpy.array([len(document) for document in documents], "<i4")
    ends = numpy.concatenate([[0], numpy.cumsum(sizes.astype("<i8"))])
    width = numpy.dtype(dtype).itemsize
    path.write_bytes(b"".join(document.astype("<" + dtype).tobytes()
                              for document in documents))
    path.with_suffix(".idx").write_bytes(
        b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, CODES[dtype], len(sizes),
                                     len(sizes) + 1)
        + sizes.tobytes() + (ends[:-1] * width).astype("<i8").tobytes()
        + numpy.arange(len(sizes) + 1, dtype="<i8").tobytes())


def documents_of(seed, count=40, most=150, vocabulary=50000):
    rng = numpy.random.default_rng(seed)
    return [rng.integers(0, vocabulary, rng.integers(0, most))
            for _ in range(count)]


def cut(tokens, shift=1):
    """The inputs and targets of all sequences of one file."""
    count = (len(tokens) - shift) // LENGTH
    inputs = tokens[:count * LENGTH].reshape(count, LENGTH)
    targets = tokens[shift:count * LENGTH + shift].reshape(count, LENGTH)
    return inputs, targets


def most_of(sequences):
    """A batch of which an epoch has two, one of them short."""
    return len(sequences) * 2 // 3


class TokenTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.cluster.path("data")
        self.root.mkdir()

    def pipeline(self, files, rest, fields=None, name="p.yaml",
                 split="last: short", length=LENGTH, batch=BATCH):
        fields = fields or ("  tokens: {from: input}\n"
                            "  labels: {from: target}\n")
        path = self.cluster.path(name)
        path.write_text(
            "forebay: 1\nsplits:\n  train:\n    tokens: {files: '"
            f"{self.root}/{files}', {rest}, length: {length}, shift: 1}}\n"
            f"    {split}\nglobal_batch: {batch}\nfields:\n{fields}")
        return path

    def refuses(self, pipeline, *words):
        shown = self.run_forebay("index", "-p", pipeline)
        self.assertNotEqual(shown.returncode, 0)
        for word in words:
            self.assertIn(word, shown.stderr)


class Tokens(TokenTest):
    def check_epoch(self, names, rest, files):
        """Each sequence of the files comes once, as NumPy cuts it."""
        pairs = [cut(tokens) for tokens in files]
        inputs = numpy.concatenate([pair[0] for pair in pairs])
        targets = numpy.concatenate([pair[1] for pair in pairs])
        pipeline = self.pipeline(names, rest, batch=most_of(inputs))
        seen = []
        for shown in self.first_batches(pipeline, 2):
            numbers = shown["samples"]
            self.assertEqual(shown["tokens"].dtype, numpy.int64)
            self.assertTrue(
                numpy.array_equal(shown["tokens"], inputs[numbers]))
            self.assertTrue(
                numpy.array_equal(shown["labels"], targets[numbers]))
            seen += numbers.tolist()
        self.assertEqual(sorted(seen), list(range(len(inputs))))

    def flat(self, dtype="<u2", counts=(1000, 33, 32, 0, 257)):
        """Files of several sequences and a rest, one, a part of one, none."""
        rng = numpy.random.default_rng(1)
        files = [rng.integers(0, 65536, count) for count in counts]
        for i, tokens in enumerate(files):
            write_flat(self.root / f"t-{i}.bin", tokens, dtype)
        return files

    def test_sequences_of_flat_files_are_what_numpy_cuts(self):
        for dtype, word in (("<u2", "u16"), ("<u4", "u32"), ("<i8", "i64")):
            files = self.flat(dtype)
            self.check_epoch("t-*.bin", f"format: flat, type: {word}", files)

    def test_documents_of_mds_follow_one_another(self):
        files = [documents_of(seed) for seed in range(3)]
        for i, documents in enumerate(files):
            write_mds(self.root / f"shard.{i:05}.mds",
                      [document.astype("<u2") for document in documents],
                      others=[("a", b"before"), ("z", b"behind it")])
        self.check_epoch(
            "shard.*.mds", "format: mds, type: u16",
            [numpy.concatenate(documents) for documents in files])

    def test_mds_says_the_type_of_its_arrays(self):
        documents = [d for d in documents_of(7, most=900) if len(d) > 0]
        for encoding, dtype in (("ndarray:uint16", "<u2"),
                                ("ndarray:int32", "<i4"),
                                ("ndarray:int64", "<i8")):
            write_mds(self.root / "shard.00000.mds",
                      [document.astype(dtype) for document in documents],
                      encoding)
            self.check_epoch("shard.*.mds", "format: mds",
                             [numpy.concatenate(documents)])

    def test_sequences_of_megatron_follow_one_another(self):
        files = [documents_of(seed) for seed in range(2)]
        for dtype in ("u2", "i4", "i8"):
            for i, documents in enumerate(files):
                write_megatron(self.root / f"c{i}.bin", documents, dtype)
            self.check_epoch(
                "c*.bin", "format: megatron",
                [numpy.concatenate(documents) for documents in files])

    def test_tokens_travel_in_their_own_type(self):
        self.flat(counts=(LENGTH * 64 + 1,))
        fields = "  tokens: {from: input, wire: {codec: store}}\n"
        pipeline = self.pipeline(
            "t-*.bin", "format: flat, type: u16", fields)
        result = self.cluster.pull_alone(pipeline, "--epochs", 1).finish()
        self.assertEqual(result["raw_bytes"], 64 * LENGTH * 2)

    def test_a_sequence_holds_inputs_and_targets_and_travels_once(self):
        documents = [d for d in documents_of(5, most=900) if len(d) > 0]
        write_mds(self.root / "shard.00000.mds",
                  [document.astype("<u2") for document in documents])
        fields = "  both: {from: sequence, wire: {codec: store}}\n"
        pipeline = self.pipeline(
            "shard.*.mds", "format: mds, type: u16", fields)
        inputs, targets = cut(numpy.concatenate(documents))
        batch = self.batch(pipeline, 1)
        both, numbers = batch["both"], batch["samples"]
        self.assertEqual(both.dtype, numpy.int64)
        self.assertEqual(both.shape, (BATCH, LENGTH + 1))
        self.assertTrue(numpy.array_equal(both[:, :-1], inputs[numbers]))
        self.assertTrue(numpy.array_equal(both[:, 1:], targets[numbers]))
        result = self.cluster.pull_alone(pipeline, "--epochs", 1).finish()
        self.assertEqual(
            result["raw_bytes"], len(inputs) * (LENGTH + 1) * 2)

    def test_a_sequence_needs_targets_that_are_one_token_on(self):
        self.flat()
        path = self.pipeline("t-*.bin", "format: flat, type: u16",
                             "  both: {from: sequence}\n")
        good = path.read_text()
        path.write_text(good.replace(", shift: 1", ""))
        self.refuses(path, "from: sequence needs shift: 1")
        path.write_text(good.replace(
            "shift: 1", "shift: 1, pack: documents, end: 9"))
        self.refuses(path, "packed documents have targets that are not the "
                     "next token of the sequence; use from: input and "
                     "from: target (split 'train')")

    def test_plan_names_the_file_and_place_of_a_sequence(self):
        self.flat("<u2")
        pipeline = self.pipeline("t-*.bin", "format: flat, type: u16",
                                 split="shuffle: none")
        plan = self.run_forebay("plan", "-p", pipeline)
        self.assertEqual(plan.returncode, 0, plan.stderr)
        self.assertEqual(plan.stdout.splitlines()[:2], [
            "row 0  sample 0  t-0.bin, offset 0",
            f"row 1  sample 1  t-0.bin, offset {2 * LENGTH}"])
        rows = json.loads(self.run_forebay(
            "plan", "-p", pipeline, "--json").stdout)["rows"]
        self.assertEqual((rows[1]["shard"], rows[1]["offset"]),
                         ("t-0.bin", 2 * LENGTH))

    def test_lint_says_that_targets_travel_twice(self):
        self.flat("<u2")
        shown = self.run_forebay("lint", "--json", "-p", self.pipeline(
            "t-*.bin", "format: flat, type: u16"))
        self.assertEqual(shown.returncode, 0, shown.stderr)
        twice = [finding for finding in json.loads(shown.stdout)["findings"]
                 if finding["kind"] == "twice"]
        self.assertEqual([finding["field"] for finding in twice], ["labels"])
        self.assertIn("from: sequence", twice[0]["write"])

    def test_init_and_lint_say_that_files_seem_to_have_another_type(self):
        ids = numpy.random.default_rng(1).integers(0, 30000, 9000)
        path = self.root / "train.bin"
        for dtype, word, wrong in (
                ("<u2", "u16", "u32"), ("<u2", "u16", "i32"),
                ("<u4", "u32", "u16"), ("<i8", "i64", "u32"), ("<i8", "i64", "u16")):
            path.write_bytes(ids.astype(dtype).tobytes())
            made = self.run_forebay("init", path, "--tokens", wrong)
            self.assertEqual(made.returncode, 1, made.stderr)
            self.assertIn(f"has no token ids of type {wrong}: its type seems to be "
                          f"{word}, since ", made.stderr)
            self.assertIn(f"forebay init --tokens {word} {path}", made.stderr)
            for declared, wanted in ((wrong, 1), (word, 0)):
                pipeline = self.pipeline(
                    "train.bin", f"format: flat, type: {declared}")
                shown = self.run_forebay("lint", "--json", "-p", pipeline)
                self.assertEqual(shown.returncode, 0, shown.stderr)
                found = [f for f in json.loads(shown.stdout)["findings"]
                         if f["kind"] == "token-type"]
                if declared != "i64":  # u16 and u32 travel as they are
                    self.assertEqual(len(found), wanted, shown.stdout)
                for finding in found:
                    self.assertIn(f"tokens of type {word}: ", finding["found"])
                    text = open(pipeline, encoding="utf8").read().splitlines()
                    self.assertIn("type: ", text[finding["line"] - 1])

    def test_one_stream_for_any_number_of_workers_and_from_any_step(self):
        self.flat(counts=(5000, 3000))
        pipeline = self.pipeline(
            "t-*.bin", "format: flat, type: u16", split="shuffle: full")
        whole = self.assert_one_stream(
            pipeline, (pipeline, "--workers", 3), head=17)
        self.assertEqual(len(whole.lines), 2 * 249 // BATCH)

    def test_a_file_that_changes_under_the_run_is_named(self):
        self.flat(counts=(200000, 200000))
        pipeline = self.pipeline("t-*.bin", "format: flat, type: u16",
                                 split="shuffle: full")
        self.cluster.root = self.root
        self.cluster.start(1)
        pull = self.cluster.pull(pipeline, "--epochs", 50, "--step-ms", 20,
                                 "--window", "1M", watched=True)
        pull.steps(6)
        with open(self.root / "t-1.bin", "r+b") as file:
            file.write(b"other")
        pull.finish(code=1)
        self.assertIn("t-1.bin", pull.error)
        self.assertIn("was written to", pull.error)

    def test_files_that_are_no_token_files_are_refused(self):
        write_flat(self.root / "few.bin", numpy.arange(LENGTH), "<u2")
        self.refuses(self.pipeline("few.bin", "format: flat, type: u16"),
                     f"length is {LENGTH} and one more for targets, and the "
                     f"longest of 1 has {LENGTH} tokens")
        (self.root / "odd.bin").write_bytes(b"abc")
        self.refuses(self.pipeline("odd.bin", "format: flat, type: u16"),
                     "odd.bin", "3 bytes, not a whole number of tokens")
        self.refuses(self.pipeline("odd.bin", "format: megatron"),
                     "odd.bin", "its index beside it")
        write_megatron(self.root / "cut.bin", documents_of(1))
        index = self.root / "cut.idx"
        os.truncate(index, index.stat().st_size - 3)
        self.refuses(self.pipeline("cut.bin", "format: megatron"),
                     "cut.bin", "cut short?")
        write_mds(self.root / "a.mds", [numpy.zeros(100, "<u2")])
        self.refuses(self.pipeline("a.mds", "format: mds"), "type: u16")
        self.refuses(
            self.pipeline("a.mds", "format: mds, type: u16, column: text"),
            "no column 'text'")
        (self.root / "a.mds.zstd").write_bytes(b"x" * 100)
        self.refuses(self.pipeline("a.mds.zstd", "format: mds, type: u16"),
                     "compressed", "unpacked first")

    def test_a_token_that_does_not_fit_is_a_bad_sample(self):
        tokens = numpy.arange(LENGTH * BATCH * 2 + 1)
        tokens[LENGTH + 3] = 70000
        write_flat(self.root / "t.bin", tokens, "<u4")
        pipeline = self.pipeline(
            "t.bin", "format: flat, type: u32",
            "  tokens: {from: input, wire: u16}\n")
        pull = self.cluster.pull_alone(pipeline, "--epochs", 1)
        pull.finish(code=1)
        self.assertIn("token 3 is 70000", pull.error)
        self.assertIn("tokens from 32 on", pull.error)
        tokens[LENGTH + 3] = 2**31
        write_flat(self.root / "t.bin", tokens, "<u4")
        pull = self.cluster.pull_alone(
            self.pipeline("t.bin", "format: flat, type: u32",
                          "  tokens: {from: input}\n"), "--epochs", 1)
        pull.finish(code=1)
        self.assertIn("token 3 is 2147483648 (-2147483648 as i32), which "
                      "a token (0 to 2147483647) cannot hold", pull.error)

    def test_another_cut_is_other_data(self):
        self.flat()
        seen = set()
        for length in (16, 32, 64):
            shown = self.run_forebay("index", "-p", self.pipeline(
                "t-*.bin", "format: flat, type: u16", length=length))
            self.assertEqual(shown.returncode, 0, shown.stderr)
            seen.add(shown.stdout.split("data digest ")[1])
        self.assertEqual(len(seen), 3)

    def test_what_was_indexed_is_not_read_again(self):
        write_megatron(self.root / "c.bin", documents_of(1))
        pipeline = self.pipeline("c.bin", "format: megatron")
        first = self.run_forebay("index", "-p", pipeline, "--hash")
        again = self.run_forebay("index", "-p", pipeline)
        self.assertIn(" in 1 shard, data", first.stdout)
        self.assertIn("(1 unchanged, not read again)", again.stdout)
        self.assertIn("bytes hashed", again.stdout)
        self.assertEqual(first.stdout.split("digest")[1],
                         again.stdout.split("digest")[1])
        os.utime(self.root / "c.idx")
        third = self.run_forebay("index", "-p", pipeline)
        self.assertIn(" in 1 shard, data", third.stdout)

    def test_plan_and_a_sheet_show_sequences(self):
        self.flat()
        pipeline = self.pipeline("t-*.bin", "format: flat, type: u16")
        sheet = self.cluster.path("sheet.png")
        for command in (["plan"], ["show", "-o", sheet]):
            shown = self.run_forebay(*command, "-p", pipeline)
            self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertTrue(sheet.exists())

    def test_lint_finds_tokens_that_are_wider_than_they_need_be(self):
        self.flat("<u4")
        shown = self.run_forebay("lint", "--json", "-p", self.pipeline(
            "t-*.bin", "format: flat, type: u32"))
        self.assertEqual(shown.returncode, 0, shown.stderr)
        types = {finding["field"]: finding["write"]
                 for finding in json.loads(shown.stdout)["findings"]
                 if finding["kind"] == "wire-type"}
        self.assertEqual(sorted(types), ["labels", "tokens"])
        self.assertIn("wire: u16", types["tokens"])


PAD = 65535

PACKED_FIELDS = """\
  tokens: {from: input}
  labels: {from: target}
  lengths: {from: documents}
  ends: {from: documents, out: {as: cu_seqlens}}
  positions: {from: documents, out: {as: positions, dtype: i32}}
  mask: {from: documents, out: {as: mask}}
  weights: {from: documents, out: {as: mask, dtype: f32}}
"""


def packed(documents, length=LENGTH):
    """The sequences of one file: of each its documents, as NumPy cuts them out
    of the file's tokens."""
    tokens = numpy.concatenate([*documents, numpy.zeros(0, "<i8")])
    sequences, _ = forebay_model.pack(map(len, documents), length)
    return [[tokens[at:at + size] for at, size in pieces]
            for pieces in sequences]


def expected(rows):
    """What a batch of these sequences is."""
    fill = [LENGTH - sum(map(len, row)) for row in rows]
    lengths = [[len(document) for document in row] for row in rows]
    segments = [row + [rest] * (rest > 0)
                for row, rest in zip(lengths, fill)]

    def whole(make, end):
        return numpy.array([
            numpy.concatenate([*map(make, row), numpy.full(rest, end)])
            for row, rest in zip(rows, fill)])

    return {
        "tokens": whole(lambda d: d, PAD),
        "labels": whole(lambda d: numpy.append(d[1:], PAD), PAD),
        "lengths": numpy.concatenate(lengths),
        "lengths.offsets": numpy.cumsum([0, *map(len, lengths)]),
        "ends": numpy.cumsum([0, *(n for row in segments for n in row)]),
        "positions": numpy.array([
            numpy.concatenate([numpy.arange(n) for n in row])
            for row in segments]),
        "mask": whole(lambda d: numpy.arange(len(d)) < len(d) - 1, False),
    }


class Packed(TokenTest):
    def pack(self, files, form, split="last: short", fields=PACKED_FIELDS,
             batch=BATCH):
        return self.pipeline(
            files, f"{form}, pack: documents, pad: {PAD}", fields,
            "packed.yaml", split, batch=batch)

    def check_packed(self, names, form, files):
        """Each document of the files comes once, in the model's sequence."""
        sequences = [s for documents in files for s in packed(documents)]
        pipeline = self.pack(names, form, batch=most_of(sequences))
        seen = []
        for shown in self.first_batches(pipeline, 2):
            rows = [sequences[number] for number in shown["samples"]]
            for name, values in expected(rows).items():
                self.assertTrue(numpy.array_equal(shown[name], values), name)
            self.assertTrue(numpy.array_equal(shown["weights"], shown["mask"]))
            # As attention libraries find documents from the position ids.
            begins = numpy.flatnonzero(shown["positions"].ravel() == 0)
            self.assertTrue(numpy.array_equal(shown["ends"][:-1], begins))
            self.assertEqual(
                [shown[n].dtype for n in ("tokens", "ends", "positions",
                                          "mask", "weights")],
                ["i8", "i4", "i4", "?", "f4"])
            seen += shown["samples"].tolist()
        self.assertEqual(sorted(seen), list(range(len(sequences))))

    def test_documents_of_mds_are_packed(self):
        files = [documents_of(seed, count=60, most=90) for seed in range(2)]
        files.append([numpy.arange(LENGTH)])
        for i, documents in enumerate(files):
            write_mds(self.root / f"shard.{i:05}.mds",
                      [document.astype("<u2") for document in documents])
        self.check_packed(
            "shard.*.mds", "format: mds, type: u16", files)

    def test_documents_of_megatron_are_packed(self):
        files = [documents_of(seed, count=60, most=90) for seed in range(2)]
        for dtype in ("u2", "i4"):
            for i, documents in enumerate(files):
                write_megatron(self.root / f"c{i}.bin", documents, dtype)
            self.check_packed("c*.bin", "format: megatron", files)

    def test_a_pad_may_be_wider_than_lengths_of_documents(self):
        tokens = numpy.random.default_rng(7).integers(0, 12, 1000)
        write_flat(self.root / "t.bin", tokens, "<u4")
        pipeline = self.pipeline(
            "t.bin", "format: flat, type: u32, pack: documents, end: 7, "
            "pad: 128001", PACKED_FIELDS)
        shown = self.batch(pipeline)
        fills = numpy.arange(LENGTH) >= [
            [sum(n)] for n in numpy.split(
                shown["lengths"], shown["lengths.offsets"][1:-1])]
        self.assertTrue(fills.any())
        self.assertTrue((shown["tokens"][fills] == 128001).all())
        self.assertFalse((shown["tokens"][~fills] == 128001).any())

    def test_files_of_the_writers_own_libraries_are_read(self):
        shutil.copytree(WRITTEN, self.root, dirs_exist_ok=True)
        documents = documents_of(11, count=24, most=60)
        index = json.loads((WRITTEN / "mds" / "index.json").read_text())
        ends = numpy.cumsum([shard["samples"] for shard in index["shards"]])
        shards = [documents[begin:end] for begin, end in zip([0, *ends], ends)]
        self.assertEqual((len(shards), ends[-1]), (3, len(documents)))
        self.check_packed("mds/*.mds", "format: mds, type: u16", shards)
        self.check_packed("megatron.bin", "format: megatron", [documents])

    def test_documents_of_flat_files_end_with_a_token(self):
        rng = numpy.random.default_rng(5)
        for dtype, word in (("<u2", "u16"), ("<u4", "u32"), ("<i8", "i64")):
            files = [rng.integers(0, 20, count) for count in (999, 8, 0, 1)]
            for i, tokens in enumerate(files):
                write_flat(self.root / f"t-{i}.bin", tokens, dtype)
            documents = [numpy.split(tokens, numpy.flatnonzero(tokens == 7) + 1)
                         for tokens in files]
            self.check_packed(
                "t-*.bin", f"format: flat, type: {word}, end: 7", documents)

    def test_an_end_that_no_file_has_is_said_once_and_by_lint(self):
        for name, count in (("a", 99), ("b", 7), ("c", 999)):
            write_flat(self.root / f"{name}.bin", numpy.ones(count, "<u2"))
        pipeline = self.pack("*.bin", "format: flat, type: u16, end: 7",
                             fields="  tokens: {from: input}\n", batch=1)
        index = self.run_forebay("index", "-p", pipeline)
        self.assertEqual(index.stderr.count("NO-END"), 1, index.stderr)
        self.assertIn("shard a.bin has no token 7 among its 99, so it is one "
                      "document, as are 2 of 3 files: check end", index.stderr)
        again = self.run_forebay("index", "-p", pipeline)
        self.assertNotIn("NO-END", again.stderr)
        found, = (f for f in json.loads(self.run_forebay(
            "lint", "--json", "-p", pipeline).stdout)["findings"]
            if f["kind"] == "no-end")
        self.assertIn("2 of 3 files", found["found"])
        self.assertIn("token 7 is", found["found"])
        text = open(pipeline, encoding="utf8").read().splitlines()
        self.assertIn("end: 7", text[found["line"] - 1])

    def test_lint_takes_no_two_tensors_of_documents_for_one(self):
        write_megatron(self.root / "c.bin", documents_of(3, count=60, most=90))
        shown = self.run_forebay("lint", "--json", "-p", self.pack(
            "c.bin", "format: megatron",
            fields=PACKED_FIELDS + "  again: {from: documents}\n"))
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual([finding["field"] for finding
                          in json.loads(shown.stdout)["findings"]
                          if finding["kind"] == "twice"], ["lengths"])

    def test_only_lengths_travel_of_documents(self):
        write_megatron(self.root / "c.bin", [numpy.arange(LENGTH)] * BATCH)
        pipeline = self.pack(
            "c.bin", "format: megatron",
            fields="  at: {from: documents, wire: {codec: store}, "
                   "out: {as: positions}}\n")
        result = self.cluster.pull_alone(pipeline, "--epochs", 1).finish()
        # A byte and a number of two for each row, and zeros up to 16.
        self.assertEqual(result["raw_bytes"], 16 + 2 * BATCH)

    def test_one_packed_stream_for_any_workers_and_from_any_step(self):
        for i in range(3):
            write_megatron(
                self.root / f"c{i}.bin", documents_of(i, count=400, most=60))
        pipeline = self.pack("c*.bin", "format: megatron", "shuffle: full")
        self.assert_one_stream(pipeline, (pipeline, "--workers", 2), head=31)

    def test_a_packed_manifest_is_found_again_and_small(self):
        documents = documents_of(1, count=20000, most=100)
        write_megatron(self.root / "c.bin", documents)
        pipeline = self.pack("c.bin", "format: megatron")
        first = self.run_forebay("index", "-p", pipeline)
        again = self.run_forebay("index", "-p", pipeline)
        cut = self.run_forebay(
            "index", "-p", self.pipeline("c.bin", "format: megatron"))
        self.assertIn("(1 unchanged, not read again)", again.stdout)
        self.assertEqual(first.stdout.split("digest")[1],
                         again.stdout.split("digest")[1])
        self.assertNotEqual(first.stdout.split("digest")[1],
                            cut.stdout.split("digest")[1])
        sizes = sorted(path.stat().st_size for path in pathlib.Path(
            self.cluster.env["FOREBAY_CACHE_DIR"]).glob("*.manifest"))
        self.assertLess(sizes[-1] - sizes[0], 1.01 * len(documents))

    def test_packing_is_refused_where_it_cannot_be(self):
        write_megatron(self.root / "c.bin", documents_of(1))
        ends = self.root / "c.idx"
        data = bytearray(ends.read_bytes())
        data[-8 * 3:-8 * 2] = struct.pack("<q", 3)
        ends.write_bytes(data)
        self.refuses(self.pack("c.bin", "format: megatron"),
                     "c.bin",
                     "a document begins with sequence 3 after one with 37")
        data[-8 * 3:-8 * 2] = struct.pack("<q", -1)
        ends.write_bytes(data)
        self.refuses(self.pack("c.bin", "format: megatron"),
                     "a document begins with sequence -1 after one with 37")
        self.refuses(
            self.pack("c.bin", "format: flat, type: u16"),
            "flat files do not store where documents end")
        self.refuses(
            self.pack("c.bin", "format: flat, type: u16, end: 70000"),
            "end (70000) must be 0 to 65535")


if __name__ == "__main__":
    harness.main()
