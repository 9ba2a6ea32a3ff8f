# SPDX-License-Identifier: Apache-2.0
# Makes tables in W of the lists L, files and their splits or ''. x has the columns of
# numbers that all lists have, but no ids. label is a column, None, or '' for a guess: a
# known name, else the only column that other lists lack, the only one of words, or the
# first or last one: of another name than all others, or of a few whole numbers. Names of
# classes are numbered. A first row whose numbers neither rise nor fall has no names:
# the columns are c1, c2 and so on. What is chosen, and left out, is printed.
import csv, functools, itertools, re, numpy as n
P = re.compile(r'[+-]?(\d+[.]?\d*|[.]\d+)([eE][+-]?\d+)?').fullmatch
num = functools.lru_cache(1 << 16)(lambda c: float(c) if P(c) else n.nan)
rows = lambda f: ([c.strip() for c in x] for x in csv.reader(
    open(f, newline='', encoding='utf-8-sig')) if x)
is_sorted = lambda x: {*n.sign(n.diff([num(c) for c in x if P(c)]))} in (
    set(), {1}, {-1})
is_header = lambda a=(), b=(): is_sorted(a) and not (any(map(P, a)) and is_sorted(b))
has_names = lambda f: is_header(*itertools.islice(rows(f), 2))
names = lambda f: next(rows(f)) if has_names(f) else [
    'c' + str(i + 1) for i, _ in enumerate(next(rows(f)))]
body = lambda f: itertools.islice(rows(f), int(has_names(f)), None)
array = lambda f, w: n.array([
    n.fromiter(map(num, x), 'f8', w) if len(x) == w
    else exit(f + ': a row has ' + str(len(x)) + ' columns, and the first one ' + str(w))
    for x in body(f)]).reshape(-1, w)
# The lists: m is the one whose columns count.
S = {}
Z = [s for f, s in L]
[S.setdefault(s or ('train' if len(Z) > 1 == Z.count('') else f[:-4]), f)
    for f, s in L if s or 'train' not in Z]
m = 'train' if 'train' in S else [*S][0]
H = names(S[m])
len({*H}) == len(H) or exit(S[m] + ': two columns of a name')
X = array(S[m], len(H))
U = [i for i, h in enumerate(H) if n.isfinite(X[:, i]).all()]
A = {s: names(f) for s, f in S.items()}
A = {s: h for s, h in A.items()
    if len({*h} & {H[i] for i in U}) * 2 > len(U)
    and (has_names(S[m]) or len(h) == len(H)) and has_names(S[s]) == has_names(S[m])}
# The ids and the label.
is_id = lambda h: re.fullmatch('id|idx|index|unnamed: 0|', h.lower())
large = lambda v: not (v % 1).any() and v[-1] > max(
    9999, n.abs(X[:, U[1:]]).max(initial=0))
I = [h for i in U for h in [H[i]] if is_id(h)
    or (i == 0 or re.search(r'(\b|_)id(\b|_)', h.lower()))
    for v in [n.unique(X[:, i])] if is_id(h)
    or len(v) == len(X) and (i > 0 or re.search('id', h.lower()) or large(v))]
K = [h for h in H if h.lower() in ('label', 'target', 'class', 'y')][:1]
Q = [h for h in H if not all(h in A[s] for s in A)]
Y = [h for i, h in enumerate(H) if n.isnan(X[:, i]).all()
    and 1 < len({x[i] for x in body(S[m])}) < len(X)]
stem = lambda h: re.sub(r'\d+', '', h)
E = [i for i in (0, len(H) - 1) if i in U and H[i] not in I]
B = [H[i] for i in E if [*map(stem, H)].count(stem(H[i])) == 1]
E = [i for i in E for v in [n.unique(X[:, i]).tolist()] if 1 < len(v) < len(X)
    and v in ([*range(len(v))], [*range(1, len(v) + 1)], [-1, 1])]
E = [i for i in E if X[:, i].max() != X[:, 1 if i == 0 else i - 1].max()] or E
E = [H[i] for i in E]
G = next((g for g in (K, Q, Y, B) if len(g) == 1), E)
label == '' and len(G) > 1 and exit(
    'which column is the label? begin the command with label = ' + repr(G[0])
    + ' or ' + repr(G[1]))
label = (G + [None])[0] if label == '' else label
label in [None, *H] or exit('no column is called ' + label)
# The tables.
D = {s: X if s == m else array(S[s], len(A[s])) for s in A}
F = [H[i] for i in U if H[i] not in (label, *I) and all(
    H[i] in A[s] and n.isfinite(D[s][:, A[s].index(H[i])]).all() for s in D)]
T = {s: [x[A[s].index(label)] for x in body(S[s])] for s in A if label in A[s]}
N = sorted({v for s in T for v in T[s]})
'' in N and exit('the column ' + label + ' lacks values')
t = ('' if not all(map(P, N)) else 'f4' if any(num(v) % 1 for v in N) else 'i8')
big = lambda v: ((abs(v) >= 1 << 23) & (n.float32(v) != v)).any()
B = [h for h in F + [label] * (t == 'f4') if any(
    big(D[s][:, A[s].index(h)]) for s in D if h in A[s])]
B and print('rounded, since 32 bits do not hold them: numbers in', *B)
[os.mkdir(W + '/' + s) for s in D]
[n.save(W + '/' + s + '/x.npy', n.ascontiguousarray(
    D[s][:, [A[s].index(h) for h in F]], 'f4')) for s in D]
[n.save(W + '/' + s + '/label.npy',
    n.array([*map(num, T[s])], t) if t else n.searchsorted(N, T[s])) for s in T]
print('label:', label or 'none: to have one, begin the command with label = '
    + repr(H[-1]), N[:9] if t else dict(enumerate(N)))
print('x:', len(F), 'columns; left out:', *(
    [h for h in dict.fromkeys(sum(A.values(), [])) if h not in (label, *F)]
    + [f for f, s in L if f not in [S[s] for s in A]] or ['nothing']))
