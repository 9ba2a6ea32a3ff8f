/* SPDX-License-Identifier: Apache-2.0 */
/* mds.c - a shard of MosaicML's streaming, format "mds", version 2.
 *
 *     offset   bytes
 *     0        4       n, the number of samples
 *     4        4(n+1)  offset of each sample, then the end of the last sample
 *     4(n+2)   any     JSON: names, encodings and sizes of the columns
 *              any     the samples. A sample is a head, the sizes (u32) of its
 *                      columns without a fixed size, and then its columns
 *
 * The tokens are one of the columns, of encoding "ndarray:TYPE" or "bytes". For
 * "bytes", the pipeline file has the type of the tokens. index.json, which lies
 * beside the shards, is not read: each shard has all that is needed. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "common/plural.h"
#include "worker/source/tokens/token_file.h"

enum {
    OFFSET_SIZE   = 4,       /* bytes of an offset or size in the file */
    BLOCK_SAMPLES = 4096,    /* samples whose offsets are read at a time */
    MAX_JSON      = 1 << 20, /* bytes */
    MAX_COLUMNS   = 256
};

struct mds_reading { /* the state of reading one shard */
    const struct fby_token_file *file;
    struct fby_sequences        *out;
    uint32_t                     n_samples;
    uint64_t                     first_sample; /* its offset in the file */
    size_t                       n_columns;
    uint32_t sizes[MAX_COLUMNS]; /* bytes of each column; 0: not fixed */
    size_t   n_unsized;          /* number of columns without a fixed size */
    size_t   token_column;       /* index of the column of tokens */
    bool     has_shape;          /* the tokens of a sample follow a shape */
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
    const json_t *names    = json_object_get(config, "column_names");
    bool          is_found = false; /* of equal names the last one counts */
    for (size_t i = 0; i < r->n_columns; i++) {
        if (strcmp(text_of(json_array_get(names, i)), column) == 0) {
            r->token_column = i;
            is_found        = true;
        }
    }
    return is_found
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

/* The type with NumPy's name `name` of `size` bytes; 0 if not one of tokens. */
static enum fby_type type_of(const char *name, size_t size)
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
        if (strlen(types[i].name) == size &&
            memcmp(types[i].name, name, size) == 0) {
            return types[i].type;
        }
    }
    return (enum fby_type)0;
}

/* Apply the encoding of the column of tokens: "bytes", "ndarray:TYPE:SHAPE", or
 * "ndarray:TYPE". In the last case each array in the file has its own shape. */
static fby_err apply_encoding(
    struct mds_reading *r, const char *encoding, struct fby_error_detail *why)
{
    static const char prefix[] = "ndarray:";
    if (strcmp(encoding, "bytes") == 0) {
        return r->out->type != 0
                   ? FBY_OK
                   : fby_error_set(why, FBY_CONFIG,
                         "its tokens are bytes of some type; say which with "
                         "type: u16, u32, i32 or i64");
    }
    if (strncmp(encoding, prefix, strlen(prefix)) != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the column is encoded as '%.60s'; tokens are bytes or "
            "ndarray:TYPE",
            encoding);
    }
    const char   *name = encoding + strlen(prefix);
    size_t        size = strcspn(name, ":");
    enum fby_type type = type_of(name, size);
    r->has_shape       = name[size] == '\0'; /* no ":SHAPE" follows */
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
        r, text_of(json_array_get(encodings, r->token_column)), why);
}

static fby_err read_config(
    struct mds_reading *r, const char *column, struct fby_error_detail *why)
{
    /* The number of samples and n_samples + 1 offsets precede the JSON. */
    uint64_t     json_at = OFFSET_SIZE * (UINT64_C(2) + r->n_samples);
    json_error_t error   = {.text = ""};
    if (r->first_sample < json_at || r->first_sample - json_at > MAX_JSON) {
        return fby_error_set(why, FBY_CONFIG,
            "its samples begin at byte %" PRIu64 ", their table of offsets "
            "ends at %" PRIu64 ": not a shard of format mds",
            r->first_sample, json_at);
    }
    size_t  size = (size_t)(r->first_sample - json_at);
    char   *text = fby_zalloc(size + 1);
    fby_err err  = fby_token_file_read(r->file, json_at, text, size, why);
    json_t *json = NULL;
    if (err == FBY_OK) {
        json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
        err =
            json != NULL
                ? apply_config(r, json, column, why)
                : fby_error_set(why, FBY_CONFIG,
                      "the text after its table of offsets is not JSON: %.80s",
                      error.text);
    }
    json_decref(json);
    free(text);
    return err;
}

/* ---- the samples --------------------------------------------------------- */

struct byte_range { /* of the file */
    uint64_t begin; /* offset of the first byte */
    uint64_t end;   /* offset behind the last byte */
};

static fby_err bad_sample(const struct byte_range *sample, const char *fault,
    struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG,
        "the sample of bytes %" PRIu64 " to %" PRIu64 " %s", sample->begin,
        sample->end, fault);
}

/* Move tokens->begin behind the shape of the array, if the array has one. */
static fby_err skip_shape(const struct mds_reading *r,
    struct byte_range *tokens, struct fby_error_detail *why)
{
    uint8_t first_byte = 0;
    if (!r->has_shape) {
        return FBY_OK;
    }
    if (tokens->begin == tokens->end) {
        return bad_sample(tokens, "has no shape", why);
    }
    FBY_TRY(fby_token_file_read(r->file, tokens->begin, &first_byte, 1, why));
    uint64_t dims      = first_byte >> 2;
    uint32_t log2_size = first_byte & 3; /* a dimension has 1 to 8 bytes */
    uint64_t shape     = 1 + (dims << log2_size); /* bytes */
    if (shape > tokens->end - tokens->begin) {
        return bad_sample(tokens, "is shorter than its shape", why);
    }
    tokens->begin += shape;
    return FBY_OK;
}

/* Set *tokens to the range of a sample's tokens in the file. */
static fby_err find_tokens(const struct mds_reading *r,
    const struct byte_range *sample, struct byte_range *tokens,
    struct fby_error_detail *why)
{
    uint8_t           head[MAX_COLUMNS * OFFSET_SIZE] = {0};
    size_t            head_size = r->n_unsized * OFFSET_SIZE;
    struct fby_reader sizes     = fby_reader(head, head_size);
    uint64_t          column    = sample->begin + head_size; /* its offset */
    if (head_size > sample->end - sample->begin) {
        return bad_sample(sample, "is shorter than its head", why);
    }
    FBY_TRY(fby_token_file_read(r->file, sample->begin, head, head_size, why));
    for (size_t i = 0; i < r->n_columns; i++) {
        uint64_t size = r->sizes[i] != 0 ? r->sizes[i] : fby_read_u32(&sizes);
        if (i == r->token_column) {
            *tokens = (struct byte_range){column, column + size};
        }
        column += size;
    }
    if (column != sample->end) {
        return bad_sample(sample, "is not as long as its columns", why);
    }
    return skip_shape(r, tokens, why);
}

static fby_err add_sample(const struct mds_reading *r,
    const struct byte_range *sample, struct fby_error_detail *why)
{
    uint32_t          width  = fby_type_bytes(r->out->type);
    struct byte_range tokens = {0};
    if (sample->begin < r->first_sample || sample->end < sample->begin ||
        sample->end > r->file->size) {
        return bad_sample(sample, "does not lie in the shard", why);
    }
    FBY_TRY(find_tokens(r, sample, &tokens, why));
    uint64_t size = tokens.end - tokens.begin;
    if (size % width != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the sample at byte %" PRIu64
            " has %s, not a whole number of tokens of %u bytes (type %s)",
            tokens.begin, fby_plural(size, "byte").text, width,
            fby_type_word(r->out->type));
    }
    FBY_TRY(fby_sequences_add_run(r->out, tokens.begin, size / width, why));
    return fby_sequences_end_document(r->out, why);
}

/* Read BLOCK_SAMPLES samples from number `first` on, or all that remain. */
static fby_err read_block(
    const struct mds_reading *r, uint32_t first, struct fby_error_detail *why)
{
    uint8_t table[(BLOCK_SAMPLES + 1) * OFFSET_SIZE]; /* offsets, then an end */
    uint32_t left = r->n_samples - first;
    uint32_t n    = left < BLOCK_SAMPLES ? left : BLOCK_SAMPLES;
    size_t   size = OFFSET_SIZE * ((size_t)n + 1);
    /* The number of samples precedes the offsets. */
    uint64_t table_at = OFFSET_SIZE * (UINT64_C(1) + first);
    FBY_TRY(fby_token_file_read(r->file, table_at, table, size, why));
    struct fby_reader offsets = fby_reader(table, size);
    uint64_t          begin   = fby_read_u32(&offsets);
    for (uint32_t i = 0; i < n; i++) {
        struct byte_range sample = {begin, fby_read_u32(&offsets)};
        begin                    = sample.end;
        FBY_TRY(add_sample(r, &sample, why));
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
    r.n_samples               = fby_read_u32(&numbers);
    r.first_sample            = fby_read_u32(&numbers);
    FBY_TRY(read_config(&r, column, why));
    /* 64 bits: near 2^32 samples, a 32-bit `i` would wrap around. */
    for (uint64_t i = 0; i < r.n_samples; i += BLOCK_SAMPLES) {
        FBY_TRY(read_block(&r, (uint32_t)i, why));
    }
    return FBY_OK;
}
