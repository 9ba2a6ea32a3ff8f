# SPDX-License-Identifier: Apache-2.0
# Lists of DAVIS' pictures and masks: one for each of train, val and test of the last
# folder in ImageSets/ that has train.txt, or train of all. A line of these texts has a
# video, or begins with the path of a picture. Pictures without a mask are left out.
import csv, glob, io, os
D = max((os.path.dirname(f) for f in glob.glob('ImageSets/*/train.txt')), default='')
S = {s: {(['', *w[0].split('/')][-2] if '/' in w[0] else w[0])
         for l in open(f) for w in [l.split()] if w}
     for s in ('train', 'val', 'test') for f in [os.path.join(D, s + '.txt')]
     if D and os.path.exists(f)}
P = [(p, 'Annotations' + p[len('JPEGImages'):-3] + 'png')
     for p in sorted(glob.glob('JPEGImages/**/*.jpg', recursive=True))]
R = {s: [x for x in P if os.path.exists(x[1])
         and (not S or x[0].split('/')[-2] in S[s])] for s in S or ['train']}
T = {s + '.csv': o.getvalue() for s in R if R[s] for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows([['image', 'mask']] + R[s])]}
