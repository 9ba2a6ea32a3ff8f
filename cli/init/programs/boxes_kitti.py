# SPDX-License-Identifier: Apache-2.0
# The objects of KITTI's text file t, for boxes_objects.py. Pictures
# are upright (274: the orientation of EXIF).
import os, PIL.Image as I
U = lambda i: i.size[::-1 if i.format in ('JPEG', 'MPO') and
    i.getexif().get(274, 1) > 4 else 1]
R = lambda s, p, t: [
    (w[0], *map(float, w[4:8]),
     *U(I.open(os.path.join(os.path.dirname(s), p))))
    for w in map(str.split, open(t)) if w and w[0] != 'DontCare']
