# SPDX-License-Identifier: Apache-2.0
# A list of each split from the text F, which has in each line a picture and the number
# of its split, as CelebA's. P and E are what names lack before and after. Texts with
# numbers of all these pictures, as list_attr_celeba.txt, are columns of the lists.
import csv, glob, io, os, re
rows = lambda f: [l.split() for l in open(f, errors='replace') if l.strip()]
t = rows(F)
G = [(g, re.sub('(?i)list_|_align|_celeba|[.]txt|[^a-z0-9_]', '', os.path.basename(g)), R, h)
     for g in sorted(glob.glob('*.txt') + glob.glob('*/*.txt'))
     if g != F and not g.startswith(P) for r in [rows(g)]
     for R in [{w[0]: w[1:] for w in r}] if all(R.get(w[0]) for w in t)
     for h in [[w for w in r[:2] if len(r) > len(t) and w[0] not in {x[0] for x in t}]]]
C = {n: (g, R, h) for g, n, R, h in G if len({len(R[w[0]]) for w in t}) == 1 and all(
    re.fullmatch(r'-?(0|[1-9]\d*)([.]\d+)?', v) for w in t for v in R[w[0]])}
[print('column', n + ': of', g + ':', *h[-1:]) for n, (g, R, h) in C.items()]
[print('left out of the lists:', g) for g, n, R, h in G if g not in {c[0] for c in C.values()}]
T = {s + '.csv': o.getvalue()
     for n, s in enumerate(('train', 'val', 'test'))
     for Q in [[[P + w[0] + E] + [v[0] if len(v) < 2 else '[' + ', '.join(v) + ']'
                for g, R, h in C.values() for v in [R[w[0]]]]
            for w in t if w[1] == str(n)]] if Q
     for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows([['image', *C]] + Q)]}
