# SPDX-License-Identifier: Apache-2.0
# Makes lists of boxes from the objects in column C of the lists L, which have boxes
# as COCO's (bbox), and classes by number or name. Column F has the pictures, whose
# upright
# sizes (274: the orientation of EXIF) are needed where the rows have none. Names of classes are printed.
import json, os, PIL.Image as I
O = {l: [json.loads(x) for x in open(l, encoding='utf-8-sig') if x.strip()]
     for l in L}
K = lambda o: next((o[k] for k in ('category', 'categories', 'label', 'labels',
    'category_id', 'class') if k in o), [0] * len(o['bbox']))
N = sorted({c for l in L for r in O[l] for c in K(r[C]) if isinstance(c, str)})
U = lambda i: i.size[::-1 if i.format in ('JPEG', 'MPO') and
    i.getexif().get(274, 1) > 4 else 1]
Z = lambda l, r: ((r['width'], r['height']) if {'width', 'height'} <= {*r} else
    U(I.open(os.path.join(os.path.dirname(l), r[F]))))
T = {os.path.join(os.path.dirname(l), 'boxes-' + os.path.basename(l)): ''.join(
    json.dumps({**{k: v for k, v in r.items() if k != C}, 'boxes': [
        n for c, (x, y, w, h) in zip(K(r[C]), r[C]['bbox'])
        for n in [N.index(c) if c in N else c, (x + w / 2) / W,
                  (y + h / 2) / H, w / W, h / H]]}) + '\n'
    for r in O[l] for W, H in [Z(l, r)]) for l in L}
[print(dict(enumerate(N))) for n in N[:1]]
