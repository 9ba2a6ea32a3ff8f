/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_languages.c - texts in two languages, line by line, as train.de and train.en,
 * train.src and train.tgt, or train.de.txt and train.en.txt. The command writes a list
 * of each pair. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "common/mem.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MAX_PAIRS = 8 };

struct languages {
    char     names[2 * MAX_PAIRS][FBY_NAME_SIZE]; /* of the texts */
    uint32_t n;
    bool     has_others; /* more of them than fit */
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_language(const char *ending)
{
    static const char *const words[] = {
        "src", "tgt", "trg", "source", "target", NULL};
    static const char *const others[] = {"py", "md", "sh", "js", "ts", "rb",
        "cc", "hh", "cs", "go", "gz", "xz", "so", "pt", "db", "rs", NULL};
    bool is_code = strlen(ending) == 2 && islower((unsigned char)ending[0]) &&
                   islower((unsigned char)ending[1]);
    return fby_text_is_one_of(ending, words) ||
           (is_code && !fby_text_is_one_of(ending, others));
}

/* Cut a name into its stem and language: "train" and "de" for train.de and
 * train.de.txt, "" for de.txt. Returns false for a name without one. */
static bool cut_language(
    const char *name, char stem[FBY_NAME_SIZE], char language[FBY_NAME_SIZE])
{
    snprintf(stem, FBY_NAME_SIZE, "%s", name);
    bool  is_txt = fby_text_ends_with(stem, ".txt");
    char *dot    = strrchr(stem, '.');
    if (is_txt) {
        *dot = '\0';
        dot  = strrchr(stem, '.');
    }
    snprintf(language, FBY_NAME_SIZE, "%s", dot != NULL ? dot + 1 : stem);
    *(dot != NULL ? dot : stem) = '\0';
    return (dot != NULL || is_txt) && is_language(language);
}

/* Write the pairs of texts and their lists in Python, and the two languages. Returns
 * false if they are no pairs. */
static bool write_pairs(struct languages *self, char *out, size_t size,
    char languages[2][FBY_NAME_SIZE])
{
    char   stem[FBY_NAME_SIZE];
    char   other[FBY_NAME_SIZE];
    char   language[FBY_NAME_SIZE];
    size_t used = 0;
    qsort(self->names, self->n, FBY_NAME_SIZE, compare_names);
    for (uint32_t i = 0; i + 1 < self->n && used < size; i += 2) {
        (void)cut_language(self->names[i], stem, languages[0]);
        (void)cut_language(self->names[i + 1], other, language);
        if (strcmp(stem, other) != 0 ||
            (i > 0 && strcmp(language, languages[1]) != 0)) {
            return false;
        }
        memcpy(languages[1], language, FBY_NAME_SIZE);
        used += (size_t)snprintf(out + used, size - used,
            "%s('%s', '%s', '%s.jsonl')", i > 0 ? ", " : "", self->names[i],
            self->names[i + 1], stem[0] != '\0' ? stem : "train");
    }
    return self->n > 1 && self->n % 2 == 0 && used < size;
}

static fby_err visit_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct languages *self = arg;
    char              stem[FBY_NAME_SIZE];
    char              language[FBY_NAME_SIZE];
    (void)why;
    if (entry->is_dir || strlen(entry->name) >= FBY_NAME_SIZE ||
        !fby_shell_is_plain(entry->name) ||
        !cut_language(entry->name, stem, language)) {
        return FBY_OK;
    }
    self->has_others = self->has_others || self->n == 2 * MAX_PAIRS;
    if (!self->has_others) {
        snprintf(self->names[self->n++], FBY_NAME_SIZE, "%s", entry->name);
    }
    return FBY_OK;
}

static fby_err refuse(const struct fby_search *search, const char *path,
    struct languages *self, struct fby_error_detail *why)
{
    char pairs[MAX_PAIRS * (3 * FBY_NAME_SIZE + 24)];
    char languages[2][FBY_NAME_SIZE];
    if (self->has_others ||
        !write_pairs(self, pairs, sizeof(pairs), languages)) {
        return FBY_OK;
    }
    const char *colon = fby_guess_set_command(search, path,
        FBY_PYTHON "L = [%s]; A = '%s'; B = '%s'; %s; %s\"", pairs,
        languages[0], languages[1], fby_program_text_pairs,
        fby_program_write_lists);
    fby_guess_end_command(search, path, "train.jsonl");
    return fby_error_set(why, FBY_CONFIG,
        "%s and %s seem to be the same texts in two languages, line by line: "
        "write a list%s",
        self->names[0], self->names[1], colon);
}

fby_err fby_refuse_languages(struct fby_search *search, const char *path,
    const char *only, struct fby_error_detail *why)
{
    struct languages *self = fby_zalloc(sizeof(*self));
    fby_err           err =
        fby_guess_visit_dir(search, path, only, visit_file, self, NULL, why);
    err = err == FBY_OK ? refuse(search, path, self, why) : err;
    free(self);
    return err;
}
