# SPDX-License-Identifier: Apache-2.0
# Makes the list g of the lines of f: a picture, and for each box x,y,x,y,class. The
# boxes of the list have the class in front.
import json, sys
f, g = sys.argv[1:]
v = lambda b: [float(c) for c in b.split(',')]
T = {g: ''.join(
    json.dumps({'image': w[0], 'boxes': [c for b in w[1:]
                                         for c in v(b)[4:] + v(b)[:4]]}) + '\n'
    for x in open(f) for w in [x.split()] if w)}
print('boxes: class, x, y, x and y in pixels')
