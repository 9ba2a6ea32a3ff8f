# SPDX-License-Identifier: Apache-2.0
# Makes tables in W of lists, L: files and the names of their splits. x has the columns
# that are numbers in all lists, and label the column of that name, with the numbers of
# its names, which are printed, as are the columns that are left out.
import csv, re, numpy as n
R = {s: [[c.strip() for c in x]
         for x in csv.reader(open(f, newline='', encoding='utf-8-sig')) if x]
     for f, s in L}
assert all(len(x) == len(r[0]) for r in R.values() for x in r), 'rows of other widths'
assert all(len({*r[0]}) == len(r[0]) for r in R.values()), 'two columns of a name'
C = {s: dict(zip(r[0], zip(*r[1:]))) for s, r in R.items()}
A = C[L[0][1]]
P = r'[+-]?(\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?'
is_of = lambda p, c: all(re.fullmatch(p, v) for s in C for v in C[s].get(c, ()))
K = [c for c in A if c.lower() in ('label', 'target', 'class', 'y')][:1]
F = [c for c in A if c not in K and all(c in C[s] for s in C) and is_of(P, c)]
t = ['i8' if is_of(r'[+-]?\d+', c) else 'f4' if is_of(P, c) else '' for c in K]
N = sorted({v for s in C for c in K for v in C[s].get(c, ())})
T = {W + '/' + s + '/label.npy': n.array(C[s][c], e) if e else n.searchsorted(N, C[s][c])
     for s in C for c, e in zip(K, t) if c in C[s]}
T.update({W + '/' + s + '/x.npy': n.ascontiguousarray(
    n.array([C[s][c] for c in F], 'f4').T) for s in C})
[os.mkdir(W + '/' + s) for s in C]
[n.save(f, a) for f, a in T.items()]
'' in t and print(dict(enumerate(N)))
print('x:', len(F), 'columns; left out:', *[c for c in A if c not in F + K])
