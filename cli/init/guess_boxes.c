/* SPDX-License-Identifier: Apache-2.0 */
/* guess_boxes.c - recognise folders of boxes as text, as YOLO has them.
 *
 * labels/7.txt has a line of five numbers for each object of images/7.jpg: its
 * class, and the centre and size of its box. Pictures without objects may have
 * no file, so such a folder cannot be one of parallel folders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum {
    MAX_FILES  = 64, /* that are read: files may be empty */
    MAX_LEVELS = 3,  /* of folders: labels/train */
    N_NUMBERS  = 5   /* in a line */
};

struct boxes { /* a search for the first file that is not empty */
    struct fby_search *search;
    const char        *path; /* of the folder */
    uint32_t           n_files;
    bool               is_known; /* such a file was found */
    bool               has_boxes;
};

/* True if the first line has five numbers. */
static bool is_box(const char *text)
{
    unsigned n   = 0;
    char    *end = NULL;
    for (const char *at = text; *at != '\n' && *at != '\0'; at = end) {
        (void)strtod(at, &end);
        n += end != at ? 1 : 0;
        if (end == at) {
            return false;
        }
        end += strspn(end, " \t\r");
    }
    return n == N_NUMBERS;
}

static void read_file(struct boxes *self, const char *name)
{
    char              path[FBY_PATH_SIZE];
    char              text[256];
    size_t            n = sizeof(text) - 1;
    struct fby_object object;
    if (fby_path_join(self->path, name, path, NULL) != FBY_OK ||
        fby_object_open(self->search->root, path, &object, NULL) != FBY_OK) {
        return;
    }
    self->n_files++;
    if (fby_object_read_some(&object, 0, text, &n, NULL) == FBY_OK && n > 0) {
        text[n]         = '\0';
        self->is_known  = true;
        self->has_boxes = is_box(text);
    }
    fby_object_close(&object);
}

static fby_err visit_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct boxes *self = arg;
    (void)why;
    if (!entry->is_dir && !self->is_known && self->n_files < MAX_FILES &&
        fby_text_ends_with(entry->name, ".txt") &&
        strcmp(entry->name, "classes.txt") != 0) {
        read_file(self, entry->name);
    }
    return FBY_OK;
}

static void look_at(struct boxes *self, const char *path, unsigned levels)
{
    struct fby_search *search  = self->search;
    struct fby_listing listing = {0};
    char               below[FBY_PATH_SIZE];
    self->path = path;
    fby_err err =
        fby_guess_visit_dir(search, path, NULL, visit_file, self, NULL, NULL);
    if (err == FBY_OK && !self->is_known && levels > 1) {
        err = fby_guess_list_dir(search, path, NULL, &listing, NULL);
    }
    for (uint32_t i = 0; err == FBY_OK && i < listing.count && !self->is_known;
         i++) {
        if (listing.entries[i].is_dir &&
            fby_path_join(path, listing.entries[i].name, below, NULL) ==
                FBY_OK) {
            look_at(self, below, levels - 1);
        }
    }
    fby_listing_fini(&listing);
}

bool fby_guess_has_boxes(struct fby_search *search, const char *path)
{
    struct boxes self = {.search = search};
    look_at(&self, path, MAX_LEVELS);
    return self.has_boxes;
}

/* The command writes boxes.jsonl beside `pictures`, and boxes-train.jsonl for
 * the folder `train` in it. The paths in a list are relative to the list. */
#define WRITE_LISTS                                                           \
    "(cd %s && python3 -c \"import glob, json, os; assert not "               \
    "glob.glob('**/boxes*.jsonl', recursive=True); [open(a + 'boxes' + "      \
    "''.join('-' + d for d in b.split('/')[:-1]) + '.jsonl', "                \
    "'a').write(json.dumps({'image': '%s/' + b, 'boxes': [float(x) for x in " \
    "open(t).read().split()] if os.path.exists(t) else []}) + '\\n') for f "  \
    "in "                                                                     \
    "sorted(glob.glob('**/%s/**/*.*', recursive=True)) for a, b in "          \
    "[f.split('%s/', 1)] for t in [a + '%s/' + os.path.splitext(b)[0] + "     \
    "'.txt']]\")"

void fby_guess_note_boxes(
    struct fby_search *search, const char *pictures, const char *boxes)
{
    char word[FBY_PATH_SIZE];
    if (search->in_zip ||
        !fby_shell_quote(fby_root_dir(search->root), word, sizeof(word))) {
        fby_guess_note(search,
            "left out: %s: its text files are boxes, which a list can have: "
            "{\"image\": \"%s/1.jpg\", \"boxes\": [0, 0.5, 0.5, 0.2, 0.2]}",
            boxes, pictures);
        return;
    }
    fby_guess_note(search,
        "left out: %s: its text files are boxes; to read them, too, write "
        "lists, and run init again: " WRITE_LISTS,
        boxes, word, pictures, pictures, pictures, boxes);
}
