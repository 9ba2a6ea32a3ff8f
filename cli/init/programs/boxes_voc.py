# SPDX-License-Identifier: Apache-2.0
# Makes lists of boxes in XML files, as Pascal VOC's. Pictures without a file
# are left out.
import json, os, xml.etree.ElementTree as E
L = {s: l for s in L for l in [[q for q in L[s] if os.path.exists(q[1])]] if l}
r = E.parse
N = sorted({n.text for l in L.values() for p, x in l
            for n in r(x).findall('object/name')})
v = lambda e, k: float(e.find(k).text)
T = {s: ''.join(
    json.dumps({'image': p, 'boxes': [
        n for t in [r(x)] for o in t.findall('object')
        for w, h in [[v(t, 'size/width'), v(t, 'size/height')]]
        for a, b, c, d in [[v(o, 'bndbox/' + k)
                            for k in ('xmin', 'ymin', 'xmax', 'ymax')]]
        for n in [N.index(o.find('name').text), (a + c) / 2 / w,
                  (b + d) / 2 / h, (c - a) / w, (d - b) / h]]}) + '\n'
    for p, x in L[s]) for s in L}
print(dict(enumerate(N)))
