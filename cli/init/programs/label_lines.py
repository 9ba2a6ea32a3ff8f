# SPDX-License-Identifier: Apache-2.0
# Makes a list of each text in L, a file and the list, of which each line has labels
# that begin with __label__, and a text.
import json, re
assert len({g for f, g in L}) == len(L), 'two texts would have one name: ' + str(L)
T = {g: ''.join(json.dumps({
    'text': ' '.join(w for w in x.split() if w[:9] != '__label__'),
    'label': ' '.join(w[9:] for w in x.split() if w[:9] == '__label__')}) + '\n'
    for x in open(f, encoding='utf-8-sig') if x.strip()) for f, g in L}
