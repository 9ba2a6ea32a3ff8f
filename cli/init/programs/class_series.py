# SPDX-License-Identifier: Apache-2.0
# A table in W of the .csv files in class folders for each split: x has the rows of each
# file, of the columns that are numbers in the first one. S is as for class_texts.py.
import csv, glob, os, re, numpy as n
P = r'\s*[+-]?(\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?\s*'
R = lambda f: [x for x in csv.reader(open(f, newline='', encoding='utf-8-sig')) if x]
F = {s: sorted(glob.glob(os.path.join(glob.escape(d), '*', '*.csv'))) for s, d in S}
C = sorted({f.split(os.sep)[-2] for s in F for f in F[s]})
A = R(F[S[0][0]][0])
K = [i for i, c in enumerate(A[-1]) if re.fullmatch(P, c)]
h = not all(re.fullmatch(P, A[0][i]) for i in K)
assert all(R(f)[:h] == A[:h] for s in F for f in F[s]), 'other columns'
V = {s: [[[float(x[i]) for i in K] for x in R(f)[h:]] for f in F[s]] for s in F}
big = lambda v: abs(v) >= 1 << 23 and n.float32(v) != v
B = [c for v in V.values() for r in v for x in r for c in x if big(c)]
B and print('rounded, since 32 bits do not hold them:', len(B), 'values, as', B[0])
[os.mkdir(W + '/' + s) for s in F]
[(n.save(W + '/' + s + '/x.values.npy', n.array([x for r in v for x in r], 'f4')),
  n.save(W + '/' + s + '/x.offsets.npy', n.cumsum([0] + [len(r) for r in v])),
  n.save(W + '/' + s + '/label.npy',
         n.array([C.index(f.split(os.sep)[-2]) for f in F[s]]))) for s, v in V.items()]
print('classes:', dict(enumerate(C)))
print('x:', *([A[0][i] for i in K] if h else K))
