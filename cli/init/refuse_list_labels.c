/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_list_labels.c - lists of labels beside those of columns: X_train.csv and
 * y_train.csv, or features.csv and labels.csv. The command joins their rows.
 *
 * Beside a list of train, features.csv may have the names of columns. Beside folders,
 * which may have the files of a list, there is no command. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { PROGRAM_SIZE = 4096, MAX_STEM = 60 };

struct word_of { /* X of X_train.csv */
    size_t begin, size;
};

static const char *const of_columns[] = {
    "x", "features", "feature", "inputs", NULL};
static const char *const of_labels[] = {
    "y", "labels", "label", "targets", "target", NULL};

/* Find the first part of the name, between separators, that is one of the words. */
static bool find_word(
    const char *name, const char *const *words, struct word_of *out)
{
    static const char separators[] = "_-. ";
    for (size_t at = 0; name[at] != '\0';) {
        size_t size = strcspn(name + at, separators);
        for (size_t i = 0; words[i] != NULL; i++) {
            if (strlen(words[i]) == size &&
                strncasecmp(name + at, words[i], size) == 0) {
                *out = (struct word_of){at, size};
                return true;
            }
        }
        at += size + strspn(name + at + size, separators);
    }
    return false;
}

/* Are the names of a list and of its labels the same but for the words? */
static bool are_pair(const char *list, const char *labels, struct word_of *x)
{
    struct word_of y;
    return find_word(list, of_columns, x) && find_word(labels, of_labels, &y) &&
           x->begin == y.begin && strncmp(list, labels, y.begin) == 0 &&
           strcmp(list + x->begin + x->size, labels + y.begin + y.size) == 0;
}

/* The name without the word: train.csv of X_train.csv; of X.csv, that as well. */
static void write_name(const char *list, const struct word_of *x, char *out)
{
    const char *rest  = list + x->begin + x->size;
    size_t      begin = x->begin;
    if (rest[0] != '.') {
        rest++;
    } else if (begin > 0) {
        begin--;
    } else {
        rest = "train.csv";
    }
    snprintf(out, MAX_STEM + 16, "%.*s%s", (int)begin, list, rest);
}

/* Append the lists in Python: "('X_train.csv', 'y_train.csv', 'train.csv')". */
static void append_pair(const char *list, const char *labels,
    const struct word_of *x, char out[PROGRAM_SIZE / 2])
{
    char   name[MAX_STEM + 16];
    size_t used = strlen(out);
    write_name(list, x, name);
    snprintf(out + used, PROGRAM_SIZE / 2 - used, "%s('%s', '%s', '%s')",
        used > 0 ? ", " : "", list, labels, name);
}

/* Is it the list of train, and neither of columns nor of labels? */
static bool is_whole_train(const struct fby_entry *entry)
{
    const char    *word = fby_split_word(entry->name);
    struct word_of part;
    return word != NULL && strcmp(word, "train") == 0 &&
           (fby_text_ends_with(entry->name, ".csv") ||
               fby_text_ends_with(entry->name, ".jsonl")) &&
           !find_word(entry->name, of_columns, &part) &&
           !find_word(entry->name, of_labels, &part);
}

/* May the entry be such a list? */
static bool is_named_list(const struct fby_entry *entry)
{
    return !entry->is_dir && fby_text_ends_with(entry->name, ".csv") &&
           strlen(entry->name) < MAX_STEM && fby_shell_is_plain(entry->name);
}

fby_err fby_refuse_list_labels(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    char           pairs[PROGRAM_SIZE / 2] = "";
    char           program[PROGRAM_SIZE];
    const char    *first = NULL;
    const char    *other = NULL;
    struct word_of x;
    for (uint32_t i = 0; i < listing->count; i++) {
        if (is_whole_train(&listing->entries[i])) {
            return FBY_OK;
        }
        for (uint32_t k = 0; k < listing->count; k++) {
            const struct fby_entry *list   = &listing->entries[i];
            const struct fby_entry *labels = &listing->entries[k];
            if (is_named_list(list) && is_named_list(labels) &&
                are_pair(list->name, labels->name, &x)) {
                append_pair(list->name, labels->name, &x, pairs);
                first = first == NULL ? list->name : first;
                other = other == NULL ? labels->name : other;
            }
        }
    }
    if (first == NULL || search->only_file[0] != '\0' || search->in_zip ||
        strlen(pairs) + 1 >= sizeof(pairs) || fby_listing_has_dirs(listing)) {
        return FBY_OK;
    }
    snprintf(program, sizeof(program), "L = [%s]; %s; %s", pairs,
        fby_program_join_rows, fby_program_write_lists);
    fby_guess_advise(search, path, "", program);
    fby_guess_end_command_with(search, path, "joined");
    return fby_error_set(why, FBY_CONFIG,
        "%s seems to have the labels of %s, and a sample is a row of one list: "
        "write lists of both:",
        other, first);
}
