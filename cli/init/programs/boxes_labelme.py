# SPDX-License-Identifier: Apache-2.0
# The rectangles of LabelMe's JSON file t, for boxes_objects.py. Other shapes are left out,
# and counted.
import atexit, json
Z = {}
atexit.register(lambda: any(Z.values()) and print(
    'left out:', sum(Z.values()), 'shapes that are no rectangles'))
R = lambda s, p, t: [
    (o['label'], min(x), min(y), max(x), max(y), d['imageWidth'], d['imageHeight'])
    for d in [json.load(open(t, encoding='utf-8-sig'))]
    for B in [[o for o in d['shapes'] if o.get('shape_type') == 'rectangle']]
    for _ in [Z.update({t: len(d['shapes']) - len(B)})] for o in B
    for x, y in [zip(*o['points'])]]
