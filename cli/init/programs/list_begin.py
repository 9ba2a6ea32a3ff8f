# SPDX-License-Identifier: Apache-2.0
# Begins a program that writes a list W-NAME for each list NAME of S. M will
# have the files that get a second name, by that name. A program may set which
# rows of a list it keeps, by their columns and values.
import os
M = {}
keep = lambda L, x: True
