# SPDX-License-Identifier: Apache-2.0
# Paths of the columns C whose names have dots before the extension get names
# without: these are links, so that other lists find the files, too. A file
# whose new name is taken keeps its own.
b = os.path.basename
r = lambda p: os.path.join(os.path.dirname(p), b(p).replace(
    '.', '_', max(b(p).count('.') - 1, 0)))
free = lambda p, t: not os.path.exists(t) or os.path.samefile(p, t)
name = str
change = lambda L, h, v: next(
    (t for p in [v] if h in C and isinstance(p, str) and os.path.isfile(p)
     for t in [r(p)]
     if t != p and free(p, t) and M.setdefault(t, p) == p), v)
