# SPDX-License-Identifier: Apache-2.0
# Gives all files and folders the Unicode normal form NFC. A file whose name is there
# then already gets a number before its first dot.
import itertools, os, unicodedata
composed = lambda p: unicodedata.normalize('NFC', p)
numbered = lambda d, f: (
    os.path.join(d, f.replace('.', i + '.', 1) if '.' in f else f + i)
    for i in itertools.chain([''], ('_' + str(j) for j in itertools.count(1))))
P = [os.path.join(d, f) for d, _, F in os.walk('.') for f in F]
N = {p for p in P if p == composed(p)}
[(N.add(q), os.renames(p, q))
    for p in sorted(P) if p != composed(p)
    for q in [next(q for q in numbered(*os.path.split(composed(p))) if q not in N)]]
