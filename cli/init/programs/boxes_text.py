# SPDX-License-Identifier: Apache-2.0
# Makes lists of boxes in text files, as YOLO's. Pictures without a file have
# no boxes, unless that is so in a whole list.
import json, os
T = {s: ''.join(
    json.dumps({'image': p, 'boxes': [
        float(x) for x in open(t).read().split()]
        if os.path.exists(t) else []}) + '\n' for p, t in L[s])
     for s in L if any(os.path.exists(t) for p, t in L[s])}
