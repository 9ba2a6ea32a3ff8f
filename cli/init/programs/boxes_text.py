# SPDX-License-Identifier: Apache-2.0
# Makes lists of objects in text files, as YOLO's. Pictures without a file have none,
# unless that is so in a whole list. A line has a class, a number or a name, and
# coordinates. If all lines have as many, the column has the class and these of each
# object. Else they are polygons, whose points are counted, and boxes become some.
# DOTA's lines end with the class and a digit.
import json, os
G = lambda t: [w[8:9] + w[:8] if len(w) == 10 and w[8][0].isalpha() else w
               for x in open(t) for w in [x.split()] if w and ':' not in w[0]]
L = {s: [(p, G(t) if os.path.exists(t) else []) for p, t in L[s]]
     for s in L if any(os.path.exists(t) for p, t in L[s])}
A = [x for s in L for p, r in L[s] for x in r]
N = sorted({x[0] for x in A}) if any(x[0][0].isalpha() for x in A) else []
n = sorted({len(x) for x in A})
P = len(n) > 1
assert not P or all(k % 2 and k > 4 for k in n), 'lines of ' + str(n) + ' words'
F = lambda x: [N.index(x[0]) if N else float(x[0]), *map(float, x[1:])]
q = lambda v: v[1:] if len(v) > 5 else [
    v[1 + i % 2] + k * v[3 + i % 2] / 2
    for i, k in enumerate((-1, -1, 1, -1, 1, 1, -1, 1))]
o = lambda r: {
    'classes': [int(v[0]) for v in r], 'polygon_sizes': [len(q(v)) // 2 for v in r],
    'polygons': [c for v in r for c in q(v)]} if P else {
        'boxes' if n in ([], [5], [6], [9]) else 'keypoints': [c for v in r for c in v]}
T = {s: ''.join(json.dumps({'image': p, **o([F(x) for x in r])}) + '\n'
                for p, r in L[s]) for s in L}
N and print(dict(enumerate(N)))
n and print('polygons, with x and y of each point' if P else
            str(n[0]) + ' numbers of each object')
