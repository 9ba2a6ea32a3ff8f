# SPDX-License-Identifier: Apache-2.0
# Writes train/x.npy and so on in W of texts of numbers, with whole numbers as such, and
# with values and offsets if lines have several lengths.
import glob, numpy as n
F = [(w[0], b.replace(w[0], '').strip('_-. ') or 'x', f)
     for f in glob.glob('**/*.txt', recursive=True)
     for b in [os.path.basename(f)[:-4].lower()]
     for w in [[w for w in ('train', 'valid', 'val', 'test') if w in b]] if w]
R = {(s, k): [[float(v) for v in x] for x in (
    x.split('#')[0].split() for x in open(f, encoding='utf-8-sig')) if x]
    for s, k, f in F}
assert len(R) == len(F), 'two files of a name'
U = {k for s, k in R if len({len(x) for t, j in R if j == k for x in R[t, j]}) > 1}
fit = lambda a: a.astype(int) if (a == a.round()).all() else a
A = {(s, k + e): a for (s, k), r in R.items() for e, a in (
    [('.values', fit(n.array([v for x in r for v in x]))),
     ('.offsets', n.cumsum([0] + [len(x) for x in r]))] if k in U
    else [('', fit(n.array(r)[:, 0] if r and len(r[0]) == 1 else n.array(r)))])}
[os.mkdir(W + '/' + s) for s in {s for s, k in A}]
[n.save(W + '/' + s + '/' + k + '.npy', A[s, k]) for s, k in A]
