# SPDX-License-Identifier: Apache-2.0
# Moves tables (.npz files, and folders of .npy or .npz files) into the folders of
# their splits; those without a word are of train.
import glob
M = [(f, s + '/' + f) for f in sorted(os.listdir('.'))
    if f.endswith('.npz') or glob.glob(glob.escape(f) + '/*.np[yz]')
    for s in [(split(re.sub(r'[.]npz\Z', '', f)) or ['train'])[0]] if f != s]
assert not any(os.path.exists(t) for f, t in M), 'there already'
[(os.makedirs(os.path.dirname(t), exist_ok=True), os.rename(f, t))
    for f, t in M]
