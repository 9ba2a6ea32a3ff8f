# SPDX-License-Identifier: Apache-2.0
# Values of columns become paths. S has the folder of the split of each list. K
# has by column what a value begins and ends with in place of the path, the
# folder of pictures with other endings, how many last parts of a path the values
# have, and whether they are masks. P has the names of folders of masks, and N those
# of folders that are not of train. D has the files by their paths, and by that
# number of last parts, also in lower case. A number may end with .0, as pandas
# writes it. Of several files, the one is taken that has another cell of the row as
# a folder, or the one that is neither of the other kind nor in N, or of those the
# one in a folder of I, which are called images. Without such a file the program
# ends. A value without a file stays as it is.
import glob, os, re
D = {}
[D.setdefault(k, []).append('/' + p)
    for p in glob.glob('**/*.*', recursive=True)
    for i in {0, *(x[3] for x in K.values())}
    for w in ['/' + '/'.join(p.split('/')[-i:])] for k in (w, (w.lower(),))]
G = '.jpg .jpeg .png .webp .JPG .JPEG .PNG .WEBP'.split()
row = []
keep = lambda L, x: [row.clear(), row.extend(x)] and True
dirs = lambda p, s: {*p[len(s):].split('/')[:-1]}
fits = lambda p, s, m: bool(dirs(p, s) & P) == m and not dirs(p, s) & N
several = lambda v, A: exit(
    v + ' is in ' + str(len(A)) + ' folders (' + ', '.join(p[1:] for p in A[:2]) +
    '): write paths from the folder of the list')
choose = lambda v, s, m, C, F: next(
    (X[0][1:]
     for w, A in F()
     for R in [[p for p in A if dirs(p, '/') & C]]
     for U in [[p for p in A if fits(p, s, m)]]
     for X in ([p for p in A if p == w], A, R, [p for p in R if p in U], U,
               [p for p in U if dirs(p, s) & I])
     if len(X) == 1), None) or next((several(v, A) for w, A in F()), v)
f = lambda v, C, s, c, e, d, i, m: choose(v, s, m, C, lambda: (
    (w, A)
    for y in [os.path.normpath(v.replace(chr(92), '/')),
              re.sub(r'^(\d+)[.]0\Z', r'\1', v)]
    for g in [e] + G * (e != '')
    for w in ['/' + z + g for z in (
        y[len(c) if y.startswith(c) else 0:], '/'.join(y.split('/')[-i:]) if c else '')]
    for q in (w, (w.lower(),))
    for A in [sorted({p for p in D.get(q, [])
                      if p.startswith(s) and (g == e or p.startswith(d))})] if A))
name = lambda h: re.sub(r'[^\w-]+', '_', h.strip())
change = lambda L, h, v: f(str(v), {str(x) for k, x in row if k.lower() != h},
                           S[L], *K[h]) if h in K else v
