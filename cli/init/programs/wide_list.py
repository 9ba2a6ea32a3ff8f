# SPDX-License-Identifier: Apache-2.0
# Makes a table of the list f, with the column of its label, if it has one.
import numpy as n
a = n.loadtxt(f, 'f4', delimiter=',', skiprows=1, ndmin=2)
k = [i for i, h in enumerate(
        open(f, encoding='utf-8-sig').readline().lower().split(','))
     if h.strip().strip(chr(34)) in ('label', 'target', 'class', 'y')][:1]
n.savez(open(f[:-4] + '.npz', 'xb'), x=n.ascontiguousarray(n.delete(a, k, 1)), **{
    'label': b.astype('i8') if (b % 1 == 0).all() else b
    for i in k for b in [a[:, i]]})
