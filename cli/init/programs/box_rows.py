# SPDX-License-Identifier: Apache-2.0
# Writes of each list of L, with a box in each row, one with a picture in each row,
# and its boxes. F is the column of pictures, Y that of classes or '', X are those of
# the sides, and S of the size of a picture; if there are none, Pillow reads that of
# the upright picture (274: the orientation of EXIF). Sides
# of which none is above 1 are relative already. Classes that are no numbers are
# numbered by their names, which are printed. A row without sides has no box. If B is
# not '', the sides are made of that column: x, y, width and height.
import csv, functools, io, json
sides = lambda v: [str(n) for a, b, c, d in [json.loads(v or '[0, 0, 0, 0]')]
    for n in (v and (a, b, a + c, b + d) or [''] * 4)]
whole = lambda l, i, r: r if None not in (*r, *r.values()) else exit(
    l + ', line ' + str(i) + ': the row has not as many columns as the first one')
R = {l: [{**x, **(dict(zip(X, sides(x[B].strip()))) if B else {})}
    for d in [csv.DictReader(open(l, newline='', encoding='utf-8-sig'))]
    for r in d
    for x in [{k.lower(): v for k, v in whole(l, d.line_num, r).items()}]]
    for l in L}
N = sorted({x[Y] for l in L for x in R[l] if Y and x[X[0]].strip()})
assert all(N), 'a box has no class in column ' + Y
is_id = all(n.isdecimal() for n in N)
P = {l: {} for l in L}
is_part = all(float(x[k]) <= 1 for l in L for x in R[l] if x[X[0]].strip() for k in X)
upright = lambda i: i.size[::-1 if i.format in ('JPEG', 'MPO') and
    i.getexif().get(274, 1) > 4 else 1]
read = functools.lru_cache(None)(
    lambda f: upright(__import__('PIL.Image').Image.open(f)))
size = lambda x: (
    (1, 1) if is_part else [float(x[k]) for k in S] if S else read(x[F]))
box = lambda i, a, b, c, d, w, h: [
    i, (a + c) / 2 / w, (b + d) / 2 / h, (c - a) / w, (d - b) / h]
assert not B or all(float(x[k]) <= n + 1 for l in L for x in R[l] if x[B].strip()
    for k, n in zip(X[2:], size(x))), B + ' is no x, y, width and height'
[P[l].setdefault(x[F], []).extend(box(
    0 if Y == '' else int(x[Y]) if is_id else N.index(x[Y]),
    *[float(x[k]) for k in X], *size(x)) if x[X[0]].strip() else [])
    for l in L for x in R[l]]
T = {'boxes-' + l: o.getvalue() for l in L for o in [io.StringIO()]
    for _ in [csv.writer(o).writerows([[F, 'boxes']] + [
        [p, json.dumps(b)] for p, b in P[l].items()])]}
print({} if is_id else dict(enumerate(N)))
