# SPDX-License-Identifier: Apache-2.0
# A list of the pictures in the folder F and their texts in the folder X.
import json, os
T = {'train.jsonl': ''.join(
    json.dumps({'image': F + '/' + f,
                'text': open(t, encoding='utf-8').read().strip()}) + '\n'
    for f in sorted(os.listdir(F))
    for t in [X + '/' + os.path.splitext(f)[0] + '.txt'] if os.path.exists(t))}
