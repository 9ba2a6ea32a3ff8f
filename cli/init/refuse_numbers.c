/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_numbers.c - refuse texts of numbers, a row in each line, as
 * X_train.txt and y_train.txt of UCI HAR, with the command that makes tables
 * of them.
 *
 * The names have the split. Beside pictures such texts are lists, or boxes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "cli/init/survey.h"
#include "pipeline/text.h"

enum { MAX_FILES = 32, BEGIN_SIZE = 256 /* bytes of a file that are read */ };

struct number_texts { /* the texts of splits in a folder */
    struct fby_search *search;
    const char        *path;
    uint32_t           n;
    bool               has_rows;   /* a line has several numbers */
    bool               has_others; /* a text has other words */
    char               first[FBY_NAME_SIZE];
};

/* The numbers in the first line of `text`; 0: it has other words. The last word
 * may be cut. */
static uint32_t count_numbers(const char *text)
{
    uint32_t    n  = 0;
    const char *at = text + strspn(text, " \t");
    while (*at != '\0' && strchr("\r\n", *at) == NULL) {
        char *end = NULL;
        (void)strtod(at, &end);
        if (end == at || strchr(" \t\r\n", *end) == NULL) {
            return 0;
        }
        n++;
        at = end + strspn(end, " \t");
    }
    return n;
}

static fby_err read_text(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct number_texts *self = arg;
    char                 path[FBY_PATH_SIZE];
    char                 begin[BEGIN_SIZE];
    size_t               size = sizeof(begin) - 1;
    struct fby_object    object;
    (void)why;
    if (entry->is_dir || self->n == MAX_FILES || self->has_others ||
        !fby_text_ends_with(entry->name, ".txt") ||
        fby_split_word(entry->name) == NULL ||
        fby_path_join(self->path, entry->name, path, NULL) != FBY_OK ||
        fby_object_open(self->search->root, path, &object, NULL) != FBY_OK) {
        return FBY_OK;
    }
    if (fby_object_read_some(&object, 0, begin, &size, NULL) != FBY_OK) {
        size = 0;
    }
    fby_object_close(&object);
    begin[size]      = '\0';
    uint32_t numbers = count_numbers(begin);
    self->has_others = numbers == 0;
    self->has_rows   = self->has_rows || numbers > 1;
    self->n++;
    snprintf(self->first, sizeof(self->first), "%.60s", entry->name);
    return FBY_OK;
}

static bool has_pictures_below(struct fby_search *search, const char *path,
    const struct fby_listing *listing)
{
    struct fby_survey survey;
    bool              found = fby_init_has_pictures(listing);
    fby_survey_folders(search, path, listing, &survey);
    for (uint32_t i = 0; i < survey.n; i++) {
        found = found || survey.folders[i].picture != NULL;
    }
    fby_survey_fini(&survey);
    return found;
}

fby_err fby_refuse_numbers(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct number_texts texts = {.search = search, .path = path};
    char                base[FBY_PATH_SIZE];
    char                below[FBY_PATH_SIZE];
    char                operand[FBY_OPERAND_SIZE];
    const char         *slash = strrchr(path, '/');
    const char         *name  = slash != NULL ? slash + 1 : path;
    if (fby_guess_find_file(listing, ".txt") == NULL || search->in_zip) {
        return FBY_OK;
    }
    fby_err err =
        fby_guess_visit_dir(search, path, NULL, read_text, &texts, NULL, why);
    if (err != FBY_OK || !texts.has_rows || texts.has_others ||
        has_pictures_below(search, path, listing)) {
        return err;
    }
    bool is_split = fby_split_of_folder(name) != NULL;
    snprintf(base, sizeof(base), "%.*s",
        (int)(is_split ? (slash != NULL ? slash - path : 0)
                       : (long)strlen(path)),
        path);
    FBY_TRY(fby_path_join(base, "arrays", below, why));
    fby_guess_write_operand(search, below, operand);
    fby_guess_set_command(search, base, FBY_PYTHON "O = 'arrays'; %s; %s; %s\"",
        fby_program_folder_begin, fby_program_number_texts,
        fby_program_folder_end);
    return fby_error_set(why, FBY_CONFIG,
        "texts of numbers are not read (%s): write an array of each, with a "
        "row of each line (needs NumPy), then: forebay init %s:",
        fby_text_show(texts.first).text, operand);
}
