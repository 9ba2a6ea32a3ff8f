# SPDX-License-Identifier: Apache-2.0
# Lists of the pictures in class folders, which are in the outer folders. With a fold V
# its pictures are in val.csv and the others in train.csv; without, the name of the outer
# folder is a column.
import csv, glob, io
F = [(f, f.split('/')) for f in sorted(glob.glob('*/*/**/*.*', recursive=True))
     if f.lower().endswith(('.jpg', '.jpeg', '.png', '.webp'))]
T = {s + '.csv': w.getvalue()
     for s in ('train', 'val')[:1 + (V != '')] for w in [io.StringIO()]
     for _ in [csv.writer(w).writerows(
         [['image', 'label'] + ['folder_name'] * (V == '')]
         + [[f, p[1]] + p[:1] * (V == '') for f, p in F
            if V == '' or (p[0] == V) == (s == 'val')])]}
