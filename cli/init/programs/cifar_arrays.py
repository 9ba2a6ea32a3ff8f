# SPDX-License-Identifier: Apache-2.0
# Writes the batches of CIFAR, pickles or .bin files of CIFAR-10 (of the extension E), as
# the arrays of the splits in W: image, as [n, 3, 32, 32], label, and coarse_label. Names
# of classes are printed. Only pickles of arrays are loaded.
import glob, pickle, re, numpy as n
U = type('U', (pickle.Unpickler,), {'find_class': lambda s, m, c: (
    pickle.Unpickler.find_class(s, m, c)
    if re.sub(r'\Anumpy[.]_?core[.](multiarray|numeric)\Z', 'numpy', m) in (
        'numpy', '_codecs') and c in (
            '_reconstruct', 'ndarray', 'dtype', '_frombuffer', 'encode')
    else exit('a pickle of other objects: ' + m + '.' + c))})
word = lambda k: k.decode() if isinstance(k, bytes) else k
load = lambda f: {
    word(k): v for k, v in U(open(f, 'rb'), encoding='bytes').load().items()}
table = lambda b: {'data': b[:, 1:], 'labels': b[:, 0]}
batch = lambda f: table(n.fromfile(f, 'u1').reshape(-1, 3073)) if E else load(f)
G = {s: [batch(f) for p in P for f in sorted(glob.glob(p + E))]
     for s, P in (('train', ('data_batch_[1-5]', 'train')),
                  ('test', ('test_batch', 'test')))}
[os.makedirs(W + '/' + s) for s in G if G[s]]
[n.save(W + '/' + s + '/' + c + '.npy', x)
    for s in G for k, c in (('data', 'image'), ('labels', 'label'),
        ('fine_labels', 'label'), ('coarse_labels', 'coarse_label'))
    if G[s] and k in G[s][0]
    for y in [n.concatenate([b[k] for b in G[s]])]
    for x in [y.reshape(-1, 3, 32, 32) if c == 'image' else y.astype('i8')]]
[print(k + ':', dict(enumerate(map(word, v)))) for m in ('batches.meta', 'meta')
    if os.path.exists(m) for k, v in load(m).items() if k.endswith('label_names')]
[print(dict(enumerate(open(m).read().split()))) for m in glob.glob('*.meta.txt')]
