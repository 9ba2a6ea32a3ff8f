# SPDX-License-Identifier: Apache-2.0
# Makes a table in W of files of floats, F: x has a row for each file, of N numbers for
# each of its points.
import glob, numpy as n
F = sorted(F or glob.glob('*.bin'))
V = [n.fromfile(f, '<f4').reshape(-1, N) for f in F]
n.save(W + '/x.values.npy', n.concatenate(V))
n.save(W + '/x.offsets.npy', n.cumsum([0] + [len(v) for v in V]))
