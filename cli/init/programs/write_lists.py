# SPDX-License-Identifier: Apache-2.0
# Writes the lists T, texts by name, once all are made: a program that fails
# leaves none. If NEW is set, they are in that new folder.
import atexit, os, pathlib
NEW = globals().get('NEW', '')
E = [n for n in ([NEW] if NEW else [n + e for n in T for e in ('', '.part')])
     if os.path.lexists(n)]
E and exit('there already: ' + ' '.join(E) + ': move it away first')
NEW and (os.mkdir(NEW), atexit.register(
    lambda: os.listdir(NEW) or os.rmdir(NEW)))
[atexit.register(pathlib.Path(n + '.part').unlink, True) for n in T]
[pathlib.Path(n + '.part').write_bytes(
    t.encode(errors='surrogateescape')) for n, t in T.items()]
[os.rename(n + '.part', n) for n in T]
