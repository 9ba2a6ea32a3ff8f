# SPDX-License-Identifier: Apache-2.0
# The same for boxes beside the pictures.
import glob, os
L = {}
[L.setdefault(os.path.join(os.path.dirname(f), 'boxes.jsonl'), []).append(
    (os.path.basename(f), os.path.splitext(f)[0] + X))
    for f in sorted(glob.glob('**/*.*', recursive=True))
    if f.lower().endswith(('.jpg', '.jpeg', '.png', '.webp'))]
