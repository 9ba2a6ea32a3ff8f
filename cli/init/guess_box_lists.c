/* SPDX-License-Identifier: Apache-2.0 */
/* guess_box_lists.c - the programs that write lists of boxes, from text files
 * as YOLO's and KITTI's, XML files as Pascal VOC's, and JSON as LabelMe's, and
 * the notes that have them.
 *
 * The files of boxes lie in a folder of their own, as labels/7.txt for
 * images/7.jpg, or beside the pictures. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "common/shell.h"

static const struct {
    const char *files, *word, *whose; /* for notes */
    const char *type;                 /* NULL: they are not read */
    const char *objects;              /* the program for them; "": not needed */
    const char *texts;                /* the program that makes the lists */
} kinds[] = {[FBY_BOXES_NONE] = {.files = ""},
    [FBY_BOXES_TEXT]          = {"text", "boxes", "", ".txt", "",
                 fby_program_boxes_text},
    [FBY_BOXES_VOC]      = {"XML", "boxes", " as those of Pascal VOC", ".xml",
             fby_program_boxes_voc, fby_program_boxes_objects},
    [FBY_BOXES_XML]      = {.files = "XML", .whose = ""},
    [FBY_BOXES_KITTI]    = {"text", "boxes",
           " as those of KITTI (this needs Pillow)", ".txt",
           fby_program_boxes_kitti, fby_program_boxes_objects},
    [FBY_BOXES_OTHER]    = {"text", "polygons, keypoints or turned boxes",
           " as YOLO's", ".txt", "", fby_program_boxes_text},
    [FBY_BOXES_CLASS]    = {"text", "classes", "", ".txt", "",
           fby_program_boxes_classes},
    [FBY_BOXES_LABELME]  = {"JSON", "boxes", " as those of LabelMe", ".json",
         fby_program_boxes_labelme, fby_program_boxes_objects},
    [FBY_BOXES_POLYGONS] = {.files = "JSON"}};

const char *fby_guess_boxes_word(enum fby_boxes_kind kind)
{
    return kinds[kind].word;
}

const char *fby_guess_boxes_type(enum fby_boxes_kind kind)
{
    return strcmp(kinds[kind].files, "XML") == 0    ? "xml"
           : strcmp(kinds[kind].files, "JSON") == 0 ? "json"
                                                    : "txt";
}

/* The number of folders in a path. */
static unsigned count_folders(const char *path)
{
    unsigned n = path[0] != '\0' ? 1 : 0;
    for (const char *c = path; *c != '\0'; c++) {
        n += *c == '/' ? 1 : 0;
    }
    return n;
}

/* Write the programs for the objects of the files, before the one that makes lists:
 * "R = ...; ", or "" if it needs none. */
static void write_objects(enum fby_boxes_kind kind, char out[FBY_PATH_SIZE])
{
    out[0] = '\0';
    if (kinds[kind].objects[0] != '\0') {
        snprintf(out, FBY_PATH_SIZE, "%s; %s; ", kinds[kind].objects,
            fby_program_boxes_upright);
    }
}

bool fby_guess_write_boxes(const char *pictures, const char *boxes,
    enum fby_boxes_kind kind, char out[FBY_GUESS_COMMAND])
{
    char objects[FBY_PATH_SIZE];
    char folders[200] = "";
    int  n            = 0;
    if (kinds[kind].type == NULL ||
        (pictures != NULL &&
            !(fby_shell_is_plain(pictures) && fby_shell_is_plain(boxes)))) {
        return false;
    }
    if (pictures != NULL) {
        n = snprintf(
            folders, sizeof(folders), "P = '%s'; B = '%s'; ", pictures, boxes);
    } else {
        n = snprintf(
            folders, sizeof(folders), "K = %u; ", count_folders(boxes));
    }
    write_objects(kind, objects);
    snprintf(out, FBY_GUESS_COMMAND, "%sX = '%s'; %s; %s%s; %s", folders,
        kinds[kind].type,
        pictures != NULL ? fby_program_boxes_in_folders
                         : fby_program_boxes_beside,
        objects, kinds[kind].texts, fby_program_write_lists);
    return n >= 0 && (size_t)n < sizeof(folders);
}

bool fby_guess_write_boxes_of_pairs(
    enum fby_boxes_kind kind, char out[FBY_GUESS_COMMAND])
{
    char objects[FBY_PATH_SIZE];
    if (kinds[kind].type == NULL) {
        return false;
    }
    write_objects(kind, objects);
    snprintf(out, FBY_GUESS_COMMAND, "%s; %s%s", fby_program_pairs_boxes,
        objects, kinds[kind].texts);
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
    char        dir[FBY_WORD_SIZE];
    if (!search->in_zip &&
        fby_guess_write_boxes(pictures, boxes, kind, program)) {
        fby_guess_write_word(search, "", dir);
        fby_guess_note(search,
            "left out: %s are %s%s; to read them, too, write lists, and run "
            "init again: (cd %s && " FBY_PYTHON "%s\")",
            what, kinds[kind].word, kinds[kind].whose, dir, program);
        return;
    }
    if (kind == FBY_BOXES_POLYGONS) {
        fby_guess_note(search,
            "left out: %s are polygons of LabelMe, which are not read: draw "
            "them into masks, a PNG of class ids in grey for each picture "
            "(as Pillow's ImageDraw.polygon does), into masks/ beside "
            "images/, or save rectangles in their place",
            what);
        return;
    }
    fby_guess_note(search,
        "left out: %s are %s%s: {\"image\": \"%s%s1.jpg\", %s}", what,
        is_read ? kinds[kind].word : "not read",
        is_read ? ", which a list can have"
                : "; write what you need of them into a list with the paths of "
                  "the pictures",
        folder, slash,
        kind == FBY_BOXES_CLASS ? "\"label\": 0"
                                : "\"boxes\": [0, 0.5, 0.5, 0.2, 0.2]");
}

void fby_guess_note_boxes(struct fby_search *search, const char *pictures,
    const char *boxes, enum fby_boxes_kind kind)
{
    char what[FBY_PATH_SIZE + 32];
    snprintf(what, sizeof(what), "%s: its %s files", boxes, kinds[kind].files);
    add_note(search, what, pictures, boxes, kind);
}

void fby_guess_note_boxes_beside(
    struct fby_search *search, const char *path, enum fby_boxes_kind kind)
{
    char what[64];
    snprintf(what, sizeof(what), "the .%s files beside the pictures",
        fby_guess_boxes_type(kind));
    add_note(search, what, NULL, path, kind);
}
