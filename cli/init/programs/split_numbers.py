# SPDX-License-Identifier: Apache-2.0
# A list of each split from the text F, which has in each line a picture and the number
# of its split, as CelebA's. P and E are what names lack before and after.
import csv, io
t = [l.split() for l in open(F) if l.strip()]
T = {s + '.csv': o.getvalue()
     for n, s in enumerate(('train', 'val', 'test'))
     for R in [[[P + w[0] + E] for w in t if w[1] == str(n)]] if R
     for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows([['image']] + R)]}
