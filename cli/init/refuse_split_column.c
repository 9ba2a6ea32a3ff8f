/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_split_column.c - refuse a list with a column that says which rows are
 * train and which are val: all would be train. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { NAMES_SIZE = 100 };

/* Are the words of the column splits, of which one is train? */
static bool has_splits(const struct fby_init_member *column)
{
    const struct fby_init_words *words     = column->words;
    uint32_t                     n         = words != NULL ? words->range.n : 0;
    bool                         has_train = false;
    for (uint32_t i = 0; i < n; i++) {
        const char *word = fby_init_sorted_word(words, i);
        const char *split =
            strcasecmp(word, "dev") == 0 ? "val" : fby_split_of_folder(word);
        if (split == NULL) {
            return false;
        }
        has_train = has_train || strcmp(split, "train") == 0;
    }
    return n >= 2 && has_train;
}

/* Write the words: "train, val", or with quotes. Returns false if the list with
 * one of these names exists as `list`. */
static bool write_names(const struct fby_init_words *words, const char *list,
    const char *quote, char out[NAMES_SIZE])
{
    size_t used   = 0;
    bool   is_new = true;
    out[0]        = '\0';
    for (uint32_t i = 0; i < words->range.n && used < NAMES_SIZE - 24; i++) {
        const char *word = fby_init_sorted_word(words, i);
        size_t      n    = strlen(word);
        used += (size_t)snprintf(out + used, NAMES_SIZE - used, "%s%s%.12s%s",
            i > 0 ? ", " : "", quote, word, quote);
        is_new = is_new && !(strncmp(list, word, n) == 0 && list[n] == '.');
    }
    return is_new;
}

/* Write the command that writes a list for each split, and the next one. Returns
 * false if they do not fit. */
static bool write_command(const char *dir, const char *list,
    const struct fby_init_member *column, char *out, size_t size)
{
    static const char csv[] =
        "write a list for each: (cd %s && python3 -c \"import csv; r = "
        "list(csv.reader(open('%s', newline='', encoding='utf-8-sig'))); k = "
        "[c.lower() for c in r[0]].index('%s'); [csv.writer(open(s + '.csv', "
        "'x')).writerows(x[:k] + x[k + 1:] for x in r[:1] + [y for y in r if y "
        "and y[k] == s]) for s in [%s]]\"); then: forebay init %s";
    static const char json[] =
        "write a list for each: (cd %s && python3 -c \"import json; r = "
        "[json.loads(x) for x in open('%s', encoding='utf-8-sig') if "
        "x.strip()]; c = '%s'; [open(s + '.jsonl', 'x').writelines("
        "json.dumps({k: x[k] for k in x if k.lower() != c}) + '\\n' for x in r "
        "if s in [x[k] for k in x if k.lower() == c]) for s in [%s]]\"); then: "
        "forebay init %s";
    char names[NAMES_SIZE];
    char operand[FBY_OPERAND_SIZE];
    if (!fby_shell_is_plain(list) ||
        !fby_shell_quote(dir, operand, sizeof(operand))) {
        return false;
    }
    (void)write_names(column->words, list, "'", names);
    int n = snprintf(out, size, fby_text_ends_with(list, ".csv") ? csv : json,
        operand, list, column->extension, names, operand);
    return n >= 0 && (size_t)n < size;
}

static fby_err refuse(const char *pattern, const char *list,
    const struct fby_init_member *column, struct fby_error_detail *why)
{
    char names[NAMES_SIZE];
    char dir[FBY_PATH_SIZE];
    char command[sizeof(why->text)];
    bool is_new = write_names(column->words, list, "", names);
    snprintf(dir, sizeof(dir), "%.*s", (int)(list - 1 - pattern), pattern);
    (void)fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s has the splits %s: ", fby_text_show(list).text,
        column->extension, names);
    size_t      used = strlen(why->text);
    size_t      left = sizeof(why->text) - used;
    const char *what = "write a list for each split";
    if (!is_new) {
        what = "rename the list, as to all.csv, and run init again";
    } else if (write_command(dir, list, column, command, left)) {
        what = command;
    }
    snprintf(why->text + used, left, "%s", what);
    return FBY_CONFIG;
}

fby_err fby_refuse_split_column(
    const struct fby_search *search, struct fby_error_detail *why)
{
    static const char *const      names[] = {"split", "splits", "subset",
             "partition", "set", "usage", "phase", "fold", NULL};
    const struct fby_guess_split *split   = &search->out->splits[0];
    const char                   *slash   = strrchr(split->pattern, '/');
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *column = &split->members[i];
        if (search->out->kind == FBY_SOURCE_LIST && slash != NULL &&
            fby_text_is_one_of(column->extension, names) &&
            has_splits(column)) {
            return refuse(split->pattern, slash + 1, column, why);
        }
    }
    return FBY_OK;
}
