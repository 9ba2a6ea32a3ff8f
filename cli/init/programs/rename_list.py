# SPDX-License-Identifier: Apache-2.0
# Gives the list l the name A, if that is not '', since a list of T has its name.
assert not any(os.path.lexists(n) for n in [*T, A] if n not in (l, '')), 'there already'
A and os.rename(l, A)
