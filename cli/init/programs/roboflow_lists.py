# SPDX-License-Identifier: Apache-2.0
# The JSON of COCO that Roboflow writes beside the pictures, for boxes_coco.py.
# The names of these have dots, which begin the extension in a list.
import glob, json, os
r = lambda n: n.replace('.', '_', n.count('.') - 1)
L = [(f, os.path.dirname(f) + '/boxes.jsonl', '')
     for f in glob.glob('./**/_annotations.coco.json', recursive=True)]
