# SPDX-License-Identifier: Apache-2.0
# Writes the lists T, texts by name, once all are made: a program that fails
# leaves none.
import atexit, os, pathlib
assert not any(os.path.lexists(n + e) for n in T for e in ('', '.part')), (
    'there already: ' + ' '.join(T))
[atexit.register(pathlib.Path(n + '.part').unlink, True) for n in T]
[pathlib.Path(n + '.part').write_bytes(
    t.encode(errors='surrogateescape')) for n, t in T.items()]
[os.rename(n + '.part', n) for n in T]
