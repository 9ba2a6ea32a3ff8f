#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the token files here with the writers of their own libraries.

    make.py     needs mosaicml-streaming (0.13.0), megatron-core (0.16.1) and
                torch; no test does

Both hold the documents of tests/system/test_tokens.py's documents_of(11, 24,
60) as u16: mds/ in shards of at most 1,000 bytes, with a column beside the
tokens, and megatron.bin with its .idx, of documents of two sequences each."""

import pathlib

import numpy
from megatron.core.datasets import indexed_dataset
from streaming import MDSWriter

HERE = pathlib.Path(__file__).parent


def documents():
    rng = numpy.random.default_rng(11)
    return [rng.integers(0, 50000, rng.integers(0, 60)).astype("<u2")
            for _ in range(24)]


def write_mds(out):
    columns = {"tokens": "bytes", "source": "str"}
    with MDSWriter(out=str(out), columns=columns, size_limit=1000) as writer:
        for i, document in enumerate(documents()):
            writer.write({"tokens": document.tobytes(), "source": f"page {i}"})


def write_megatron(prefix):
    builder = indexed_dataset.IndexedDatasetBuilder(
        str(prefix) + ".bin", dtype=numpy.uint16)
    for document in documents():
        half = len(document) // 2
        builder.add_document(document, [half, len(document) - half])
    builder.finalize(str(prefix) + ".idx")


write_mds(HERE / "mds")
write_megatron(HERE / "megatron")
