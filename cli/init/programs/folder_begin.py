# SPDX-License-Identifier: Apache-2.0
# Makes the folder W for the new folder O, which is not there yet. A program that fails
# leaves none.
import atexit, os, shutil
W = O + '.part'
assert not os.path.lexists(O), 'there already: ' + O
os.mkdir(W)
atexit.register(shutil.rmtree, W, True)
