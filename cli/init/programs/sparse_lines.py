# SPDX-License-Identifier: Apache-2.0
# Makes a table in W of each text in L, a file and the name of its split. A line has a
# label, or several with commas, and index:value pairs, as libsvm's, or libffm's
# field:index:value; the first index of pairs is 0 if there is one, else 1. LETOR's
# qid:ID is before them. Rows of several lengths become values and offsets.
import numpy as n
assert len({g for f, g in L}) == len(L), 'two texts would have one name: ' + str(L)
R = {s: [x.split('#')[0].split() for x in open(f)] for f, s in L}
R = {s: [x for x in r if x] for s, r in R.items()}
Q = {s: [x.pop(1)[4:] for x in r if x[1:] and x[1][:4] == 'qid:'] for s, r in R.items()}
P = {s: [[p.split(':') for p in x[1:]] for x in r] for s, r in R.items()}
I = {s: n.array([int(p[-2]) for x in P[s] for p in x], 'i4') for s in P}
F = min(1, *(i.min() for i in I.values() if i.size))
Z = 1 + max(i.max() for i in I.values() if i.size) - F
K = {s: [[float(k) for k in x[0].split(',')] for x in r] for s, r in R.items()}
e = 'i8' if all(k % 1 == 0 for r in K.values() for x in r for k in x) else 'f4'
one = all(len(x) == 1 for r in K.values() for x in r)
ffm = any(len(p) > 2 for r in P.values() for x in r for p in x)
[os.mkdir(W + '/' + s) for s in R]
big = lambda v: abs(v) >= 1 << 23 and n.float32(v) != v
B = [p[-1] for r in P.values() for x in r for p in x if big(float(p[-1]))] + [
    k for r in K.values() for x in r for k in x if e == 'f4' and big(k)]
B and print('rounded, since 32 bits do not hold them:', len(B), 'values, as', B[0])
ragged = lambda s, k, r, t: (
    n.save(W + '/' + s + '/' + k + '.values.npy',
           n.array([v for x in r for v in x], t)),
    n.save(W + '/' + s + '/' + k + '.offsets.npy',
           n.cumsum([0] + [len(x) for x in r])))
[n.save(W + '/' + s + '/label.npy', n.array(k, e)[:, 0]) if one
 else ragged(s, 'labels', k, e) for s, k in K.items()]
[n.save(W + '/' + s + '/qid.npy', n.array([int(i) for i in q]))
 for s, q in Q.items() if q]
[n.savez(W + '/' + s + '/x.npz', format=n.array(b'csr'), indices=I[s] - F,
         indptr=n.cumsum([0] + [len(x) for x in P[s]], dtype='i4'),
         shape=n.array([len(R[s]), Z]),
         data=n.array([float(v) for x in P[s] for i, v in x], 'f4'))
 for s in R if not ffm]
[ragged(s, k, [[t(p[i]) for p in x] for x in P[s]], d) for s in R if ffm
 for k, i, t, d in (
     ('field', 0, int, 'i4'), ('index', 1, int, 'i4'), ('value', 2, float, 'f4'))]
ffm or print('x:', Z, 'columns')
