# SPDX-License-Identifier: Apache-2.0
# Renames the masks and pictures x_WORD_y.png in the folders D to x_y.png for the
# word P, to x_y.mask.png for M, and to x_y.WORD.png for others. I is the index of
# the word in the name, counting the characters between words.
import glob, os, re
Q = [(f, d, re.split('([_-])', s), e) for f in glob.glob(D + '*.*')
     for d in [os.path.dirname(f)]
     for s, e in [os.path.basename(f).split('.', 1)]]
x = lambda t: ''.join(t[:max(I - 1, 0)] + t[I + 1 + (I == 0):])
B = {(d, x(t)) for f, d, t, e in Q if t[I:I + 1] == [M]}
N = {f: os.path.join(d, x(t) + ('.mask' if t[I] == M else '' if t[I] == P
                                else '.' + t[I]) + '.' + e)
     for f, d, t, e in Q if len(t) > I and (d, x(t)) in B}
assert len({*N.values()}) == len(N), 'two files of a name'
assert not any(map(os.path.exists, N.values())), 'a file is there already'
[os.rename(f, t) for f, t in N.items()]
