# SPDX-License-Identifier: Apache-2.0
# Adds the list of train to those of split_texts.py, if there is none: the pictures in D
# that these lack. Without labels in folders, none is added to lists with labels.
import os
N = {os.path.normpath(x[0]) for t in T.values() for x in csv.reader(io.StringIO(t))}
rest = [p for p in sorted(
    os.path.normpath(os.path.join(a, f))
    for a, _, b in os.walk(D or '.', followlinks=True) for f in b
    if f.lower().endswith(('.jpg', '.jpeg', '.png', '.webp')) and f[0] != '.')
    if p not in N and (K == '' or '/' in p)]
o = io.StringIO()
csv.writer(o).writerows(
    [['image', 'label'][:1 + (K != '')]]
    + [[p, *p.split('/')[-2:-1]][:1 + (K != '')] for p in rest])
K == 'words' or T.setdefault('train.csv', o.getvalue())
