# SPDX-License-Identifier: Apache-2.0
# The same as blanks_csv.py for JSON lines.
import json
T = {'text-' + l: ''.join(
    json.dumps({**{k: ' ' for k in c - {k.lower() for k in x}},
                **{k: ' ' if k.lower() in c and v in ('', None) else v
                   for k, v in x.items()}}) + '\n'
    for y in open(l, encoding='utf-8-sig') if y.strip()
    for x in [json.loads(y)]) for l in L}
