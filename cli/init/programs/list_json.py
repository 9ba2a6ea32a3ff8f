# SPDX-License-Identifier: Apache-2.0
# The same as list_csv.py for JSON lines.
import json
convert = lambda L, name, change: ''.join(
    json.dumps({name(h): change(L, h.lower(), v) for h, v in d.items()}) + '\n'
    for x in open(L, encoding='utf-8-sig') if x.strip()
    for d in [json.loads(x)] if keep(L, d.items()))
