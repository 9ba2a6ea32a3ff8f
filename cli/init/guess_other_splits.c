/* SPDX-License-Identifier: Apache-2.0 */
/* guess_other_splits.c - files beside the data that are probably splits of it, in
 * another format: train.csv and val.tsv, or the folder train and val.zip.
 *
 * One format is read for all splits. A file of train in another one is refused,
 * since an evaluation split would be trained on; of other splits there is a note. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_zip.h"
#include "cli/init/names.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

struct other_files { /* the files of splits that the guess has not */
    struct fby_search *search;
    bool has_pictures; /* files as train_1.txt may be beside them */
    char of_split[FBY_KNOWN_SPLITS][FBY_NAME_SIZE]; /* "": none */
};

/* True for a file that may have a whole split, by its ending. */
static bool may_be_split(const struct other_files *self, const char *name)
{
    static const char *const endings[] = {".csv", ".jsonl", ".tsv", ".ndjson",
        ".csv.gz", ".jsonl.gz", ".npy", ".npz", ".tar", ".bin", ".mds", ".zip"};
    struct fby_unread        unread;
    if (fby_init_is_any_picture(name)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (fby_text_ends_with(name, endings[i])) {
            return true;
        }
    }
    return fby_unread_file(name, &unread) ||
           (!self->has_pictures && (fby_text_ends_with(name, ".txt") ||
                                       fby_text_ends_with(name, ".json")));
}

/* Is a list read as the split only because no other one is, as data.csv? */
static bool is_default(const struct fby_guess *out, const char *split)
{
    bool found = false;
    for (uint32_t i = 0; i < out->n_splits && !found; i++) {
        const char *slash = strrchr(out->splits[i].pattern, '/');
        found = out->splits[i].kind == FBY_SOURCE_LIST && slash != NULL &&
                strcmp(out->splits[i].name, split) == 0 &&
                fby_split_word(slash + 1) == NULL;
    }
    return found;
}

/* Is it a list by its name, which is read once it is converted or unpacked? */
static bool is_other_list(const char *name)
{
    return fby_text_ends_with(name, ".tsv") ||
           fby_text_ends_with(name, ".ndjson") ||
           fby_text_ends_with(name, ".csv.gz") ||
           fby_text_ends_with(name, ".jsonl.gz");
}

/* Is the split read? Tables have no names of their own: all arrays are of one. */
static bool is_read(const struct other_files *self, const char *name, size_t k)
{
    const struct fby_guess *out = self->search->out;
    if (out->kind == FBY_SOURCE_COLUMNS && out->n_splits == 1) {
        return fby_text_ends_with(name, ".npy") ||
               fby_text_ends_with(name, ".npz");
    }
    return fby_guess_has_split(self->search, fby_known_splits[k]) &&
           !(is_other_list(name) && is_default(out, fby_known_splits[k]));
}

static void keep_first(char out[FBY_NAME_SIZE], const char *name)
{
    if (out[0] == '\0' || strcmp(name, out) < 0) {
        snprintf(out, FBY_NAME_SIZE, "%s", name);
    }
}

static fby_err add_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct other_files *self = arg;
    const char         *word = fby_split_word(entry->name);
    (void)why;
    if (entry->is_dir || strlen(entry->name) >= FBY_NAME_SIZE ||
        strstr(self->search->out->notes, entry->name) != NULL) {
        return FBY_OK;
    }
    bool is_archive = fby_guess_is_zip_path(entry->name) &&
                      self->search->out->kind == FBY_SOURCE_LIST;
    if (!is_archive && word != NULL && may_be_split(self, entry->name)) {
        size_t k = 0;
        while (strcmp(fby_known_splits[k], word) != 0) {
            k++;
        }
        if (!is_read(self, entry->name, k)) {
            keep_first(self->of_split[k], entry->name);
        }
    }
    return FBY_OK;
}

/* Write what to do with the file, and set the command, if there is one. */
static void explain(
    struct fby_search *search, const char *name, struct fby_error_detail *out)
{
    struct fby_unread unread;
    search->out->command[0] = '\0';
    fby_err err             = fby_refuse_other_list(search, "", name, out);
    if (err != FBY_OK && !fby_shell_is_plain(name)) {
        search->out->command[0] = '\0'; /* it has no such name */
        err                     = fby_error_set(out, err,
                                "rename it to one without blanks and quotes, and run init again");
    }
    if (err != FBY_OK) {
        return;
    }
    err = FBY_CONFIG;
    if (fby_text_ends_with(name, ".zip")) {
        err = fby_error_set(out, err, "unpack it%s",
            fby_guess_set_unzip(search, "", name) ? ":" : "");
    } else if (fby_unread_file(name, &unread)) {
        err = fby_error_set(out, err, "%s", unread.text);
    } else {
        err = fby_error_set(out, err,
            "write it in the format of the others: all splits have one");
    }
    (void)err;
}

/* Has an array of the tables the name of an evaluation split? */
static bool has_evaluation(const struct fby_guess *out)
{
    bool found = out->kind != FBY_SOURCE_COLUMNS;
    for (uint32_t i = 0; !found && i < out->splits[0].n_columns; i++) {
        found = fby_is_split_name(out->splits[0].columns[i].name);
    }
    return found;
}

static fby_err check_split(struct fby_search *search, const char *split,
    const char *name, struct fby_error_detail *why)
{
    struct fby_error_detail what = {{0}};
    explain(search, name, &what);
    if (strcmp(split, "train") == 0 && has_evaluation(search->out)) {
        return fby_error_set(why, FBY_CONFIG,
            "%s seems to be the split train, but other data is read: %s",
            fby_text_show_begin(name, 60).text, what.text);
    }
    fby_guess_note(search,
        "left out: %s, which seems to be the split %s: %s%s%s",
        fby_text_show_begin(name, 60).text, split, what.text,
        search->out->command[0] != '\0' ? " " : "", search->out->command);
    search->out->command[0] = '\0';
    return FBY_OK;
}

/* Is it an archive, and no folder beside it has its name, as after unpacking it? */
static bool is_packed(
    const struct fby_listing *listing, const struct fby_entry *entry)
{
    char stem[FBY_PATH_SIZE];
    if (entry->is_dir || !fby_guess_is_zip_path(entry->name)) {
        return false;
    }
    snprintf(stem, sizeof(stem), "%.*s",
        (int)(strlen(entry->name) - strlen(".zip")), entry->name);
    return fby_listing_find(listing, stem) == NULL;
}

/* Add a note of the archives beside lists. */
static void note_archives(
    struct fby_search *search, const struct fby_listing *listing)
{
    struct fby_error_detail unused     = {{0}};
    char                    names[160] = "";
    for (uint32_t i = 0; i < listing->count; i++) {
        if (is_packed(listing, &listing->entries[i])) {
            fby_text_append_name(
                names, sizeof(names), listing->entries[i].name);
        }
    }
    if (search->out->kind != FBY_SOURCE_LIST || names[0] == '\0') {
        return;
    }
    fby_err err = fby_refuse_zips(search, "", listing, &unused);
    (void)err; /* only its command is needed */
    fby_guess_note(search,
        "left out: %s: only the lists beside are read; if they name files of "
        "the archives, unpack these, and run init again: %s",
        names, search->out->command);
    search->out->command[0] = '\0';
}

fby_err fby_guess_other_splits(
    struct fby_search *search, struct fby_error_detail *why)
{
    struct other_files self    = {.search = search};
    struct fby_listing listing = {0};
    if (search->only_file[0] != '\0' || search->out->n_left_out > 0 ||
        search->class_depth != FBY_GUESS_ANY_DEPTH) {
        return FBY_OK;
    }
    FBY_TRY(fby_refuse_list_splits(search, why));
    fby_err err       = fby_guess_list_dir(search, "", NULL, &listing, why);
    self.has_pictures = fby_init_has_pictures(&listing);
    if (err == FBY_OK) {
        note_archives(search, &listing);
        err = fby_guess_visit_dir(search, "", NULL, add_file, &self, NULL, why);
    }
    for (size_t k = 0; err == FBY_OK && k < FBY_KNOWN_SPLITS; k++) {
        if (self.of_split[k][0] != '\0') {
            err =
                check_split(search, fby_known_splits[k], self.of_split[k], why);
        }
    }
    fby_listing_fini(&listing);
    return err;
}
