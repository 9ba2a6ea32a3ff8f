# SPDX-License-Identifier: Apache-2.0
# Reads the Parquet or Arrow files F, after split_of_name, for arrow_files.py. S has the
# split of each, by a word in the name of the file, else of its folder; D if no name has
# one. B has the columns of bytes, K those of pictures, and L the numbers of classes.
# Names of classes are printed.
import collections, io, json, tarfile, pyarrow as a, pyarrow.parquet as q
is_parquet = lambda f: f.lower().endswith('.parquet')
batches = lambda f: (
    q.ParquetFile(f).iter_batches(64) if is_parquet(f) else a.ipc.open_stream(f))
rows = lambda f: (r for b in batches(f) for r in b.to_pylist())
data = lambda v: v.get('bytes') if isinstance(v, dict) else v
form = lambda b: (
    '' if not b else 'jpg' if b[:2] == b'\xff\xd8' else
    'png' if b[:4] == b'\x89PNG' else 'webp' if b[8:12] == b'WEBP' else
    'other' if b[:4] in (b'GIF8', b'II*\0', b'MM\0*') or b[:2] == b'BM' else '')
first = lambda f, c: next((v for b in batches(f)
    for v in b.column(b.schema.get_field_index(c)).to_pylist() if v is not None), None)
is_bytes = lambda t: a.types.is_binary(t) or a.types.is_large_binary(t) or (
    a.types.is_struct(t) and t.get_field_index('bytes') >= 0)
S = {f: next((x[0] for x in map(split, reversed(f.split('/'))) if x), '') for f in F}
S = {f: s or ('' if any(S.values()) else D) for f, s in S.items()}
[print('left out, of no split:', f) for f in S if not S[f]]
F = sorted(f for f in F if S[f])
C = {f: q.read_schema(f) if is_parquet(f) else a.ipc.open_stream(f).schema for f in F}
B = {f: [c.name for c in C[f] if is_bytes(c.type)] for f in F}
K = {f: [c for c in B[f] if form(data(first(f, c)))] for f in F}
L = {f: [c.name for c in C[f] if a.types.is_integer(c.type)
         and c.name.lower() in ('label', 'labels', 'cls', 'class', 'target', 'y')
         and first(f, c.name) is not None][:1] for f in F}
[print('left out:', c, 'of', f) for f in F for c in B[f] if c not in K[f]]
[print(c + ':', dict(enumerate(v['names']))) for f in F[:1] for c, v in json.loads(
    (C[f].metadata or {}).get(b'huggingface', '{}')).get('info', {}).get(
        'features', {}).items() if isinstance(v, dict) and v.get('names')]
