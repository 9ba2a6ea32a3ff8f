# SPDX-License-Identifier: Apache-2.0
# The same as split_csv.py for JSON lines.
import json, os
r = [json.loads(x) for x in open(l, encoding='utf-8-sig') if x.strip()]
T = {s + '.jsonl': ''.join(
    json.dumps({k: x[k] for k in x if not D or k.lower() != c}) + '\n'
    for x in r
    if s in [m.get(p(x[k] is not None and x[k] * 1)) for k in x if k.lower() == c])
     for s in {*m.values()}}
