# SPDX-License-Identifier: Apache-2.0
# The same as names_csv.py for JSON lines.
import json, re
clean = lambda i, c: re.sub(
    r'(?i)^(?=[0-9-]|(valid|folder)\Z)', 'c_',
    re.sub(r'[^A-Za-z0-9_-]+', '_', c)[:60].strip('_')) or 'c' + str(i)
T = {'names-' + l: ''.join(
    json.dumps({clean(i, c): v for i, (c, v) in enumerate(json.loads(x).items())})
    + '\n' for x in open(l, encoding='utf-8-sig') if x.strip()) for l in L}
