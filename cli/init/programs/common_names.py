# SPDX-License-Identifier: Apache-2.0
# Lists of the files that have the same names in the folders N: for each d, o, D of Q
# the list o in the folder d, of the folders D, relative to d, which have those of N.
import csv, io, os
T = {d + o: w.getvalue()
     for d, o, D in Q
     for R in [[[p + n + '/' + m[k] for n, m in zip(N, M)]
                for p in D if all(os.path.isdir(d + p + n) for n in N)
                for M in [[{f.split('.')[0]: f for f in os.listdir(d + p + n)
                            if f[0] != '.'} for n in N]]
                for k in sorted(M[0]) if all(k in m for m in M)]] if R
     for w in [io.StringIO()]
     for _ in [csv.writer(w).writerows([[n.lower() for n in N]] + R)]}
