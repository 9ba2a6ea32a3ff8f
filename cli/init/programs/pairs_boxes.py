# SPDX-License-Identifier: Apache-2.0
# The lists of split_pairs.py, for boxes_text.py and others.
L = {o: [(p[0], p[1] or '') for r, p in R[o]] for o in R}
