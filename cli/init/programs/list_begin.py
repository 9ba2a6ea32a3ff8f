# SPDX-License-Identifier: Apache-2.0
# Begins a program that writes a list WORD-NAME for each list NAME of S, which
# is not overwritten. M will have the files that get a second name, by that
# name. A program may set which rows it keeps, by their columns and values.
import os, pathlib
N = {L: W + '-' + L for L in S}
M = {}
keep = lambda x: True
assert not any(map(os.path.exists, N.values())), (
    'there already: ' + ' '.join(N.values()))
