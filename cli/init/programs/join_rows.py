# SPDX-License-Identifier: Apache-2.0
# Joins each list X of columns to the list Y of their labels, for (X, Y, t) of L: the
# list joined/t. Rows are joined by the columns that both have, or by their order.
# Columns get names if the first row of X has only numbers. T is for write_lists.py.
import csv, io, os, re
read = lambda f: [
    x for x in csv.reader(open(f, newline='', encoding='utf-8-sig')) if x]
is_row = lambda r: all(
    re.fullmatch('[-+.0-9eE]+', c) for c in r) and r != [
    str(i) for i in range(len(r))]
named = lambda r, s, n: [[s + str(i + 1) for i in range(len(r[0]))]] + r if n else r
pair = lambda x, y: (named(x, 'x', is_row(x[0])), named(y, 'y', is_row(x[0])))
P = {t: pair(read(X), read(Y)) for X, Y, t in L}
assert all(len(a) == len(b) for a, b in P.values()), 'they have other numbers of rows'
assert all(len(x) == len(b[0]) for a, b in P.values() for x in b), (
    'not all rows of labels have as many columns')
K = {t: [h for h in a[0] if h in b[0]] for t, (a, b) in P.items()}
key = lambda r, x, t: tuple(x[r[0].index(h)] for h in K[t])
D = {t: {key(b, y, t): y for y in b} if K[t] else {} for t, (a, b) in P.items()}
assert all(not K[t] or len(D[t]) == len(P[t][1]) for t in P), (
    'rows have the same values in the columns that both lists have')
T = {'joined/' + t: o.getvalue() for t, (a, b) in P.items() for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(
         x + [v for h, v in zip(b[0], D[t][key(a, x, t)] if K[t] else y)
              if h not in K[t]] for x, y in zip(a, b))]}
NEW = 'joined'
