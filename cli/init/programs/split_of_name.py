# SPDX-License-Identifier: Apache-2.0
# split(n) is the split that the name n has a word of, as fby_split_word() finds
# it, what is before the word, and what follows it; None: there is no word.
import os, re
A = '(^|[^A-Za-z]|(?<=[a-z])(?=[A-Z]))'
split = lambda n: next(
    ((s, n[:m.end(1)], n[m.end():])
     for s, w in [('train', 'training|train'), ('validation', 'validation'),
                  ('valid', 'valid'),
                  ('val', r'evaluation|eval|val|dev(?=[^A-Za-z]|\Z)|'
                   '(?-i:[Dd]ev(?=[A-Z]))'),
                  ('test', 'testing|test')]
     for m in [re.search(A + '(?i:' + w + ')', n)] if m), None)
join = lambda *x: ('_'.join(
    s for s in (y.strip(' _.-') for y in x) if s) or 'x').lower()
