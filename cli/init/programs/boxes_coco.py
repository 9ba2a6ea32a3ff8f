# SPDX-License-Identifier: Apache-2.0
# Makes the list s of COCO's JSON f, with paths that begin with p, for each f,
# s, p of L. r gives the new name of a picture.
T = {s: ''.join(
    json.dumps({'image': p + r(i['file_name']), 'boxes': [
        n for a in b.get(i['id'], []) for x, y, w, h in [a['bbox']]
        for n in [a['category_id'], (x + w / 2) / i['width'],
                  (y + h / 2) / i['height'], w / i['width'],
                  h / i['height']]]}) + '\n' for i in d['images'])
     for f, s, p in L for d in [json.load(open(f))] for b in [{}]
     for _ in [[b.setdefault(a['image_id'], []).append(a)
                for a in d['annotations']]]}
