# SPDX-License-Identifier: Apache-2.0
# Values of columns become paths. S has the folder of the split of each list. K
# has by column what a value begins and ends with in place of the path, the
# folder that is preferred, and how many last parts of a path the values have.
# D has the files by their paths, and by that number of last parts, also in lower
# case. Pictures of other endings are taken from the preferred folder. A number may
# end with .0, as pandas writes it. A value without a file, or with several, stays
# as it is.
import glob, re
D = {}
[D.setdefault(k, []).append('/' + p)
    for p in glob.glob('**/*.*', recursive=True)
    for i in {0, *(x[3] for x in K.values())}
    for w in ['/' + '/'.join(p.split('/')[-i:])] for k in (w, (w.lower(),))]
G = '.jpg .jpeg .png .webp .JPG .JPEG .PNG .WEBP'.split()
f = lambda v, s, c, e, d, i: next(
    (X[0][1:]
     for y in [v.replace(chr(92), '/'), re.sub(r'^(\d+)[.]0\Z', r'\1', v)]
     for g in [e] + G * (e != '')
     for w in ['/' + z + g for z in (
         y[len(c) if y.startswith(c) else 0:], '/'.join(y.split('/')[-i:]) if c else '')]
     for q in (w, (w.lower(),))
     for A in [[p for p in D.get(q, [])
                if p.startswith(s) and (g == e or p.startswith(d))]]
     for X in ([p for p in A if p == w], A,
               [p for p in A if p.startswith(d)])
     if len(set(X)) == 1), v)
name = lambda h: re.sub(r'[^\w-]+', '_', h.strip())
change = lambda L, h, v: f(str(v), S[L], *K[h]) if h in K else v
