# SPDX-License-Identifier: Apache-2.0
# Gives the pictures the names that the lists of roboflow_lists.py have.
[os.rename(g, t) for f, s, p in L
    for g in glob.glob(os.path.dirname(f) + '/*.*.*[!n]')
    for t in [os.path.join(os.path.dirname(g), r(os.path.basename(g)))]
    if not os.path.exists(t)]
