/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/allowed.h"

#include <fnmatch.h>
#include <sodium.h>
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

static fby_err check_unique(
    const struct fby_allowed *self, struct fby_error_detail *why)
{
    const struct fby_allowed_key *last = &self->keys[self->n - 1];
    for (size_t i = 0; i + 1 < self->n; i++) {
        const struct fby_allowed_key *key = &self->keys[i];
        if (strcmp(key->name, last->name) == 0 ||
            sodium_memcmp(key->public_key.bytes, last->public_key.bytes,
                FBY_KEY_BYTES) == 0) {
            return fby_error_set(why, FBY_CONFIG,
                "'%s' has the name or the key of '%s' above", last->name,
                key->name);
        }
    }
    return FBY_OK;
}

static fby_err add_key(
    struct fby_allowed *self, char *line, struct fby_error_detail *why)
{
    if (self->n == FBY_ALLOWED_MAX_KEYS) {
        return fby_error_set(
            why, FBY_CONFIG, "more than %d keys", FBY_ALLOWED_MAX_KEYS);
    }
    self->keys = fby_realloc(self->keys, (self->n + 1) * sizeof(*self->keys));
    struct fby_allowed_key *key = &self->keys[self->n++];
    *key                        = (struct fby_allowed_key){0};
    FBY_TRY(read_key(key, line, why));
    return check_unique(self, why);
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
            fby_err err = add_key(self, line, why);
            if (err != FBY_OK) {
                return fby_error_prefix(why, err, "line %u", number);
            }
        }
        line = newline != NULL ? newline + 1 : NULL;
    }
    return FBY_OK;
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
    *self = (struct fby_allowed){0};
}

/* ---- use ----------------------------------------------------------------- */

const struct fby_allowed_key *fby_allowed_find(
    const struct fby_allowed *self, const struct fby_key *public_key)
{
    const struct fby_allowed_key *found = NULL;
    for (size_t i = 0; i < self->n; i++) {
        if (sodium_memcmp(self->keys[i].public_key.bytes, public_key->bytes,
                FBY_KEY_BYTES) == 0) {
            found = &self->keys[i];
        }
    }
    return found;
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
