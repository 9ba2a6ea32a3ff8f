# SPDX-License-Identifier: Apache-2.0
# Makes a list of each text in L, a file and the list, of which each line has labels
# that begin with __label__, and a text. If a line has several labels, all become
# numbers, which are printed.
import json
assert len({g for f, g in L}) == len(L), 'two texts would have one name: ' + str(L)
R = {g: [x.split() for x in open(f, encoding='utf-8-sig') if x.strip()] for f, g in L}
K = {g: [[w[9:] for w in x if w[:9] == '__label__'] for x in r] for g, r in R.items()}
N = sorted({k for s in K.values() for x in s for k in x})
one = all(len(x) < 2 for s in K.values() for x in s)
T = {g: ''.join(json.dumps({
    'text': ' '.join(w for w in x if w[:9] != '__label__'),
    **({'label': ''.join(k)} if one else {'labels': [N.index(w) for w in k]})}) + '\n'
    for x, k in zip(r, K[g])) for g, r in R.items()}
one or print('labels:', dict(enumerate(N)))
