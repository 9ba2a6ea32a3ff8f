/* SPDX-License-Identifier: Apache-2.0 */
/* guess_box_lists.c - the programs that write lists of boxes, from text files
 * as YOLO's and KITTI's, and XML files as Pascal VOC's, and the notes that
 * have them.
 *
 * The files of boxes lie in a folder of their own, as labels/7.txt for
 * images/7.jpg, or beside the pictures. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "common/shell.h"

/* Sets L: for each list the paths of a picture and of the file with its boxes.
 * boxes.jsonl is for pictures in that folder, boxes-train.jsonl for those in the
 * folder `train` in it. */
#define IN_FOLDERS                                                            \
    "[L.setdefault(a + 'boxes' + ''.join('-' + d for d in b.split('/')[:-1])" \
    " + '.jsonl', []).append(('%s/' + b, a + '%s/' + os.path.splitext(b)[0] " \
    "+ '%s')) for f in sorted(glob.glob('**/%s/**/*.*', recursive=True)) for" \
    " a, b in [f.split('%s/', 1)]]; "

#define BESIDE_PICTURES                                                       \
    "[L.setdefault(os.path.join(os.path.dirname(f), 'boxes.jsonl'), "         \
    "[]).append((os.path.basename(f), os.path.splitext(f)[0] + '%s')) for f " \
    "in sorted(glob.glob('**/*.*', recursive=True)) if "                      \
    "f.lower().endswith(('.jpg', '.jpeg', '.png', '.webp'))]; "

/* Pictures without a file have no boxes, unless that is so in a whole list. */
static const char write_text[] =
    "assert not any(map(os.path.exists, L)); [open(s, "
    "'x').write(''.join(json.dumps({'image': p, 'boxes': [float(x) for x in "
    "open(t).read().split()] if os.path.exists(t) else []}) + '\\n' for p, t "
    "in "
    "L[s])) for s in L if any(os.path.exists(t) for p, t in L[s])]";

/* Writes the lists of L from R(list, picture, file): for each object its name,
 * the sides of its box, and the size of the picture. */
#define WRITE_OBJECTS                                                          \
    "L = {s: l for s in L for l in [[q for q in L[s] if "                      \
    "os.path.exists(q[1])]] if l}; assert not any(map(os.path.exists, L)); "   \
    "N = sorted({r[0] for s in L for q in L[s] for r in R(s, *q)}); [open(s, " \
    "'x').write(''.join(json.dumps({'image': p, 'boxes': [n for m, a, b, c, "  \
    "d, w, h in R(s, p, t) for n in [N.index(m), (a + c) / 2 / w, (b + d) / "  \
    "2 / h, (c - a) / w, (d - b) / h]]}) + '\\n' for p, t in L[s])) for s in " \
    "L]; print(dict(enumerate(N)))"

const char fby_guess_write_voc[] =
    "v = lambda e, *K: (float(e.find(k).text) for k in K); R = lambda s, p, "
    "t: [(o.find('name').text, *v(o, 'bndbox/xmin', 'bndbox/ymin', "
    "'bndbox/xmax', 'bndbox/ymax'), *v(r, 'size/width', 'size/height')) for r "
    "in [E.parse(t)] for o in r.findall('object')]; " WRITE_OBJECTS;

static const char write_kitti[] =
    "R = lambda s, p, t: [(w[0], *map(float, w[4:8]), "
    "*I.open(os.path.join(os.path.dirname(s), p)).size) for w in "
    "map(str.split, open(t)) if w and w[0] != 'DontCare']; " WRITE_OBJECTS;

static const struct {
    const char *files, *whose;           /* for notes */
    const char *type, *import, *program; /* NULL: they are not read */
} kinds[] = {[FBY_BOXES_NONE] = {.files = ""},
    [FBY_BOXES_TEXT]          = {"text", "", ".txt", "", write_text},
    [FBY_BOXES_VOC]           = {"XML", " as those of Pascal VOC", ".xml",
                  ", xml.etree.ElementTree as E", fby_guess_write_voc},
    [FBY_BOXES_XML]           = {.files = "XML", .whose = ""},
    [FBY_BOXES_KITTI] = {"text", " as those of KITTI (this needs Pillow)",
        ".txt", ", PIL.Image as I", write_kitti}};

bool fby_guess_write_boxes(const char *pictures, const char *boxes,
    enum fby_boxes_kind kind, char out[FBY_GUESS_COMMAND])
{
    const char *type = kinds[kind].type;
    char        lists[800];
    int         n = 0;
    if (type == NULL) {
        return false;
    }
    if (pictures == NULL) {
        n = snprintf(lists, sizeof(lists), BESIDE_PICTURES, type);
    } else if (fby_shell_is_plain(pictures) && fby_shell_is_plain(boxes)) {
        n = snprintf(lists, sizeof(lists), IN_FOLDERS, pictures, boxes, type,
            pictures, pictures);
    }
    if (n <= 0 || (size_t)n >= sizeof(lists)) {
        return false;
    }
    snprintf(out, FBY_GUESS_COMMAND, "import glob, json, os%s; L = {}; %s%s",
        kinds[kind].import, lists, kinds[kind].program);
    return true;
}

/* Add a note that `what` has files that are boxes, or XML files, with an example
 * or a command. */
static void add_note(struct fby_search *search, const char *what,
    const char *pictures, const char *boxes, enum fby_boxes_kind kind)
{
    const char *folder  = pictures != NULL ? pictures : "";
    const char *slash   = pictures != NULL ? "/" : "";
    bool        is_read = kinds[kind].type != NULL;
    char        program[FBY_GUESS_COMMAND];
    char        dir[FBY_OPERAND_SIZE];
    if (!search->in_zip &&
        fby_guess_write_boxes(pictures, boxes, kind, program)) {
        fby_guess_write_operand(search, "", dir);
        fby_guess_note(search,
            "left out: %s are boxes%s; to read them, too, write lists, and run "
            "init again: (cd %s && python3 -c \"%s\")",
            what, kinds[kind].whose, dir, program);
        return;
    }
    fby_guess_note(search,
        "left out: %s are %s: {\"image\": \"%s%s1.jpg\", \"boxes\": [0, 0.5, "
        "0.5, 0.2, 0.2]}",
        what,
        is_read ? "boxes, which a list can have"
                : "not read; write what you need of them into a list with the "
                  "paths of the pictures",
        folder, slash);
}

void fby_guess_note_boxes(struct fby_search *search, const char *pictures,
    const char *boxes, enum fby_boxes_kind kind)
{
    char what[FBY_PATH_SIZE + 32];
    snprintf(what, sizeof(what), "%s: its %s files", boxes, kinds[kind].files);
    add_note(search, what, pictures, boxes, kind);
}

void fby_guess_note_boxes_beside(
    struct fby_search *search, enum fby_boxes_kind kind)
{
    add_note(search,
        kind == FBY_BOXES_VOC || kind == FBY_BOXES_XML
            ? "the .xml files beside the pictures"
            : "the .txt files beside the pictures",
        NULL, NULL, kind);
}
