# SPDX-License-Identifier: Apache-2.0
# The JSON of COCO in annotations/, for boxes_coco.py: instances_*.json, or else
# others with boxes, or else captions_*.json. Captions of the same pictures are in the
# lists, too. The pictures are in the folder that the file is called after, or in that
# of its split.
import glob, json, os
r = str
A = sorted(glob.glob('annotations/*.json'))
is_text = lambda f: f.startswith('annotations/captions')
J = ([f for f in A if f.startswith('annotations/instances_')] or
     [f for f in A if not is_text(f) and 'bbox' in open(f).read()] or
     [f for f in A if is_text(f)])
w = lambda s: [x for x in ('train', 'val', 'test') if x in s.lower()][:1]
name = lambda f: f[12:-5].split('instances_')[-1].split('keypoints_')[-1].split(
    'captions_')[-1]
L = [(f, s + '.jsonl', p + '/') for f in J for s in [name(f)]
     for p in list(filter(os.path.isdir, [
         i + d for d in [s] + w(s) for i in ('', 'images/')] + ['images']))[:1]]
[print('left out of the lists:', f + (', without a folder of pictures' if f in J else ''))
    for f in A if f not in {x[0] for x in L} and not (
        is_text(f) and name(f) in {name(x[0]) for x in L})]
assert L
