/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/allowed.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/utf8.h"

/* ---- parse --------------------------------------------------------------- */

/* "A,B" as names with a NUL after each; false if a name is empty. */
static bool set_roots(struct fby_allowed_key *key, const char *list)
{
    size_t size  = strlen(list) + 1;
    key->roots   = fby_memdup(list, size);
    key->n_roots = 1;
    for (size_t i = 0; i < size - 1; i++) {
        if (key->roots[i] == ',') {
            key->roots[i] = '\0';
            key->n_roots++;
        }
    }
    const char *name = key->roots;
    for (size_t i = 0; i < key->n_roots; i++) {
        if (name[0] == '\0') {
            return false;
        }
        name += strlen(name) + 1;
    }
    return true;
}

static fby_err set_limit(
    struct fby_allowed_key *key, const char *word, struct fby_error_detail *why)
{
    if (strncmp(word, "roots=", 6) == 0 && key->roots == NULL &&
        set_roots(key, word + 6)) {
        return FBY_OK;
    }
    if (strncmp(word, "jobs=", 5) == 0 && key->jobs == NULL &&
        word[5] != '\0') {
        key->jobs = fby_strdup(word + 5);
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "'%.40s' is not roots=NAME,NAME or jobs=PATTERN, or is there twice",
        word);
}

/* Read the words of a line, which is changed, into `key`. */
static fby_err read_key(
    struct fby_allowed_key *key, char *line, struct fby_error_detail *why)
{
    char       *rest       = NULL;
    const char *public_key = strtok_r(line, " \t\r", &rest);
    const char *role       = strtok_r(NULL, " \t\r", &rest);
    const char *name       = strtok_r(NULL, " \t\r", &rest);
    if (name == NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "too short; a line is PUBLIC ROLE NAME; is the file cut?");
    }
    if (!fby_key_parse_text(public_key, &key->public_key)) {
        return fby_error_set(
            why, FBY_CONFIG, "the public key is not 64 hexadecimal digits");
    }
    if (!fby_role_parse(role, &key->role) || key->role == FBY_ROLE_SERVER) {
        return fby_error_set(why, FBY_CONFIG,
            "'%.40s' is not a role; write worker or trainer", role);
    }
    if (!fby_key_name_is_valid(name)) {
        return fby_error_set(
            why, FBY_CONFIG, "'%.70s' is not the name of a key", name);
    }
    memcpy(key->name, name, strlen(name) + 1);
    const char *word = strtok_r(NULL, " \t\r", &rest);
    for (; word != NULL; word = strtok_r(NULL, " \t\r", &rest)) {
        FBY_TRY(set_limit(key, word, why));
    }
    return FBY_OK;
}

static fby_err add_key(struct fby_allowed *self, char *line, unsigned number,
    struct fby_error_detail *why)
{
    if (self->n == FBY_ALLOWED_MAX_KEYS) {
        return fby_error_set(
            why, FBY_CONFIG, "more than %d keys", FBY_ALLOWED_MAX_KEYS);
    }
    self->keys = fby_realloc(self->keys, (self->n + 1) * sizeof(*self->keys));
    struct fby_allowed_key *key = &self->keys[self->n++];
    *key                        = (struct fby_allowed_key){.line = number};
    return read_key(key, line, why);
}

static fby_err parse_lines(
    struct fby_allowed *self, char *text, struct fby_error_detail *why)
{
    unsigned number = 1;
    for (char *line = text; line != NULL; number++) {
        char *newline = strchr(line, '\n');
        if (newline != NULL) {
            *newline = '\0';
        }
        if (line[strspn(line, " \t\r")] != '\0' && line[0] != '#') {
            fby_err err = add_key(self, line, number, why);
            if (err != FBY_OK) {
                return fby_error_prefix(why, err, "line %u", number);
            }
        }
        line = newline != NULL ? newline + 1 : NULL;
    }
    return FBY_OK;
}

/* ---- order --------------------------------------------------------------- */

/* For qsort() and bsearch() of references. */
typedef int compare(const void *a, const void *b);

static int compare_names(const void *a, const void *b)
{
    const struct fby_allowed_ref *x = a;
    const struct fby_allowed_ref *y = b;
    return strcmp(x->key->name, y->key->name);
}

static int compare_keys(const void *a, const void *b)
{
    const struct fby_allowed_ref *x = a;
    const struct fby_allowed_ref *y = b;
    return memcmp(
        x->key->public_key.bytes, y->key->public_key.bytes, FBY_KEY_BYTES);
}

static fby_err sort_unique(const struct fby_allowed *self, compare *order,
    struct fby_error_detail *why)
{
    qsort(self->by_key, self->n, sizeof(*self->by_key), order);
    for (size_t i = 1; i < self->n; i++) {
        const struct fby_allowed_key *a = self->by_key[i - 1].key;
        const struct fby_allowed_key *b = self->by_key[i].key;
        if (order(&self->by_key[i - 1], &self->by_key[i]) == 0) {
            const struct fby_allowed_key *first = a->line < b->line ? a : b;
            const struct fby_allowed_key *last  = first == a ? b : a;
            return fby_error_set(why, FBY_CONFIG,
                "line %u: '%s' has the name or the key of '%s' above",
                last->line, last->name, first->name);
        }
    }
    return FBY_OK;
}

/* Sort by_key. Errors: FBY_CONFIG  two entries have one name or key. */
static fby_err sort_keys(struct fby_allowed *self, struct fby_error_detail *why)
{
    self->by_key = fby_zalloc((self->n + 1) * sizeof(*self->by_key));
    for (size_t i = 0; i < self->n; i++) {
        self->by_key[i].key = &self->keys[i];
    }
    FBY_TRY(sort_unique(self, compare_names, why));
    return sort_unique(self, compare_keys, why);
}

fby_err fby_allowed_parse(const char *text, size_t size,
    struct fby_allowed *out, struct fby_error_detail *why)
{
    struct fby_allowed self = {0};
    if (size > FBY_ALLOWED_MAX_BYTES || !fby_is_utf8(text, size)) {
        return fby_error_set(
            why, FBY_CONFIG, "not a list of keys: too long, or not UTF-8 text");
    }
    char *copy = fby_zalloc(size + 1);
    if (size > 0) {
        memcpy(copy, text, size);
    }
    fby_err err = parse_lines(&self, copy, why);
    free(copy);
    if (err == FBY_OK) {
        err = sort_keys(&self, why);
    }
    if (err == FBY_OK) {
        *out = self;
    } else {
        fby_allowed_fini(&self);
    }
    return err;
}

void fby_allowed_fini(struct fby_allowed *self)
{
    for (size_t i = 0; i < self->n; i++) {
        free(self->keys[i].roots);
        free(self->keys[i].jobs);
    }
    free(self->keys);
    free(self->by_key);
    *self = (struct fby_allowed){0};
}

/* ---- use ----------------------------------------------------------------- */

const struct fby_allowed_key *fby_allowed_find(
    const struct fby_allowed *self, const struct fby_key *public_key)
{
    const struct fby_allowed_key  wanted = {.public_key = *public_key};
    const struct fby_allowed_ref  ref    = {&wanted};
    const struct fby_allowed_ref *found =
        self->n > 0 ? bsearch(&ref, self->by_key, self->n,
                          sizeof(*self->by_key), compare_keys)
                    : NULL;
    return found != NULL ? found->key : NULL;
}

bool fby_allowed_permits_job(const struct fby_allowed_key *key, const char *job)
{
    return key->jobs == NULL || fnmatch(key->jobs, job, 0) == 0;
}

static void put_word(
    struct fby_buffer *out, const char *prefix, const char *word)
{
    fby_put_bytes(out, prefix, strlen(prefix));
    fby_put_bytes(out, word, strlen(word));
}

void fby_allowed_put_line(struct fby_buffer *out,
    const struct fby_key_file *file, const char *roots, const char *jobs)
{
    char public_key[FBY_KEY_TEXT_SIZE];
    fby_key_write_text(&file->public_key, public_key);
    put_word(out, "", public_key);
    put_word(out, " ", fby_role_name(file->role));
    put_word(out, " ", file->name);
    if (roots != NULL) {
        put_word(out, " roots=", roots);
    }
    if (jobs != NULL) {
        put_word(out, " jobs=", jobs);
    }
    put_word(out, "\n", "");
}
