/* mds.c - a shard of MosaicML's streaming, format "mds", version 2.
 *
 *     offset   bytes
 *     0        4       n, the number of samples
 *     4        4(n+1)  offset of each sample, then the end of the last one
 *     4(n+2)   any     JSON: names, encodings and sizes of the columns
 *              any     the samples. Each has the sizes (u32) of its columns
 *                      without a fixed size, then its columns
 *
 * A shard repeats what index.json says about it, so that file is not read. The
 * tokens are one column. Its encoding is `bytes`, and the pipeline file has the
 * type, or it is an ndarray, whose encoding has the type. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "worker/source/tokens/token_file.h"

enum {
    OFFSET_SIZE = 4,       /* bytes of an offset or size in the file */
    BLOCK       = 4096,    /* samples whose offsets are read at a time */
    MAX_CONFIG  = 1 << 20, /* bytes of the JSON */
    MAX_COLUMNS = 256
};

struct mds_reading { /* the state of reading one shard */
    const struct fby_token_file *file;
    struct fby_sequences        *out;
    uint32_t                     samples; /* number of samples */
    uint64_t                     begin;   /* offset of the first sample */
    uint32_t                     sizes[MAX_COLUMNS]; /* bytes; 0: not fixed */
    size_t                       n_columns;
    size_t                       n_unsized; /* columns without a fixed size */
    size_t                       column;    /* index of the column of tokens */
    bool has_shape; /* in each sample a shape precedes the tokens */
};

/* ---- the columns --------------------------------------------------------- */

/* The text of a JSON value; "" if it is not a string. */
static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL ? text : "";
}

static fby_err find_column(struct mds_reading *r, const json_t *config,
    const char *column, struct fby_error_detail *why)
{
    const json_t *names = json_object_get(config, "column_names");
    r->column           = SIZE_MAX;
    for (size_t i = 0; i < json_array_size(names); i++) {
        if (strcmp(text_of(json_array_get(names, i)), column) == 0) {
            r->column = i;
        }
    }
    return r->column < r->n_columns
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "it has no column '%s'; say which holds the tokens with "
                     "column: NAME",
                     column);
}

static fby_err read_sizes(
    struct mds_reading *r, const json_t *config, struct fby_error_detail *why)
{
    const json_t *sizes = json_object_get(config, "column_sizes");
    r->n_columns        = json_array_size(sizes);
    if (r->n_columns > MAX_COLUMNS ||
        json_array_size(json_object_get(config, "column_names")) !=
            r->n_columns ||
        json_array_size(json_object_get(config, "column_encodings")) !=
            r->n_columns) {
        return fby_error_set(why, FBY_CONFIG,
            "column_names, column_encodings and column_sizes differ in length, "
            "or have more than %d entries",
            MAX_COLUMNS);
    }
    for (size_t i = 0; i < r->n_columns; i++) {
        json_int_t size = json_integer_value(json_array_get(sizes, i));
        if (size < 0 || size > UINT32_MAX) {
            return fby_error_set(why, FBY_CONFIG,
                "a column of %" JSON_INTEGER_FORMAT " bytes", size);
        }
        r->sizes[i] = (uint32_t)size;
        r->n_unsized += size == 0 ? 1 : 0;
    }
    return FBY_OK;
}

/* The type of an ndarray of tokens by its name of `n` bytes; 0 if unknown. */
static enum fby_type array_type(const char *name, size_t n)
{
    static const struct {
        const char   *name;
        enum fby_type type;
    } types[] = {
        {"uint8", FBY_U8},
        {"uint16", FBY_U16},
        {"uint32", FBY_U32},
        {"int32", FBY_I32},
        {"int64", FBY_I64},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strlen(types[i].name) == n && memcmp(types[i].name, name, n) == 0) {
            return types[i].type;
        }
    }
    return (enum fby_type)0;
}

/* Apply the encoding of the column of tokens: "bytes", "ndarray:TYPE:SHAPE", or
 * "ndarray:TYPE", with which each sample's array begins with its shape. */
static fby_err apply_encoding(
    struct mds_reading *r, const char *encoding, struct fby_error_detail *why)
{
    static const char array[] = "ndarray:";
    if (strcmp(encoding, "bytes") == 0) {
        return r->out->type != 0
                   ? FBY_OK
                   : fby_error_set(why, FBY_CONFIG,
                         "its tokens are bytes of some type; say which with "
                         "type: u16, u32, i32 or i64");
    }
    if (strncmp(encoding, array, strlen(array)) != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the column is encoded as '%.60s'; tokens are bytes or "
            "ndarray:TYPE",
            encoding);
    }
    const char   *name = encoding + strlen(array);
    size_t        n    = strcspn(name, ":");
    enum fby_type type = array_type(name, n);
    r->has_shape       = name[n] == '\0';
    return type != 0
               ? fby_token_file_set_type(type, r->out, why)
               : fby_error_set(why, FBY_CONFIG,
                     "the column is encoded as '%.60s'; supported are arrays "
                     "of uint8, uint16, uint32, int32 and int64",
                     encoding);
}

static fby_err apply_config(struct mds_reading *r, const json_t *config,
    const char *column, struct fby_error_detail *why)
{
    if (strcmp(text_of(json_object_get(config, "format")), "mds") != 0 ||
        json_integer_value(json_object_get(config, "version")) != 2) {
        return fby_error_set(
            why, FBY_CONFIG, "it does not say format mds, version 2");
    }
    FBY_TRY(read_sizes(r, config, why));
    FBY_TRY(find_column(r, config, column, why));
    const json_t *encodings = json_object_get(config, "column_encodings");
    return apply_encoding(
        r, text_of(json_array_get(encodings, r->column)), why);
}

static fby_err read_config(
    struct mds_reading *r, const char *column, struct fby_error_detail *why)
{
    /* The JSON follows n, the n offsets of samples, and the end of the last. */
    uint64_t     at    = OFFSET_SIZE * (UINT64_C(2) + r->samples);
    json_error_t error = {.text = ""};
    if (r->begin < at || r->begin - at > MAX_CONFIG) {
        return fby_error_set(why, FBY_CONFIG,
            "its samples begin at byte %" PRIu64 ", their table of offsets "
            "ends at %" PRIu64 ": no shard of format mds",
            r->begin, at);
    }
    size_t  size = (size_t)(r->begin - at);
    char   *text = fby_zalloc(size + 1);
    fby_err err  = fby_token_file_read(r->file, at, text, size, why);
    json_t *json = NULL;
    if (err == FBY_OK) {
        json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
        err  = json != NULL ? apply_config(r, json, column, why)
                            : fby_error_set(why, FBY_CONFIG,
                                  "the text behind its table of offsets is "
                                   "no JSON: %.80s",
                                  error.text);
    }
    json_decref(json);
    free(text);
    return err;
}

/* ---- the samples --------------------------------------------------------- */

struct byte_range { /* of a sample or one of its columns, in the file */
    uint64_t at;    /* offset of the first byte */
    uint64_t end;   /* offset behind the last byte */
};

static fby_err bad_sample(const struct byte_range *sample, const char *what,
    struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG,
        "the sample of bytes %" PRIu64 " to %" PRIu64 " %s", sample->at,
        sample->end, what);
}

/* Cut the shape, if the array in `column` begins with it, off its range. */
static fby_err skip_shape(const struct mds_reading *r,
    struct byte_range *column, struct fby_error_detail *why)
{
    uint8_t byte = 0;
    if (!r->has_shape) {
        return FBY_OK;
    }
    if (column->at == column->end) {
        return bad_sample(column, "has no shape", why);
    }
    FBY_TRY(fby_token_file_read(r->file, column->at, &byte, 1, why));
    /* Bits 2 to 7: number of dimensions; 0 and 1: log2 of the bytes of each.
     * The dimensions follow this byte. */
    uint64_t size = 1 + ((uint64_t)(byte >> 2) << (byte & 3));
    if (size > column->end - column->at) {
        return bad_sample(column, "is shorter than its shape", why);
    }
    column->at += size;
    return FBY_OK;
}

/* Cut the range of a sample down to its tokens. */
static fby_err cut_to_tokens(const struct mds_reading *r,
    struct byte_range *sample, struct fby_error_detail *why)
{
    uint8_t           head[MAX_COLUMNS * OFFSET_SIZE] = {0};
    size_t            head_size = r->n_unsized * OFFSET_SIZE;
    struct fby_reader sizes     = fby_reader(head, head_size);
    struct byte_range found     = {0};
    uint64_t          at        = sample->at + head_size; /* of column i */
    if (head_size > sample->end - sample->at) {
        return bad_sample(sample, "is shorter than its head", why);
    }
    FBY_TRY(fby_token_file_read(r->file, sample->at, head, head_size, why));
    for (size_t i = 0; i < r->n_columns; i++) {
        uint64_t size = r->sizes[i] != 0 ? r->sizes[i] : fby_read_u32(&sizes);
        if (i == r->column) {
            found = (struct byte_range){at, at + size};
        }
        at += size;
    }
    if (at != sample->end) {
        return bad_sample(sample, "is not as long as its columns", why);
    }
    *sample = found;
    return skip_shape(r, sample, why);
}

static fby_err add_sample(const struct mds_reading *r, struct byte_range sample,
    struct fby_error_detail *why)
{
    uint32_t width = fby_type_bytes(r->out->type);
    if (sample.at < r->begin || sample.end < sample.at ||
        sample.end > r->file->size) {
        return bad_sample(&sample, "does not lie in the shard", why);
    }
    FBY_TRY(cut_to_tokens(r, &sample, why));
    if ((sample.end - sample.at) % width != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "%" PRIu64 " bytes at byte %" PRIu64
            " are no whole number of tokens of %u bytes (type %s)",
            sample.end - sample.at, sample.at, width,
            fby_type_word(r->out->type));
    }
    FBY_TRY(fby_sequences_add_run(
        r->out, sample.at, (sample.end - sample.at) / width, why));
    return fby_sequences_end_document(r->out, why);
}

/* Read BLOCK samples, or all that are left, from number `first` on. */
static fby_err read_block(
    const struct mds_reading *r, uint32_t first, struct fby_error_detail *why)
{
    uint8_t  bytes[(BLOCK + 1) * OFFSET_SIZE]; /* n offsets and an end */
    uint32_t left  = r->samples - first;
    uint32_t n     = left < BLOCK ? left : BLOCK;
    uint64_t table = OFFSET_SIZE * (UINT64_C(1) + first); /* behind `samples` */
    FBY_TRY(fby_token_file_read(
        r->file, table, bytes, OFFSET_SIZE * ((size_t)n + 1), why));
    struct fby_reader offsets = fby_reader(bytes, sizeof(bytes));
    uint64_t          at      = fby_read_u32(&offsets);
    for (uint32_t i = 0; i < n; i++) {
        struct byte_range sample = {at, fby_read_u32(&offsets)};
        at                       = sample.end;
        FBY_TRY(add_sample(r, sample, why));
    }
    return FBY_OK;
}

fby_err fby_mds_read(const struct fby_token_file *file, const char *column,
    struct fby_sequences *out, struct fby_error_detail *why)
{
    uint8_t            head[2 * OFFSET_SIZE];
    struct mds_reading r = {.file = file, .out = out};
    FBY_TRY(fby_token_file_read(file, 0, head, sizeof(head), why));
    struct fby_reader numbers = fby_reader(head, sizeof(head));
    r.samples                 = fby_read_u32(&numbers);
    r.begin                   = fby_read_u32(&numbers); /* offset of sample 0 */
    FBY_TRY(read_config(&r, column, why));
    for (uint64_t i = 0; i < r.samples; i += BLOCK) { /* i may exceed 2^32 */
        FBY_TRY(read_block(&r, (uint32_t)i, why));
    }
    return FBY_OK;
}
