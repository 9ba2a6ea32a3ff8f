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
#include "pipeline/draft.h"
#include "pipeline/location.h"
#include "pipeline/nearest.h"
#include "pipeline/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- splits ---- */

#define SHUFFLE_BY_BLOCKS "{block: K}"

static const struct fby_choice shuffles[] = {
    {"none", FBY_SHUFFLE_NONE},
    {"full", FBY_SHUFFLE_FULL},
    {SHUFFLE_BY_BLOCKS, FBY_SHUFFLE_BLOCK}, /* which is no word */
    {NULL, 0},
};

static const struct fby_choice lasts[] = {
    {"drop", FBY_LAST_DROP},
    {"pad", FBY_LAST_PAD},
    {"short", FBY_LAST_SHORT},
    {NULL, 0},
};

static const struct fby_key shuffle_keys[SHUFFLE_KEYS] = {
    [SHUFFLE_BLOCK] = {.name = "block",
        .expects             = "an integer, 1 to 1048576 (shards in a block)",
        .kind                = FBY_KEY_INTEGER,
        .required            = true,
        .offset              = offsetof(struct draft_shuffle, block),
        .min                 = 1,
        .max                 = FBY_MAX_BLOCK},
};
static const struct fby_schema shuffle_schema = {
    "none, full or {block: K}", shuffle_keys, SHUFFLE_KEYS};

static fby_err read_shuffle(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_shuffle *shuffle = &((struct draft_split *)target)->shuffle;
    if (fby_yaml_is_list(node)) {
        return fby_yaml_expected(yaml, node, shuffle_schema.what);
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
    return fby_choice_read(yaml, node, shuffles, "shuffle", &shuffle->kind);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static fby_err read_column(
    const struct fby_yaml *yaml, yaml_node_t *node, struct draft_split *split)
{
    const char *text = fby_yaml_text(node);
    if (!fby_yaml_is_given(node) || !fby_text_is_extension(text) ||
        strchr(text, '.') != NULL) {
        return fby_yaml_expected(yaml, node,
            "a column's name, in lower-case letters, digits, _ and -");
    }
    for (uint32_t i = 0; i < split->n_files; i++) {
        if (strcmp(split->files[i], text) == 0) {
            return fby_yaml_error(
                yaml, node, "'%s' stands here a second time", text);
        }
    }
    memcpy(split->files[split->n_files++], text, strlen(text) + 1);
    return FBY_OK;
}

/* A column, or a list of them. */
static fby_err read_files(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_split *split = target;
    size_t              n = fby_yaml_is_list(node) ? fby_yaml_length(node) : 1;
    fby_err             err = FBY_OK;
    if (n == 0 || n > FBY_MAX_FILES) {
        return fby_yaml_error(
            yaml, node, "expected 1 to %d columns, not %zu", FBY_MAX_FILES, n);
    }
    for (size_t i = 0; err == FBY_OK && i < n; i++) {
        bool list = fby_yaml_is_list(node);
        err       = read_column(
                  yaml, list ? fby_yaml_item(yaml, node, i) : node, split);
    }
    qsort(split->files, split->n_files, sizeof(split->files[0]), by_text);
    return err;
}

/* Beside those of the sources. */
static const struct fby_key split_keys[SPLIT_KEYS] = {
    [SPLIT_FILES] = {.name = "files", .kind = FBY_KEY_OWN, .read = read_files},
    [SPLIT_SHUFFLE]   = {.name = "shuffle",
          .kind                = FBY_KEY_OWN,
          .read                = read_shuffle},
    [SPLIT_BUCKET_BY] = {.name = "bucket_by",
        .kind                  = FBY_KEY_OWN,
        .read                  = fby_draft_bucket},
    [SPLIT_LAST]      = {.name = "last",
             .expects          = "rule for the last batch",
             .kind             = FBY_KEY_CHOICE,
             .offset           = offsetof(struct draft_split, last),
             .choices          = lasts},
    [SPLIT_LANES]     = {.name = "lanes",
            .expects           = "an integer, 1 to 65536",
            .kind              = FBY_KEY_INTEGER,
            .offset            = offsetof(struct draft_split, lanes),
            .min               = 1,
            .max               = FBY_MAX_LANES},
    [SPLIT_SLICES]    = {.name = "slices",
           .expects            = "an integer that divides global_batch",
           .kind               = FBY_KEY_INTEGER,
           .offset             = offsetof(struct draft_split, slices),
           .min                = 1,
           .max                = FBY_MAX_BATCH},
};
static fby_err read_keys(
    struct fby_yaml *yaml, yaml_node_t *node, struct draft_split *split)
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

static fby_err check_files(
    const struct fby_yaml *yaml, const struct draft_split *split)
{
    return split->n_files == 0 || split->source->has_paths
               ? FBY_OK
               : fby_yaml_wrong(yaml->why, yaml->file, split->at[SPLIT_FILES],
                     "files are columns of a list; this split has none");
}

/* "folder: PATH, shards: PATTERN, ... or tokens: {files: PATTERN, ...}" */
static void list_sources(char *out, size_t size)
{
    size_t n = 0;
    for (int id = 1; id < FBY_N_SOURCES && n < size; id++) {
        const char *before = id == 1                   ? ""
                             : id == FBY_N_SOURCES - 1 ? " or "
                                                       : ", ";
        n += (size_t)snprintf(out + n, size - n, "%s%s", before,
            fby_source_traits_by_id(id)->usage);
    }
}

/* The one source of a split. */
static fby_err find_source(
    const struct fby_yaml *yaml, struct draft_split *split)
{
    size_t n = 0;
    for (int id = 1; id < FBY_N_SOURCES; id++) {
        if (fby_is_given(split->at[SPLIT_SOURCE(id)])) {
            split->source = fby_source_traits_by_id(id);
            split->kind   = split->source->id;
            n++;
        }
    }
    if (n == 1) {
        return FBY_OK;
    }
    char sources[256];
    list_sources(sources, sizeof(sources));
    return fby_yaml_wrong(yaml->why, yaml->file, split->here,
        "split '%s' needs one source: %s", split->name, sources);
}

/* Where its source is. */
static fby_err locate_source(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, struct draft_split *split)
{
    struct fby_location_parts parts;
    struct fby_why            why = {{0}};

    fby_err err = fby_location_absolute(
        split->pattern, pipeline->folder, split->location.pattern, &why);
    if (err == FBY_OK) {
        err = fby_location_split(
            split->location.pattern, split->kind, &parts, &why);
    }
    return err == FBY_OK
               ? check_files(yaml, split)
               : fby_yaml_wrong(yaml->why, yaml->file,
                     split->at[SPLIT_SOURCE(split->kind)], "%s", why.text);
}

static fby_err check_blocks(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, const struct draft_split *split)
{
    for (size_t key = SPLIT_LANES; key <= SPLIT_SLICES; key++) {
        if (fby_is_given(split->at[key]) &&
            split->shuffle.kind != FBY_SHUFFLE_BLOCK) {
            return fby_yaml_wrong(yaml->why, yaml->file, split->at[key],
                "%s is used only with shuffle: {block: K}",
                split_keys[key].name);
        }
    }
    if (split->slices > 0 && pipeline->global_batch % split->slices != 0) {
        return fby_yaml_wrong(yaml->why, yaml->file, split->at[SPLIT_SLICES],
            "slices: %lld does not divide global_batch: %lld",
            (long long)split->slices, (long long)pipeline->global_batch);
    }
    return FBY_OK;
}

/* A field comes either from a member of a sample or from a column. */
static fby_err check_kinds(const struct fby_yaml *yaml,
    const struct fby_pipeline *pipeline, const struct draft_split *split)
{
    const struct draft_split *first   = &pipeline->splits[0];
    bool                      columns = split->source->has_rows;
    return pipeline->n_splits == 0 || columns == first->source->has_rows
               ? FBY_OK
               : fby_yaml_wrong(yaml->why, yaml->file, split->here,
                     "split '%s' has columns and split '%s' has not; all "
                     "splits of a pipeline have them, or none",
                     columns ? split->name : first->name,
                     columns ? first->name : split->name);
}

fby_err fby_draft_name(const struct fby_yaml *yaml, const yaml_node_t *key,
    const char *what, char out[FBY_NAME_SIZE])
{
    const char *text = fby_yaml_text(key);
    if (!fby_text_is_name(text)) {
        return fby_yaml_error(yaml, key,
            "'%s' is no name for a %s: a letter or _, then letters, digits, _ "
            "and -, at most %d in all",
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
                "split '%s' stands here a second time (first in line %zu)",
                pipeline->splits[i].name, pipeline->splits[i].here.line);
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
    fby_err              err      = check_new_split(yaml, key, pipeline);
    if (err != FBY_OK) {
        return err;
    }
    struct draft_split *split = &pipeline->splits[pipeline->n_splits];
    split->here               = fby_yaml_place(key);
    split->shuffle.kind       = FBY_SHUFFLE_FULL;
    split->last               = FBY_LAST_DROP;
    err                       = fby_draft_name(yaml, key, "split", split->name);
    if (err == FBY_OK) {
        err = read_keys(yaml, value, split);
    }
    if (err == FBY_OK) {
        err = find_source(yaml, split);
    }
    if (err == FBY_OK) {
        err = locate_source(yaml, pipeline, split);
    }
    if (err == FBY_OK) {
        err = check_blocks(yaml, pipeline, split);
    }
    if (err == FBY_OK) {
        err = check_kinds(yaml, pipeline, split);
    }
    pipeline->n_splits += err == FBY_OK ? 1 : 0;
    return err;
}

/* ---- the top of the file ---- */

static const struct fby_choice bad_samples[] = {
    {"fail", FBY_BAD_FAIL},
    {"substitute", FBY_BAD_SUBSTITUTE},
    {NULL, 0},
};

static const struct fby_key bad_sample_keys[BAD_KEYS] = {
    [BAD_DO]    = {.name = "do",
           .expects      = "rule for bad samples",
           .kind         = FBY_KEY_CHOICE,
           .required     = true,
           .offset       = offsetof(struct draft_bad_sample, what),
           .choices      = bad_samples},
    [BAD_LIMIT] = {.name = "limit",
        .expects         = "an integer, 1 to 2147483647",
        .kind            = FBY_KEY_INTEGER,
        .offset          = offsetof(struct draft_bad_sample, limit),
        .min             = 1,
        .max             = INT32_MAX},
};
static const struct fby_schema bad_sample_schema = {
    "fail, substitute or {do: substitute, limit: 100}", bad_sample_keys,
    BAD_KEYS};

static fby_err read_bad_sample(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_bad_sample *bad = &((struct fby_pipeline *)target)->bad_sample;
    if (fby_yaml_is_list(node)) {
        return fby_yaml_expected(yaml, node, bad_sample_schema.what);
    }
    if (!fby_yaml_is_map(node)) {
        return fby_choice_read(
            yaml, node, bad_samples, "rule for bad samples", &bad->what);
    }
    fby_err err = fby_schema_read(yaml, node, &bad_sample_schema, bad);
    if (err == FBY_OK && bad->what == FBY_BAD_FAIL &&
        fby_is_given(bad->at[BAD_LIMIT])) {
        err = fby_yaml_wrong(yaml->why, yaml->file, bad->at[BAD_LIMIT],
            "limit belongs to do: substitute; do: fail stops at the first");
    }
    return err;
}

/* Splits and fields are read after the rest, in this order, because fields
 * name splits and both need global_batch. */
static fby_err keep_splits(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    (void)yaml;
    ((struct fby_pipeline *)target)->splits_node = node;
    return FBY_OK;
}

static fby_err keep_fields(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    (void)yaml;
    ((struct fby_pipeline *)target)->fields_node = node;
    return FBY_OK;
}

static const struct fby_key top_keys[TOP_KEYS] = {
    [TOP_FOREBAY]       = {.name = "forebay",
              .expects           = "1, the version of this format",
              .kind              = FBY_KEY_INTEGER,
              .required          = true,
              .offset            = offsetof(struct fby_pipeline, version),
              .min               = 1,
              .max               = 1},
    [TOP_SPLITS]        = {.name = "splits",
               .expects          = "at least one split by name",
               .kind             = FBY_KEY_OWN,
               .required         = true,
               .read             = keep_splits},
    [TOP_GLOBAL_BATCH]  = {.name = "global_batch",
         .expects                = "an integer, 1 to 65536 (rows of a batch)",
         .kind                   = FBY_KEY_INTEGER,
         .required               = true,
         .offset                 = offsetof(struct fby_pipeline, global_batch),
         .min                    = 1,
         .max                    = FBY_MAX_BATCH},
    [TOP_SEED]          = {.name = "seed",
                 .expects        = "an integer, 0 to 9223372036854775807",
                 .kind           = FBY_KEY_INTEGER,
                 .offset         = offsetof(struct fby_pipeline, seed),
                 .min            = 0,
                 .max            = (double)INT64_MAX},
    [TOP_ON_BAD_SAMPLE] = {.name = "on_bad_sample",
        .kind                    = FBY_KEY_OWN,
        .read                    = read_bad_sample},
    [TOP_FIELDS]        = {.name = "fields",
               .expects          = "at least one field by name",
               .kind             = FBY_KEY_OWN,
               .required         = true,
               .read             = keep_fields},
};
static const struct fby_schema top_schema = {
    "a pipeline, {forebay: 1, splits: ..., ...}", top_keys, TOP_KEYS};

static fby_err read_splits(struct fby_yaml *yaml, struct fby_pipeline *self)
{
    fby_err err = fby_yaml_read_entries(yaml, self->splits_node,
        top_keys[TOP_SPLITS].expects, read_split, self);
    if (err == FBY_OK && self->n_splits == 0) {
        err = fby_yaml_error(yaml, self->splits_node,
            "there is no split; write for example train: {folder: PATH}");
    }
    return err;
}

/* Everything that can be wrong is found now: pick each split once. */
static fby_err try_splits(const struct fby_pipeline *self, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < self->n_splits; i++) {
        struct fby_split *split = NULL;
        err = fby_pipeline_split(self, self->splits[i].name, &split, why);
        fby_split_destroy(&split);
    }
    return err;
}

static fby_err read_document(struct fby_yaml *yaml, struct fby_pipeline *self)
{
    yaml_node_t *root = yaml_document_get_root_node(&yaml->document);
    fby_err      err  = fby_schema_read(yaml, root, &top_schema, self);
    if (err == FBY_OK) {
        err = read_splits(yaml, self);
    }
    if (err == FBY_OK) {
        err = fby_draft_fields(yaml, self);
    }
    return err == FBY_OK ? try_splits(self, yaml->why) : err;
}

static fby_err check_size(
    const struct fby_pipeline_text *text, struct fby_why *why)
{
    if (text->size > FBY_PIPELINE_MAX_BYTES) {
        return fby_because(why, FBY_CONFIG,
            "%s: %zu bytes; a pipeline file has at most %d", text->name,
            text->size, FBY_PIPELINE_MAX_BYTES);
    }
    return FBY_OK;
}

fby_err fby_pipeline_parse(const struct fby_pipeline_text *text,
    struct fby_pipeline **out, struct fby_why *why)
{
    struct fby_yaml       yaml;
    struct fby_yaml_input input = {text->text, text->size, text->name};
    fby_err               err   = check_size(text, why);
    if (err == FBY_OK) {
        err = fby_yaml_open(&input, &yaml, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    struct fby_pipeline *self = fby_zalloc(sizeof(*self));
    self->file                = fby_strdup(text->name);
    self->folder              = text->folder;
    self->bad_sample.what     = FBY_BAD_FAIL;
    self->bad_sample.limit    = DEFAULT_LIMIT;
    err                       = read_document(&yaml, self);
    fby_yaml_close(&yaml);
    self->folder      = NULL;
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

/* All of a file, or one byte more than is allowed. */
static fby_err read_all(int fd, struct fby_buffer *out)
{
    for (;;) {
        uint8_t piece[16384];
        ssize_t n = read(fd, piece, sizeof(piece));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0 || out->size > FBY_PIPELINE_MAX_BYTES) {
            return n < 0 ? FBY_IO : FBY_OK;
        }
        fby_put_bytes(out, piece, (size_t)n);
    }
}

static fby_err read_file(
    const char *path, struct fby_buffer *out, struct fby_why *why)
{
    int     fd  = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    fby_err err = fd < 0 ? FBY_IO : read_all(fd, out);
    if (err != FBY_OK) {
        fby_because(why, err, "%s: cannot read the pipeline file: %s", path,
            strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return err;
}

/* The real folder of `path`, so that `..` may be taken from the text. A file
 * that is a link stays where the link is. */
static fby_err folder_of(
    const char *path, char out[PATH_MAX], struct fby_why *why)
{
    const char *slash  = strrchr(path, '/');
    char       *folder = fby_strdup(slash != NULL ? path : ".");
    if (slash != NULL) {
        folder[slash == path ? 1 : slash - path] = '\0';
    }
    fby_err err = realpath(folder, out) != NULL ? FBY_OK : FBY_IO;
    if (err != FBY_OK) {
        fby_because(why, err, "%s: %s", folder, strerror(errno));
    }
    free(folder);
    return err;
}

fby_err fby_pipeline_load(
    const char *path, struct fby_pipeline **out, struct fby_why *why)
{
    char              folder[PATH_MAX];
    struct fby_buffer bytes = {0};
    fby_err           err   = read_file(path, &bytes, why);
    if (err == FBY_OK) {
        err = folder_of(path, folder, why);
    }
    if (err == FBY_OK) {
        struct fby_pipeline_text text = {
            (const char *)bytes.data, bytes.size, path, folder};
        err = fby_pipeline_parse(&text, out, why);
    }
    fby_buffer_fini(&bytes);
    return err;
}

/* ---- what a file says of itself ---- */

size_t fby_pipeline_n_splits(const struct fby_pipeline *self)
{
    return self->n_splits;
}

const char *fby_pipeline_split_name(const struct fby_pipeline *self, size_t i)
{
    return self->splits[i].name;
}

uint64_t fby_pipeline_seed(const struct fby_pipeline *self)
{
    return (uint64_t)self->seed;
}
