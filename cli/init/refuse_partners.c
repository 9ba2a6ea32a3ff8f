/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_partners.c - pictures and masks in parallel folders whose names do not
 * match: img_1.jpg and mask_1.png, or pictures without a mask. The errors have
 * the command that helps. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_pairs.h"
#include "cli/init/refuse_layouts.h"
#include "common/shell.h"
#include "pipeline/text.h"

/* The bytes of a name before its first digit. */
static size_t length_of_prefix(const char *name)
{
    return strcspn(name, "0123456789");
}

/* A search for a mask whose name differs from the picture's in the prefix. */
struct prefix_search {
    const char *number; /* of the picture, up to the end of its name */
    size_t      length; /* of the number and what follows, up to the dot */
    char        mask[FBY_NAME_SIZE]; /* "": none */
};

static fby_err match_number(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct prefix_search *self   = arg;
    const char           *number = entry->name + length_of_prefix(entry->name);
    (void)why;
    if (!entry->is_dir && strncmp(number, self->number, self->length) == 0 &&
        number[self->length] == '.' &&
        strlen(entry->name) < sizeof(self->mask)) {
        snprintf(self->mask, sizeof(self->mask), "%s", entry->name);
    }
    return FBY_OK;
}

/* Has `dir` a file with the name of `mask` up to the dot? */
static bool has_file_of_name(
    const struct fby_search *search, const char *dir, const char *mask)
{
    char               glob[FBY_NAME_SIZE + 2];
    struct fby_listing found = {0};
    snprintf(glob, sizeof(glob), "%.*s.*", (int)strcspn(mask, "."), mask);
    bool has_any =
        fby_listing_read(search->root, dir, glob, &found, NULL) == FBY_OK &&
        found.count > 0;
    fby_listing_fini(&found);
    return has_any;
}

fby_err fby_refuse_prefixes(struct fby_search *search, const char *picture_dir,
    const char *mask_dir, const char *picture, struct fby_error_detail *why)
{
    size_t               n    = length_of_prefix(picture);
    struct prefix_search self = {
        .number = picture + n, .length = strcspn(picture + n, ".")};
    if (self.length == 0 || picture[n + self.length] == '\0') {
        return FBY_OK;
    }
    fby_err err = fby_guess_visit_dir(
        search, mask_dir, NULL, match_number, &self, NULL, why);
    int of_mask = (int)length_of_prefix(self.mask);
    if (err != FBY_OK || self.mask[0] == '\0' || n > 30 || of_mask > 30 ||
        !fby_shell_is_plain(picture) || !fby_shell_is_plain(self.mask) ||
        has_file_of_name(search, picture_dir, self.mask)) {
        return err == FBY_CONFIG ? FBY_IO : err;
    }
    fby_guess_set_renames(search, mask_dir,
        "for f in ./%.*s[0-9]*; do mv -n \"$f\" \"./%.*s${f#./%.*s}\"; done",
        of_mask, self.mask, (int)n, picture, of_mask, self.mask);
    return fby_error_set(why, FBY_CONFIG,
        "%.60s seems to be the mask of %.60s, but files of a sample have one "
        "name up to the first dot: rename the masks:",
        self.mask, picture);
}

/* Has a file in one folder a file of its name in the other? The first files are
 * looked at. */
static bool has_pair(
    const struct fby_search *search, const char *dir, const char *other)
{
    enum { LOOKED_AT = 256 };
    struct fby_listing files = {0};
    bool               found = false;
    if (fby_listing_read(search->root, dir, NULL, &files, NULL) != FBY_OK) {
        fby_listing_fini(&files);
        return true; /* not known */
    }
    for (uint32_t i = 0; i < files.count && i < LOOKED_AT && !found; i++) {
        found = strlen(files.entries[i].name) < FBY_NAME_SIZE &&
                has_file_of_name(search, other, files.entries[i].name);
    }
    fby_listing_fini(&files);
    return found;
}

/* Replace the error if no file of the two folders has a partner: then it is a
 * matter of names. Returns false if there are pairs. */
static bool explain_names(struct fby_search *search, const char *path,
    const char *const names[2], const char *split, struct fby_error_detail *why)
{
    char dirs[2][FBY_PATH_SIZE];
    char lone[FBY_PATH_SIZE];
    char told[100] = "";
    for (int i = 0; i < 2; i++) {
        char below[FBY_PATH_SIZE];
        if (fby_path_join(path, names[i], below, NULL) != FBY_OK ||
            fby_path_join(below, split[0] == '/' ? split + 1 : split, dirs[i],
                NULL) != FBY_OK) {
            return false;
        }
    }
    if (has_pair(search, dirs[0], dirs[1])) {
        return false;
    }
    if (fby_guess_are_pair_ends(
            search, "", (const char *const[]){dirs[0], dirs[1]}, lone) &&
        lone[0] != '\0') {
        snprintf(told, sizeof(told), " (%s has no partner at all)",
            fby_text_show_begin(lone, 70).text);
    }
    (void)fby_error_set(why, FBY_CONFIG,
        "no file in %.60s%.40s has the name of one in %.60s%.40s, up to its "
        "first dot%s: give the files of a pair one name, as images/7.jpg and "
        "masks/7.png",
        names[0], split, names[1], split, told);
    return true;
}

fby_err fby_guess_explain_missing(struct fby_search *search, const char *path,
    const char *const names[2], const char *below, struct fby_error_detail *why)
{
    struct fby_error_detail said  = *why;
    const char             *split = strchr(below, '}') + 1; /* "/train" or "" */
    if (strstr(said.text, " missing: ") == NULL || search->in_zip) {
        return FBY_CONFIG; /* another error */
    }
    if (explain_names(search, path, names, split, why)) {
        return FBY_CONFIG;
    }
    fby_guess_set_renames(search, path,
        "mkdir unpaired && for p in %s%s:%s%s %s%s:%s%s; do for f in "
        "${p%%:*}/*; do b=${f##*/}; set -- ${p#*:}/\"${b%%%%.*}\".*; [ -e "
        "\"$1\" ] || [ -d \"$f\" ] || mv -n \"$f\" unpaired; done; done",
        names[0], split, names[1], split, names[1], split, names[0], split);
    return fby_error_set(
        why, FBY_CONFIG, "%s; to move the others away:", said.text);
}
