/* SPDX-License-Identifier: Apache-2.0 */
/* list_files.c - find the lists of one format in a directory, of which those of
 * splits come first, and write the command that converts them. */
#include "cli/init/list_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

bool fby_list_has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name);
    size_t k = strlen(ending);
    return n > k && n < FBY_LIST_FILE_SIZE &&
           fby_equal_ignoring_case(name + n - k, ending);
}

static fby_err add_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct fby_list_files *self     = arg;
    bool                   is_split = fby_split_word(entry->name) != NULL;
    (void)why;
    if (entry->is_dir || !fby_list_has_ending(entry->name, self->ending) ||
        (self->are_splits && !is_split)) {
        return FBY_OK;
    }
    if (is_split && !self->are_splits) {
        self->are_splits = true;
        self->other[0]   = '\0';
        self->has_more   = false;
        self->n          = 0;
    }
    if (!is_split && !self->takes_all && self->n > 0 &&
        strcmp(self->names[0], entry->name) > 0) {
        memcpy(self->other, self->names[0], FBY_LIST_FILE_SIZE);
        self->n = 0;
    }
    if (self->n <
        (is_split || self->takes_all ? (uint32_t)FBY_LIST_FILES : 1)) {
        snprintf(self->names[self->n++], FBY_LIST_FILE_SIZE, "%s", entry->name);
    } else {
        snprintf(self->other, FBY_LIST_FILE_SIZE, "%s", entry->name);
        self->has_more = true;
    }
    return FBY_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

fby_err fby_list_files_find_again(
    struct fby_list_files *self, struct fby_error_detail *why)
{
    const char *only =
        self->search->only_file[0] != '\0' ? self->search->only_file : NULL;
    fby_err err = fby_guess_visit_dir(
        self->search, self->path, only, add_file, self, NULL, why);
    qsort(self->names, self->n, sizeof(self->names[0]), compare_names);
    return err;
}

fby_err fby_list_files_find(struct fby_search *search, const char *path,
    const char *ending, struct fby_list_files *out,
    struct fby_error_detail *why)
{
    *out = (struct fby_list_files){
        .search = search, .path = path, .ending = ending};
    return fby_list_files_find_again(out, why);
}

/* Is the new file of the i-th one there already, as val.csv of val.tsv? */
static bool is_there(
    const struct fby_list_files *self, uint32_t i, const char *converted)
{
    char file[FBY_PATH_SIZE];
    snprintf(file, sizeof(file), "%.*s%s",
        (int)(strlen(self->names[i]) - strlen(self->ending)), self->names[i],
        converted);
    return fby_guess_has_file(self->search->root, self->path, file);
}

void fby_list_quote_name(const char *name, char out[FBY_LIST_WORD_SIZE])
{
    char file[FBY_LIST_FILE_SIZE + 2];
    snprintf(file, sizeof(file), "%s%s", name[0] == '-' ? "./" : "", name);
    (void)fby_shell_quote(file, out, FBY_LIST_WORD_SIZE);
}

/* Append the words of the files, or of those whose new files are not there. Returns
 * their number. */
static uint32_t append_names(const struct fby_list_files *self,
    const char *converted, bool all, char *out, size_t size)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < self->n; i++) {
        char   word[FBY_LIST_WORD_SIZE];
        size_t used = strlen(out);
        if (all || !is_there(self, i, converted)) {
            fby_list_quote_name(self->names[i], word);
            snprintf(out + used, size - used, " %s", word);
            n++;
        }
    }
    return n;
}

void fby_list_files_advise(
    const struct fby_list_files *self, const char *body, const char *converted)
{
    char first[FBY_PATH_SIZE];
    char files[FBY_LIST_FILES * (FBY_LIST_WORD_SIZE + 1)] = "";
    if (append_names(self, converted, false, files, sizeof(files)) == 0) {
        (void)append_names(self, converted, true, files, sizeof(files));
    }
    if (self->takes_all && self->has_more && !self->are_splits) {
        snprintf(files, sizeof(files), " ./*%s", self->ending);
    }
    fby_guess_set_command(self->search, self->path,
        "set -C && for f in%s; do %s || exit; done", files, body);
    snprintf(first, sizeof(first), "%.*s%s",
        (int)(strlen(self->names[0]) - strlen(self->ending)), self->names[0],
        converted);
    fby_guess_end_command(self->search, self->path, first);
}
