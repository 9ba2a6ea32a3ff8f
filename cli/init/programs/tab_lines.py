# SPDX-License-Identifier: Apache-2.0
# Makes the list g of the lines of f, whose cells are between tabs. H is the header.
import csv, io
T = {g: o.getvalue()
     for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows([H] + [
         [c.strip() for c in x.split(chr(9))]
         for x in open(f, encoding='utf-8-sig', errors='surrogateescape')
         if x.strip()])]}
