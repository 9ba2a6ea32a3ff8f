# SPDX-License-Identifier: Apache-2.0
# Writes the rows of arrow_rows.py into W: a tar for each file if there are pictures, else
# a list for each split. A number of a class is a .cls member, and other columns are in
# a .json member. Rows without a picture, or without the number, are counted.
png = lambda b, o: (
    __import__('PIL.Image').Image.open(io.BytesIO(b)).save(o, 'PNG'), o.getvalue())[1]
picture = lambda b: (png(b, io.BytesIO()), 'png') if form(b) == 'other' else (b, form(b))
text = lambda f, r: json.dumps({
    c: None if v != v else v for c, v in r.items() if c not in B[f]},
    default=str, allow_nan=False)
N = collections.Counter()
keep = lambda f, r: all(data(r[c]) for c in K[f]) and all(
    r[c] is not None for c in L[f]) or N.update([f])
members = lambda f, r: [
    (re.sub('[^a-z0-9_]', '_', c.lower()) + '.' * (i > 0) + e if i else e, b)
    for i, c in enumerate(K[f]) for b, e in [picture(data(r[c]))]] + [
    ('cls', str(r[c]).encode()) for c in L[f]] + [
    ('json', text(f, o).encode())
    for o in [{c: v for c, v in r.items() if c not in L[f]}] if {*o} - {*B[f]}]
add = lambda t, n, b, m: (setattr(m, 'size', len(b)), t.addfile(m, io.BytesIO(b)))
write = lambda f, i, t: (collections.deque((
    add(t, n, b, tarfile.TarInfo(n)) for j, r in enumerate(rows(f)) if keep(f, r)
    for e, b in members(f, r) for n in ['%05d%09d.%s' % (i, j, e)]), 0), t.close())
has = any(K.values())
assert not has or all(K.values()), 'files without pictures'
[write(f, i, tarfile.open(W + '/%s-%05d.tar' % (S[f], i), 'w'))
    for i, f in enumerate(F) if has]
[collections.deque((o.write(text(f, r) + '\n') for r in rows(f)), 0)
    for f in F if not has for o in [open(W + '/' + S[f] + '.jsonl', 'a')]]
[print('left out, without a picture or class:', n, 'rows of', f) for f, n in N.items()]
