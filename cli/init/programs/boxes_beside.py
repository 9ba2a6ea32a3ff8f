# SPDX-License-Identifier: Apache-2.0
# The same for boxes beside the pictures. A list is for those in each folder that is K
# folders deep.
import glob, os
L = {}
[L.setdefault('/'.join(d[:K] + ['boxes.jsonl']), []).append(
    ('/'.join(d[K:]), os.path.splitext(f)[0] + X))
    for f in sorted(glob.glob('**/*.*', recursive=True)) for d in [f.split('/')]
    if len(d) > K and f.lower().endswith(('.jpg', '.jpeg', '.png', '.webp'))]
