# SPDX-License-Identifier: Apache-2.0
# Moves X_train.npy, or train.npy, to train/x.npy, and so on. Numbers after the
# word are shards: x_train_01.npy becomes train/01/x.npy. Of folds without a word,
# the first one is val. D is the split of other names that end with a number.
# Nothing is moved if a name is taken.
import glob
L = [f.rsplit('.', 1) for f in sorted(glob.glob('*.np[yz]'))]
find = lambda n: re.search(A + r'(?i:fold[_-]?)(\d+)', n)
F = min([int(find(n)[2]) for n, e in L if find(n)], default=0)
fold = lambda n: next(
    (('train' if int(m[2]) > F else 'val', n[:m.end(1)], n[m.start(2):])
     for m in [find(n)] if m), None)
number = lambda n: next(
    ((D, re.sub(r'(?i)^(batch|shard|part|chunk)[ _.-]*\Z', '', m[1]), m[2])
     for m in [re.match(r'(.*?)(\d+\D*)\Z', n)] if D and m), None)
path = lambda s, a, b: next(
    '/'.join([s] + [m[1]] * (m[1] > '') + [join(a, m[2])])
    for m in [re.match(r'[ _.-]*(?i:fold[ _.-]*)?(\d*)(.*)', b)])
M = [(n + '.' + e, path(*c) + '.' + e)
    for n, e in L for c in [split(n) or fold(n) or number(n)] if c]
assert len({t for f, t in M}) == len(M), 'two arrays would have one name'
assert not any(os.path.exists(t) for f, t in M), 'there already'
[(os.makedirs(os.path.dirname(t), exist_ok=True), os.rename(f, t))
    for f, t in M]
