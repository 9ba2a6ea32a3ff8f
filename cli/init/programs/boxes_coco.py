# SPDX-License-Identifier: Apache-2.0
# Makes the list s of COCO's JSON f, with paths that begin with p, for each f,
# s, p of L. r gives the new name of a picture. Keypoints are in the order of the
# boxes; crowds and polygons are left out. Captions may be in a file of their own.
# boxes_upright.py is before it.
import json, os
text = lambda f: f.replace('instances_', 'captions_').replace(
    'person_keypoints_', 'captions_')
[check(os.path.join(os.path.dirname(s), p + i['file_name']),
    i.get('width'), i.get('height'), f)
    for f, s, p in L if 'bbox' in open(f).read()
    for i in json.load(open(f))['images'][:256]]
X = [f for f, s, p in L if os.path.basename(f).startswith('captions')]
T = {s: ''.join(json.dumps({'image': p + r(i['file_name']),
    **({} if f in X else {
        'boxes': [
        n for a in b.get(i['id'], []) for x, y, w, h in [a['bbox']]
        for n in [a['category_id'], (x + w / 2) / i['width'],
                  (y + h / 2) / i['height'], w / i['width'],
                  h / i['height']]]}),
    **({'keypoints': [
        n for a in b.get(i['id'], []) for k in [a.get('keypoints', [])]
        for j in range(0, len(k), 3)
        for n in (k[j] / i['width'], k[j + 1] / i['height'], k[j + 2])]}
        if K else {}),
    **({'captions': [a['caption'] for a in c.get(i['id'], [])]}
        if C else {})}) + '\n' for i in d['images'])
     for f, s, p in L for d in [json.load(open(f))]
     for B in [[a for a in d['annotations'] if not a.get('iscrowd')]]
     for C in [[a for g in [text(f)] if os.path.exists(g) and (g != f or f in X)
         for a in json.load(open(g))['annotations'] if 'caption' in a]]
     for K in [any('keypoints' in a for a in B)] for b, c in [({}, {})]
     for _ in [[b.setdefault(a['image_id'], []).append(a) for a in B if 'bbox' in a],
         [c.setdefault(a['image_id'], []).append(a) for a in C],
         len(B) < len(d['annotations']) and print('left out of', s + ':',
             len(d['annotations']) - len(B), 'boxes of crowds (iscrowd)'),
         any(a.get('segmentation') for a in B) and print('left out of', s + ':',
             sum(1 for a in B if a.get('segmentation')), 'polygons of objects '
             '(segmentation): for masks, draw them into pictures')]}
