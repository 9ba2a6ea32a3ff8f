# SPDX-License-Identifier: Apache-2.0
# Makes the folder W for the new folder O, which is not there yet. A program that fails
# leaves none.
import atexit, os, shutil
W = O + '.part'
os.path.lexists(O) and exit(
    'there already: ' + os.path.abspath(O) + ': give it to forebay init, or remove it')
os.path.lexists(W) and exit('there already: ' + os.path.abspath(W) + ': remove it')
os.mkdir(W)
atexit.register(shutil.rmtree, W, True)
