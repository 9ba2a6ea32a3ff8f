/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_split_column.c - refuse a list with a column that says which rows are
 * train and which are val: all would be train. The values tell such a column,
 * whatever its name. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { NAMES_SIZE = 160 };

/* The split that a value means; NULL: none. */
static const char *split_of(const char *value)
{
    static const char *const others[][2] = {{"dev", "val"}, {"eval", "val"},
        {"evaluation", "val"}, {"publictest", "val"}, {"privatetest", "test"}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcasecmp(value, others[i][0]) == 0) {
            return others[i][1];
        }
    }
    return fby_split_of_folder(value);
}

/* Are the words of the column splits, of which one is train? */
static bool has_splits(const struct fby_init_member *column)
{
    const struct fby_init_words *words     = column->words;
    uint32_t                     n         = words != NULL ? words->range.n : 0;
    bool                         has_train = false;
    for (uint32_t i = 0; i < n; i++) {
        const char *split = split_of(fby_init_sorted_word(words, i));
        if (split == NULL) {
            return false;
        }
        has_train = has_train || strcmp(split, "train") == 0;
    }
    return n >= 2 && has_train;
}

/* Write the words: "train, dev", or, for a program, "'train': 'train', 'dev':
 * 'val'". Returns false if the list has the name that one of those to be written
 * would have. */
static bool write_names(const struct fby_init_words *words, const char *list,
    bool is_program, char out[NAMES_SIZE])
{
    size_t used   = 0;
    bool   is_new = true;
    out[0]        = '\0';
    for (uint32_t i = 0; i < words->range.n && used < NAMES_SIZE - 40; i++) {
        const char *word  = fby_init_sorted_word(words, i);
        const char *split = split_of(word);
        size_t      n     = strlen(split);
        const char *comma = i > 0 ? ", " : "";
        used +=
            (size_t)(is_program ? snprintf(out + used, NAMES_SIZE - used,
                                      "%s'%.12s': '%.12s'", comma, word, split)
                                : snprintf(out + used, NAMES_SIZE - used,
                                      "%s%.12s", comma, word));
        is_new = is_new && !(strncmp(list, split, n) == 0 && list[n] == '.');
    }
    return is_new;
}

/* Write the command that writes a list for each split. Returns false if it does
 * not fit. */
static bool write_command(const char *operand, const char *list,
    const struct fby_init_member *column, char out[FBY_GUESS_COMMAND])
{
    static const char csv[] =
        "(cd %s && python3 -c \"import csv; r = list(csv.reader(open('%s', "
        "newline='', encoding='utf-8-sig'))); k = [c.lower() for c in "
        "r[0]].index('%s'); m = {%s}; [csv.writer(open(s + '.csv', 'x', "
        "newline='')).writerows(x[:k] + x[k + 1:] for x in r[:1] + [y for y in "
        "r if y and m.get(y[k].strip()) == s]) for s in {*m.values()}]\")";
    static const char json[] =
        "(cd %s && python3 -c \"import json; r = [json.loads(x) for x in "
        "open('%s', encoding='utf-8-sig') if x.strip()]; c = '%s'; m = {%s}; "
        "[open(s + '.jsonl', 'x').writelines(json.dumps({k: x[k] for k in x if "
        "k.lower() != c}) + '\\n' for x in r if s in [m.get(x[k].strip()) for "
        "k in x if k.lower() == c]) for s in {*m.values()}]\")";
    char names[NAMES_SIZE];
    (void)write_names(column->words, list, true, names);
    int n = snprintf(out, FBY_GUESS_COMMAND,
        fby_text_ends_with(list, ".csv") ? csv : json, operand, list,
        column->extension, names);
    return fby_shell_is_plain(list) && n >= 0 && n < FBY_GUESS_COMMAND;
}

static fby_err refuse(const struct fby_search *search,
    const struct fby_init_member *column, struct fby_error_detail *why)
{
    const char *pattern = search->out->splits[0].pattern;
    const char *list    = strrchr(pattern, '/') + 1;
    char        names[NAMES_SIZE];
    char        dir[FBY_PATH_SIZE];
    char        operand[FBY_PATH_SIZE];
    bool        is_new = write_names(column->words, list, false, names);
    snprintf(dir, sizeof(dir), "%.*s", (int)(list - 1 - pattern), pattern);
    (void)fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s has the splits %s: ", fby_text_show(list).text,
        column->extension, names);
    size_t used = strlen(why->text);
    size_t left = sizeof(why->text) - used;
    bool   fits = fby_shell_quote(dir, operand, sizeof(operand)) &&
                write_command(operand, list, column, search->out->command);
    if (!is_new || !fits) {
        search->out->command[0] = '\0';
        snprintf(why->text + used, left, "%s",
            is_new ? "write a list for each split"
                   : "rename the list, as to all.csv, and run init again");
        return FBY_CONFIG;
    }
    snprintf(why->text + used, left,
        "write a list for each, as the next line does, then: forebay init %s",
        strlen(operand) < FBY_OPERAND_SIZE ? operand : "DIR");
    return FBY_CONFIG;
}

fby_err fby_refuse_split_column(
    const struct fby_search *search, struct fby_error_detail *why)
{
    const struct fby_guess_split *split = &search->out->splits[0];
    const char                   *slash = strrchr(split->pattern, '/');
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *column = &split->members[i];
        if (search->out->kind == FBY_SOURCE_LIST && slash != NULL &&
            has_splits(column)) {
            return refuse(search, column, why);
        }
    }
    return FBY_OK;
}
