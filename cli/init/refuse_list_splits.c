/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_list_splits.c - refuse a list of pictures beside texts that say which of them
 * are train and which are test, as train_val_list.txt and test_list.txt of ChestX-ray14:
 * all rows would be train. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/named_files.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { LINE_SIZE = 256 };

struct list_splits {
    struct fby_search       *search;
    struct fby_folders_below folders;
    char                     of_split[FBY_KNOWN_SPLITS][FBY_NAME_SIZE];
};

/* Is the first word of the file the name of a picture below the folder? */
static bool has_names(const struct list_splits *self, const char *name)
{
    struct fby_named_file found;
    char                  line[LINE_SIZE];
    if (!fby_guess_read_begin(
            self->search->root, "", name, line, sizeof(line))) {
        return false;
    }
    line[strcspn(line, " \t\r\n")] = '\0';
    return strchr(line, '.') != NULL &&
           (fby_guess_has_file(self->search->root, "", line) ||
               fby_named_file_find(
                   self->search, "", "", line, &self->folders, &found));
}

static fby_err visit(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct list_splits *self = arg;
    const char         *word = fby_split_word(entry->name);
    (void)why;
    if (entry->is_dir || word == NULL ||
        !fby_text_ends_with(entry->name, ".txt") ||
        strlen(entry->name) >= FBY_NAME_SIZE ||
        !fby_shell_is_plain(entry->name) || !has_names(self, entry->name)) {
        return FBY_OK;
    }
    for (size_t k = 0; k < FBY_KNOWN_SPLITS; k++) {
        char *of = self->of_split[k];
        if (strcmp(fby_known_splits[k], word) == 0 &&
            (of[0] == '\0' || strcmp(entry->name, of) < 0)) {
            snprintf(of, FBY_NAME_SIZE, "%s", entry->name);
        }
    }
    return FBY_OK;
}

/* The list, if it is the only data, lies in the folder of the search, and no name says
 * which split it is; NULL: another. */
static const char *find_list(const struct fby_search *search)
{
    const struct fby_guess_split *split = &search->out->splits[0];
    const char                   *root  = fby_root_dir(search->root);
    const char                   *slash = strrchr(split->pattern, '/');
    size_t                        n     = strlen(root);
    bool                          is_so =
        search->out->kind == FBY_SOURCE_LIST && !search->in_zip &&
        search->out->n_splits == 1 && split->n_file_columns > 0 &&
        slash == split->pattern + n && strncmp(split->pattern, root, n) == 0 &&
        fby_text_ends_with(slash, ".csv") &&
        fby_split_word(slash + 1) == NULL && fby_shell_is_plain(slash + 1) &&
        fby_shell_is_plain(split->file_columns[0]);
    return is_so ? slash + 1 : NULL;
}

/* Write the texts of the splits for a program: "'test': 'test_list.txt'". Returns NULL,
 * or the text of a split of evaluation. */
static const char *write_texts(
    const struct list_splits *self, char *out, size_t size)
{
    const char *found = NULL;
    size_t      used  = 0;
    for (size_t k = 0; k < FBY_KNOWN_SPLITS && used < size; k++) {
        const char *name = self->of_split[k];
        if (name[0] != '\0') {
            used += (size_t)snprintf(out + used, size - used, "%s'%s': '%s'",
                used > 0 ? ", " : "", fby_known_splits[k], name);
            found = fby_text_is_evaluation_split(fby_known_splits[k]) ? name
                                                                      : found;
        }
    }
    return used < size ? found : NULL;
}

fby_err fby_refuse_list_splits(
    struct fby_search *search, struct fby_error_detail *why)
{
    struct list_splits self = {.search = search};
    const char        *list = find_list(search);
    char               texts[FBY_KNOWN_SPLITS * (FBY_NAME_SIZE + 24)];
    if (list == NULL) {
        return FBY_OK;
    }
    fby_folders_below_find(search, "", &self.folders);
    fby_err err =
        fby_guess_visit_dir(search, "", NULL, visit, &self, NULL, why);
    fby_folders_below_fini(&self.folders);
    FBY_TRY(err);
    const char *text = write_texts(&self, texts, sizeof(texts));
    if (text == NULL) {
        return FBY_OK;
    }
    fby_guess_set_command(search, "",
        FBY_PYTHON "l = '%s'; c = '%s'; m = {%s}; %s; %s\"", list,
        search->out->splits[0].file_columns[0], texts, fby_program_split_names,
        fby_program_write_lists);
    fby_guess_end_command(search, "", "train.csv");
    return fby_error_set(why, FBY_CONFIG,
        "%.60s says which pictures of the list %.60s are of its split: write a "
        "list of each split:",
        text, list);
}
