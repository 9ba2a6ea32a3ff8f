# SPDX-License-Identifier: Apache-2.0
# Makes of each list l of L one whose columns have names that a field can have.
import csv, io, re
clean = lambda i, c: re.sub(
    r'(?i)^(?=[0-9-]|(valid|folder)\Z)', 'c_',
    re.sub(r'[^A-Za-z0-9_-]+', '_', c)[:60].strip('_')) or 'c' + str(i)
T = {'names-' + l: o.getvalue()
     for l in L for o in [io.StringIO()]
     for r in [list(csv.reader(open(l, newline='', encoding='utf-8-sig',
                                    errors='surrogateescape')))]
     for _ in [csv.writer(o).writerows(
         [[clean(i, c) for i, c in enumerate(r[0])]] + r[1:])]}
