# SPDX-License-Identifier: Apache-2.0
# Makes a list of the lines of each pair of texts in L: two files and the list. A and B
# are the names of the columns.
import json, re
R = {g: [re.sub(r'\n\Z', '', open(f, encoding='utf-8-sig').read()).split('\n')
         for f in (a, b)] for a, b, g in L}
assert all(len(a) == len(b) for a, b in R.values()), (
    'not as many lines: ' + str({g: (len(a), len(b)) for g, (a, b) in R.items()}))
T = {g: ''.join(json.dumps({A: x.strip(), B: y.strip()}) + '\n' for x, y in zip(a, b))
     for g, (a, b) in R.items()}
