# SPDX-License-Identifier: Apache-2.0
# Merges the masks of the objects of a picture, in the folders M beside the
# folders F of pictures, into W. Ids go up to 254, then they begin again.
import functools, glob, os, shutil, numpy as n, PIL.Image as I
P = [(p, m, p.split('/')[0].replace('.', '_'))
     for p in sorted(glob.glob('*/' + F + '/*.*'))
     for m in [sorted(glob.glob(glob.escape(p.split('/')[0]) + '/' + M
                                + '/*.*'))] if m]
assert len({k for p, m, k in P}) == len(P), 'two pictures of a name'
[os.makedirs(W + '/' + k) for k in ('images', 'masks')]
[(shutil.copy(p, W + '/images/' + k + os.path.splitext(p)[1]),
  I.fromarray(functools.reduce(n.maximum, (
      (n.asarray(I.open(f).convert('L')) > 0) * n.uint8(i % 254 + 1)
      for i, f in enumerate(m)))).save(W + '/masks/' + k + '.png'))
    for p, m, k in P]
