# SPDX-License-Identifier: Apache-2.0
# Lists of pictures and their masks, below pairs/. L has for each list its name, the
# folders of both, and how the names of masks end.
import csv, io, os
R = {}
[R.setdefault(s, [['image', 'mask']]).append(
    ['../' + a + '/' + f, '../' + b + '/' + k + e])
    for s, a, b, e in L for f in sorted(os.listdir(a))
    for k in [os.path.splitext(f)[0]] if os.path.exists(b + '/' + k + e)]
T = {'pairs/' + s + '.csv': o.getvalue()
     for s, r in R.items() for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(r)]}
NEW = 'pairs'
