# SPDX-License-Identifier: Apache-2.0
# For each folder of S a list of the samples, which are the folders P in it: '*/', or
# '*/*/' for those in groups, whose names get a column. N has the file of each column,
# in which * is the name of the folder. Columns that no folder has are left out, and so
# are folders that lack a file, which are printed.
import csv, glob, io, os
has = lambda d, p: os.path.isfile(d + p)
T = {d + 'samples.csv': o.getvalue()
     for d in S for o in [io.StringIO()]
     for R in [[[f + e.replace('*', f.split('/')[-2]) for e in N.values()]
                for p in sorted(glob.glob(glob.escape(d) + P))
                for f in [p[len(d):]]]]
     for K in [[i for i in range(len(N)) if any(has(d, r[i]) for r in R)]]
     for A in [[[r[i] for i in K] for r in R if any(has(d, p) for p in r)]]
     for L in [[r for r in A if all(has(d, p) for p in r)]] if L
     for g in [P.count('/') > 1]
     for _ in [csv.writer(o).writerows(
                   [[list(N)[i] for i in K] + ['group'] * g]
                   + [r + r[0].split('/')[:1] * g for r in L]),
               [print('left out, since a file is missing:',
                      d + os.path.dirname(r[0])) for r in A if r not in L]]}
