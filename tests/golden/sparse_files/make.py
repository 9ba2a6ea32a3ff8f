#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the sparse files here with SciPy's own writer.

    make.py     needs scipy (1.17.1); no test does

dense.npy is the matrix, 8 rows of 300; row-0.npz to row-7.npz are its rows as
matrices and arrays, CSR and COO, deflated and stored; table.npz is all of it,
of 64-bit indices."""

import pathlib

import numpy
import scipy.sparse

HERE = pathlib.Path(__file__).parent
WAYS = [(kind, compressed)
        for kind in (scipy.sparse.csr_matrix, scipy.sparse.csr_array,
                     scipy.sparse.coo_matrix, scipy.sparse.coo_array)
        for compressed in (True, False)]

rng = numpy.random.default_rng(3)
dense = numpy.where(rng.random((len(WAYS), 300)) < 0.05,
                    rng.integers(1, 60000, (len(WAYS), 300)), 0).astype("<u2")
dense[5] = 0
numpy.save(HERE / "dense.npy", dense)
for i, (kind, compressed) in enumerate(WAYS):
    scipy.sparse.save_npz(
        HERE / f"row-{i}.npz", kind(dense[i:i + 1]), compressed)
table = scipy.sparse.csr_array(dense)
table.indices, table.indptr = (
    numbers.astype("<i8") for numbers in (table.indices, table.indptr))
scipy.sparse.save_npz(HERE / "table.npz", table, compressed=False)
