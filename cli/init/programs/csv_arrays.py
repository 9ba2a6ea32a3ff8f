# SPDX-License-Identifier: Apache-2.0
# Writes each column of the list f as an array of N rows, with the numbers of names
# for texts, which are printed. A list of N rows has no names of columns.
import csv, os, re, numpy as n
R = [x for x in csv.reader(open(f, newline='', encoding='utf-8-sig')) if x]
H = R[0] if len(R) == N + 1 else ['c' + str(i) for i in range(len(R[0]))]
R = R[len(R) - N:] if len(R) in (N, N + 1) else exit('not of as many rows')
len({len(H), *map(len, R)}) == 1 or exit('not all rows have as many columns')
V = [n.array(c) for c in zip(*R)]
is_of = lambda p, a: all(re.fullmatch(p, x.strip()) for x in a)
T = {re.sub('[^a-z0-9_]+', '_', h.strip().lower()) + '.npy':
    a.astype('i8') if is_of(r'[+-]?\d+', a)
    else a.astype('f4') if is_of(r'[+-]?(\d+[.]?\d*|[.]\d+)(e[+-]?\d+)?', a)
    else (print(h, dict(enumerate(n.unique(a).tolist()))),
        n.unique(a, return_inverse=True)[1])[1]
    for h, a in zip(H, V)}
assert not any(map(os.path.lexists, T)), 'there already'
assert len(T) == len(H), 'two columns of a name'
B = [k for (k, a), v in zip(T.items(), V) for x in v if a.dtype == 'f4'
     for x in [float(x)] if abs(x) >= 1 << 23 and n.float32(x) != x]
B and print('rounded, since 32 bits do not hold them: numbers in', *{*B})
[n.save(k, a) for k, a in T.items()]
