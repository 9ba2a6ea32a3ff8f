# SPDX-License-Identifier: Apache-2.0
# The column C of labels with D between them has 0 or 1 for each label of all lists,
# in order of their names, which are printed.
labels = lambda v: [
    p for t in str(v or '').strip('[] ').split(D) for p in [t.strip(' \x27\x22')] if p]
N = set()
[convert(L, str, lambda L, h, v: h == C and N.update(labels(v))) for L in S]
N = sorted(N, key=lambda n: n.zfill(9) if n.isdecimal() else n)
name = str
change = lambda L, h, v: [int(n in labels(v)) for n in N] if h == C else v
print(dict(enumerate(N)))
