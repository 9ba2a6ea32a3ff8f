# SPDX-License-Identifier: Apache-2.0
# A list of each split from the list l. Its column c has values v, of which p(v) is a key
# of the splits m; it is left out with D. If l is to be renamed, A is its new name.
import csv, io, os
r = list(csv.reader(open(l, newline='', encoding='utf-8-sig')))
k = [h.lower() for h in r[0]].index(c)
T = {s + '.csv': o.getvalue()
     for s in {*m.values()} for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(
         x[:k] + x[k + D:] for x in r[:1] + [
             y for y in r[1:] if y and m.get(p(y[k])) == s])]}
