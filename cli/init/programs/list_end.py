# SPDX-License-Identifier: Apache-2.0
# Writes the lists once all of them are made: a program that fails leaves none.
T = {n: convert(L, name, change) for L, n in N.items()}
[os.link(p, t) for t, p in M.items() if not os.path.exists(t)]
[pathlib.Path(n + '.part').write_bytes(t.encode()) for n, t in T.items()]
[os.rename(n + '.part', n) for n in N.values()]
