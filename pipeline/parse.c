/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - read a pipeline file and its splits; field.c reads its fields. */
#include "pipeline/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "pipeline/exclude.h"
#include "pipeline/location.h"
#include "pipeline/nearest.h"
#include "pipeline/parse_state.h"
#include "pipeline/text.h"

enum { DEFAULT_BAD_SAMPLE_LIMIT = 100 };

/* ---- splits ---- */

#define SHUFFLE_BY_BLOCKS "{block: K}"

static const struct fby_choice shuffle_words[] = {
    {"none", FBY_SHUFFLE_NONE},
    {"full", FBY_SHUFFLE_FULL},
    {SHUFFLE_BY_BLOCKS, FBY_SHUFFLE_BLOCK}, /* only named in errors */
    {NULL, 0},
};

static const struct fby_choice last_batch_words[] = {{"drop", FBY_LAST_DROP},
    {"pad", FBY_LAST_PAD}, {"short", FBY_LAST_SHORT}, {NULL, 0}};

static const struct fby_key shuffle_keys[SHUFFLE_KEYS] = {
    [SHUFFLE_BLOCK] = {FBY_INTEGER("block", parsed_shuffle, block, 1,
                           FBY_MAX_BLOCK,
                           "an integer, 1 to 1048576 (shards in a block)"),
        .required = true},
};
static const struct fby_schema shuffle_schema = {
    "none, full or {block: K}", shuffle_keys, SHUFFLE_KEYS};

static fby_err read_shuffle(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_shuffle *shuffle = &((struct parsed_split *)target)->shuffle;
    if (fby_yaml_is_list(node)) {
        return fby_yaml_error_expected(yaml, node, shuffle_schema.what);
    }
    if (fby_yaml_is_map(node)) {
        shuffle->kind = FBY_SHUFFLE_BLOCK;
        return fby_schema_read(yaml, node, &shuffle_schema, shuffle);
    }
    const char *text = fby_yaml_text(node);
    if (strcmp(text, "block") == 0 || strcmp(text, SHUFFLE_BY_BLOCKS) == 0) {
        return fby_yaml_error(
            yaml, node, "shuffle by blocks is written {block: K}");
    }
    return fby_choice_read(
        yaml, node, shuffle_words, "shuffle", &shuffle->kind);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Append the name of a column to split->files: lower case, without dots. */
static fby_err read_column_name(
    const struct fby_yaml *yaml, yaml_node_t *node, struct parsed_split *split)
{
    const char *text = fby_yaml_text(node);
    if (!fby_yaml_is_given(node) || !fby_text_is_extension(text) ||
        strchr(text, '.') != NULL) {
        return fby_yaml_error_expected(yaml, node,
            "a column's name, in lower-case letters, digits, _ and -");
    }
    for (uint32_t i = 0; i < split->n_files; i++) {
        if (strcmp(split->files[i], text) == 0) {
            return fby_yaml_error(yaml, node, "'%s' is given twice", text);
        }
    }
    memcpy(split->files[split->n_files++], text, strlen(text) + 1);
    return FBY_OK;
}

/* Read the key `files`: one name of a column, or a list of names. */
static fby_err read_files(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_split *split   = target;
    size_t               n_names = fby_yaml_length(node);
    if (n_names == 0 || n_names > FBY_MAX_FILES) {
        return fby_yaml_error(yaml, node, "expected 1 to %d columns, not %zu",
            FBY_MAX_FILES, n_names);
    }
    for (size_t i = 0; i < n_names; i++) {
        FBY_TRY(read_column_name(yaml, fby_yaml_item(yaml, node, i), split));
    }
    qsort(split->files, split->n_files, sizeof(split->files[0]), compare_text);
    return FBY_OK;
}

static const char bounds_expected[] =
    "a list of 1 to 63 integers, 1 to 1099511627776, ascending, such as [64, "
    "128, 256]";

static fby_err read_bounds(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_bucket *bucket = target;
    size_t n = fby_yaml_is_list(node) ? fby_yaml_length(node) : 0;
    if (n < 1 || n > FBY_MAX_BOUNDS) {
        return fby_yaml_error_expected(yaml, node, bounds_expected);
    }
    for (size_t i = 0; i < n; i++) {
        yaml_node_t *item = fby_yaml_item(yaml, node, i);
        int64_t      min  = i == 0 ? 1 : bucket->by.bounds[i - 1] + 1;
        if (!fby_yaml_read_integer(item, &bucket->by.bounds[i]) ||
            bucket->by.bounds[i] < min ||
            bucket->by.bounds[i] > FBY_MAX_BOUND) {
            return fby_yaml_error_expected(yaml, item, bounds_expected);
        }
    }
    bucket->by.n_bounds = (uint32_t)n;
    return FBY_OK;
}

static const struct fby_key bucket_keys[BUCKET_KEYS] = {
    [BUCKET_FIELD]  = {FBY_TEXT("field", parsed_bucket, by.field,
                           "a field whose members have lengths"),
         .required = true},
    [BUCKET_BOUNDS] = {FBY_READ_BY("bounds", read_bounds),
        .expects = bounds_expected, .required = true},
};
static const struct fby_schema bucket_schema = {
    "{field: NAME, bounds: [64, 128, 256]}", bucket_keys, BUCKET_KEYS};

/* The keys of a split. read_split_keys adds the keys of the sources. */
static const struct fby_key split_keys[SPLIT_KEYS] = {
    [SPLIT_FILES]     = {FBY_READ_BY("files", read_files)},
    [SPLIT_SHUFFLE]   = {FBY_READ_BY("shuffle", read_shuffle)},
    [SPLIT_BUCKET_BY] = {FBY_MAP(
        "bucket_by", parsed_split, bucket, &bucket_schema)},
    [SPLIT_LAST]      = {FBY_CHOICE("last", parsed_split, last,
             "rule for the last batch", last_batch_words)},
    [SPLIT_LANES] = {FBY_INTEGER("lanes", parsed_split, lanes, 1, FBY_MAX_LANES,
        "an integer, 1 to 65536")},
    [SPLIT_SLICES]      = {FBY_INTEGER("slices", parsed_split, slices, 1,
             FBY_MAX_BATCH, "an integer that divides global_batch")},
    [SPLIT_CLASS_DEPTH] = {FBY_INTEGER("class_depth", parsed_split, class_depth,
        0, FBY_MAX_CLASS_DEPTH,
        "an integer, 0 (no classes) to 8: levels down to the class folders")},
    [SPLIT_EXCLUDE]     = {FBY_TEXT("exclude", parsed_split, exclude,
            "the path of a file with a name of a sample in each line")},
    [SPLIT_CLASSES_FROM] = {FBY_TEXT("classes_from", parsed_split, classes_from,
        "the name of a split, whose class folders number the classes")},
};

static fby_err read_split_keys(
    struct fby_yaml *yaml, yaml_node_t *node, struct parsed_split *split)
{
    struct fby_key keys[SPLIT_KEYS];
    memcpy(keys, split_keys, sizeof(keys));
    for (int id = 1; id < FBY_N_SOURCES; id++) {
        keys[SPLIT_SOURCE(id)] = *fby_source_traits_by_id(id)->key;
    }
    const struct fby_schema schema = {
        "a split, {shards: PATTERN or folder: PATH, ...}", keys, SPLIT_KEYS};
    return fby_schema_read(yaml, node, &schema, split);
}

static fby_err check_files_key(
    const struct fby_yaml *yaml, const struct parsed_split *split)
{
    return split->n_files == 0 || split->source->has_paths
               ? FBY_OK
               : fby_yaml_error_at(yaml, split->key_pos[SPLIT_FILES],
                     "files names columns of a list; this split has no list");
}

static fby_err check_class_depth_key(
    const struct fby_yaml *yaml, const struct parsed_split *split)
{
    struct fby_source_pos pos = split->key_pos[SPLIT_CLASS_DEPTH];
    return !fby_pos_is_given(pos) || split->source->has_classes
               ? FBY_OK
               : fby_yaml_error_at(yaml, pos,
                     "class_depth is for a folder; this split has none");
}

/* split.c checks the name, because the split may follow in the file. */
static fby_err check_classes_from_key(
    const struct fby_yaml *yaml, const struct parsed_split *split)
{
    struct fby_source_pos pos = split->key_pos[SPLIT_CLASSES_FROM];
    return !fby_pos_is_given(pos) || fby_parsed_has_class_folders(split)
               ? FBY_OK
               : fby_yaml_error_at(yaml, pos,
                     "classes_from is for a folder with class folders; this "
                     "split has none");
}

/* Read the file that the key `exclude` names. Its relative path starts where
 * those of the data do. */
static fby_err read_excluded(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, struct parsed_split *split)
{
    struct fby_error_detail why = {{0}};
    char                    path[FBY_PATH_SIZE];
    const char             *names[FBY_MAX_SPLITS];
    if (!fby_pos_is_given(split->key_pos[SPLIT_EXCLUDE])) {
        return FBY_OK;
    }
    if (split->source->has_rows || split->source->has_sequences) {
        return fby_yaml_error_at(yaml, split->key_pos[SPLIT_EXCLUDE],
            "exclude is for folder, shards, list and parallel; the samples of "
            "%s have no names",
            split->source->key->name);
    }
    if (fby_location_is_named(split->exclude)) {
        return fby_yaml_error_at(yaml, split->key_pos[SPLIT_EXCLUDE],
            "exclude is a file at the trainer, not below a root of workers; "
            "write its path");
    }
    struct fby_exclude_splits splits = {
        .wanted = split->name, .names = names, .n = pipeline->n_splits};
    for (size_t i = 0; i < splits.n; i++) {
        names[i] = pipeline->splits[i].name;
    }
    if (fby_location_make_absolute(
            split->exclude, pipeline->folder, path, &why) == FBY_OK &&
        fby_excluded_load(path, &splits, &split->excluded, &why) == FBY_OK) {
        snprintf(split->exclude, sizeof(split->exclude), "%s", path);
        return FBY_OK;
    }
    return fby_yaml_error_at(
        yaml, split->key_pos[SPLIT_EXCLUDE], "exclude: %s", why.text);
}

/* List the sources: "folder: PATH, ... or tokens: {files: PATTERN, ...}". */
static void list_sources(char *out, size_t size)
{
    size_t length = 0;
    for (int id = 1; id < FBY_N_SOURCES && length < size; id++) {
        const char *separator = id == 1                   ? ""
                                : id == FBY_N_SOURCES - 1 ? " or "
                                                          : ", ";
        length += (size_t)snprintf(out + length, size - length, "%s%s",
            separator, fby_source_traits_by_id(id)->usage);
    }
}

/* Set the source of a split from its key. Exactly one source must be given. */
static fby_err set_source(
    const struct fby_yaml *yaml, struct parsed_split *split)
{
    size_t n_sources = 0;
    for (int id = 1; id < FBY_N_SOURCES; id++) {
        if (fby_pos_is_given(split->key_pos[SPLIT_SOURCE(id)])) {
            split->source = fby_source_traits_by_id(id);
            split->kind   = split->source->id;
            n_sources++;
        }
    }
    if (n_sources == 1) {
        return FBY_OK;
    }
    char sources[256];
    list_sources(sources, sizeof(sources));
    return fby_yaml_error_at(yaml, split->name_pos,
        "split '%s' needs one source: %s", split->name, sources);
}

/* Set the location of a split from its pattern, and check it. */
static fby_err set_location(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, struct parsed_split *split)
{
    struct fby_location_parts parts;
    struct fby_error_detail   why = {{0}};
    if (fby_location_make_absolute(split->pattern, pipeline->folder,
            split->location.pattern, &why) == FBY_OK &&
        fby_location_split(
            split->location.pattern, split->kind, &parts, &why) == FBY_OK) {
        return FBY_OK;
    }
    return fby_yaml_error_at(
        yaml, split->key_pos[SPLIT_SOURCE(split->kind)], "%s", why.text);
}

/* Check the keys `lanes` and `slices`, which belong to shuffle: {block: K}. */
static fby_err check_block_keys(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, const struct parsed_split *split)
{
    for (size_t key = SPLIT_LANES; key <= SPLIT_SLICES; key++) {
        if (fby_pos_is_given(split->key_pos[key]) &&
            split->shuffle.kind != FBY_SHUFFLE_BLOCK) {
            return fby_yaml_error_at(yaml, split->key_pos[key],
                "%s is used only with shuffle: {block: K}",
                split_keys[key].name);
        }
    }
    if (split->slices > 0 && pipeline->global_batch % split->slices != 0) {
        return fby_yaml_error_at(yaml, split->key_pos[SPLIT_SLICES],
            "slices: %lld does not divide global_batch: %lld",
            (long long)split->slices, (long long)pipeline->global_batch);
    }
    return FBY_OK;
}

/* Check that all splits have columns or none has: a field cannot come from a
 * column in one split and from a member of a sample in another. */
static fby_err check_columns(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, const struct parsed_split *split)
{
    const struct parsed_split *first       = &pipeline->splits[0];
    bool                       has_columns = split->source->has_rows;
    /* n_splits counts the splits before this one. */
    return pipeline->n_splits == 0 || has_columns == first->source->has_rows
               ? FBY_OK
               : fby_yaml_error_at(yaml, split->name_pos,
                     "split '%s' has columns, and split '%s' does not; either "
                     "all splits of a pipeline have columns, or none",
                     has_columns ? split->name : first->name,
                     has_columns ? first->name : split->name);
}

fby_err fby_parsed_read_name(const struct fby_yaml *yaml,
    const yaml_node_t *key, const char *what, char out[FBY_NAME_SIZE])
{
    const char *text = fby_yaml_text(key);
    if (!fby_text_is_name(text)) {
        return fby_yaml_error(yaml, key,
            "'%s' is not a valid name for a %s: use a letter or _, then "
            "letters, digits, _ and -, at most %d characters",
            fby_text_show(text).text, what, FBY_NAME_SIZE - 1);
    }
    memcpy(out, text, strlen(text) + 1);
    return FBY_OK;
}

static fby_err check_new_split(const struct fby_yaml *yaml,
    const yaml_node_t *key, const struct fby_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->n_splits; i++) {
        if (strcmp(pipeline->splits[i].name, fby_yaml_text(key)) == 0) {
            return fby_yaml_error(yaml, key,
                "split '%s' is given twice (first in line %zu)",
                pipeline->splits[i].name, pipeline->splits[i].name_pos.line);
        }
    }
    return pipeline->n_splits < FBY_MAX_SPLITS
               ? FBY_OK
               : fby_yaml_error(
                     yaml, key, "more than %d splits", FBY_MAX_SPLITS);
}

static fby_err read_split(
    struct fby_yaml *yaml, yaml_node_t *key, yaml_node_t *value, void *target)
{
    struct fby_pipeline *pipeline = target;
    FBY_TRY(check_new_split(yaml, key, pipeline));
    struct parsed_split *split = &pipeline->splits[pipeline->n_splits];
    split->name_pos            = fby_yaml_pos(key);
    split->shuffle.kind        = FBY_SHUFFLE_FULL;
    split->last                = FBY_LAST_DROP;
    split->class_depth         = 1;
    FBY_TRY(fby_parsed_read_name(yaml, key, "split", split->name));
    FBY_TRY(read_split_keys(yaml, value, split));
    FBY_TRY(set_source(yaml, split));
    FBY_TRY(set_location(yaml, pipeline, split));
    FBY_TRY(check_files_key(yaml, split));
    FBY_TRY(check_class_depth_key(yaml, split));
    FBY_TRY(check_classes_from_key(yaml, split));
    FBY_TRY(check_block_keys(yaml, pipeline, split));
    FBY_TRY(check_columns(yaml, pipeline, split));
    pipeline->n_splits++;
    return FBY_OK;
}

/* ---- the top of the file ---- */

static const struct fby_choice bad_sample_words[] = {
    {"fail", FBY_BAD_FAIL}, {"substitute", FBY_BAD_SUBSTITUTE}, {NULL, 0}};

static const struct fby_key bad_sample_keys[BAD_KEYS] = {
    [BAD_DO]    = {FBY_CHOICE("do", parsed_bad_sample, rule,
                       "rule for bad samples", bad_sample_words),
           .required = true},
    [BAD_LIMIT] = {FBY_INTEGER("limit", parsed_bad_sample, limit, 1, INT32_MAX,
        "an integer, 1 to 2147483647")},
};
static const struct fby_schema bad_sample_schema = {
    "fail, substitute or {do: substitute, limit: 100}", bad_sample_keys,
    BAD_KEYS};

static fby_err read_bad_sample(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct parsed_bad_sample *bad =
        &((struct fby_pipeline *)target)->bad_sample;
    if (fby_yaml_is_list(node)) {
        return fby_yaml_error_expected(yaml, node, bad_sample_schema.what);
    }
    if (!fby_yaml_is_map(node)) {
        return fby_choice_read(
            yaml, node, bad_sample_words, "rule for bad samples", &bad->rule);
    }
    FBY_TRY(fby_schema_read(yaml, node, &bad_sample_schema, bad));
    return bad->rule != FBY_BAD_FAIL ||
                   !fby_pos_is_given(bad->key_pos[BAD_LIMIT])
               ? FBY_OK
               : fby_yaml_error_at(yaml, bad->key_pos[BAD_LIMIT],
                     "limit belongs to do: substitute; do: fail stops at the "
                     "first");
}

/* FBY_NODE only stores the nodes of splits and fields. They are read after the
 * other keys, splits first: fields name splits, and both need global_batch. */
static const struct fby_key top_keys[TOP_KEYS] = {
    [TOP_FOREBAY]      = {FBY_INTEGER("forebay", fby_pipeline, version, 1, 1,
                              "1, the version of this format"),
             .required = true},
    [TOP_SPLITS]       = {FBY_NODE("splits", fby_pipeline, splits_node,
                              "at least one split by name"),
              .required = true},
    [TOP_GLOBAL_BATCH] = {FBY_INTEGER("global_batch", fby_pipeline,
                              global_batch, 1, FBY_MAX_BATCH,
                              "an integer, 1 to 65536 (rows of a batch)"),
        .required = true},
    [TOP_SEED] = {FBY_INTEGER("seed", fby_pipeline, seed, 0, (double)INT64_MAX,
        "an integer, 0 to 9223372036854775807")},
    [TOP_ON_BAD_SAMPLE] = {FBY_READ_BY("on_bad_sample", read_bad_sample)},
    [TOP_FIELDS]        = {FBY_NODE("fields", fby_pipeline, fields_node,
                               "at least one field by name"),
               .required = true},
};
static const struct fby_schema top_schema = {
    "a pipeline, {forebay: 1, splits: ..., ...}", top_keys, TOP_KEYS};

static fby_err read_splits(struct fby_yaml *yaml, struct fby_pipeline *self)
{
    FBY_TRY(fby_yaml_read_entries(yaml, self->splits_node,
        top_keys[TOP_SPLITS].expects, read_split, self));
    if (self->n_splits == 0) {
        return fby_yaml_error(yaml, self->splits_node,
            "there is no split; write for example train: {folder: PATH}");
    }
    for (size_t i = 0; i < self->n_splits; i++) {
        /* An exclude file may name any split, so all of them are read first. */
        FBY_TRY(read_excluded(yaml, self, &self->splits[i]));
    }
    return FBY_OK;
}

/* Make each split once, only to find its errors. */
static fby_err check_splits(
    const struct fby_pipeline *self, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < self->n_splits; i++) {
        struct fby_split *split = NULL;
        err = fby_pipeline_make_split(self, self->splits[i].name, &split, why);
        fby_split_destroy(&split);
    }
    return err;
}

static fby_err read_document(struct fby_yaml *yaml, struct fby_pipeline *self)
{
    yaml_node_t *root = yaml_document_get_root_node(&yaml->document);
    FBY_TRY(fby_schema_read(yaml, root, &top_schema, self));
    FBY_TRY(read_splits(yaml, self));
    FBY_TRY(fby_parsed_read_fields(yaml, self));
    return check_splits(self, yaml->why);
}

fby_err fby_pipeline_parse(const struct fby_pipeline_text *text,
    struct fby_pipeline **out, struct fby_error_detail *why)
{
    struct fby_yaml       yaml;
    struct fby_yaml_input input = {text->text, text->size, text->name};
    if (text->size > FBY_PIPELINE_MAX_BYTES) {
        return fby_error_set(why, FBY_CONFIG,
            "%s: %zu bytes; a pipeline file has at most %d", text->name,
            text->size, FBY_PIPELINE_MAX_BYTES);
    }
    FBY_TRY(fby_yaml_open(&input, &yaml, why));
    struct fby_pipeline *self = fby_zalloc(sizeof(*self));
    self->file                = fby_strdup(text->name);
    self->folder              = text->folder;
    self->bad_sample.rule     = FBY_BAD_FAIL;
    self->bad_sample.limit    = DEFAULT_BAD_SAMPLE_LIMIT;
    fby_err err               = read_document(&yaml, self);
    fby_yaml_close(&yaml);
    self->folder      = NULL; /* all three were borrowed */
    self->splits_node = NULL;
    self->fields_node = NULL;
    if (err != FBY_OK) {
        fby_pipeline_destroy(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

void fby_pipeline_destroy(struct fby_pipeline **self_p)
{
    struct fby_pipeline *self = *self_p;
    if (self != NULL) {
        *self_p = NULL;
        free(self->file);
        free(self);
    }
}

/* ---- files ---- */

/* Read a file to its end, but stop early if it has more bytes than
 * fby_pipeline_parse accepts. */
static fby_err read_all(int fd, struct fby_buffer *out)
{
    for (;;) {
        uint8_t bytes[16384];
        ssize_t n = read(fd, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0 || out->size > FBY_PIPELINE_MAX_BYTES) {
            return n < 0 ? FBY_IO : FBY_OK;
        }
        fby_put_bytes(out, bytes, (size_t)n);
    }
}

static fby_err read_file(int fd, const char *path, struct fby_buffer *out,
    struct fby_error_detail *why)
{
    fby_err err = fd < 0 ? FBY_IO : read_all(fd, out);
    if (err != FBY_OK) {
        fby_error_set(why, err, "%s: cannot read the pipeline file: %s", path,
            strerror(errno));
    }
    return err;
}

/* Set `out` to the folder of `path` without symbolic links, so that `..` can be
 * resolved in the text. If the file is a link, take the folder of the link. */
static fby_err find_folder(
    const char *path, char out[PATH_MAX], struct fby_error_detail *why)
{
    const char *slash  = strrchr(path, '/');
    char       *folder = fby_strdup(slash != NULL ? path : ".");
    if (slash != NULL) {
        folder[slash == path ? 1 : slash - path] = '\0'; /* keep "/" */
    }
    fby_err err = realpath(folder, out) != NULL ? FBY_OK : FBY_IO;
    if (err != FBY_OK) {
        fby_error_set(why, err, "%s: %s", folder, strerror(errno));
    }
    free(folder);
    return err;
}

fby_err fby_pipeline_read(int fd, const char *path, struct fby_pipeline **out,
    struct fby_error_detail *why)
{
    char              folder[PATH_MAX];
    struct fby_buffer bytes = {0};
    fby_err           err   = read_file(fd, path, &bytes, why);
    if (err == FBY_OK) {
        err = find_folder(path, folder, why);
    }
    if (err == FBY_OK) {
        struct fby_pipeline_text text = {
            (const char *)bytes.data, bytes.size, path, folder};
        err = fby_pipeline_parse(&text, out, why);
    }
    fby_buffer_fini(&bytes);
    return err;
}

fby_err fby_pipeline_load(
    const char *path, struct fby_pipeline **out, struct fby_error_detail *why)
{
    int     fd  = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    fby_err err = fby_pipeline_read(fd, path, out, why);
    if (fd >= 0) {
        close(fd);
    }
    return err;
}

/* ---- getters ---- */

size_t fby_pipeline_n_splits(const struct fby_pipeline *self)
{
    return self->n_splits;
}

const char *fby_pipeline_split_name(const struct fby_pipeline *self, size_t i)
{
    return self->splits[i].name;
}

const char *fby_pipeline_exclude_path(const struct fby_pipeline *self, size_t i)
{
    const struct parsed_split *split = &self->splits[i];
    return fby_pos_is_given(split->key_pos[SPLIT_EXCLUDE]) ? split->exclude
                                                           : NULL;
}

uint64_t fby_pipeline_seed(const struct fby_pipeline *self)
{
    return (uint64_t)self->seed;
}
