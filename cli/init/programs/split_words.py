# SPDX-License-Identifier: Apache-2.0
# Makes a list of each split from the text F, as DeepFashion's: a line with the number
# of rows, one with the names of columns, then rows whose first column is a picture and
# the last one its split. Paths begin with P. J is a text like it with labels, or ''.
import csv, io
t, X = [[l.split() for l in open(f)] if f else [] for f in (F, J)]
X = {x[0]: x[1:] for x in X[1:]}
h, *t = [x for x in t[1:] if len(x) == len(t[1])]
h = h[:-1] + X.get(h[0], [])
R = {}
[R.setdefault(x[-1], [h]).append([P + x[0], *x[1:-1], *X.get(x[0], [])]) for x in t]
T = {s + '.csv': o.getvalue() for s in R for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(x for x in R[s] if len(x) == len(h))]}
