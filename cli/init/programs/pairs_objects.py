# SPDX-License-Identifier: Apache-2.0
# A list of the pictures in the folders F and their masks in the folders M beside them: of
# several masks the one with the shortest name, as a.png beside a-1.png. The outer folders
# are labels, unless the names of some differ only in numbers, as those of patients.
import csv, glob, io, os
R = [[p, m[0], p.split('/')[0]]
     for p in sorted(glob.glob('*/' + F + '/*.*'))
     for s in [os.path.splitext(os.path.basename(p))[0]]
     for m in [sorted(glob.glob(glob.escape(
         p.split('/')[0] + '/' + M + '/' + s) + '[._-]*'), key=len)] if m]
C = {r[2] for r in R}
W = {''.join(c for c in d if not c.isdigit()) for d in C}
K = 3 if 1 < len(C) == len(W) and len(R) > len(C) else 2
T = {'train.csv': o.getvalue()
     for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(
         r[:K] for r in [['image', 'mask', 'label']] + R)]}
