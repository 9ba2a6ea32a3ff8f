# SPDX-License-Identifier: Apache-2.0
# Numbers the colours of the masks, whose paths in the folder of links W are in files: by
# the rows of class_dict.csv (name, red, green, blue), which may have capitals in its name,
# if it is there or in the folder above, else in order of red, green, blue.
import csv
read = lambda f: n.array(I.open(f).convert('RGB')) @ [65536, 256, 1]
files or exit('no masks are found by their relative paths')
Q = [r for f in [f for f in sorted(find('*.csv')) + glob.glob('../*.csv')
                 if 'class_dict' in os.path.basename(f).lower()][:1]
     for r in list(csv.reader(open(f, newline='', encoding='utf-8-sig')))[1:] if r]
K = {int(r[1]) * 65536 + int(r[2]) * 256 + int(r[3]): i for i, r in enumerate(Q)} or {
    c: i for i, c in enumerate(sorted({c for f in files for c in n.unique(read(f))}))}
len(K) > 256 and exit(str(len(K)) + ' colours: masks have at most 256')
[exit(f + ' has the colour %d,%d,%d, which class_dict.csv does not have' % (
    c >> 16, c >> 8 & 255, c & 255))
    for f in files for c in n.unique(read(f)).tolist() if c not in K]
S = sorted(K)
[put(n.array([K[c] for c in S])[n.searchsorted(S, read(f))], f) for f in files]
print({Q[i][0] if Q else '%06x' % c: i for c, i in K.items()})
