# SPDX-License-Identifier: Apache-2.0
# A list of each split from the texts of S, the pairs of a split and its lines, with a
# picture in each. P and E are what names lack before and after. The label is
# what follows the name (K = 'words'), or its folder ('folder'). Names may have blanks:
# the longest one that is there counts.
import csv, io, os, re
cut = lambda l: next(
    ([l[:i], *l[i:].split()]
     for i in [len(l)] + [m.start() for m in re.finditer(r'\s', l)][::-1]
     if os.path.isfile(P + l[:i] + E)), l.split())
label = lambda w: (
    [' '.join(w[1:])] if K == 'words'
    else [w[0].split('/')[-2]] if K == 'folder' else [])
T = {s + '.csv': o.getvalue()
     for s, f in S for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(
         [['image', 'label'][:1 + (K != '')]]
         + [[P + w[0] + E, *label(w)] for l in f
            for w in [cut(l.strip().lstrip('./'))] if w])]}
