/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/shard.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/array.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

bool fby_is_npz(const char *name)
{
    return fby_text_ends_with(name, ".npz");
}

void fby_shard_init(
    struct fby_shard *self, const char *name, enum fby_source_kind kind)
{
    *self = (struct fby_shard){.name = fby_strdup(name),
        .kind                        = kind,
        .has_files                   = fby_source_traits(kind)->has_files};
}

void fby_shard_fini(struct fby_shard *self)
{
    free(self->name);
    fby_buffer_fini(&self->keys);
    free(self->key_offset);
    free(self->first_member);
    free(self->class_ids);
    free(self->suffix_index);
    free(self->member_offset);
    free(self->member_bytes);
    free(self->suffixes);
    fby_buffer_fini(&self->texts);
    free(self->text_offset);
    free(self->text_size);
    free(self->is_value);
    free(self->stamps);
    fby_sequences_free(&self->sequences);
    free(self->columns);
    free(self->lengths);
    *self = (struct fby_shard){0};
}

/* Append element `n`, counted from 0, to a growing array. */
#define APPEND(array, n, value)                                      \
    do {                                                             \
        (array)    = fby_array_grow((array), (n), sizeof(*(array))); \
        (array)[n] = (value);                                        \
    } while (0)

fby_err fby_shard_add_sample(struct fby_shard *self, const char *key,
    size_t key_size, int64_t class_id, struct fby_error_detail *why)
{
    uint32_t n = self->n_samples;
    if (n >= FBY_SHARD_MAX_SAMPLES ||
        self->keys.size + key_size + 1 > FBY_SHARD_MAX_KEYS) {
        return fby_error_set(why, FBY_CONFIG,
            "more than %d samples, or %d bytes of keys; cut the shard into "
            "smaller ones",
            FBY_SHARD_MAX_SAMPLES, FBY_SHARD_MAX_KEYS);
    }
    APPEND(self->key_offset, n, (uint32_t)self->keys.size);
    fby_put_bytes(&self->keys, key, key_size);
    fby_put_u8(&self->keys, 0);
    if (class_id != FBY_SHARD_NO_CLASS) {
        APPEND(self->class_ids, n, (uint32_t)class_id);
    }
    APPEND(self->first_member, n, self->n_members);
    self->n_samples = n + 1;
    return FBY_OK;
}

bool fby_shard_last_key_is(
    const struct fby_shard *self, const char *key, size_t key_size)
{
    if (self->n_samples == 0) {
        return false;
    }
    const char *last = fby_shard_key(self, self->n_samples - 1);
    return strlen(last) == key_size && memcmp(last, key, key_size) == 0;
}

/* Set *out to the index of `suffix` in self->suffixes. Add it if it is new. */
static fby_err find_or_add_suffix(struct fby_shard *self, const char *suffix,
    uint8_t *out, struct fby_error_detail *why)
{
    uint32_t i = 0;
    while (i < self->n_suffixes && strcmp(self->suffixes[i], suffix) != 0) {
        i++;
    }
    if (i == FBY_SHARD_MAX_SUFFIXES && self->kind == FBY_SOURCE_LIST) {
        return fby_error_set(why, FBY_CONFIG,
            "more than %d different columns or keys (the next is %s): write "
            "several values as one list, or leave out what is not needed",
            FBY_SHARD_MAX_SUFFIXES, suffix);
    }
    if (i == FBY_SHARD_MAX_SUFFIXES) { /* not found, and the list is full */
        return fby_error_set(why, FBY_CONFIG,
            "more than %d different extensions (the next is .%s); the "
            "extension "
            "begins at the first dot: rename files such as a.b.jpg",
            FBY_SHARD_MAX_SUFFIXES, suffix);
    }
    if (i == self->n_suffixes) {
        self->suffixes =
            fby_array_grow(self->suffixes, i, sizeof(*self->suffixes));
        memset(self->suffixes[i], 0, sizeof(self->suffixes[i]));
        memcpy(self->suffixes[i], suffix, strnlen(suffix, FBY_NAME_SIZE - 1));
        self->n_suffixes++;
    }
    *out = (uint8_t)i;
    return FBY_OK;
}

static fby_err check_sample_lacks_suffix(const struct fby_shard *self,
    const char *suffix, struct fby_error_detail *why)
{
    uint32_t sample = self->n_samples - 1;
    for (uint32_t m = self->first_member[sample]; m < self->n_members; m++) {
        if (fby_equal_ignoring_case(fby_shard_suffix(self, m), suffix)) {
            return fby_error_set(why, FBY_CONFIG,
                "sample %s has two members named .%s (the case of letters "
                "does not tell them apart)",
                fby_shard_key(self, sample), suffix);
        }
    }
    return FBY_OK;
}

fby_err fby_shard_add_member(struct fby_shard *self, const char *suffix,
    uint64_t offset, uint64_t size, struct fby_error_detail *why)
{
    uint32_t n     = self->n_members;
    uint8_t  index = 0;
    if (n >= FBY_SHARD_MAX_MEMBERS) {
        return fby_error_set(why, FBY_CONFIG,
            "more than %d members; cut the shard into smaller ones",
            FBY_SHARD_MAX_MEMBERS);
    }
    FBY_TRY(check_sample_lacks_suffix(self, suffix, why));
    FBY_TRY(find_or_add_suffix(self, suffix, &index, why));
    APPEND(self->suffix_index, n, index);
    APPEND(self->member_bytes, n, size);
    if (self->has_files) {
        const struct fby_stamp stamp = {.size = size};
        APPEND(self->stamps, n, stamp);
    } else {
        APPEND(self->member_offset, n, offset);
    }
    self->n_members = n + 1;
    return FBY_OK;
}

fby_err fby_shard_add_text(struct fby_shard *self, const char *text,
    size_t size, bool is_value, struct fby_error_detail *why)
{
    uint32_t n = self->n_members - 1; /* index of the last member */
    if (self->texts.size + size > FBY_SHARD_MAX_TEXTS) {
        return fby_error_set(why, FBY_CONFIG,
            "more than %d bytes of texts in a part of a list",
            FBY_SHARD_MAX_TEXTS);
    }
    APPEND(self->text_offset, n, self->texts.size);
    APPEND(self->text_size, n, (uint32_t)size);
    APPEND(self->is_value, n, is_value);
    fby_put_bytes(&self->texts, text, size);
    return FBY_OK;
}

/* Compare two samples by key. If the keys are equal, the sample with the lower
 * number is first, as the error message needs it. */
static int compare_keys(const void *a, const void *b, void *shard)
{
    uint32_t x     = *(const uint32_t *)a;
    uint32_t y     = *(const uint32_t *)b;
    int      order = strcmp(fby_shard_key(shard, x), fby_shard_key(shard, y));
    return order != 0 ? order : (x > y) - (x < y);
}

static bool keys_ascend(const struct fby_shard *self)
{
    for (uint32_t i = 1; i < self->n_samples; i++) {
        if (strcmp(fby_shard_key(self, i - 1), fby_shard_key(self, i)) >= 0) {
            return false;
        }
    }
    return true;
}

/* Find two samples with the same key. Returns false if all keys differ. */
static bool find_repeated_key(
    struct fby_shard *self, uint32_t *earlier, uint32_t *later)
{
    if (keys_ascend(self)) { /* common, and needs no memory */
        return false;
    }
    uint32_t  n      = self->n_samples;
    uint32_t *sorted = fby_zalloc(n * sizeof(*sorted)); /* sample numbers */
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = i;
    }
    qsort_r(sorted, n, sizeof(*sorted), compare_keys, self);
    uint32_t i = 1;
    while (i < n && strcmp(fby_shard_key(self, sorted[i - 1]),
                        fby_shard_key(self, sorted[i])) != 0) {
        i++;
    }
    bool is_repeated = i < n;
    if (is_repeated) {
        *earlier = sorted[i - 1];
        *later   = sorted[i];
    }
    free(sorted);
    return is_repeated;
}

static fby_err check_unique_keys(
    struct fby_shard *self, struct fby_error_detail *why)
{
    uint32_t earlier = 0;
    uint32_t later   = 0;
    if (!find_repeated_key(self, &earlier, &later)) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "key %s is at offset %llu and again at offset %llu, with other samples "
        "between; the members of a sample must follow one another: unpack "
        "the tar, and pack it again with tar --sort=name",
        fby_shard_key(self, earlier),
        (unsigned long long)fby_shard_offset(self, self->first_member[earlier]),
        (unsigned long long)fby_shard_offset(self, self->first_member[later]));
}

static void *shrink(void *array, size_t n, size_t element_bytes)
{
    return array == NULL ? NULL : fby_realloc(array, n * element_bytes);
}

static void free_spare_memory(struct fby_shard *self)
{
    size_t n            = self->n_samples;
    size_t m            = self->n_members;
    self->keys.data     = shrink(self->keys.data, self->keys.size, 1);
    self->keys.capacity = self->keys.size;
    self->key_offset = shrink(self->key_offset, n, sizeof(*self->key_offset));
    self->class_ids  = shrink(self->class_ids, n, sizeof(*self->class_ids));
    self->suffix_index =
        shrink(self->suffix_index, m, sizeof(*self->suffix_index));
    self->member_offset =
        shrink(self->member_offset, m, sizeof(*self->member_offset));
    self->member_bytes =
        shrink(self->member_bytes, m, sizeof(*self->member_bytes));
    self->text_offset =
        shrink(self->text_offset, m, sizeof(*self->text_offset));
    self->text_size = shrink(self->text_size, m, sizeof(*self->text_size));
    self->is_value  = shrink(self->is_value, m, sizeof(*self->is_value));
    if (self->has_files) {
        self->stamps = shrink(self->stamps, m, sizeof(*self->stamps));
    }
}

fby_err fby_shard_finish(struct fby_shard *self, struct fby_error_detail *why)
{
    uint32_t n = self->n_samples;
    FBY_TRY(check_unique_keys(self, why));
    self->first_member = fby_realloc(
        self->first_member, ((size_t)n + 1) * sizeof(*self->first_member));
    self->first_member[n] = self->n_members;
    free_spare_memory(self);
    return FBY_OK;
}

uint32_t fby_shard_count_stamps(const struct fby_shard *self)
{
    if (fby_shard_has_rows(self) && !fby_is_npz(self->name)) {
        return self->n_columns;
    }
    if (self->sequences != NULL) {
        return self->sequences->format == FBY_TOKENS_MEGATRON ? 2 : 1;
    }
    return self->has_files ? self->n_members : 1;
}

fby_err fby_shard_finish_sequences(
    struct fby_shard *self, struct fby_error_detail *why)
{
    fby_sequences_finish(self->sequences);
    uint64_t samples = fby_sequences_count(self->sequences);
    if (samples > UINT32_MAX) {
        return fby_error_set(why, FBY_CONFIG,
            "%llu sequences of %u tokens; a file has at most %u: cut it into "
            "smaller ones",
            (unsigned long long)samples, self->sequences->length, UINT32_MAX);
    }
    self->n_samples = (uint32_t)samples;
    return FBY_OK;
}

bool fby_shard_find_member(const struct fby_shard *self, uint32_t sample,
    const char (*exts)[FBY_NAME_SIZE], uint32_t n_exts, uint32_t *member)
{
    uint32_t end = self->first_member[sample + 1];
    for (uint32_t i = 0; i < n_exts; i++) {
        for (uint32_t m = self->first_member[sample]; m < end; m++) {
            if (fby_equal_ignoring_case(fby_shard_suffix(self, m), exts[i])) {
                *member = m;
                return true;
            }
        }
    }
    return false;
}

uint32_t fby_shard_sample_of(const struct fby_shard *self, uint32_t member)
{
    /* Binary search: the sample is always in `low` to high - 1. */
    uint32_t low  = 0;
    uint32_t high = self->n_samples;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (self->first_member[middle] <= member) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool fby_equal_ignoring_case(const char *a, const char *b)
{
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

bool fby_name_split(const char *name, struct fby_name_parts *out)
{
    const char *component = name; /* the file or folder that `c` lies in */
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '.' && c == component) {
            return false; /* the file or a folder is hidden */
        }
        if (*c == '/') {
            component = c + 1;
        }
    }
    const char *dot = strchr(component, '.'); /* first dot of the file name */
    if (dot == NULL || dot[1] == '\0') {
        return false;
    }
    out->key_size = (size_t)(dot - name);
    out->suffix   = dot + 1;
    return true;
}

bool fby_name_is_plain(const char *name)
{
    const char *c = name;
    while (*c != '\0' && !fby_is_control(*c)) {
        c++;
    }
    return *c == '\0' && fby_is_utf8(name, strlen(name));
}

fby_err fby_name_check(const char *name, const struct fby_name_parts *parts,
    struct fby_error_detail *why)
{
    if (!fby_name_is_plain(name)) {
        return fby_error_set(why, FBY_CONFIG,
            "the name %s has control characters or is not UTF-8: rename it",
            fby_text_show(name).text);
    }
    if (strlen(parts->suffix) >= FBY_NAME_SIZE) {
        return fby_error_set(why, FBY_CONFIG,
            "the extension of %s (all after the first dot) is longer than %d "
            "bytes",
            fby_text_show(name).text, FBY_NAME_SIZE - 1);
    }
    return FBY_OK;
}
