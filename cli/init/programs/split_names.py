# SPDX-License-Identifier: Apache-2.0
# Makes a list of each split from the list l, whose column c has paths of pictures: the
# text m[s] has the names of those of the split s, with or without folders and endings.
# Without a text of train, all others are train.
import csv, io, os
r = list(csv.reader(open(l, newline='', encoding='utf-8-sig')))
k = [h.lower() for h in r[0]].index(c)
N = {s: {w for x in open(m[s]) for w in (x.strip(), *x.split()[:1])} for s in m}
V = lambda p: {p, p.split('/')[-1], os.path.splitext(p.split('/')[-1])[0]}
S = lambda p: next((s for s in N if N[s] & V(p)), 'rest' if 'train' in m else 'train')
R = {s: [y for y in r[1:] if y and S(y[k]) == s] for s in ('train', *m, 'rest')}
T = {s + '.csv': o.getvalue() for s in R if s != 'rest' for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(r[:1] + R[s])]}
R['rest'] and print('in no text of a split, so left out:', len(R['rest']), 'rows')
