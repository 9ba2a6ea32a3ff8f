/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_text_tables.c - texts with rows of columns whose names do not say so, as
 * iris.data, ratings.dat of MovieLens and SMSSpamCollection. The command writes lists
 * (.csv).
 *
 * Files of splits are written as a list each; else the largest table is. Of adult.data
 * and adult.test the first one is train. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/split_names.h"
#include "cli/init/text_table.h"
#include "common/mem.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

enum {
    MAX_TABLES = 16,
    MAX_LISTS  = 4,
    HEAD_SIZE  = 64 * 1024 /* bytes of a file that are read */
};

struct table_file {
    char                  name[FBY_NAME_SIZE];
    uint64_t              size;
    struct fby_text_table table;
};

struct table_files { /* those of a directory */
    struct fby_search *search;
    const char        *path;      /* of the directory, below the root */
    const char        *ending;    /* of the files; NULL: see find_tables() */
    bool               is_any;    /* files may have any other ending, too */
    bool               has_tests; /* adult.test is beside adult.data */
    struct table_file  files[MAX_TABLES];
    uint32_t           n;
};

/* ---- the files ---- */

/* Is it adult.test, beside adult.data? */
static bool is_test_of_data(const struct table_files *self, const char *name)
{
    char data[FBY_NAME_SIZE + 8];
    snprintf(data, sizeof(data), "%.*s.data",
        (int)(strlen(name) - strlen(".test")), name);
    return fby_text_ends_with(name, ".test") && self->ending == NULL &&
           self->search->only_file[0] == '\0' &&
           fby_guess_has_file(self->search->root, self->path, data);
}

/* May a file of that name be a table? Files of known types are looked at elsewhere. */
static bool may_be_table(const struct table_files *self, const char *name)
{
    struct fby_unread unread;
    const char       *dot = strrchr(name, '.');
    if (!fby_shell_is_quotable(name) || strlen(name) >= FBY_NAME_SIZE) {
        return false;
    }
    if (self->ending != NULL) {
        return fby_text_ends_with(name, self->ending);
    }
    return !fby_unread_file(name, &unread) &&
           (self->is_any || dot == NULL || fby_text_ends_with(name, ".data") ||
               fby_text_ends_with(name, ".dat") || is_test_of_data(self, name));
}

/* The rows, after a line that begins with |, a comment of C4.5. */
static char *skip_comment(char *head, size_t *n)
{
    char *end = head[0] == '|' ? memchr(head, '\n', *n) : NULL;
    *n -= end != NULL ? (size_t)(end + 1 - head) : 0;
    return end != NULL ? end + 1 : head;
}

/* Look at the first lines of the file. Returns false if it is no table. */
static bool read_table(
    const struct table_files *self, const char *name, struct table_file *out)
{
    struct fby_object object;
    struct fby_stamp  stamp;
    char              path[FBY_PATH_SIZE];
    size_t            n = HEAD_SIZE;
    if (fby_path_join(self->path, name, path, NULL) != FBY_OK ||
        fby_object_open_stamped(
            self->search->root, path, &object, &stamp, NULL) != FBY_OK) {
        return false;
    }
    char   *head   = fby_zalloc(HEAD_SIZE + 1);
    fby_err err    = fby_object_read_some(&object, 0, head, &n, NULL);
    bool    is_cut = n < stamp.size;
    char   *rows   = skip_comment(head, &n);
    bool    found =
        err == FBY_OK && fby_text_table_find(rows, n, is_cut, &out->table);
    fby_object_close(&object);
    free(head);
    out->size = stamp.size;
    snprintf(out->name, sizeof(out->name), "%s", name);
    return found;
}

static fby_err visit_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct table_files *self = arg;
    (void)why;
    bool needs_numbers = self->is_any && self->search->only_file[0] == '\0';
    if (!entry->is_dir && self->n < MAX_TABLES &&
        may_be_table(self, entry->name) &&
        read_table(self, entry->name, &self->files[self->n]) &&
        (self->files[self->n].table.has_numbers || !needs_numbers)) {
        self->n++;
        self->has_tests = self->has_tests || is_test_of_data(self, entry->name);
    }
    return FBY_OK;
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct table_file *)a)->name,
        ((const struct table_file *)b)->name);
}

/* The word of the split that the file is of; NULL: none. */
static const char *split_of(
    const struct table_files *self, const struct table_file *file)
{
    bool is_train = self->has_tests && fby_text_ends_with(file->name, ".data");
    return is_train ? "train" : fby_split_word(file->name);
}

/* The file of train, or else the largest one. */
static const struct table_file *find_main(const struct table_files *self)
{
    const struct table_file *found = &self->files[0];
    for (uint32_t i = 0; i < self->n; i++) {
        const struct table_file *file = &self->files[i];
        const char              *word = split_of(self, file);
        if (word != NULL && strcmp(word, "train") == 0) {
            return file;
        }
        found = file->size > found->size ? file : found;
    }
    return found;
}

/* Is the file a list of another split than `main`, with the same columns? */
static bool is_split_of(const struct table_files *self,
    const struct table_file *file, const struct table_file *main)
{
    return file != main && split_of(self, main) != NULL &&
           split_of(self, file) != NULL &&
           file->table.n_columns == main->table.n_columns &&
           file->table.has_header == main->table.has_header &&
           strcmp(file->table.separator, main->table.separator) == 0;
}

/* ---- the command ---- */

/* Write the name of the list that the file becomes: iris.csv for iris.data, and
 * adult-train.csv and adult-test.csv for adult.data and adult.test. */
static void write_list_name(
    const struct table_files *self, const char *name, char out[FBY_PATH_SIZE])
{
    enum { MAX_ENDING = 6 /* with the dot */ };
    const char *dot = strrchr(name, '.');
    bool has_ending = dot != NULL && dot > name && strlen(dot) <= MAX_ENDING;
    const char *end = !self->has_tests                    ? ""
                      : fby_text_ends_with(name, ".data") ? "-train"
                      : fby_text_ends_with(name, ".test") ? "-test"
                                                          : "";
    snprintf(out, FBY_PATH_SIZE, "%.*s%s.csv",
        (int)(has_ending ? (size_t)(dot - name) : strlen(name)), name, end);
}

/* Write the files and their lists as pairs of Python. */
static void write_pairs(const struct table_files *self,
    const struct table_file *main, char *out, size_t size)
{
    char     list[FBY_PATH_SIZE];
    uint32_t n = 1;
    write_list_name(self, main->name, list);
    size_t used = (size_t)snprintf(out, size, "('%s', '%s')", main->name, list);
    for (uint32_t i = 0; i < self->n && n < MAX_LISTS && used < size; i++) {
        if (is_split_of(self, &self->files[i], main)) {
            write_list_name(self, self->files[i].name, list);
            used += (size_t)snprintf(out + used, size - used, ", ('%s', '%s')",
                self->files[i].name, list);
            n++;
        }
    }
}

/* The names of the columns, in Python. */
static const char *names_of(const struct fby_text_table *table)
{
    return table->has_header ? "[]"
           : table->lacks_name
               ? "[['image', *[x for x, i in zip(open(L[0][0]), "
                 "'ab')][1].split()]]"
               : "[['c' + str(i + 1) for i in range(N)]]";
}

static const char *advise(
    const struct table_files *self, const struct table_file *main)
{
    const struct fby_text_table *table = &main->table;
    char                         pairs[MAX_LISTS * (2 * FBY_NAME_SIZE + 16)];
    char                         list[FBY_PATH_SIZE];
    uint32_t n_before = !table->has_count ? 0 : table->has_header ? 1 : 2;
    write_pairs(self, main, pairs, sizeof(pairs));
    const char *colon = fby_guess_set_command(self->search, self->path,
        FBY_PYTHON "L = [%s]; B = %u; N = %u; D = '%s'; Q = %d; H = %s; %s\"",
        pairs, n_before, table->n_columns,
        table->separator[0] == '\t' ? "\\t" : table->separator,
        table->has_quotes ? 0 : 3, names_of(table), fby_program_list_rows);
    write_list_name(self, main->name, list);
    fby_guess_end_command(self->search, self->path, list);
    return colon;
}

/* Write what the separator is: "tabs", "','". */
static void describe_separator(const char *separator, char out[16])
{
    bool is_named = separator[0] == '\t' || separator[0] == ' ';
    snprintf(out, 16, is_named ? "%s" : "'%s'",
        separator[0] == '\t'  ? "tabs"
        : separator[0] == ' ' ? "blanks"
                              : separator);
}

/* Write " (not of u.item, u.user)", the tables of any name that the list lacks. */
static void write_others(const struct table_files *self,
    const struct table_file *main, char *out, size_t size)
{
    struct table_files *all        = fby_zalloc(sizeof(*all));
    char                names[120] = "";
    *all                           = *self;
    if (self->ending == NULL && self->search->only_file[0] == '\0') {
        all->is_any = true;
        all->n      = 0;
        (void)!fby_guess_visit_dir(
            self->search, self->path, NULL, visit_file, all, NULL, NULL);
        qsort(all->files, all->n, sizeof(all->files[0]), compare_files);
    }
    for (uint32_t i = 0; i < all->n; i++) {
        const struct table_file *file = &all->files[i];
        if (strcmp(file->name, main->name) != 0 &&
            !is_split_of(self, file, main)) {
            fby_text_append_name(names, sizeof(names), file->name);
        }
    }
    free(all);
    snprintf(out, size, names[0] != '\0' ? " (not of %s)" : "", names);
}

static fby_err refuse(
    const struct table_files *self, struct fby_error_detail *why)
{
    const struct table_file     *main  = find_main(self);
    const struct fby_text_table *table = &main->table;
    bool is_largest = self->n > 1 && split_of(self, main) == NULL;
    char separator[16];
    char others[136];
    describe_separator(table->separator, separator);
    write_others(self, main, others, sizeof(others));
    return fby_error_set(why, FBY_CONFIG,
        "%s%s has rows of %u columns, separated by %s%s%s: write a list%s%s",
        main->name, is_largest ? ", the largest table beside others," : "",
        table->n_columns, separator,
        table->has_header || table->lacks_name ? "" : ", and no header",
        table->has_count ? ", after a line with their number" : "", others,
        advise(self, main));
}

/* Find the tables. In a directory, .data and .dat are looked at before others, of
 * which only those with numbers are tables. */
static fby_err find_tables(
    struct table_files *self, struct fby_error_detail *why)
{
    struct fby_search *search = self->search;
    bool               is_dir = search->only_file[0] == '\0';
    const char        *only   = is_dir ? NULL : search->only_file;
    self->is_any              = !is_dir;
    fby_err err               = fby_guess_visit_dir(
                      search, self->path, only, visit_file, self, NULL, why);
    if (err == FBY_OK && self->n == 0 && self->ending == NULL && is_dir) {
        self->is_any = true;
        err          = fby_guess_visit_dir(
                     search, self->path, NULL, visit_file, self, NULL, why);
    }
    qsort(self->files, self->n, sizeof(self->files[0]), compare_files);
    return err;
}

fby_err fby_refuse_text_tables(struct fby_search *search, const char *path,
    const char *ending, struct fby_error_detail *why)
{
    struct table_files *self = fby_zalloc(sizeof(*self));
    self->search             = search;
    self->path               = path;
    self->ending             = ending;
    fby_err err              = find_tables(self, why);
    err = err == FBY_OK && self->n > 0 ? refuse(self, why) : err;
    free(self);
    return err;
}
