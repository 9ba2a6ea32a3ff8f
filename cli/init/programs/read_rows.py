# SPDX-License-Identifier: Apache-2.0
# Makes the list g of the rows of f, whose columns are separated by D, in the encoding e.
# Cells may have quotes around them, or quotes that mean themselves: the latter if each
# line has as many columns, and a quote that begins a cell does not end it. Columns
# get names if the first row has a value as the second one: a word with other digits,
# as LJ001-0001 and LJ001-0002. In columns of numbers between semicolons a comma is
# before the fraction, and points are before thousands: 1.200,5 becomes 1200.5.
import csv, io, re
R = lambda q: list(csv.reader(
    open(f, newline='', encoding=e, errors='surrogateescape'), delimiter=D,
    quoting=q, skipinitialspace=True))
n = lambda r: len({len(x) for x in r if x})
w = lambda c: c[:1] != chr(34) or re.fullmatch(
    'Q([^Q]|QQ)*Q'.replace('Q', chr(34)), c)
t = R(3)
r = R(0) if (all(w(c) for x in t for c in x) if n(t) == 1
             else n(R(0)) == 1) else t
z = lambda c: re.sub('[0-9]', '0', c)
h = [['c' + str(i + 1) for i in range(len(r[0]))]] if any(
    a != z(a) == z(b) and re.search('[A-Za-z]', a)
    for a, b in zip(r[0], (r + [[]])[1])) else []
k = 1 - len(h)
d = lambda c: re.fullmatch(
    '[-+]?([0-9]+|[0-9]{1,3}([.][0-9]{3})+),[0-9]+ ?%?', c)
C = {i for i in range(len(r[0])) for v in [{x[i].strip() for x in r[k:] if x[i:]}]
     if D == ';' and any(map(d, v)) and all(d(c) or re.fullmatch(
         '([-+]?[0-9.]+ ?%?|[?]|n/?an?)?', c, re.I) for c in v)}
p = lambda c: c.replace('.', '').replace(',', '.') if ',' in c or re.fullmatch(
    '[-+]?[0-9]{1,3}([.][0-9]{3})+', c) else c
C and print('commas are before fractions in', *[(h + r)[0][i] for i in sorted(C)])
r[k:] = [[p(c.strip()) if i in C else c for i, c in enumerate(x)] for x in r[k:]]
T = {g: o.getvalue() for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(h + r)]}
