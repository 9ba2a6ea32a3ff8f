# SPDX-License-Identifier: Apache-2.0
# Lists of train and test from the texts of CUB, which have the names and the splits by
# number. P is the folder of the pictures; the label is the folder in it.
import csv, io
i, t = [dict(l.split(None, 1) for l in open(f) if l.strip())
        for f in ('images.txt', 'train_test_split.txt')]
T = {s + '.csv': o.getvalue()
     for s, v in (('train', '1'), ('test', '0')) for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(
         [['image', 'label']]
         + [[P + '/' + p.strip(), p.split('/')[0]] for k, p in i.items()
            if t[k].strip() == v])]}
