# SPDX-License-Identifier: Apache-2.0
# Writes the arrays of the file f.npz into d + train/data.npz and so on: X_train
# as x. Prints the names of those without a split.
import numpy
a = numpy.load(f + '.npz')
G = {}
[G.setdefault(s, {}).setdefault(join(b, e), []).append(a[k])
    for k in a for s, b, e in [split(k) or ('', k, '')]]
assert all(len(v) == 1 for s in G for v in G[s].values()), 'two of one name'
[(os.makedirs(d + s), numpy.savez(d + s + '/data.npz', **{
    k: v[0] for k, v in G[s].items()})) for s in G if s]
print('left out:', *G['']) if '' in G else 0
