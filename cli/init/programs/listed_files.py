# SPDX-License-Identifier: Apache-2.0
# The PNG files in the folder of links W that column C of the lists in its folder D has.
import csv, json
rows = lambda l: (csv.DictReader(open(l, newline='', encoding='utf-8-sig'))
    if l.endswith('.csv') else map(json.loads, filter(str.strip, open(l))))
files = sorted({f for e in ('.csv', '.jsonl') for l in find(os.path.join(D, '*' + e))
    for r in rows(l) for k, v in r.items()
    if str(k).lower() == C and str(v).lower().endswith('.png')
    for f in [os.path.realpath(os.path.join(os.path.dirname(l), v))]
    if f.startswith(real(W))})
