# SPDX-License-Identifier: Apache-2.0
# The lists of Pascal VOC, for boxes_voc.py.
import os
m = 'ImageSets/Main/%s.txt'
L = {s + '.jsonl': [('JPEGImages/%s.jpg' % i, 'Annotations/%s.xml' % i)
                    for i in open(m % s).read().split()]
     for s in ('train', 'val', 'test') if os.path.exists(m % s)}
