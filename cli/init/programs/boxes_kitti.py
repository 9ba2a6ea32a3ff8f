# SPDX-License-Identifier: Apache-2.0
# The objects of KITTI's text file t, for boxes_objects.py.
import os, PIL.Image as I
R = lambda s, p, t: [
    (w[0], *map(float, w[4:8]),
     *I.open(os.path.join(os.path.dirname(s), p)).size)
    for w in map(str.split, open(t)) if w and w[0] != 'DontCare']
