/* SPDX-License-Identifier: Apache-2.0 */
/* guess_tars.c - recognise tar shards in a directory.
 *
 * Tar files whose names differ only in a number are the shards of one split.
 * The shards of a split are read one after the other until they have enough
 * members, so small data is counted exactly. */
#include "cli/init/guess_tars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/arrays.h"
#include "cli/init/guess_members.h"
#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "cli/init/refuse_shards.h"
#include "cli/init/words.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/text.h"
#include "worker/source/shards/tar.h"
#include "worker/source/shards/tar_names.h"

static fby_err open_in_tar(const void *arg, const struct fby_shard *shard,
    uint32_t member, struct fby_member_file *out, struct fby_error_detail *why)
{
    const struct fby_search *search = arg;
    out->offset                     = fby_shard_offset(shard, member);
    return fby_object_open(search->root, shard->name, &out->object, why);
}

static fby_err scan_tar(const struct fby_search *search, const char *path,
    struct fby_shard *out, struct fby_error_detail *why)
{
    struct fby_object object;
    struct fby_stamp  stamp;
    fby_err           err =
        fby_object_open_stamped(search->root, path, &object, &stamp, why);
    if (err == FBY_OK) {
        struct fby_tar_file file = {.object = &object, .size = stamp.size};
        err                      = fby_tar_scan(&file, out, why);
        fby_object_close(&object);
    }
    return err;
}

enum { ENOUGH_MEMBERS = 20000 }; /* no more shards are read after these */

/* The values of members that are read: enough for their kinds. Of values that may
 * be the names of classes, more are read, because all names are needed. After
 * UNIQUE_AFTER, those that are nearly all different are taken for captions. */
enum {
    MAX_VALUES_READ = 256,
    UNIQUE_AFTER    = 20000,
    MAX_WORDS_READ  = 200000,
    MAX_VALUE_BYTES = 1 << 20
};

static void add_label(
    struct fby_init_member *member, const char *text, size_t size)
{
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r')) {
        size--;
    }
    member->has_words = member->has_words || !fby_guess_is_digits(text, size);
    fby_init_add_word(member, text, size);
    member->longest = size > member->longest ? (uint32_t)size : member->longest;
}

/* True if values of the member, a label or a JSON file, may be the names of
 * classes. */
static bool may_have_classes(
    const struct fby_guess_split *split, const struct fby_init_member *member)
{
    if (member->words != NULL && member->has_words) {
        return true;
    }
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *key = &split->members[i];
        if (key->key[0] != '\0' && key->words != NULL &&
            strcmp(key->extension, member->extension) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_enough(
    const struct fby_guess_split *split, const struct fby_init_member *member)
{
    return member->values_read >= MAX_VALUES_READ &&
           (member->values_read >= MAX_WORDS_READ ||
               !may_have_classes(split, member));
}

/* Stop to collect captions in the keys of a JSON file. */
static void give_up_captions(
    struct fby_guess_split *split, const struct fby_init_member *file)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *key = &split->members[i];
        if (key->key[0] != '\0' &&
            strcmp(key->extension, file->extension) == 0) {
            fby_init_give_up_unique_words(key);
        }
    }
}

/* Note the fault of member `m`, if it is the first of its kind. */
static void note_fault(struct fby_init_member *member,
    const struct fby_shard *shard, uint32_t m,
    const struct fby_error_detail *fault)
{
    const char *key = fby_shard_key(shard, fby_shard_sample_of(shard, m));
    if (member->invalid_reason[0] == '\0') {
        snprintf(member->invalid_reason, sizeof(member->invalid_reason),
            "%s.%s in %s is %.220s", fby_text_show_begin(key, 40).text,
            fby_text_show_begin(member->extension, 40).text,
            fby_text_show_begin(shard->name, 40).text, fault->text);
    }
    fby_init_free_words(member); /* an invalid file has no class */
    member->no_classes = true;
}

static bool is_array(const struct fby_init_member *member)
{
    return fby_init_has_type(member->extension, "npy");
}

static bool is_json(const struct fby_init_member *member)
{
    return fby_init_has_type(member->extension, "json");
}

static bool is_label(const struct fby_init_member *member)
{
    return fby_init_has_type(member->extension, "cls");
}

/* True for members that are read: arrays and labels, and JSON and texts of usual
 * sizes. */
static bool has_value(const struct fby_init_member *member, uint64_t size)
{
    bool is_value = is_json(member) || fby_init_is_text(member);
    return is_array(member) || is_label(member) ||
           (is_value && size <= MAX_VALUE_BYTES);
}

/* Check the bytes of a text or label, which workers refuse if they are none. */
static fby_err check_text(
    const char *text, size_t size, struct fby_error_detail *why)
{
    if (memchr(text, 0, size) != NULL) {
        return fby_error_set(
            why, FBY_CONFIG, "no text: it has a NUL byte: write it again");
    }
    return fby_is_utf8(text, size)
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG, "not UTF-8: convert it");
}

/* Look at the text of member `m`, of which `size` bytes were read. */
static void add_value(struct fby_guess_split *split,
    struct fby_init_member *member, const struct fby_shard *shard, uint32_t m,
    const char *text, size_t size)
{
    struct fby_error_detail fault = {{0}};
    fby_err                 err   = FBY_OK;
    if (is_array(member)) {
        err = fby_init_add_array(&member->array, (const uint8_t *)text, size,
            shard->member_bytes[m], &fault);
    } else if (is_json(member)) {
        err = fby_guess_add_json(split, member->extension, text, size, &fault);
    } else {
        err = check_text(text, size, &fault);
    }
    if (err == FBY_OK && is_label(member)) {
        add_label(member, text, size);
    }
    if (err != FBY_OK) {
        note_fault(member, shard, m, &fault);
    }
}

/* Read member `m` if it is a label, JSON or an array, unless enough were read. */
static fby_err read_value(const struct fby_object *tar,
    struct fby_guess_split *split, const struct fby_shard *shard, uint32_t m,
    struct fby_error_detail *why)
{
    struct fby_init_member *member =
        fby_guess_find_member(split, fby_shard_suffix(shard, m));
    size_t size = (size_t)shard->member_bytes[m];
    if (member == NULL || !has_value(member, size) ||
        is_enough(split, member)) {
        return FBY_OK;
    }
    if (is_array(member) && size > FBY_NPY_HEAD) {
        size = FBY_NPY_HEAD; /* the values are not needed */
    }
    if (is_label(member) && size > MAX_VALUE_BYTES) {
        struct fby_error_detail fault;
        (void)fby_error_set(&fault, FBY_CONFIG,
            "no label: it has %zu bytes: write a number or a name", size);
        note_fault(member, shard, m, &fault);
        return FBY_OK;
    }
    char   *text = fby_realloc(NULL, size + 1);
    fby_err err =
        fby_object_read(tar, fby_shard_offset(shard, m), text, size, why);
    if (err == FBY_OK) {
        member->values_read++;
        if (member->values_read == UNIQUE_AFTER) {
            give_up_captions(split, member);
        }
        add_value(split, member, shard, m, text, size);
    }
    free(text);
    return err;
}

static fby_err read_values(const struct fby_search *search,
    struct fby_guess_split *split, const struct fby_shard *shard,
    struct fby_error_detail *why)
{
    struct fby_object tar;
    fby_err err = fby_object_open(search->root, shard->name, &tar, why);
    for (uint32_t m = 0; err == FBY_OK && m < shard->n_members; m++) {
        err = read_value(&tar, split, shard, m, why);
    }
    fby_object_close(&tar);
    return err;
}

static fby_err read_tar(struct fby_search *search, const char *path,
    struct fby_guess_split *split, struct fby_shard *shard,
    struct fby_error_detail *why)
{
    const struct fby_member_opener opener = {open_in_tar, search};
    fby_shard_init(shard, path, FBY_SOURCE_SHARDS);
    fby_err err = scan_tar(search, path, shard, why);
    fby_guess_count_members(split, shard); /* after an error, too */
    if (err == FBY_OK) {
        err = fby_guess_read_pngs(split, shard, &opener, why);
    }
    if (err == FBY_OK) {
        err = read_values(search, split, shard, why);
    }
    return err == FBY_OK ? FBY_OK
                         : fby_error_prefix(why, err, "shard %s", path);
}

/* A key is in all samples if it was in all JSON files that were read, and each
 * sample has such a file. */
static void find_constant_keys(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *key = &split->members[i];
        if (key->key[0] != '\0') {
            const struct fby_init_member *file =
                fby_guess_find_member(split, key->extension);
            key->always = file->always && key->count == file->values_read;
        }
    }
}

/* True if all arrays of a file are empty: no dimension of a field is 0. */
static bool has_only_empty_arrays(const struct fby_init_member *member)
{
    const struct fby_init_array *array = &member->array;
    return array->wire != 0 && array->shape.n_dims > 0 && array->longest == 0;
}

static void find_empty_arrays(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *member = &split->members[i];
        if (has_only_empty_arrays(member) &&
            member->invalid_reason[0] == '\0') {
            struct fby_error_detail fault;
            (void)fby_error_set(&fault, FBY_CONFIG,
                "the %s files that were read have no values: save arrays with "
                "some",
                member->extension);
            snprintf(member->invalid_reason, sizeof(member->invalid_reason),
                "%.220s", fault.text);
        }
    }
}

/* True if more shards are to be read only for the names of classes. */
static bool needs_more_names(const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *member = &split->members[i];
        if (member->values_read > 0 && !is_enough(split, member) &&
            may_have_classes(split, member)) {
            return true;
        }
    }
    return false;
}

/* Note which names of classes may be missing: those of values not read. */
static void find_unread_words(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member       *member = &split->members[i];
        const struct fby_init_member *file =
            fby_guess_find_member(split, member->extension);
        member->some_words_unread =
            !split->counted_all ||
            (!fby_init_is_text(member) && file->values_read < file->count);
    }
}

/* Check the shards that were read. `err` is the result of reading the last; names
 * with dots come first, because they may be its cause. */
static fby_err check_tars(const struct fby_search *search, const char *path,
    const struct fby_guess_split *split, const struct fby_shard *shards,
    fby_err err, struct fby_error_detail *why)
{
    FBY_TRY(fby_refuse_shard_names(
        search, path, split, shards, split->shards_read, why));
    if (err == FBY_OK) {
        err = fby_refuse_shards(shards, split->shards_read, why);
    }
    return err == FBY_OK ? fby_refuse_stray_samples(
                               search, path, shards, split->shards_read, why)
                         : err;
}

/* Read the shards of a split until they have enough members. */
static fby_err read_tars(struct fby_search *search, const char *path,
    const struct fby_entry *tars, struct fby_guess_split *split,
    struct fby_error_detail *why)
{
    fby_err           err     = FBY_OK;
    uint64_t          members = 0;
    struct fby_shard *shards  = NULL;
    while (err == FBY_OK && split->shards_read < split->shards &&
           (members < ENOUGH_MEMBERS || needs_more_names(split))) {
        char     file[FBY_PATH_SIZE];
        uint32_t n = split->shards_read++;
        shards     = fby_realloc(shards, (n + 1) * sizeof(*shards));
        shards[n]  = (struct fby_shard){0};
        err        = fby_path_join(path, tars[n].name, file, why);
        if (err == FBY_OK) {
            err = read_tar(search, file, split, &shards[n], why);
        }
        members += shards[n].n_members;
    }
    split->counted_all = split->shards_read == split->shards;
    fby_guess_sort_members(split);
    find_constant_keys(split);
    find_empty_arrays(split);
    find_unread_words(split);
    if (err == FBY_OK || err == FBY_CONFIG) {
        err = check_tars(search, path, split, shards, err, why);
    }
    if (err == FBY_OK) {
        err =
            fby_guess_tar_names(search, split, shards, split->shards_read, why);
    }
    for (uint32_t i = 0; i < split->shards_read; i++) {
        fby_shard_fini(&shards[i]);
    }
    free(shards);
    return err;
}

/* Add a split for the tar files of a group, which begin at `tars`. */
static fby_err add_tar_split(struct fby_search *search, const char *path,
    const struct fby_entry *tars, const struct fby_tar_group *group,
    struct fby_error_detail *why)
{
    char pattern[FBY_PATH_SIZE];
    char below[FBY_PATH_SIZE];
    char prefix[FBY_NAME_SIZE];
    char name[FBY_NAME_SIZE];
    snprintf(prefix, sizeof(prefix), "%.*s", group->prefix, group->first);
    fby_guess_name_of_split(search, prefix, name);
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    fby_tar_group_pattern(group, pattern, sizeof(pattern));
    fby_err err = fby_path_join(path, pattern, below, why);
    if (err == FBY_OK) {
        err = fby_guess_set_pattern(search, below, split, why);
    }
    split->shards     = group->count;
    search->out->kind = FBY_SOURCE_SHARDS;
    return err == FBY_OK ? read_tars(search, path, tars, split, why) : err;
}

/* Move the tar files of a listing to its front, so that each group of shards is
 * contiguous. Returns the number of tar files. */
static uint32_t move_tars_first(struct fby_listing *listing)
{
    uint32_t n_tars = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (!entry->is_dir && fby_is_tar_name(entry->name)) {
            struct fby_entry other     = listing->entries[n_tars];
            listing->entries[n_tars++] = *entry;
            listing->entries[i]        = other;
        }
    }
    return n_tars;
}

fby_err fby_guess_tars(struct fby_search *search, const char *path,
    struct fby_listing *listing, struct fby_error_detail *why)
{
    const struct fby_entry *tars        = listing->entries;
    uint32_t                n           = move_tars_first(listing);
    uint32_t                first_split = search->out->n_splits;
    fby_err                 err         = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < n;) {
        uint32_t             first = i;
        struct fby_tar_group group = fby_tar_group_begin(tars[first].name);
        i++;
        while (i < n && fby_tar_group_join(&group, tars[i].name)) {
            i++;
        }
        err = fby_refuse_name(fby_root_dir(search->root), why);
        if (err == FBY_OK) {
            err = fby_refuse_name(group.first, why);
        }
        if (err == FBY_OK) {
            err = add_tar_split(search, path, &tars[first], &group, why);
        }
    }
    fby_guess_note_beside_tars(search, listing, n);
    return err == FBY_OK
               ? fby_refuse_class_tars(search, path, tars, n, first_split, why)
               : err;
}
