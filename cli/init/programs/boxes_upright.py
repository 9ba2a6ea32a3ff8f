# SPDX-License-Identifier: Apache-2.0
# check(f, w, h, t) refuses the JPEG file f if EXIF turns it (tag 0x112, 5 to 8) and w x h,
# for which the file t has boxes, is its size before: the boxes would lie elsewhere. It also
# refuses a file t without this size.
import os, re
sides = lambda b, i: b[i + 5:i + 9] if i + 9 > len(b) or 192 <= b[i + 1] < 196 else sides(
    b, i + 2 + int.from_bytes(b[i + 2:i + 4], 'big'))
turns = lambda b: re.search(
    rb'Exif\0\0.{0,999}?(\x12\x01\x03\0\x01\0\0\0|\x01\x12\0\x03\0\0\0\x01\0)[\x05-\x08]',
    b, re.S)
check = lambda f, w, h, t: [
    w and h or exit(t + ' has no width and height of ' + f +
        ', by which its boxes are divided: add them')] + [
    exit(f + ' is turned by its EXIF orientation, but ' + t + ' has its boxes for %d x %d'
         ' pixels, as it is stored: remove the orientation from copies of such pictures'
         ' (exiftool -Orientation=), or turn their boxes' % (w, h))
    for b in [open(f, 'rb').read(1 << 18) if os.path.exists(f) else b''] if w != h
    if turns(b) and sides(b, 2) == b'%c%c%c%c' % (
        *divmod(int(h), 256), *divmod(int(w), 256))]
