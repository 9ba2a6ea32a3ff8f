# SPDX-License-Identifier: Apache-2.0
# Makes links in W to all files of the current folder and of those in it, so that the
# links can get other names. A file that cannot have one, since it is on another file
# system or of another user, is copied. Links to no file, and those to a folder that
# has W or is above the link itself, which would have no end, are left out.
real = lambda *p: os.path.join(os.path.realpath(os.path.join(*p)), '')
above = lambda d: [real(d[:i]) for i, c in enumerate(d + '/') if c == '/']
ends = lambda d, x: not any(
    y.startswith(real(d, x)) for y in [real(W), *above(d)]) or print(
        'left out, a link to a folder above:', os.path.join(d, x))
is_file = lambda p: os.path.isfile(p) or print('left out, no file:', p)
put = lambda f, t, s: (
    os.link if s.st_dev == os.stat(W).st_dev and (
        s.st_uid == os.getuid() or os.access(f, os.W_OK)) else shutil.copy2)(
    os.path.realpath(f), t)
[(os.makedirs(os.path.join(W, d), exist_ok=True),
  D.__setitem__(slice(None), [x for x in D if ends(d, x)]),
  [put(p, os.path.join(W, p), os.stat(p)) for f in F
   for p in [os.path.join(d, f)] if is_file(p)])
    for d, D, F in os.walk('.', followlinks=True)]
