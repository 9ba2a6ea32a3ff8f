# SPDX-License-Identifier: Apache-2.0
# Makes a table in W of each text in L, a file and the name of its split. A line has a
# label and index:value pairs, as libsvm's; the first index is 0 if there is one, else 1.
import numpy as n
assert len({g for f, g in L}) == len(L), 'two texts would have one name: ' + str(L)
R = {s: [x.split('#')[0].split() for x in open(f)] for f, s in L}
R = {s: [x for x in r if x] for s, r in R.items()}
P = {s: [[p.split(':') for p in x[1:]] for x in r] for s, r in R.items()}
I = {s: n.array([int(i) for x in P[s] for i, v in x], 'i4') for s in P}
F = min(1, *(i.min() for i in I.values() if i.size))
Z = 1 + max(i.max() for i in I.values() if i.size) - F
K = {s: n.array([float(x[0]) for x in r]) for s, r in R.items()}
e = 'i8' if all((k % 1 == 0).all() for k in K.values()) else 'f4'
[os.mkdir(W + '/' + s) for s in R]
[n.save(W + '/' + s + '/label.npy', k.astype(e)) for s, k in K.items()]
[n.savez(W + '/' + s + '/x.npz', format=n.array(b'csr'), indices=I[s] - F,
         indptr=n.cumsum([0] + [len(x) for x in P[s]], dtype='i4'),
         shape=n.array([len(R[s]), Z]),
         data=n.array([float(v) for x in P[s] for i, v in x], 'f4')) for s in R]
print('x:', Z, 'columns')
