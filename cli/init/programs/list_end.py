# SPDX-License-Identifier: Apache-2.0
# Makes the lists, and gives files their second names.
T = {W + '-' + L: convert(L, name, change) for L in S}
assert not any(map(os.path.lexists, T)), 'there already: ' + ' '.join(T)
[os.link(p, t) for t, p in M.items() if not os.path.exists(t)]
