#include "worker/source/shard.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/array.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

static int64_t nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct fby_stamp fby_stamp_of(const struct stat *st)
{
    return (struct fby_stamp){
        .device   = st->st_dev,
        .inode    = st->st_ino,
        .size     = (uint64_t)st->st_size,
        .mtime_ns = nanoseconds(st->st_mtim),
        .ctime_ns = nanoseconds(st->st_ctim),
    };
}

bool fby_stamp_equal(const struct fby_stamp *a, const struct fby_stamp *b)
{
    return a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

const char *fby_stamp_change(
    const struct fby_stamp *indexed, const struct fby_stamp *now)
{
    if (now->device != indexed->device || now->inode != indexed->inode) {
        return "was replaced";
    }
    if (now->size > indexed->size) {
        return "was appended to";
    }
    if (now->size < indexed->size) {
        return "was cut short";
    }
    return now->mtime_ns != indexed->mtime_ns
               ? "was written to"
               : "was touched (links, owner or mode)";
}

bool fby_is_npz(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".npz") == 0;
}

void fby_shard_init(
    struct fby_shard *self, const char *name, enum fby_source_kind kind)
{
    *self = (struct fby_shard){.name = fby_strdup(name),
        .kind                        = kind,
        .folder                      = fby_source_traits(kind)->has_files};
}

void fby_shard_fini(struct fby_shard *self)
{
    free(self->name);
    fby_buffer_fini(&self->keys);
    free(self->key_at);
    free(self->first);
    free(self->class_ids);
    free(self->suffix);
    free(self->offset);
    free(self->bytes);
    free(self->suffixes);
    fby_buffer_fini(&self->texts);
    free(self->text_at);
    free(self->text_size);
    free(self->is_value);
    free(self->stamps);
    fby_sequences_free(&self->sequences);
    free(self->columns);
    free(self->lengths);
    *self = (struct fby_shard){0};
}

fby_err fby_shard_add_sample(struct fby_shard *self, const char *key,
    size_t key_size, int64_t class_id, struct fby_why *why)
{
    uint32_t n = self->samples;
    if (n >= FBY_SHARD_MAX_SAMPLES ||
        self->keys.size + key_size + 1 > FBY_SHARD_MAX_KEYS) {
        return fby_because(why, FBY_CONFIG,
            "more than %d samples, or %d bytes of keys; cut it into smaller "
            "shards",
            FBY_SHARD_MAX_SAMPLES, FBY_SHARD_MAX_KEYS);
    }
    self->key_at    = fby_array_grow(self->key_at, n, sizeof(*self->key_at));
    self->key_at[n] = (uint32_t)self->keys.size;
    fby_put_bytes(&self->keys, key, key_size);
    fby_put_u8(&self->keys, 0);
    if (class_id != FBY_SHARD_NO_CLASS) {
        self->class_ids = fby_array_grow(self->class_ids, n, sizeof(uint32_t));
        self->class_ids[n] = (uint32_t)class_id;
    }
    self->first    = fby_array_grow(self->first, n, sizeof(*self->first));
    self->first[n] = self->members;
    self->samples  = n + 1;
    return FBY_OK;
}

static bool find_suffix(
    const struct fby_shard *self, const char *suffix, uint32_t *out)
{
    for (uint32_t i = 0; i < self->n_suffixes; i++) {
        if (strcmp(self->suffixes[i], suffix) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static fby_err intern_suffix(struct fby_shard *self, const char *suffix,
    uint32_t *out, struct fby_why *why)
{
    if (find_suffix(self, suffix, out)) {
        return FBY_OK;
    }
    uint32_t n = self->n_suffixes;
    if (n >= FBY_SHARD_MAX_SUFFIXES) {
        return fby_because(why, FBY_CONFIG,
            "more than %d different extensions (now .%s); a member is named "
            "KEY.EXTENSION, and the extension begins at the first dot",
            FBY_SHARD_MAX_SUFFIXES, suffix);
    }
    self->suffixes = fby_array_grow(self->suffixes, n, sizeof(*self->suffixes));
    memset(self->suffixes[n], 0, sizeof(self->suffixes[n]));
    memcpy(self->suffixes[n], suffix, strnlen(suffix, FBY_NAME_SIZE - 1));
    self->n_suffixes = n + 1;
    *out             = n;
    return FBY_OK;
}

static fby_err refuse_twin(
    const struct fby_shard *self, const char *suffix, struct fby_why *why)
{
    uint32_t sample = self->samples - 1;
    for (uint32_t m = self->first[sample]; m < self->members; m++) {
        if (fby_suffix_is(fby_shard_suffix(self, m), suffix)) {
            return fby_because(why, FBY_CONFIG,
                "sample %s has two members named .%s (the case of letters "
                "does not tell them apart)",
                fby_shard_key(self, sample), suffix);
        }
    }
    return FBY_OK;
}

fby_err fby_shard_add_member(struct fby_shard *self, const char *suffix,
    uint64_t offset, uint64_t size, struct fby_why *why)
{
    uint32_t n  = self->members;
    uint32_t at = 0;
    if (n >= FBY_SHARD_MAX_MEMBERS) {
        return fby_because(why, FBY_CONFIG,
            "more than %d members; cut it into smaller shards",
            FBY_SHARD_MAX_MEMBERS);
    }
    fby_err err = refuse_twin(self, suffix, why);
    if (err == FBY_OK) {
        err = intern_suffix(self, suffix, &at, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    self->suffix    = fby_array_grow(self->suffix, n, sizeof(*self->suffix));
    self->suffix[n] = (uint8_t)at;
    self->bytes     = fby_array_grow(self->bytes, n, sizeof(*self->bytes));
    self->bytes[n]  = size;
    if (self->folder) {
        self->stamps = fby_array_grow(self->stamps, n, sizeof(*self->stamps));
        self->stamps[n] = (struct fby_stamp){.size = size};
    } else {
        self->offset = fby_array_grow(self->offset, n, sizeof(*self->offset));
        self->offset[n] = offset;
    }
    self->members = n + 1;
    return FBY_OK;
}

fby_err fby_shard_add_text(struct fby_shard *self, const char *text,
    size_t size, bool is_value, struct fby_why *why)
{
    uint32_t n = self->members - 1;
    if (self->texts.size + size > FBY_SHARD_MAX_TEXTS) {
        return fby_because(why, FBY_CONFIG,
            "more than %d bytes of texts in a part of a list",
            FBY_SHARD_MAX_TEXTS);
    }
    self->text_at = fby_array_grow(self->text_at, n, sizeof(*self->text_at));
    self->text_size =
        fby_array_grow(self->text_size, n, sizeof(*self->text_size));
    self->is_value = fby_array_grow(self->is_value, n, sizeof(*self->is_value));
    self->text_at[n]   = self->texts.size;
    self->text_size[n] = (uint32_t)size;
    self->is_value[n]  = is_value;
    fby_put_bytes(&self->texts, text, size);
    return FBY_OK;
}

static int compare_keys(const void *a, const void *b, void *shard)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    int      c = strcmp(fby_shard_key(shard, x), fby_shard_key(shard, y));
    return c != 0 ? c : (x > y) - (x < y);
}

static bool keys_ascend(const struct fby_shard *self)
{
    for (uint32_t i = 1; i < self->samples; i++) {
        if (strcmp(fby_shard_key(self, i - 1), fby_shard_key(self, i)) >= 0) {
            return false;
        }
    }
    return true;
}

static fby_err refuse_pair(
    const struct fby_shard *self, uint32_t a, uint32_t b, struct fby_why *why)
{
    return fby_because(why, FBY_CONFIG,
        "key %s appears again at offset %llu, after other samples; its first "
        "member is at offset %llu. The members of a sample follow one another",
        fby_shard_key(self, a),
        (unsigned long long)fby_shard_offset(self, self->first[b]),
        (unsigned long long)fby_shard_offset(self, self->first[a]));
}

static fby_err refuse_repeated_keys(struct fby_shard *self, struct fby_why *why)
{
    if (keys_ascend(self)) {
        return FBY_OK;
    }
    uint32_t *order = fby_zalloc(self->samples * sizeof(*order));
    for (uint32_t i = 0; i < self->samples; i++) {
        order[i] = i;
    }
    qsort_r(order, self->samples, sizeof(*order), compare_keys, self);
    fby_err err = FBY_OK;
    for (uint32_t i = 1; i < self->samples && err == FBY_OK; i++) {
        if (strcmp(fby_shard_key(self, order[i - 1]),
                fby_shard_key(self, order[i])) == 0) {
            err = refuse_pair(self, order[i - 1], order[i], why);
        }
    }
    free(order);
    return err;
}

static void *fit(void *array, size_t n, size_t element)
{
    return array == NULL ? NULL : fby_regrow(array, n * element);
}

static void give_back_spare(struct fby_shard *self)
{
    size_t n            = self->samples;
    size_t m            = self->members;
    self->keys.data     = fit(self->keys.data, self->keys.size, 1);
    self->keys.capacity = self->keys.size;
    self->key_at        = fit(self->key_at, n, sizeof(*self->key_at));
    self->class_ids     = fit(self->class_ids, n, sizeof(*self->class_ids));
    self->suffix        = fit(self->suffix, m, sizeof(*self->suffix));
    self->offset        = fit(self->offset, m, sizeof(*self->offset));
    self->bytes         = fit(self->bytes, m, sizeof(*self->bytes));
    self->text_at       = fit(self->text_at, m, sizeof(*self->text_at));
    self->text_size     = fit(self->text_size, m, sizeof(*self->text_size));
    self->is_value      = fit(self->is_value, m, sizeof(*self->is_value));
    if (self->folder) {
        self->stamps = fit(self->stamps, m, sizeof(*self->stamps));
    }
}

fby_err fby_shard_finish(struct fby_shard *self, struct fby_why *why)
{
    fby_err err = refuse_repeated_keys(self, why);
    if (err != FBY_OK) {
        return err;
    }
    self->first = fby_regrow(
        self->first, ((size_t)self->samples + 1) * sizeof(*self->first));
    self->first[self->samples] = self->members;
    give_back_spare(self);
    return FBY_OK;
}

uint32_t fby_shard_stamps(const struct fby_shard *self)
{
    if (fby_shard_has_rows(self) && !fby_is_npz(self->name)) {
        return self->n_columns;
    }
    if (self->sequences != NULL) {
        return self->sequences->format == FBY_TOKENS_MEGATRON ? 2 : 1;
    }
    return self->folder ? self->members : 1;
}

fby_err fby_shard_finish_sequences(struct fby_shard *self, struct fby_why *why)
{
    fby_sequences_finish(self->sequences);
    uint64_t samples = fby_sequences_count(self->sequences);
    if (samples > UINT32_MAX) {
        return fby_because(why, FBY_CONFIG,
            "%llu sequences of %u tokens; a file has at most %u: cut it into "
            "smaller ones",
            (unsigned long long)samples, self->sequences->length, UINT32_MAX);
    }
    self->samples = (uint32_t)samples;
    return FBY_OK;
}

static bool find_member(const struct fby_shard *self, uint32_t sample,
    const char *extension, uint32_t *member)
{
    for (uint32_t m = self->first[sample]; m < self->first[sample + 1]; m++) {
        if (fby_suffix_is(fby_shard_suffix(self, m), extension)) {
            *member = m;
            return true;
        }
    }
    return false;
}

bool fby_shard_find(const struct fby_shard *self, uint32_t sample,
    const char (*exts)[FBY_NAME_SIZE], uint32_t n_exts, uint32_t *member)
{
    bool found = false;
    for (uint32_t i = 0; i < n_exts && !found; i++) {
        found = find_member(self, sample, exts[i], member);
    }
    return found;
}

uint32_t fby_shard_sample_of(const struct fby_shard *self, uint32_t member)
{
    uint32_t low  = 0;
    uint32_t high = self->samples;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (self->first[middle] <= member) {
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

bool fby_suffix_is(const char *suffix, const char *extension)
{
    while (*suffix != '\0' && lower(*suffix) == lower(*extension)) {
        suffix++;
        extension++;
    }
    return *suffix == '\0' && *extension == '\0';
}

bool fby_name_split(const char *name, struct fby_name_parts *out)
{
    const char *base = name;
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '.' && at == base) {
            return false; /* a hidden file, or in a hidden folder */
        }
        if (*at == '/') {
            base = at + 1;
        }
    }
    const char *dot = strchr(base, '.');
    if (dot == NULL || dot[1] == '\0') {
        return false;
    }
    out->key_size = (size_t)(dot - name);
    out->suffix   = dot + 1;
    return true;
}

static bool is_one_line(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return false;
        }
    }
    return true;
}

fby_err fby_name_check(
    const char *name, const struct fby_name_parts *parts, struct fby_why *why)
{
    if (!fby_is_utf8(name, strlen(name)) || !is_one_line(name)) {
        return fby_because(why, FBY_CONFIG,
            "the name %s is not UTF-8 without control characters",
            fby_text_show(name).text);
    }
    if (strlen(parts->suffix) >= FBY_NAME_SIZE) {
        return fby_because(why, FBY_CONFIG,
            "the extension of %s (all after the first dot) is longer than %d "
            "bytes",
            fby_text_show(name).text, FBY_NAME_SIZE - 1);
    }
    return FBY_OK;
}
