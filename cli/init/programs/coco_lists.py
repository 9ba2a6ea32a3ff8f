# SPDX-License-Identifier: Apache-2.0
# The JSON of COCO in annotations/, for boxes_coco.py: instances_*.json, or else
# others with boxes. The pictures are in the folder that the file is called after,
# or in that of its split.
import glob, json, os
r = str
J = (glob.glob('annotations/instances_*.json') or
     [f for f in sorted(glob.glob('annotations/*.json'))
      if not f.startswith('annotations/captions') and 'bbox' in open(f).read()])
w = lambda s: [x for x in ('train', 'val', 'test') if x in s.lower()][:1]
L = [(f, s + '.jsonl', p + '/') for f in J
     for s in [f[12:-5].replace('instances_', '')]
     for p in list(filter(os.path.isdir, [
         i + d for d in [s] + w(s) for i in ('', 'images/')] + ['images']))[:1]]
[print('left out of the lists:', f + ', without a folder of pictures') for f in J
    if f not in {x[0] for x in L}]
assert L
