# SPDX-License-Identifier: Apache-2.0
# Makes a list with each line of the text in the first argument; the second is the list.
import json
T = {sys.argv[2]: ''.join(
    json.dumps({'text': x.strip()}) + '\n'
    for x in open(sys.argv[1], encoding='utf-8-sig') if x.strip())}
