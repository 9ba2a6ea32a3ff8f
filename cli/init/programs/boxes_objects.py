# SPDX-License-Identifier: Apache-2.0
# Makes lists of boxes from R(list, picture, file): for each object its name, the
# sides of its box, and the size of the picture. Pictures without a file are left
# out. Classes are numbered by their names, which are printed. boxes_upright.py is before
# it.
import json, os
L = {s: l for s in L for l in [[q for q in L[s] if os.path.exists(q[1])]] if l}
N = sorted({r[0] for s in L for q in L[s] for r in R(s, *q)})
[check(os.path.join(os.path.dirname(s), p), *r[5:], t)
    for s in L for p, t in L[s][:256] for r in R(s, p, t)[:1]]
T = {s: ''.join(
    json.dumps({'image': p, 'boxes': [
        n for m, a, b, c, d, w, h in R(s, p, t)
        for n in [N.index(m), (a + c) / 2 / w, (b + d) / 2 / h,
                  (c - a) / w, (d - b) / h]]}) + '\n'
    for p, t in L[s]) for s in L}
print(dict(enumerate(N)))
