/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_split_column.c - refuse a list of which some rows are train and some
 * val: all would be train. Either the values of a column say so, whatever its
 * name, or the folders in a column of paths do.
 *
 * Words such as train and dev tell such a column. Of one of numbers, or of true
 * and false, the name tells it: partition, is_valid. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MAX_VALUES = 16, VALUE_SIZE = 24, MAX_PARTS = 8, MAP_SIZE = 480 };

struct split_values { /* of a column, or of a part of its paths */
    const char *column;
    int         part; /* of the path, from 0; -1: the value itself */
    const char *base; /* the list whose rows are written; NULL: the same */
    const char *key;  /* the column of both */
    bool        has_only_paths;                 /* in its other columns */
    char        values[MAX_VALUES][VALUE_SIZE]; /* none is there twice */
    const char *splits[MAX_VALUES];             /* of the values */
    uint32_t    n;
};

/* ---- the split of a value ---- */

/* The split of a word; NULL: none. */
static const char *split_of_word(const char *value)
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

/* The split whose rows have 1 or true in a column of this name, as is_valid;
 * NULL: it has another name. */
static const char *split_of_flag(const char *column)
{
    return strncmp(column, "is_", 3) == 0 ? fby_split_word(column + 3) : NULL;
}

/* Do the numbers 0, 1 and 2 mean train, val and test in a column of this name? */
static bool has_numbered_splits(const char *column)
{
    static const char *const names[] = {
        "split", "partition", "set", "subset", "phase", NULL};
    const char *last = strrchr(column, '_');
    return fby_text_is_one_of(column, names) ||
           (last != NULL && fby_text_is_one_of(last + 1, names));
}

bool fby_is_split_column(const char *column)
{
    return split_of_flag(column) != NULL || has_numbered_splits(column);
}

/* The split of a number or truth value in a column with such a name; NULL:
 * none. */
static const char *split_of_number(const char *column, const char *value)
{
    static const char *const numbered[] = {"train", "val", "test"};
    const char              *flag       = split_of_flag(column);
    bool                     is_digit   = value[0] >= '0' && value[0] <= '2';
    bool is_true  = strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0;
    bool is_false = strcmp(value, "0") == 0 || strcasecmp(value, "false") == 0;
    if (flag != NULL && is_false) {
        return strcmp(flag, "train") == 0 ? "val" : "train";
    }
    return flag != NULL ? (is_true ? flag : NULL)
           : is_digit && value[1] == '\0' && has_numbered_splits(column)
               ? numbered[value[0] - '0']
               : NULL;
}

/* ---- the values ---- */

/* Add a value with its split. Returns false if it has none, or there are too
 * many. */
static bool add_value(
    struct split_values *self, const char *text, const char *split)
{
    uint32_t i = 0;
    while (i < self->n && strcasecmp(self->values[i], text) != 0) {
        i++;
    }
    if (split == NULL || i == MAX_VALUES || strlen(text) >= VALUE_SIZE ||
        !fby_shell_is_plain(text)) {
        return false;
    }
    if (i == self->n) {
        snprintf(self->values[i], VALUE_SIZE, "%s", text);
        self->splits[self->n++] = split;
    }
    return true;
}

/* Is one of several splits train? */
static bool are_splits(const struct split_values *self)
{
    bool has_train = false;
    bool has_other = false;
    for (uint32_t i = 0; i < self->n; i++) {
        bool is_train = strcmp(self->splits[i], "train") == 0;
        has_train     = has_train || is_train;
        has_other     = has_other || !(is_train || self->splits[i][0] == '\0');
    }
    return has_train && has_other;
}

/* The split of a value in the column; "": none, in a column with the name of
 * splits; NULL: none. */
static const char *split_of_value(const char *column, const char *value)
{
    const char *split = split_of_word(value);
    split             = split != NULL ? split : split_of_number(column, value);
    bool is_other     = split == NULL && has_numbered_splits(column) &&
                    isalpha((unsigned char)value[0]);
    return is_other ? "" : split;
}

/* Find the splits that the values of a column are. Returns false if they are
 * others. */
static bool find_values(
    const struct fby_init_member *column, struct split_values *out)
{
    const struct fby_init_words *words = column->words;
    *out = (struct split_values){.column = column->extension, .part = -1};
    for (uint32_t i = 0; words != NULL && i < words->range.n; i++) {
        const char *word = fby_init_sorted_word(words, i);
        if (!add_value(out, word, split_of_value(column->extension, word))) {
            return false;
        }
    }
    return are_splits(out);
}

/* Write the folder of a path that is its part `part`, from 0; -1: all. Returns
 * false if it has none. */
static bool copy_part(
    const char *path, size_t size, int part, char out[VALUE_SIZE])
{
    const char *end   = path + size;
    const char *slash = memchr(path, '/', size);
    for (int i = 0; i < part && slash != NULL; i++) {
        path  = slash + 1;
        slash = memchr(path, '/', (size_t)(end - path));
    }
    size_t n = slash != NULL ? (size_t)(slash - path) : 0;
    n        = part < 0 ? size : n;
    snprintf(out, VALUE_SIZE, "%.*s", (int)n, path);
    return n > 0 && n < VALUE_SIZE;
}

static const char *split_of_part(
    const struct split_values *self, const char *part)
{
    return self->part < 0 ? split_of_value(self->column, part)
                          : fby_split_word(part);
}

/* The same by the index of a list: the folders out->part of the paths of
 * out->column, or its values. */
static bool find_parts(const struct fby_index *index, struct split_values *out)
{
    out->n = 0;
    for (uint32_t i = 0; i < index->n_shards; i++) {
        const struct fby_shard *shard = &index->shards[i];
        for (uint32_t m = 0; m < shard->n_members; m++) {
            const char *path =
                (const char *)shard->texts.data + shard->text_offset[m];
            char part[VALUE_SIZE];
            if (strcmp(fby_shard_suffix(shard, m), out->column) == 0 &&
                !(copy_part(path, shard->text_size[m], out->part, part) &&
                    add_value(out, part, split_of_part(out, part)))) {
                return false;
            }
        }
    }
    return are_splits(out);
}

/* ---- the command ---- */

/* Write the values: "train, dev, 0 (train), other (in no list)". Returns true
 * if a value is no word. */
static bool list_values(const struct split_values *self, char out[MAP_SIZE])
{
    size_t used        = 0;
    bool   has_numbers = false;
    for (uint32_t i = 0; i < self->n && used < MAP_SIZE; i++) {
        const char *value  = self->values[i];
        const char *split  = self->splits[i];
        bool        is_own = split_of_word(value) != NULL || self->part >= 0;
        has_numbers        = has_numbers || (!is_own && split[0] != '\0');
        used += (size_t)snprintf(out + used, MAP_SIZE - used, "%s%s%s%s%s",
            i > 0 ? ", " : "", value, is_own ? "" : " (",
            is_own             ? ""
            : split[0] != '\0' ? split
                               : "in no list",
            is_own ? "" : ")");
    }
    return has_numbers;
}

/* Write the splits of the values, in lower case, for a program: "'train': 'train',
 * 'dev': 'val'". Returns false if they do not fit. */
static bool write_map(const struct split_values *self, char out[MAP_SIZE])
{
    size_t used = 0;
    for (uint32_t i = 0; i < self->n && used < MAP_SIZE; i++) {
        char lower[VALUE_SIZE];
        for (size_t k = 0; k < VALUE_SIZE; k++) {
            lower[k] = (char)tolower((unsigned char)self->values[i][k]);
        }
        if (self->splits[i][0] != '\0') {
            used += (size_t)snprintf(out + used, MAP_SIZE - used,
                "%s'%s': '%s'", used > 0 ? ", " : "", lower, self->splits[i]);
        }
    }
    return used < MAP_SIZE;
}

static const char *program_for(const struct split_values *self, bool is_csv)
{
    return self->base != NULL ? fby_program_split_joined
           : is_csv           ? fby_program_split_csv
                              : fby_program_split_json;
}

/* Write the program that writes a list for each split. It renames a list that
 * has the name of one of these. Returns false if there is none. */
static bool write_program(const struct split_values *self, const char *list,
    bool is_new, char out[FBY_GUESS_COMMAND])
{
    bool        is_csv = fby_text_ends_with(list, ".csv");
    const char *all    = is_csv ? "all.csv" : "all.jsonl";
    char        map[MAP_SIZE];
    char        key[64]                 = "str(v).strip()";
    char        join[FBY_NAME_SIZE * 4] = "";
    if (self->part >= 0) {
        snprintf(
            key, sizeof(key), "(str(v) + '/' * 9).split('/')[%d]", self->part);
    }
    if (self->base != NULL) {
        snprintf(join, sizeof(join), "b = '%.128s'; a = '%.64s'; ", self->base,
            self->key);
    }
    bool has_folders = self->has_only_paths && is_csv && self->base == NULL;
    bool fits        = write_map(self, map) && fby_shell_is_plain(list);
    int  n           = snprintf(out, FBY_GUESS_COMMAND,
                   FBY_PYTHON "%sl = '%s'; A = '%s'; c = '%s'; D = %d; m = "
                                         "{%s}; p = lambda v: %s.lower(); %s; %s%s%s; %s\"",
                   join, list, is_new ? "" : all, self->column, self->part < 0 ? 1 : 0,
                   map, key, program_for(self, is_csv),
        has_folders ? fby_program_split_folders : "", has_folders ? "; " : "",
                   fby_program_rename_list, fby_program_write_lists);
    return fits && n >= 0 && n < FBY_GUESS_COMMAND;
}

/* ---- what the user is told ---- */

/* Has the list the name of one that would be written? */
static bool has_name_of_split(const struct split_values *self, const char *list)
{
    bool found = false;
    for (uint32_t i = 0; i < self->n; i++) {
        size_t n = strlen(self->splits[i]);
        found =
            found || (strncmp(list, self->splits[i], n) == 0 && list[n] == '.');
    }
    return found;
}

/* Refuse the list at this absolute path. */
static fby_err refuse(const struct fby_search *search,
    const struct split_values *values, const char *path,
    struct fby_error_detail *why)
{
    const char *list = strrchr(path, '/') + 1;
    const char *root = fby_root_dir(search->root);
    size_t      n    = strlen(root);
    char        program[FBY_GUESS_COMMAND];
    char        shown[MAP_SIZE];
    char        dir[FBY_PATH_SIZE];
    char        operand[FBY_PATH_SIZE];
    bool        is_new      = !has_name_of_split(values, list);
    bool        has_numbers = list_values(values, shown);
    snprintf(dir, sizeof(dir), "%.*s", (int)(list - 1 - path), path);
    (void)fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s has %s %.160s: ", fby_text_show(list).text,
        values->column, values->part < 0 ? "the splits" : "paths in", shown);
    size_t used = strlen(why->text);
    size_t left = sizeof(why->text) - used;
    bool   fits = fby_shell_quote(dir, operand, sizeof(operand)) &&
                strncmp(dir, root, n) == 0 &&
                write_program(values, list, is_new, program);
    const char *below = dir + n + (dir[n] == '/' ? 1 : 0);
    if (fits && is_new) {
        fits = fby_guess_set_command(search, below, "%s", program)[0] != '\0';
    } else if (fits) {
        fits = fby_guess_set_renames(search, below, "%s", program)[0] != '\0';
    }
    if (!fits) {
        search->out->command[0] = '\0';
        snprintf(why->text + used, left, "write a list for each split%s",
            is_new ? "" : " beside it, and rename it");
        return FBY_CONFIG;
    }
    bool is_short = strlen(operand) < FBY_OPERAND_SIZE;
    snprintf(why->text + used, left,
        "write a list for each, as the next line does%s%s%s%s%s",
        is_new ? ", then: " : "",
        !is_new    ? ""
        : is_short ? "forebay init "
                   : "run init on that folder",
        is_new && is_short ? operand : "",
        has_numbers ? "; if it has none, rename the column" : "",
        is_new ? "" : ":");
    return FBY_CONFIG;
}

/* Has the list of `split` the paths of the pictures of the first split, and lacks
 * its other columns? Sets what is needed to write the rows of the first one. */
static void find_base(const struct fby_guess *guess,
    const struct fby_guess_split *split, struct split_values *values)
{
    const struct fby_guess_split *first = &guess->splits[0];
    const char                   *base  = strrchr(first->pattern, '/') + 1;
    const char                   *list  = strrchr(split->pattern, '/') + 1;
    size_t                        dir   = (size_t)(base - first->pattern);
    if (split != first && split->n_file_columns > 0 &&
        fby_guess_is_file_column(first, split->file_columns[0]) &&
        strncmp(first->pattern, split->pattern, dir) == 0 &&
        fby_text_ends_with(base, ".csv") && fby_text_ends_with(list, ".csv") &&
        strlen(base) <= 128 && fby_shell_is_plain(base)) {
        values->base = base;
        values->key  = split->file_columns[0];
    }
}

/* Has the list one column of paths, and none but that of splits? */
static bool has_only_paths(const struct fby_guess_split *split)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < split->n_members; i++) {
        n += split->members[i].value != FBY_INIT_NO_VALUE ? 1 : 0;
    }
    return n == 1 && split->n_file_columns == 1;
}

/* Refuse the list if it has a column of splits. */
static fby_err check_columns(const struct fby_search *search,
    const struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct split_values values;
    for (uint32_t i = 0; i < split->n_members; i++) {
        if (split->kind == FBY_SOURCE_LIST &&
            strchr(split->pattern, '/') != NULL &&
            find_values(&split->members[i], &values)) {
            find_base(search->out, split, &values);
            values.has_only_paths = has_only_paths(split);
            return refuse(search, &values, split->pattern, why);
        }
    }
    return FBY_OK;
}

fby_err fby_refuse_split_column(
    const struct fby_search *search, struct fby_error_detail *why)
{
    const struct fby_guess *out   = search->out;
    const char             *slash = strrchr(out->splits[0].pattern, '/');
    bool is_sure = slash != NULL && fby_split_word(slash + 1) != NULL;
    for (uint32_t i = 0; i < (is_sure ? 1 : out->n_splits); i++) {
        FBY_TRY(check_columns(search, &out->splits[i], why));
    }
    return FBY_OK;
}

fby_err fby_refuse_split_folders(const struct fby_search *search,
    const char *list_path, const struct fby_index *index, const char *column,
    struct fby_error_detail *why)
{
    struct split_values values = {.column = column};
    const char         *slash  = strrchr(list_path, '/');
    char                path[FBY_PATH_SIZE];
    if (fby_split_word(slash != NULL ? slash + 1 : list_path) != NULL ||
        fby_guess_has_split(search, "train")) {
        return FBY_OK; /* its name says what it is */
    }
    for (uint32_t i = 0; i < index->shards[0].n_suffixes; i++) {
        struct split_values other = {
            .column = index->shards[0].suffixes[i], .part = -1};
        if (find_parts(index, &other)) {
            return FBY_OK; /* fby_refuse_split_column() refuses it */
        }
    }
    FBY_TRY(fby_path_join(fby_root_dir(search->root), list_path, path, why));
    for (values.part = 0; values.part < MAX_PARTS; values.part++) {
        if (find_parts(index, &values)) {
            return refuse(search, &values, path, why);
        }
    }
    return FBY_OK;
}
