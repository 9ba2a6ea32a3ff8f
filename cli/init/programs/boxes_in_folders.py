# SPDX-License-Identifier: Apache-2.0
# For each list the paths of a picture and of the file with its boxes. P is the
# folder of the pictures, B that of the boxes, X the extension of these.
# boxes.jsonl is for pictures in that folder, boxes-train.jsonl for those in
# the folder train in it.
import glob, os
L = {}
[L.setdefault(a + 'boxes' + ''.join('-' + d for d in b.split('/')[:-1])
              + '.jsonl', []).append(
    (P + '/' + b, a + B + '/' + os.path.splitext(b)[0] + X))
    for f in sorted(glob.glob('**/' + P + '/**/*.*', recursive=True))
    for a, b in [f.split(P + '/', 1)]]
