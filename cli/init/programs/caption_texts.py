# SPDX-License-Identifier: Apache-2.0
# A list of each split with the captions of each picture, from the text F with lines of
# a picture, # and a number, a tab and a caption. S has the splits and the lines with
# their pictures; empty: all are train. P is what the names lack.
import collections, json, os
C = collections.defaultdict(list)
[C[k.rpartition('#')[0]].append(t.strip())
 for l in open(F, encoding='utf-8') for k, _, t in [l.partition('\t')] if t.strip()]
S = [(s, [l.strip() for l in f if l.strip()]) for s, f in S] or [('train', [*C])]
has = lambda n: n in C and os.path.isfile(P + n)
T = {s + '.jsonl': ''.join(
    json.dumps({'image': P + n, 'captions': C[n]}) + '\n' for n in N if has(n))
     for s, N in S}
U = {n for s, N in S for n in N}
[print('left out, without captions or picture:', n) for n in sorted(U) if not has(n)]
[print('left out, of no split:', n) for n in C if n not in U]
