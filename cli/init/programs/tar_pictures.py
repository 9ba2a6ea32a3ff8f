# SPDX-License-Identifier: Apache-2.0
# Writes the tars G into the folder new, without the samples that have no picture, whose
# files are printed. A tar without such samples is linked. A program that fails leaves
# no folder.
import atexit, glob, os, shutil, tarfile
E = [f for f in ('new', 'new.part') if os.path.lexists(f)]
E and exit('there already: ' + ' '.join(E) + ': move it away first')
os.mkdir('new.part')
atexit.register(shutil.rmtree, 'new.part', True)
key = lambda m: os.path.join(
    os.path.dirname(m.name), os.path.basename(m.name).split('.')[0])
copy = lambda i, P, o: (
    [o.addfile(m, i.extractfile(m)) if key(m) in P
     else print('left out:', m.name) for m in i if m.isfile()], o.close())
[copy(i, P, tarfile.open('new.part/' + t, 'w')) if K - P
    else os.link(os.path.realpath(t), 'new.part/' + t)
    for t in sorted(glob.glob(G)) for i in [tarfile.open(t, 'r:')]
    for K in [{key(m) for m in i if m.isfile()}]
    for P in [{key(m) for m in i if m.name.lower().endswith(
        ('.jpg', '.jpeg', '.png', '.webp'))}]]
os.rename('new.part', 'new')
