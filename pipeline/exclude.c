/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/exclude.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "pipeline/nearest.h"
#include "pipeline/text.h"
#include "pipeline/text_file.h"

static int compare_hashes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t hash_name(const char *name, size_t size)
{
    return (int64_t)fby_xxh3_64(name, size);
}

bool fby_excluded_has(const struct fby_excluded *self, const char *name)
{
    int64_t hash = hash_name(name, strlen(name));
    return bsearch(&hash, self->hashes, self->n, sizeof(hash),
               compare_hashes) != NULL;
}

bool fby_excluded_is_valid(const struct fby_excluded *self)
{
    if (self->n > FBY_MAX_EXCLUDED) {
        return false;
    }
    for (uint32_t i = 1; i < self->n; i++) {
        if (self->hashes[i - 1] >= self->hashes[i]) {
            return false;
        }
    }
    return true;
}

/* Sort the hashes and remove repeated ones. */
static void sort_unique(struct fby_excluded *self)
{
    uint32_t n = 0;
    qsort(self->hashes, self->n, sizeof(self->hashes[0]), compare_hashes);
    for (uint32_t i = 0; i < self->n; i++) {
        if (i == 0 || self->hashes[i] != self->hashes[i - 1]) {
            self->hashes[n++] = self->hashes[i];
        }
    }
    self->n = n;
}

struct excluded_reader {
    const char                      *path; /* for messages */
    const struct fby_exclude_splits *splits;
    bool                 is_skipping; /* in the section of another split */
    size_t               line;        /* from 1 */
    struct fby_excluded *out;
};

/* True for "[NAME]", the first line of a section. */
static bool is_section(const char *line, size_t size)
{
    return size >= 2 && line[0] == '[' && line[size - 1] == ']';
}

/* Begin the section for the split `name`, which need not end with NUL. */
static fby_err begin_section(struct excluded_reader *r, const char *name,
    size_t size, struct fby_error_detail *why)
{
    char               copy[FBY_NAME_SIZE] = {0};
    struct fby_nearest nearest             = {.word = copy};
    memcpy(copy, name, size < FBY_NAME_SIZE ? size : FBY_NAME_SIZE - 1);
    bool is_whole  = strlen(copy) == size; /* else it is no name of a split */
    r->is_skipping = !is_whole || strcmp(copy, r->splits->wanted) != 0;
    for (size_t i = 0; i < r->splits->n; i++) {
        if (is_whole && strcmp(copy, r->splits->names[i]) == 0) {
            return FBY_OK;
        }
        fby_nearest_offer(&nearest, r->splits->names[i]);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%.200s, line %zu: a name in brackets begins the section of a split, "
        "and there is no split '%s'%s (a sample of this name: ./[%s])",
        r->path, r->line, fby_text_show(copy).text,
        fby_nearest_hint(&nearest, "the splits are").text,
        fby_text_show(copy).text);
}

/* Read a line. A name is added unless it is in the section of another split. */
static fby_err add_line(struct excluded_reader *r, const char *line,
    size_t size, struct fby_error_detail *why)
{
    size -= size > 0 && line[size - 1] == '\r' ? 1 : 0;
    size_t without_blanks = size; /* a name may end with blanks */
    while (without_blanks > 0 && line[without_blanks - 1] == ' ') {
        without_blanks--;
    }
    if (without_blanks == 0 || line[0] == '#') {
        return FBY_OK;
    }
    if (is_section(line, without_blanks)) {
        return begin_section(r, line + 1, without_blanks - 2, why);
    }
    size_t skip = size > 2 && memcmp(line, "./", 2) == 0 ? 2 : 0;
    if (size - skip >= FBY_PATH_SIZE || memchr(line, '\0', size) != NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "%.200s, line %zu: this is not the name of a sample; write one "
            "name a line",
            r->path, r->line);
    }
    if (r->is_skipping) {
        return FBY_OK;
    }
    if (r->out->n == FBY_MAX_EXCLUDED) {
        return fby_error_set(why, FBY_CONFIG,
            "%.200s, line %zu: more than %d names; move such files out of the "
            "data instead",
            r->path, r->line, FBY_MAX_EXCLUDED);
    }
    r->out->hashes[r->out->n++] = hash_name(line + skip, size - skip);
    return FBY_OK;
}

/* Read all lines. Repeated names stay. */
static fby_err read_lines(const char *text, size_t size, const char *path,
    const struct fby_exclude_splits *splits, struct fby_excluded *out,
    struct fby_error_detail *why)
{
    struct excluded_reader r   = {.path = path, .splits = splits, .out = out};
    const char            *end = text + size;
    out->n                     = 0;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop    = newline != NULL ? newline : end;
        r.line++;
        FBY_TRY(add_line(&r, text, (size_t)(stop - text), why));
        text = newline != NULL ? newline + 1 : end;
    }
    return FBY_OK;
}

fby_err fby_excluded_parse(const char *text, size_t size, const char *path,
    const struct fby_exclude_splits *splits, struct fby_excluded *out,
    uint32_t *n_lines, struct fby_error_detail *why)
{
    FBY_TRY(read_lines(text, size, path, splits, out, why));
    if (n_lines != NULL) {
        *n_lines = out->n;
    }
    sort_unique(out);
    return FBY_OK;
}

const char *fby_excluded_prefix(const char *name)
{
    bool is_changed = name[0] == '#' || name[0] == '[' || name[0] == ' ' ||
                      strncmp(name, "./", 2) == 0;
    return is_changed ? "./" : "";
}

fby_err fby_excluded_load(const char *path,
    const struct fby_exclude_splits *splits, struct fby_excluded *out,
    struct fby_error_detail *why)
{
    struct fby_buffer text = {0};
    fby_err err = fby_text_file_read(path, FBY_EXCLUDE_MAX_BYTES, &text, why);
    if (err == FBY_OK) {
        err = fby_excluded_parse(
            (const char *)text.data, text.size, path, splits, out, NULL, why);
    }
    fby_buffer_fini(&text);
    return err;
}
