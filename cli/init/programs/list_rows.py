# SPDX-License-Identifier: Apache-2.0
# Writes a list g for each text f of L, the pairs of these, without its first B lines.
# Rows have N columns, separated by D: ' ' is any blanks. Q is a mode of csv for quotes,
# and H the names of the columns, in a list, or [] if the first row has them. Other rows
# are left out and counted. A line that is not UTF-8 is CP1252. Numbers such as 5. and
# .5 get a zero, as in JSON. If a file begins with |, rows of all end with a dot, or not,
# as C4.5 has them. A program that fails leaves no list.
import atexit, collections, csv, itertools, os, pathlib, re
E = [g + e for f, g in L for e in ('', '.part') if os.path.lexists(g + e)]
E and exit('there already: ' + ' '.join(E) + ': move it away first')
[atexit.register(pathlib.Path(g + '.part').unlink, True) for f, g in L]
C = collections.Counter()
csv.field_size_limit(1 << 30)
read = lambda b: (
    b.decode() if b.decode('utf-8', 'ignore').encode() == b
    else b.decode('cp1252', 'replace')).replace(chr(0), '').lstrip(chr(65279))
split = lambda s: ' '.join(s.split()) if D == ' ' else s.replace(D, chr(1))
fix = lambda c: c if c[-1:] != '.' and c[:1] not in ('+', '.', '-') else re.sub(
    r'^[+]?(-?)(?=[.]?\d)(\d*)[.](\d*)\Z',
    lambda m: m[1] + (m[2] or '0') + '.' + (m[3] or '0'), c)
keep = lambda x: any(x) and not C.update([len(x) == N]) and len(x) == N
dots = any(open(f, 'rb').read(1) == b'|' for f, g in L)
end = lambda s: re.sub(r'[.]?\s*\Z', '', s) if dots else s
rows = lambda f: csv.reader(
    (split(end(read(b))) for b in itertools.islice(open(f, 'rb'), B, None)), quoting=Q,
    delimiter=' ' if D == ' ' else chr(1), skipinitialspace=True)
[csv.writer(o).writerows(itertools.chain(
    H, filter(keep, ([fix(c.strip()) for c in x] for x in rows(f)))))
    for f, g in L for o in [open(g + '.part', 'w', newline='', encoding='utf-8')]]
C[False] and print('left out, with other columns:', C[False], 'rows')
[os.rename(g + '.part', g) for f, g in L]
