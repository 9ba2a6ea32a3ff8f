/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_mask_names.c - refuse masks with other names than their pictures: in a
 * folder of their own (masks/x_mask.png of images/x.png), and beside the
 * pictures.
 *
 * Files of one sample have one name up to the first dot. The errors have the
 * command that renames the masks. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "common/shell.h"
#include "pipeline/text.h"

/* FBY_CONFIG is for a layout that is refused. */
static fby_err visit_dir(const struct fby_checked_dir *layout, const char *path,
    fby_listing_visit_fn *visit, void *arg, struct fby_error_detail *why)
{
    fby_err err =
        fby_guess_visit_dir(layout->search, path, NULL, visit, arg, NULL, why);
    return err == FBY_CONFIG ? FBY_IO : err;
}

/* ---- masks/x_mask.png of images/x.png ---- */

/* A search for the mask of a picture in a folder that may be very large. */
struct mask_search {
    const char *picture;
    size_t      stem;     /* the length of its name up to the first dot */
    bool        has_same; /* a file has the same name up to the dot */
    char        longer[FBY_NAME_SIZE]; /* a file whose name continues that, as
                                 * x_mask.png does x.png; "": none */
};

static fby_err match_mask_name(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct mask_search *self = arg;
    (void)why;
    if (entry->is_dir || strncmp(entry->name, self->picture, self->stem) != 0) {
        return FBY_OK;
    }
    char next = entry->name[self->stem];
    if (next == '.') {
        self->has_same = true;
    } else if ((next == '_' || next == '-') &&
               strchr(entry->name, '.') != NULL &&
               strlen(entry->name) < sizeof(self->longer)) {
        snprintf(self->longer, sizeof(self->longer), "%s", entry->name);
    }
    return FBY_OK;
}

static fby_err find_mask(const struct fby_checked_dir *layout, const char *dir,
    struct mask_search *out, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(layout->path, dir, path, why));
    return visit_dir(layout, path, match_mask_name, out, why);
}

/* Set the command to the one that renames the masks. Returns ":", or "" if the end
 * of the names would need quotes. */
static const char *advise(const struct fby_checked_dir *layout,
    const char *mask_dir, const struct mask_search *found)
{
    const char *end = found->longer + found->stem; /* "_mask.png" */
    char        path[FBY_PATH_SIZE];
    if (fby_path_join(layout->path, mask_dir, path, NULL) != FBY_OK ||
        !fby_shell_is_plain(end + 1)) {
        return "";
    }
    return fby_guess_set_renames(layout->search, path,
        "for f in ./*%s; do mv -n \"$f\" \"${f%%%s}%s\"; done", end, end,
        strrchr(end, '.'));
}

static fby_err compare_names(const struct fby_checked_dir *layout,
    const char *picture_dir, const char *mask_dir, const char *picture,
    struct fby_error_detail *why)
{
    struct mask_search found = {
        .picture = picture, .stem = strcspn(picture, ".")};
    FBY_TRY(find_mask(layout, mask_dir, &found, why));
    char pictures[FBY_PATH_SIZE];
    char masks[FBY_PATH_SIZE];
    char ending[FBY_NAME_SIZE];
    FBY_TRY(fby_path_join(layout->path, picture_dir, pictures, why));
    FBY_TRY(fby_path_join(layout->path, mask_dir, masks, why));
    if (!found.has_same && found.longer[0] == '\0') {
        return fby_refuse_prefixes(
            layout->search, pictures, masks, picture, why);
    }
    if (found.has_same ||
        fby_guess_find_picture(layout->search->root, pictures, found.longer,
            strcspn(found.longer, "."), ending)) { /* of another picture */
        return FBY_OK;
    }
    const char *colon = advise(layout, mask_dir, &found);
    return fby_error_set(why, FBY_CONFIG,
        "%s/%s seems to be the mask of %s/%s, but files of a "
        "sample have one name up to the first dot: rename the masks%s",
        fby_text_show_begin(mask_dir, 40).text,
        fby_text_show_begin(found.longer, 40).text,
        fby_text_show_begin(picture_dir, 40).text,
        fby_text_show_begin(picture, 40).text, colon);
}

static fby_err check_mask_names(
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    const char        *pictures = NULL;
    const char        *masks    = NULL;
    struct fby_listing files    = {0};
    for (uint32_t i = 0; i < layout->listing->count; i++) {
        const struct fby_entry *entry = &layout->listing->entries[i];
        if (entry->is_dir && fby_init_is_picture_name(entry->name)) {
            pictures = entry->name;
        } else if (entry->is_dir && fby_init_is_partner_name(entry->name)) {
            masks = entry->name;
        }
    }
    if (pictures == NULL || masks == NULL) {
        return FBY_OK;
    }
    fby_err err = fby_refuse_list_below(
        layout->search, layout->path, pictures, &files, why);
    const char *picture =
        err == FBY_OK ? fby_guess_find_file(&files, "") : NULL;
    if (picture != NULL) {
        err = compare_names(layout, pictures, masks, picture, why);
    }
    fby_listing_fini(&files);
    return err;
}

/* ---- x_mask.png beside x.png ---- */

static const char mask_word[] = "_mask";

/* Keep the first name such as x_mask.png in `arg`, a char[FBY_NAME_SIZE]. */
static fby_err keep_mask_name(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    char  *name = arg;
    size_t word = strlen(mask_word);
    size_t stem = strcspn(entry->name, ".");
    (void)why;
    if (name[0] == '\0' && !entry->is_dir && stem > word &&
        strncmp(entry->name + stem - word, mask_word, word) == 0 &&
        strlen(entry->name) < FBY_NAME_SIZE && entry->name[stem] == '.') {
        snprintf(name, FBY_NAME_SIZE, "%s", entry->name);
    }
    return FBY_OK;
}

/* A picture beside a mask: x_sat.jpg beside x_mask.png. */
struct beside_search {
    const char *mask;
    size_t      stem;                 /* the length of "x" */
    char        found[FBY_NAME_SIZE]; /* "": none */
};

static fby_err match_beside(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    static const char     letters[] = "abcdefghijklmnopqrstuvwxyz"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct beside_search *self      = arg;
    const char           *name      = entry->name;
    (void)why;
    if (entry->is_dir || strcmp(name, self->mask) == 0 ||
        strlen(name) >= sizeof(self->found) ||
        strncmp(name, self->mask, self->stem) != 0 ||
        (name[self->stem] != '_' && name[self->stem] != '-')) {
        return FBY_OK;
    }
    const char *word = name + self->stem + 1;
    size_t      n    = strspn(word, letters);
    if (n > 0 && word[n] == '.' && fby_init_is_picture_suffix(word + n + 1)) {
        snprintf(self->found, sizeof(self->found), "%s", name);
    }
    return FBY_OK;
}

/* Write the loops that rename the masks, also further ones of a picture such as
 * x_mask_1.png, and the pictures if they have an end of their own. Returns false
 * if the ends need quotes. */
static bool write_loops(const struct beside_search *beside, const char *dirs,
    char *out, size_t size)
{
    const char *type    = strchr(beside->mask, '.') + 1; /* "png" */
    const char *picture = beside->found + beside->stem;
    int         used    = snprintf(out, size,
                   "for f in ./%s*_mask[._]*%.30s; do mv -n \"$f\" "
                              "\"${f%%_mask[._]*}.mask${f##*_mask}\"; done",
                   dirs, type);
    if (beside->found[0] == '\0') {
        return fby_shell_is_plain(type) && strlen(type) <= 30;
    }
    snprintf(out + used, size - (size_t)used,
        "; for f in ./%s*%.30s; do mv -n \"$f\" \"${f%%%.30s}%.30s\"; done",
        dirs, picture, picture, strchr(picture, '.'));
    return fby_shell_is_plain(type) && fby_shell_is_plain(picture + 1) &&
           strlen(type) <= 30 && strlen(picture) <= 30;
}

static fby_err refuse_mask_beside(const struct fby_checked_dir *layout,
    const struct beside_search *beside, const char *dirs,
    struct fby_error_detail *why)
{
    char        loops[400] = "";
    const char *colon      = "";
    if (write_loops(beside, dirs, loops, sizeof(loops))) {
        colon =
            fby_guess_set_renames(layout->search, layout->path, "%s", loops);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%.60s seems to be the mask of the picture beside it; files of a "
        "sample have one name up to the first dot, so rename %s%s",
        fby_text_show(beside->mask).text,
        beside->found[0] != '\0' ? "both" : "the masks", colon);
}

/* The folder whose files are looked at: "" for the one of the listing, if it has
 * pictures, else the first in it; NULL: none. */
static const char *find_folder_of_files(const struct fby_checked_dir *layout)
{
    uint32_t i = 0;
    if (fby_init_has_pictures(layout->listing)) {
        return "";
    }
    while (i < layout->listing->count && !layout->listing->entries[i].is_dir) {
        i++;
    }
    return i < layout->listing->count ? layout->listing->entries[i].name : NULL;
}

/* Refuse masks that would be samples of their own. */
static fby_err check_masks_beside(
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    const char *folder              = find_folder_of_files(layout);
    char        mask[FBY_NAME_SIZE] = "";
    char        dir[FBY_PATH_SIZE];
    if (folder == NULL) {
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(layout->path, folder, dir, why));
    FBY_TRY(visit_dir(layout, dir, keep_mask_name, mask, why));
    if (mask[0] == '\0') {
        return FBY_OK;
    }
    struct beside_search beside = {
        .mask = mask, .stem = strcspn(mask, ".") - strlen(mask_word)};
    char ending[FBY_NAME_SIZE];
    bool has_own = fby_guess_find_picture(
        layout->search->root, dir, mask, beside.stem, ending);
    if (!has_own) {
        FBY_TRY(visit_dir(layout, dir, match_beside, &beside, why));
    }
    return has_own || beside.found[0] != '\0'
               ? refuse_mask_beside(
                     layout, &beside, folder[0] == '\0' ? "" : "*/", why)
               : FBY_OK;
}

fby_err fby_refuse_mask_names(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const struct fby_checked_dir layout = {search, path, listing};
    FBY_TRY(check_mask_names(&layout, why));
    return check_masks_beside(&layout, why);
}
