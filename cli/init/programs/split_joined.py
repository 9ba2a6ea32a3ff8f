# SPDX-License-Identifier: Apache-2.0
# The same as split_csv.py for the rows of the list b by the splits of the list l; the
# column a is in both.
import csv, io, os
r, t = [list(csv.reader(open(f, newline='', encoding='utf-8-sig')))
        for f in (l, b)]
i, k, j = [[h.lower() for h in t[0]].index(n)
           for t, n in ((r, a), (r, c), (t, a))]
d = {x[i]: m.get(p(x[k])) for x in r[1:] if x}
T = {s + '.csv': o.getvalue()
     for s in {*m.values()} for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(
         t[:1] + [x for x in t[1:] if x and d.get(x[j]) == s])]}
