# SPDX-License-Identifier: Apache-2.0
# Joins the parts S1.X, S2.X and so on of each S of the names N, by their numbers,
# to one text of S.X. Rows of .csv have the names of columns of the first part.
import glob, re
G = {s: sorted((int(m[1]), f) for f in glob.glob('*' + X)
    for m in [re.match(
        re.escape(s) + r'[_.-]?(\d+)(-of-\d+)?' + re.escape(X) + r'\Z', f)]
    if m) for s in N}
read = lambda f: open(f, newline='', encoding='utf-8-sig').read()
line = lambda t: t + '\n' * (t[-1:] not in ('', '\n'))
head = lambda t: t.partition('\n')[0].strip()
P = {s: [line(read(f)) for n, f in G[s]] for s in G}
assert X != '.csv' or all(
    len({head(t) for t in P[s]}) == 1 for s in P), 'other names of columns'
T = {s + X: ''.join(
    t.partition('\n')[2] if i and X == '.csv' else t
    for i, t in enumerate(P[s])) for s in P}
