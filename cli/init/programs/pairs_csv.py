# SPDX-License-Identifier: Apache-2.0
# Makes the lists of split_pairs.py: the columns of the .csv, and the folders' names
# with the paths of the files. Rows without a file in each are left out.
import io
[print('left out of', o + ':', p[0], 'has no file in', d)
    for o, i, C in S for r, p in R[o] for d, q in zip(F, p) if not q]
V = {o: [{**{h: v for h, v in r.items() if h != C}, **dict(zip(F, p))}
         for r, p in R[o] if all(p)] for o, i, C in S}
T = {o: x.getvalue() for o in V if V[o] for x in [io.StringIO()]
     for w in [csv.DictWriter(x, V[o][0], lineterminator='\n')]
     for _ in [w.writeheader(), w.writerows(V[o])][:1]}
assert T, 'no pairs'
