# SPDX-License-Identifier: Apache-2.0
# The objects of Pascal VOC's XML file t, for boxes_objects.py.
import xml.etree.ElementTree as E
v = lambda e, *K: (float(e.find(k).text) for k in K)
R = lambda s, p, t: [
    (o.find('name').text,
     *v(o, 'bndbox/xmin', 'bndbox/ymin', 'bndbox/xmax', 'bndbox/ymax'),
     *v(r, 'size/width', 'size/height'))
    for r in [E.parse(t)] for o in r.findall('object')]
