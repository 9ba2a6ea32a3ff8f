# SPDX-License-Identifier: Apache-2.0
# Writes MNIST's idx files, also compressed ones, as the arrays image and label of the
# splits in W, in a folder for each data set if there are several.
import glob, gzip, re, numpy as n
T = {8: 'u1', 9: 'i1', 11: '>i2', 12: '>i4', 13: '>f4', 14: '>f8'}
array = lambda b: n.frombuffer(b, T[b[2]], offset=4 + 4 * b[3]).reshape(
    n.frombuffer(b, '>u4', b[3], 4))
read = lambda f: array((gzip.open if f.endswith('.gz') else open)(f, 'rb').read())
M = {(m[1].strip('-_.'), 'train' if m[2] == 'train' else 'test', m[3]): f
     for f in sorted(glob.glob('*'), reverse=True)
     for m in [re.fullmatch(r'(.*?)(train|t10k|test)[-_.](image|label)s'
                            r'[-_.]idx\d-(?:ubyte|int)([.]gz)?', f)] if m}
several = len({p for p, s, c in M}) > 1
[print('left out:', f) for f in sorted(glob.glob('*-idx*'))
    if re.sub(r'[.]gz\Z', '', f) not in {
        re.sub(r'[.]gz\Z', '', g) for g in M.values()}]
N = {}
[(N.setdefault((p, s), len(y)) == len(y) or exit(
    f + ': ' + str(len(y)) + ' samples, and ' + str(N[p, s]) + ' in another file of '
    + s), os.makedirs(d, exist_ok=True), n.save(d + '/' + c + '.npy', x))
    for (p, s, c), f in M.items() for d in [os.path.join(W, p * several, s)]
    for y in [read(f)]
    for x in [y.astype('i8' if c == 'label' else y.dtype.newbyteorder('='))]]
