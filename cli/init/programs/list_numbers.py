# SPDX-License-Identifier: Apache-2.0
# The columns C have only numbers: with how = 'drop' rows without one are left out, with
# 'mean' they get the mean of their column in the first list, unless the key is missing.
# Means are whole if all numbers are, and are written without a point.
# 1,200.5 and 3% are numbers, too, and in the columns D 1.200,5.
import re
point = lambda h, v: (
    str(v).replace('.', '').replace(',', '.') if h in D else str(v))
is_number = lambda h, v: re.fullmatch(
    r'\s*[-+]?\x24?(\d[\d,]*[.]?\d*|[.]\d+)(e[-+]?\d+)?\s*%?\s*',
    point(h, v), re.I)
number = lambda h, v: float(re.sub(r'[,%\x24\s]', '', point(h, v))) / (
    100 if '%' in str(v) else 1)
V, B, P = {h: [] for h in C}, {L: set() for L in S}, set()
[convert(L, str, lambda L, h, v: h in C and (
    B[L].add(h) or L == S[0] and is_number(h, v) and (
        V[h].append(number(h, v)) or '.' in point(h, v) and P.add(h)))) for L in S]
A = {h: sum(x) / max(len(x), 1) for h, x in V.items()}
A = {h: a if h in P or any(x % 1 for x in V[h]) else round(a) for h, a in A.items()}
keep = lambda L, x: B[L] == {
    h.lower() for h, v in x
    if h.lower() in C and (how == 'mean' or is_number(h.lower(), v))}
name = str
change = lambda L, h, v: (
    v if h not in C
    else (v if isinstance(v, (int, float)) else '%.15g' % number(h, v))
    if is_number(h, v) else A[h])
