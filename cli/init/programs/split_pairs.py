# SPDX-License-Identifier: Apache-2.0
# R has for each new list of S the rows of a text or .csv, and the files of each row
# in the folders F; the first has the pictures, and if it is there twice, files beside
# them, too. S has the new list, the text or its names, and the column with the names, or
# '' for a text, in which a name with blanks is all of its line. H has the folder of the
# split in that of the pictures by the new list, if the names lack it. Rows without a
# picture are left out. If W is set, it is the list of the pictures that are in no other.
import csv, os
G = ('.jpg', '.jpeg', '.png', '.webp')
k = lambda p: os.path.join(
    os.path.dirname(p), os.path.basename(p).split('.')[0])
c = lambda p: k(
    os.path.normpath('/' + p).rsplit('/' + F[0] + '/', 1)[-1].lstrip('/'))
D = [{k(os.path.relpath(p, d)): p
      for p in sorted((os.path.join(a, f) for a, _, b in os.walk(d)
                       for f in b if f[0] != '.'),
                      key=lambda p: p.lower().endswith(G) != (d in F[:i]))}
     for i, d in enumerate(F)]
whole = lambda l: any(os.path.isfile(f) for f in (l, F[0] + '/' + l)) or (
    '.' not in l and c(l) in D[0])
words = lambda l: [l] if whole(l) else l.replace(',', ' ').split()
rows = lambda i, C: (
    list(csv.DictReader(open(i, newline='', encoding='utf-8-sig'))) if C else
    [{'': w[0], **({'label': ' '.join(w[1:])} if B else {})}
     for l in (open(i) if isinstance(i, str) else i)
     for w in [words(l.strip()) if isinstance(i, str) else [l]] if w and w[0]])
R = {o: [(r, [d.get(c(r[C])) or d.get(H.get(o, '') + c(r[C])) for d in D])
         for r in rows(i, C)]
     for o, i, C in S}
[print('left out of', o + ':', r[C], 'is in no', F[0])
    for o, i, C in S for r, p in R[o] if not p[0]]
R = {o: [x for x in R[o] if x[1][0]] for o in R}
U = {p[0] for x in R.values() for _, p in x}
[(S.append((W, '', '')), R.update({W: [
    ({'': n}, [d.get(n) for d in D]) for n, p in D[0].items() if p not in U]}))
    for W in [globals().get('W', '')] if W]
