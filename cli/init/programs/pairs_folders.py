# SPDX-License-Identifier: Apache-2.0
# Lists masks.csv of the pictures in the folders P and of their masks in the folders M
# beside these. Both have the same name up to the first dot, or else up to a dot, _ or -.
import csv, glob, io, os, re
N = lambda d, c: {re.split(c, f)[0]: f for f in sorted(os.listdir(d))
    if f.lower().endswith(('.jpg', '.jpeg', '.png', '.webp'))}
R = lambda a, b: next((r for c in ('[.]', '[._-]')
    for x, y in [(N(a, c), N(b, c))]
    for r in [[[P + '/' + x[k], M + '/' + y[k]] for k in x if k in y]]
    if r and len(x) == len(N(a, '/')) and len(y) == len(N(b, '/'))), [])
T = {p[:-len(P) - 1] + 'masks.csv': o.getvalue()
     for p in sorted(glob.glob('**/' + P + '/', recursive=True))
     for m in [p[:-len(P) - 1] + M] if os.path.isdir(m)
     for r in [R(p, m)] if r for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows([['image', 'mask']] + r)]}
T or exit('no names of pictures and masks are alike')
