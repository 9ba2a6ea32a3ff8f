# SPDX-License-Identifier: Apache-2.0
# A list of the texts in class folders for each split, below texts/. S has the splits and
# their folders, and X is the extension of the texts, which are UTF-8 or Windows-1252.
# Folders that a split lacks, and those without labels, are left out.
import glob, json, os
read = lambda b: (b.decode() if b.decode('utf-8', 'ignore').encode() == b
                  else b.decode('cp1252', 'replace'))
D = [{d for d in os.listdir(f)
      if os.path.isdir(os.path.join(f, d)) and d[0] != '.'} for s, f in S]
C = sorted(d for d in set.intersection(*D)
           if not d.lower().startswith(('unsup', 'unlab')))
T = {'texts/' + s + '.jsonl': ''.join(
    json.dumps({'text': read(open(t, 'rb').read()), 'label': c}) + '\n'
    for c in C for t in sorted(glob.glob(os.path.join(
        glob.escape(f), glob.escape(c), '*')))
    if os.path.isfile(t) and os.path.splitext(t)[1].lower() == X) for s, f in S}
NEW = 'texts'
print('classes:', *C)
print('left out:', *sorted(set.union(*D) - set(C)))
