# SPDX-License-Identifier: Apache-2.0
# Makes lists of the classes of pictures in text files of one word, a number or a
# name. Pictures without a file are left out.
import json, os
L = {s: [(p, open(t).read().split()) for p, t in L[s] if os.path.exists(t)] for s in L}
assert all(len(w) == 1 for s in L for p, w in L[s]), 'a text is not one word'
c = int if all(w[0].isdigit() for s in L for p, w in L[s]) else str
T = {s: ''.join(json.dumps({'image': p, 'label': c(w[0])}) + '\n' for p, w in L[s])
     for s in L if L[s]}
