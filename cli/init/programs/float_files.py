# SPDX-License-Identifier: Apache-2.0
# Makes a table of files of floats, F: x has a row for each file, of W numbers for each
# of its points.
import glob, os, numpy as n
F = sorted(F or glob.glob('*.bin'))
V = [n.fromfile(f, '<f4').reshape(-1, W) for f in F]
os.mkdir('table')
n.save('table/x.values.npy', n.concatenate(V))
n.save('table/x.offsets.npy', n.cumsum([0] + [len(v) for v in V]))
