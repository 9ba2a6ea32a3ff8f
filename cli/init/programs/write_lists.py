# SPDX-License-Identifier: Apache-2.0
# Writes the lists T, texts by name, once all are made: a program that fails
# leaves none.
import os, pathlib
assert not any(map(os.path.exists, T)), 'there already: ' + ' '.join(T)
[pathlib.Path(n + '.part').write_bytes(t.encode()) for n, t in T.items()]
[os.rename(n + '.part', n) for n in T]
