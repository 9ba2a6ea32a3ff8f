# SPDX-License-Identifier: Apache-2.0
# For each folder of S a table of the samples, in its folder D: a row for each of the
# folders P in it, '*/', or '*/*/' for those in groups, whose numbers get a column. N
# has the file of each column, in which * is the name of the folder. Arrays of which
# only the first dimension differs become rows of several lengths. Folders that lack a
# file are left out, and printed. A program that fails leaves no array.
import atexit, glob, os, numpy as n
path = lambda f, c: f + N[c].replace('*', f.split('/')[-2])
load = lambda p: n.load(p, mmap_mode='r')
F = {d: [f for f in sorted(glob.glob(glob.escape(d) + P))
         if any(os.path.isfile(path(f, c)) for c in N)] for d in S}
[print('left out, since a file is missing:', f) for d in S for f in F[d]
    if not all(os.path.isfile(path(f, c)) for c in N)]
F = {d: [f for f in F[d] if all(os.path.isfile(path(f, c)) for c in N)] for d in S}
A = [(d, c, [load(path(f, c)).shape for f in F[d]]) for d in S if F[d] for c in N]
R = {c: len({s for d, k, z in A if k == c for s in z}) > 1 for c in N}
assert all(len({s[R[c]:] for d, k, z in A if k == c for s in z}) == 1
    and not (R[c] and () in z) for d, c, z in A), 'the shapes differ: ' + str(
        {c: sorted({*z})[:9] for d, c, z in A})
O = {(d, c): d + D + c + ('.values' if R[c] else '') + '.npy' for d, c, z in A}
ends = lambda z: n.cumsum([0] + [s[0] for s in z])
G = sorted({f.split('/')[-3] for d in S for f in F[d]}) if P == '*/*/' else []
M = {d + D + c + '.offsets.npy': ends(z) for d, c, z in A if R[c]}
M.update({d + D + 'group.npy': [G.index(f.split('/')[-3]) for f in F[d]]
    for d in S if G and F[d]})
assert len({*O.values(), *M}) == len(O) + len(M), 'two columns of a name'
assert not any(os.path.lexists(o + e) for o in [*O.values(), *M]
    for e in ('', '.part')), 'there already'
[(os.mkdir(d + D), atexit.register(lambda d: os.listdir(d) or os.rmdir(d), d + D))
    for d in S if D and F[d]]
[atexit.register(lambda p: os.path.exists(p) and os.remove(p), o + '.part')
    for o in [*O.values(), *M]]
fill = lambda m, d, c, b: [m.__setitem__(slice(b[i], b[i + 1]), load(path(f, c)))
    for i, f in enumerate(F[d])]
[fill(n.lib.format.open_memmap(O[d, c] + '.part', 'w+',
    n.result_type(*[load(path(f, c)).dtype for f in F[d]]), (int(b[-1]), *z[0][R[c]:])),
    d, c, b) for d, c, z in A for b in [ends(z) if R[c] else range(len(z) + 1)]]
[n.save(o, a) for f, a in M.items() for o in [open(f + '.part', 'wb')]]
[os.rename(o + '.part', o) for o in [*O.values(), *M]]
print(dict(enumerate(G))) if G else 0
