# SPDX-License-Identifier: Apache-2.0
# The text of the list L, with the name(h) of each column h and the change(L,
# h, v) of each value v.
import csv, io
cells = lambda L, h, x: zip(h, x) if len(x) <= len(h) else exit(
    L + ': a row has ' + str(len(x)) + ' columns, and the first one ' + str(len(h)))
convert = lambda L, name, change: next(
    o.getvalue()
    for R in [list(csv.reader(open(L, newline='', encoding='utf-8-sig')))]
    for o in [io.StringIO()]
    for _ in [csv.writer(o).writerows([[name(h) for h in R[0]]] + [
        [change(L, h.lower(), v) for h, v in cells(L, R[0], x)]
        for x in R[1:] if x and keep(L, cells(L, R[0], x))])])
