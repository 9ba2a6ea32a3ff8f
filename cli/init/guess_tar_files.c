/* SPDX-License-Identifier: Apache-2.0 */
/* guess_tar_files.c - a directory of tar files: tar files that are classes, one
 * each, as those of ImageNet, and the files beside tar files. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_tars.h"
#include "cli/init/refuse_shards.h"
#include "cli/init/split_names.h"
#include "common/plural.h"
#include "pipeline/text.h"
#include "worker/source/shards/tar_names.h"

/* ---- tar files that are classes ---- */

/* True for the numbers of classes in WordNet: n01440764.tar, n01443537.tar. */
static bool are_wordnet_ids(const struct fby_tar_group *group)
{
    enum { DIGITS = 8 };
    return group->prefix == 1 && group->first[0] == 'n' &&
           group->digits == DIGITS && group->equal_digits && !group->no_gaps;
}

/* True if each of the tar files may be a class: their names are not numbered,
 * and name no split. */
static bool may_be_classes(const struct fby_entry *tars, uint32_t n)
{
    for (uint32_t i = 0; i < n;) {
        struct fby_tar_group group = fby_tar_group_begin(tars[i].name);
        i++;
        while (i < n && fby_tar_group_join(&group, tars[i].name)) {
            i++;
        }
        if (fby_split_word(group.first) != NULL ||
            (group.count > 1 && !are_wordnet_ids(&group))) {
            return false;
        }
    }
    return n > 1;
}

/* Set the command to the one that unpacks each tar file of `path`, into a folder of
 * its name or, if the tar files have one, into the folder `classes`. */
static void advise(
    const struct fby_search *search, const char *path, bool in_folder)
{
    fby_guess_set_command(search, path, "%s",
        in_folder ? "mkdir classes && for f in ./*.tar; do tar -xf \"$f\" -C "
                    "classes; done"
                  : "for f in ./*.tar; do d=classes/${f%.tar}; mkdir -p \"$d\" "
                    "&& tar -xf \"$f\" -C \"$d\"; done");
}

fby_err fby_refuse_class_tars(const struct fby_search *search, const char *path,
    const struct fby_entry *tars, uint32_t n, uint32_t first_split,
    struct fby_error_detail *why)
{
    bool in_folder = true;
    if (!may_be_classes(tars, n)) {
        return FBY_OK;
    }
    for (uint32_t i = first_split; i < search->out->n_splits; i++) {
        if (!search->out->splits[i].only_pictures) {
            return FBY_OK;
        }
        in_folder = in_folder && search->out->splits[i].in_folder;
    }
    advise(search, path, in_folder);
    return fby_error_set(why, FBY_CONFIG,
        "%s and %s have pictures alone, without labels; if each is a class, "
        "unpack it (else number the names: 0.tar, 1.tar):",
        fby_text_show_begin(tars[0].name, 40).text,
        fby_plural(n - 1, "more tar").text);
}

/* ---- files beside tar files ---- */

/* True if the list "a, b" has `name`. */
static bool has_name(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (length == n && memcmp(at, name, n) == 0) {
            return true;
        }
        at += length;
        at += strspn(at, ", ");
    }
    return false;
}

/* Append "NAME/" for a folder, ".json" for a file. */
static void add_type(const struct fby_entry *entry, char *list, size_t size)
{
    char        name[FBY_SHOWN_SIZE + 2];
    const char *dot = strrchr(entry->name, '.');
    if (!entry->is_dir && dot == NULL) {
        return;
    }
    snprintf(name, sizeof(name), "%s%s",
        fby_text_show(entry->is_dir ? entry->name : dot).text,
        entry->is_dir ? "/" : "");
    if (!has_name(list, name) && strlen(list) + strlen(name) + 8 < size) {
        fby_text_append_name(list, size, name);
    }
}

void fby_guess_note_beside_tars(struct fby_search *search,
    const struct fby_listing *listing, uint32_t n_tars)
{
    char types[160] = "";
    for (uint32_t i = n_tars; n_tars > 0 && i < listing->count; i++) {
        add_type(&listing->entries[i], types, sizeof(types));
    }
    if (types[0] != '\0') {
        fby_guess_note(search, "left out: %s (beside the tar files)", types);
    }
}
