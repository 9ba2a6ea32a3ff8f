# SPDX-License-Identifier: Apache-2.0
# Joins the lists G, whose columns are the same, to one of each folder, or of train. A
# further column has their names. Lists that were converted are read in place of the
# old ones, as in find_converted() (guess_lists.c). T is for write_lists.py.
import csv, glob, io, os
W = 'paths found names utf8 commas lines text dots filled boxes labels'.split()
old = lambda f: any(os.path.exists(os.path.join(
    os.path.dirname(f), w + '-' + os.path.basename(f))) for w in W)
R = {f: [x for x in csv.reader(open(f, newline='', encoding='utf-8-sig')) if x]
     for f in sorted(glob.glob(G)) if not old(f)}
R = {f: r for f, r in R.items() if r}
H = R[min(R)][0]
assert all(r[0] == H for r in R.values()), 'not all lists have the same columns'
C = 'list' if 'file' in H else 'file'
S = {f: os.path.dirname(f) or 'train' for f in R}
T = {'joined/' + s + '.csv': o.getvalue() for s in sorted({*S.values()})
     for o in [io.StringIO()] for _ in [csv.writer(o).writerows(
         [[C] + H] + [[os.path.basename(f)[:-4]] + x
                      for f in R if S[f] == s for x in R[f][1:]])]}
NEW = 'joined'
