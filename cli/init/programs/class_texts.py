# SPDX-License-Identifier: Apache-2.0
# A list of the texts in class folders for each split, below texts/. S has the splits and
# their folders. Folders that a split lacks, and those without labels, are left out.
import glob, json, os
D = [{d for d in os.listdir(f)
      if os.path.isdir(os.path.join(f, d)) and d[0] != '.'} for s, f in S]
C = sorted(d for d in set.intersection(*D)
           if not d.lower().startswith(('unsup', 'unlab')))
T = {'texts/' + s + '.jsonl': ''.join(
    json.dumps({'text': open(t, encoding='utf-8').read(), 'label': c}) + '\n'
    for c in C for t in sorted(glob.glob(os.path.join(
        glob.escape(f), glob.escape(c), '*.txt')))) for s, f in S}
NEW = 'texts'
print('classes:', *C)
print('left out:', *sorted(set.union(*D) - set(C)))
