/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_mask_words.c - refuse masks beside their pictures that differ from these in
 * a word of the name: x_seg_1.png beside x_t1_1.png or x_1.png.
 *
 * They would be samples of their own. Files of one sample have one name up to the
 * first dot, so the command renames them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MAX_WORD = 24 /* bytes, with NUL */ };

struct mask_word { /* in the name of a mask, and its picture */
    const struct fby_root *root;
    const char            *dir;                    /* of the files */
    char                   mask[FBY_NAME_SIZE];    /* its name; "": none */
    size_t                 begin, end;             /* of the word in it */
    char                   picture[FBY_NAME_SIZE]; /* "": none */
    char                   word[MAX_WORD]; /* of the picture; "": none */
};

static bool is_mask_word(const char *word, size_t size)
{
    static const char *const words[] = {"mask", "masks", "seg", "segm",
        "segmentation", "gt", "groundtruth", "label", "labels", "annotation"};
    size_t                   i       = 0;
    size_t                   n       = sizeof(words) / sizeof(words[0]);
    while (i < n && (strlen(words[i]) != size ||
                        strncasecmp(word, words[i], size) != 0)) {
        i++;
    }
    return i < n;
}

/* Find a word for masks in the name, which is not all of it. */
static bool find_word(const char *name, struct mask_word *out)
{
    size_t stem = strcspn(name, ".");
    size_t size;
    for (size_t at = 0; at < stem; at += size + 1) {
        size = strcspn(name + at, "_-.");
        if (is_mask_word(name + at, size) && size < stem && size < MAX_WORD) {
            out->begin = at;
            out->end   = at + size;
            return true;
        }
    }
    return false;
}

/* May the file be a mask by the header of a PNG? */
static bool is_mask_file(const struct mask_word *self, const char *name)
{
    char path[FBY_PATH_SIZE];
    return fby_path_join(self->dir, name, path, NULL) == FBY_OK &&
           fby_guess_may_be_ids(self->root, path);
}

/* Keep the first mask by its name. */
static fby_err keep_mask(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct mask_word *self  = arg;
    struct mask_word  found = *self;
    (void)why;
    if (!entry->is_dir && strlen(entry->name) < sizeof(self->mask) &&
        fby_text_ends_with(entry->name, ".png") &&
        (self->mask[0] == '\0' || strcmp(entry->name, self->mask) < 0) &&
        find_word(entry->name, &found) && is_mask_file(self, entry->name)) {
        *self = found;
        snprintf(self->mask, sizeof(self->mask), "%s", entry->name);
    }
    return FBY_OK;
}

/* The bytes of the word in `name` in place of the mask's, or 0 if there is none and
 * the name is else the same; SIZE_MAX: the name is another. */
static size_t match_word(const struct mask_word *self, const char *name)
{
    const char *rest      = self->mask + self->end; /* "_1.png" */
    size_t      rest_size = strcspn(rest, ".");
    size_t      size;
    if (strncmp(name, self->mask, self->begin) == 0) {
        const char *word = name + self->begin;
        size             = strcspn(word, "_-.");
        if (size > 0 && size < MAX_WORD &&
            strncmp(word + size, rest, rest_size) == 0 &&
            word[size + rest_size] == '.') {
            return size;
        }
    }
    size = self->begin > 0 ? self->begin - 1 : 0; /* without "_" */
    rest += self->begin == 0 && rest_size > 0 ? 1 : 0;
    rest_size = strcspn(rest, ".");
    return strncmp(name, self->mask, size) == 0 &&
                   strncmp(name + size, rest, rest_size) == 0 &&
                   name[size + rest_size] == '.'
               ? 0
               : SIZE_MAX;
}

/* Keep the first picture of the mask by its name. */
static fby_err keep_picture(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct mask_word *self = arg;
    const char       *dot  = strchr(entry->name, '.');
    size_t            size = match_word(self, entry->name);
    (void)why;
    if (!entry->is_dir && dot != NULL && size < SIZE_MAX &&
        fby_init_is_picture_suffix(dot + 1) &&
        !(size > 0 && is_mask_word(entry->name + self->begin, size)) &&
        strlen(entry->name) < sizeof(self->picture) &&
        (self->picture[0] == '\0' || strcmp(entry->name, self->picture) < 0)) {
        snprintf(self->picture, sizeof(self->picture), "%s", entry->name);
        snprintf(self->word, sizeof(self->word), "%.*s", (int)size,
            entry->name + self->begin);
    }
    return FBY_OK;
}

/* The index of the word in the name, counting the characters between words. */
static unsigned index_of(const struct mask_word *self)
{
    unsigned n = 0;
    for (size_t i = 0; i < self->begin; i++) {
        n += strchr("_-", self->mask[i]) != NULL ? 2 : 0;
    }
    return n;
}

static fby_err refuse(const struct fby_checked_dir *layout,
    const struct mask_word *found, bool is_flat, struct fby_error_detail *why)
{
    const char *colon = "";
    if (found->word[0] == '\0' || fby_shell_is_plain(found->word)) {
        colon = fby_guess_set_renames(layout->search, layout->path,
            FBY_PYTHON "M = '%.*s'; P = '%s'; I = %u; D = '%s'; %s\"",
            (int)(found->end - found->begin), found->mask + found->begin,
            found->word, index_of(found), is_flat ? "" : "*/",
            fby_program_rename_masks);
    }
    fby_err err = fby_error_set(why, FBY_CONFIG,
        "%.60s seems to be the mask of %.60s beside it; files of a sample have "
        "one name up to the first dot: if it is a picture of its own, add "
        "--class-depth %d, else rename both%s",
        fby_text_show(found->mask).text, fby_text_show(found->picture).text,
        is_flat ? 0 : 1, colon);
    return fby_guess_unpack_first(layout->search, err, why);
}

fby_err fby_refuse_mask_words(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const struct fby_checked_dir layout  = {search, path, listing};
    bool                         is_flat = fby_init_has_pictures(listing);
    char                         dir[FBY_PATH_SIZE];
    struct mask_word             found = {.root = search->root, .dir = dir};
    uint32_t                     i     = 0;
    while (!is_flat && i < listing->count && !listing->entries[i].is_dir) {
        i++;
    }
    if (i == listing->count && !is_flat) {
        return FBY_OK;
    }
    FBY_TRY(
        fby_path_join(path, is_flat ? "" : listing->entries[i].name, dir, why));
    fby_err err =
        fby_guess_visit_dir(search, dir, NULL, keep_mask, &found, NULL, why);
    if (err == FBY_OK && found.mask[0] != '\0') {
        err = fby_guess_visit_dir(
            search, dir, NULL, keep_picture, &found, NULL, why);
    }
    if (err != FBY_OK) {
        return err == FBY_CONFIG ? FBY_IO : err;
    }
    return found.picture[0] != '\0' ? refuse(&layout, &found, is_flat, why)
                                    : FBY_OK;
}
