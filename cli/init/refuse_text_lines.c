/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_text_lines.c - texts whose lines are samples or parts of them, but no rows
 * of columns: sentences of words with tags (CoNLL), index:value pairs (libsvm), and
 * labels in front of texts (fastText).
 *
 * The first text that is one of these decides the kind, and the command is for all
 * texts of that kind. Folders of pictures or other folders have no such texts. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "common/mem.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

enum {
    MAX_TEXTS = 8,   /* of a command */
    MAX_READ  = 32,  /* that are looked at */
    HEAD_SIZE = 8192 /* bytes of a text that are read */
};

enum text_kind {
    TEXT_OTHER,
    TEXT_TAGS,   /* CoNLL: lines of words, and empty lines between sentences */
    TEXT_CONLLU, /* the same with ten columns, of which the first is a number */
    TEXT_SPARSE, /* libsvm */
    TEXT_LABELS  /* fastText */
};

struct texts {
    struct fby_search *search;
    const char        *path; /* of the directory, below the root */
    enum text_kind     kind;
    char               names[MAX_TEXTS][FBY_NAME_SIZE];
    uint32_t           n, n_read;
    /* Texts of one line with pairs: of that kind, if another one is. */
    char     short_names[MAX_TEXTS][FBY_NAME_SIZE];
    uint32_t n_short;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* ---- lines ---- */

/* Skip a pair of an index and a value, or LETOR's qid:ID, or libffm's
 * field:index:value. NULL: it is another word. */
static const char *skip_pair(const char *at)
{
    char  *end = NULL;
    size_t n   = strncmp(at, "qid:", 4) == 0 ? 3 : strspn(at, "0123456789");
    if (n == 0 || at[n] != ':') {
        return NULL;
    }
    const char *value = at + n + 1;
    size_t      index = strspn(value, "0123456789");
    value += index > 0 && value[index] == ':' ? index + 1 : 0;
    (void)strtod(value, &end);
    return end > value && strchr(" \t#", *end) != NULL ? end : NULL;
}

/* Is the line a number, or several with commas, and pairs? */
static bool is_sparse(const char *line)
{
    char *end = NULL;
    (void)strtod(line, &end);
    bool        is_valid = end != line;
    const char *at       = end;
    while (is_valid && *at == ',') {
        const char *label = at + 1;
        (void)strtod(label, &end);
        is_valid = end > label;
        at       = end;
    }
    while (is_valid && *at != '\0' && *at != '#') {
        const char *pair = at + strspn(at, " \t");
        if (*pair == '\0' || *pair == '#') {
            return true;
        }
        at       = pair > at ? skip_pair(pair) : NULL;
        is_valid = at != NULL;
    }
    return is_valid;
}

/* The number of columns, separated by tabs if there is one, else by blanks. `last`
 * gets the begin of the last one. */
static uint32_t count_columns(const char *line, const char **last)
{
    const char *separators = strchr(line, '\t') != NULL ? "\t" : " ";
    uint32_t    n          = 0;
    for (const char *at = line; *at != '\0';) {
        *last = at;
        n++;
        at += strcspn(at, separators);
        at += separators[0] == '\t' && *at != '\0' ? 1 : strspn(at, separators);
    }
    return n;
}

/* Is it a tag: O, B-PER, NN or a sign, and neither a number nor a word? */
static bool is_tag(const char *cell)
{
    size_t n = strcspn(cell, " ");
    return n > 0 && n <= 24 && cell[n + strspn(cell + n, " ")] == '\0' &&
           (isupper((unsigned char)cell[0]) || ispunct((unsigned char)cell[0]));
}

struct line_counts { /* of the first lines of a text */
    uint32_t lines, sparse, labels, tags, columns, breaks;
    bool     is_conllu; /* as far as it was read */
    bool     is_even;   /* all have as many columns */
    bool     has_tag;   /* one is O, or begins with B- */
    bool     after_empty;
    bool     is_short; /* it is one line without a label */
};

static void count_line(struct line_counts *self, const char *line)
{
    const char *last = line;
    if (line[strspn(line, " \t")] == '\0') {
        self->after_empty = self->lines > 0;
        return;
    }
    if ((line[0] == '#' && line[1] == ' ') ||
        strncmp(line, "-DOCSTART-", strlen("-DOCSTART-")) == 0) {
        return;
    }
    uint32_t n    = count_columns(line, &last);
    self->columns = self->lines == 0 ? n : self->columns;
    self->is_even = (self->lines == 0 || self->is_even) && n == self->columns;
    self->is_conllu =
        (self->lines == 0 || self->is_conllu) && isdigit((unsigned char)*line);
    self->lines++;
    self->breaks += self->after_empty ? 1 : 0;
    self->after_empty = false;
    self->sparse += is_sparse(line) ? 1 : 0;
    self->labels +=
        strncmp(line, "__label__", strlen("__label__")) == 0 ? 1 : 0;
    self->tags += is_tag(last) ? 1 : 0;
    self->has_tag =
        self->has_tag || strcmp(last, "O") == 0 || strncmp(last, "B-", 2) == 0;
}

/* Count the lines of a text that begins so. It is changed. */
static void count_lines(char *head, struct line_counts *out)
{
    bool  is_cut = strlen(head) == HEAD_SIZE - 1;
    char *line   = head;
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end                      = '\0';
        line[strcspn(line, "\r")] = '\0';
        count_line(out, line);
    }
    if (out->lines < 2 && line[0] != '\0') { /* a line without its end */
        char *last = is_cut ? strrchr(line, ' ') : NULL;
        line[last != NULL ? (size_t)(last - line) : strlen(line)] = '\0';
        count_line(out, line);
    }
    out->is_short = out->lines < 2 && out->labels == 0 && !is_cut;
}

/* The kind of a text that begins so. It is changed. Sets *is_short if it has only one
 * line, which may have pairs by chance. */
static enum text_kind kind_of(char *head, bool *is_short)
{
    struct line_counts c    = {.lines = 0};
    bool               pair = strchr(head, ':') != NULL;
    count_lines(head, &c);
    *is_short     = c.is_short;
    bool are_rows = c.lines > c.breaks + 1 && c.breaks > 0 && c.is_even;
    bool has_tags =
        c.tags == c.lines && c.columns > 1 && (c.has_tag || c.columns == 2);
    return c.lines == 0                                 ? TEXT_OTHER
           : c.sparse == c.lines && pair                ? TEXT_SPARSE
           : c.labels == c.lines                        ? TEXT_LABELS
           : c.lines < 2                                ? TEXT_OTHER
           : are_rows && c.is_conllu && c.columns == 10 ? TEXT_CONLLU
           : are_rows && has_tags                       ? TEXT_TAGS
                                                        : TEXT_OTHER;
}

/* ---- the files ---- */

static fby_err visit_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct texts     *self = arg;
    struct fby_unread unread;
    char              head[HEAD_SIZE];
    (void)why;
    if (entry->is_dir || strlen(entry->name) >= FBY_NAME_SIZE ||
        !fby_shell_is_quotable(entry->name) ||
        fby_unread_file(entry->name, &unread)) {
        return FBY_OK;
    }
    if (self->n == MAX_TEXTS || self->n_read++ >= MAX_READ ||
        !fby_guess_read_begin(
            self->search->root, self->path, entry->name, head, sizeof(head))) {
        return FBY_OK;
    }
    bool           is_short = false;
    enum text_kind kind     = kind_of(head, &is_short);
    if (kind == TEXT_SPARSE && is_short) {
        snprintf(self->short_names[self->n_short++ % MAX_TEXTS], FBY_NAME_SIZE,
            "%s", entry->name);
    } else if (kind != TEXT_OTHER &&
               (self->kind == TEXT_OTHER || self->kind == kind)) {
        self->kind = kind;
        snprintf(self->names[self->n++], FBY_NAME_SIZE, "%s", entry->name);
    }
    return FBY_OK;
}

static void add_short_texts(struct texts *self)
{
    for (uint32_t i = 0; self->kind == TEXT_SPARSE && i < self->n_short &&
                         i < MAX_TEXTS && self->n < MAX_TEXTS;
         i++) {
        memcpy(self->names[self->n++], self->short_names[i], FBY_NAME_SIZE);
    }
}

/* ---- the command ---- */

static const struct {
    const char *what, *settings, *program;
} kinds[] = {[TEXT_TAGS] = {"sentences of words and tags", "W = 0; G = -1; ",
                 fby_program_sentences},
    [TEXT_CONLLU]        = {"sentences of words and tags", "W = 1; G = 3; ",
               fby_program_sentences},
    [TEXT_SPARSE]        = {"index:value pairs", "O = 'table'; ",
               fby_program_sparse_lines},
    [TEXT_LABELS] = {"texts after their labels", "", fby_program_label_lines}};

/* The bytes of a name before its ending: 5 for train.txt, and all for eng.train. */
static size_t stem_size(const char *name)
{
    enum { MAX_ENDING = 9 /* with the dot */ };
    const char *dot = strrchr(name, '.');
    bool has_ending = dot != NULL && dot > name && strlen(dot) <= MAX_ENDING &&
                      fby_split_word(dot + 1) == NULL;
    return has_ending ? (size_t)(dot - name) : strlen(name);
}

/* The split of libsvm's a9a.t is test. */
static const char *split_of(const char *name)
{
    const char *word = fby_split_word(name);
    return word != NULL                      ? word
           : fby_text_ends_with(name, ".t")  ? "test"
           : fby_text_ends_with(name, ".tr") ? "train"
                                             : NULL;
}

/* The only text that is called after no split, if none is train; NULL: none. */
static const char *find_train(const struct texts *self)
{
    const char *found     = NULL;
    uint32_t    n         = 0;
    bool        has_train = false;
    for (uint32_t i = 0; i < self->n; i++) {
        const char *split = split_of(self->names[i]);
        found             = split == NULL ? self->names[i] : found;
        n += split == NULL ? 1 : 0;
        has_train = has_train || (split != NULL && strcmp(split, "train") == 0);
    }
    return n == 1 && !has_train ? found : NULL;
}

/* Write the texts and their lists, or the splits of their tables. */
static void write_texts(const struct texts *self, char *out, size_t size)
{
    const char *train = find_train(self);
    size_t      used  = 0;
    for (uint32_t i = 0; i < self->n && used < size; i++) {
        const char *name     = self->names[i];
        const char *split    = name == train ? "train" : split_of(name);
        bool        is_list  = self->kind != TEXT_SPARSE;
        bool        has_stem = is_list || split == NULL;
        used += (size_t)snprintf(out + used, size - used, "%s('%s', '%.*s%s')",
            i > 0 ? ", " : "", name,
            has_stem ? (int)stem_size(name) : (int)strlen(split),
            has_stem ? name : split, is_list ? ".jsonl" : "");
    }
}

static fby_err refuse_kind(struct texts *self, struct fby_error_detail *why)
{
    char list[FBY_PATH_SIZE];
    char pairs[MAX_TEXTS * (2 * FBY_NAME_SIZE + 20)];
    bool is_table = self->kind == TEXT_SPARSE;
    qsort(self->names, self->n, FBY_NAME_SIZE, compare_names);
    write_texts(self, pairs, sizeof(pairs));
    const char *colon = fby_guess_set_command(self->search, self->path,
        FBY_PYTHON "L = [%s]; %s%s%s%s; %s\"", pairs,
        kinds[self->kind].settings, is_table ? fby_program_folder_begin : "",
        is_table ? "; " : "", kinds[self->kind].program,
        is_table ? fby_program_folder_end : fby_program_write_lists);
    if (is_table) {
        fby_guess_end_command_with(self->search, self->path, "table");
    } else {
        snprintf(list, sizeof(list), "%.*s.jsonl",
            (int)stem_size(self->names[0]), self->names[0]);
        fby_guess_end_command(self->search, self->path, list);
    }
    return fby_error_set(why, FBY_CONFIG, "%s has %s: write %s%s",
        self->names[0], kinds[self->kind].what,
        is_table ? "a table (needs NumPy)" : "a list", colon);
}

fby_err fby_refuse_text_lines(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char *only = search->only_file[0] != '\0' ? search->only_file : NULL;
    if (fby_listing_has_dirs(listing) || fby_init_has_pictures(listing) ||
        search->in_zip) {
        return FBY_OK;
    }
    struct texts *self = fby_zalloc(sizeof(*self));
    self->search       = search;
    self->path         = path;
    fby_err err =
        fby_guess_visit_dir(search, path, only, visit_file, self, NULL, why);
    if (err == FBY_OK && self->kind != TEXT_OTHER) {
        add_short_texts(self);
        err = refuse_kind(self, why);
    }
    free(self);
    return err == FBY_OK ? fby_refuse_languages(search, path, only, why) : err;
}
