# SPDX-License-Identifier: Apache-2.0
# Adds the column label to the lists T of split_csv.py that have only paths: the folder
# of each picture, if these are classes: several in train, of which others have no more.
R = {s: list(csv.reader(io.StringIO(t))) for s, t in T.items()}
F = {s: {x[0].rpartition('/')[0].rpartition('/')[2] for x in R[s][1:]} for s in R}
N = F.get('train.csv', set())
B = len(N) > 1 and '' not in N and all(F[s] <= N for s in F)
T = {s: o.getvalue() for s in R for o in [io.StringIO()]
     for _ in [csv.writer(o).writerows(
         x + [x[0].split('/')[-2] if i else 'label'] * B for i, x in enumerate(R[s]))]}
