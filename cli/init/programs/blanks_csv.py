# SPDX-License-Identifier: Apache-2.0
# Makes of each list l of L one with a blank in the columns c where they have no value.
import csv, io
cells = lambda L, h, x: zip(h, x) if len(x) <= len(h) else exit(
    L + ': a row has ' + str(len(x)) + ' columns, and the first one ' + str(len(h)))
T = {'text-' + l: o.getvalue()
     for l in L for o in [io.StringIO()]
     for r in [list(csv.reader(open(l, newline='', encoding='utf-8-sig')))]
     for _ in [csv.writer(o).writerows(r[:1] + [
         [v or ' ' * (h.lower() in c) for h, v in cells(l, r[0], x)]
         for x in r[1:] if x])]}
