# SPDX-License-Identifier: Apache-2.0
# A list of the pictures in the folders F and their masks in the folders M beside them: of
# several masks the one with the shortest name, as a.png beside a-1.png.
import csv, glob, io, os
T = {'train.csv': o.getvalue()
     for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows([['image', 'mask']] + [
         [p, m[0]] for p in sorted(glob.glob('*/' + F + '/*.*'))
         for s in [os.path.splitext(os.path.basename(p))[0]]
         for m in [sorted(glob.glob(glob.escape(
             p.split('/')[0] + '/' + M + '/' + s) + '[._-]*'), key=len)] if m])]}
