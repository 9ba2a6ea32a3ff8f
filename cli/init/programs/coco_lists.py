# SPDX-License-Identifier: Apache-2.0
# The JSON of COCO in annotations/, for boxes_coco.py.
import glob, json, os
r = str
L = [(f, s + '.jsonl', p + '/')
     for f in glob.glob('annotations/instances_*.json') for s in [f[22:-5]]
     for p in list(filter(os.path.isdir, [s, 'images/' + s, 'images']))[:1]]
assert L
