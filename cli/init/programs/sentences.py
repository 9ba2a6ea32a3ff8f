# SPDX-License-Identifier: Apache-2.0
# Makes a list of the sentences of each text in L: a file, with a word and its tag in
# the columns W and G of a line, and the list. Tags become their numbers, which are
# printed. Blanks in words become _.
import json, re
assert len({g for f, g in L}) == len(L), 'two texts would have one name: ' + str(L)
S = lambda f: [r for b in re.split(r'\n\s*\n', open(
    f, encoding='utf-8-sig').read()) for r in [[
        x.split('\t') if '\t' in x else x.split() for x in b.split('\n')
        if x.strip() and x[:10] != '-DOCSTART-'
        and (G < 0 or re.match(r'\d+\t', x))]] if r]
R = {g: S(f) for f, g in L}
N = sorted({w[G].strip() for r in R.values() for s in r for w in s})
I = {t: i for i, t in enumerate(N)}
T = {g: ''.join(json.dumps({
    'words': ' '.join(w[W].strip().replace(' ', '_') for w in s),
    'tags': [I[w[G].strip()] for w in s]}) + '\n' for s in r) for g, r in R.items()}
print('tags:', dict(enumerate(N)))
