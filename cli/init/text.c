#include "cli/init/text_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/plural.h"
#include "common/utf8.h"
#include "pipeline/schema.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

enum { BATCH = 64, ROWS_BATCH = 4096 }; /* global_batch */

void fby_init_put(struct fby_buffer *out, const char *text)
{
    fby_put_bytes(out, text, strlen(text));
}

void fby_init_put_line(struct fby_buffer *out, const char *format, ...)
{
    char    line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fby_init_put(out, line);
}

void fby_init_put_quoted(struct fby_buffer *out, const char *text)
{
    fby_init_put(out, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fby_init_put(out, "\\");
        }
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            fby_init_put_line(out, "\\x%02x", (unsigned)(unsigned char)*text);
        } else {
            fby_put_u8(out, (uint8_t)*text);
        }
    }
    fby_init_put(out, "\"");
}

/* List the extensions if there are several. */
static void put_extensions(
    struct fby_buffer *out, const struct fby_init_summary *s)
{
    char files[128];
    if (fby_init_list(s, files, sizeof(files)) > 1) {
        fby_init_put_line(
            out, "# Extensions: %s; a field reads those of its from\n", files);
    }
}

static void put_head(struct fby_buffer *out, const struct fby_init_summary *s)
{
    fby_init_put(out,
        "# A pipeline of Forebay. What each key means: docs/pipeline.md\n"
        "# Try it: forebay pull --pipeline THIS-FILE\n");
    if (s->samples > 0) {
        fby_init_put_line(
            out, "# Found: %s", fby_plural(s->samples, "sample").text);
        if (s->shards > 0) {
            fby_init_put_line(
                out, " in %s", fby_plural(s->shards, "shard").text);
        }
        if (s->classes > 0) {
            fby_init_put_line(
                out, ", %s", fby_plural(s->classes, "class").text);
        }
        fby_init_put(out, "\n");
    }
    put_extensions(out, s);
    fby_init_put(
        out, "forebay: 1                  # version of this format\n\n");
}

static uint32_t batch_of(const struct fby_init_summary *s)
{
    return fby_source_traits(s->kind)->has_rows ? ROWS_BATCH : BATCH;
}

static const char *source_key(const struct fby_init_summary *s)
{
    return fby_source_traits(s->kind)->key->name;
}

/* True if there are enough samples for one full batch. */
static bool fills_a_batch(const struct fby_init_summary *s)
{
    uint64_t samples = s->samples > 0 ? s->samples : s->about;
    return samples == 0 || samples >= batch_of(s);
}

static void put_files_key(
    struct fby_buffer *out, const struct fby_init_summary *s)
{
    for (size_t i = 0; i < s->n_files; i++) {
        fby_init_put(out, i == 0 ? "\n    files: [" : ", ");
        fby_init_put_quoted(out, s->files[i]);
    }
    fby_init_put(out, s->n_files > 0 ? "]      # columns of paths" : "");
}

static void put_tokens(struct fby_buffer *out, const struct fby_init_summary *s)
{
    static const char *const formats[] = {[FBY_TOKENS_FLAT] = "flat",
        [FBY_TOKENS_MDS]                                    = "mds",
        [FBY_TOKENS_MEGATRON]                               = "megatron"};
    const struct fby_tokens *tokens    = s->tokens;
    fby_init_put(out, "\n      files: ");
    fby_init_put_quoted(out, s->path);
    fby_init_put_line(out, "\n      format: %s\n", formats[tokens->format]);
    if (tokens->type != 0) {
        fby_init_put_line(out, "      type: %s\n", fby_type_word(tokens->type));
    }
    if (tokens->format == FBY_TOKENS_MDS) {
        fby_init_put(out, "      column: ");
        fby_init_put_quoted(out, tokens->column);
        fby_init_put(out, "\n");
    }
    fby_init_put_line(out,
        "      length: %-4u          # tokens of a sequence\n"
        "      shift: %u              # 1: with targets, one token on\n"
        "      # pack: documents     # whole ones; of flat files with end: ID",
        tokens->length, tokens->shift);
}

static void put_source(struct fby_buffer *out, const struct fby_init_summary *s)
{
    fby_init_put_line(out, "splits:\n  train:\n    %s: ", source_key(s));
    if (fby_source_traits(s->kind)->has_sequences) {
        put_tokens(out, s);
    } else {
        fby_init_put_quoted(out, s->path);
        put_files_key(out, s);
    }
}

static bool has_shards(const struct fby_init_summary *s)
{
    const struct fby_source_traits *source = fby_source_traits(s->kind);
    return !source->has_files && !source->has_sequences;
}

static void put_split(struct fby_buffer *out, const struct fby_init_summary *s)
{
    put_source(out, s);
    fby_init_put(
        out, has_shards(s)
                 ? "\n    shuffle: full           # or none, or {block: 4}: 4 "
                   "shards at a time\n"
                 : "\n    shuffle: full           # or none\n");
    fby_init_put(out, fills_a_batch(s)
                          ? "    last: drop              # or pad, or short"
                          : "    last: short             # or pad, or drop");
    fby_init_put_line(out,
        ": what the last batch does\n"
        "  # val: {%s: %s, shuffle: none, last: pad}\n\n"
        "global_batch: %-4u          # shared by all ranks\n",
        source_key(s),
        fby_source_traits(s->kind)->has_sequences ? "{files: PATH, ...}"
        : s->n_files > 0                          ? "PATH, files: [...]"
                                                  : "PATH",
        batch_of(s));
    fby_init_put(out,
        "seed: 0\n"
        "on_bad_sample: fail         # or {do: substitute, limit: "
        "100}\n\n");
}

/* ---- Columns ---- */

bool fby_init_name(const char *name, char out[FBY_NAME_SIZE])
{
    size_t n = strnlen(name, FBY_NAME_SIZE - 1);
    for (size_t i = 0; i < n; i++) {
        bool upper = name[i] >= 'A' && name[i] <= 'Z';
        out[i]     = (char)(name[i] + (upper ? 32 : 0));
    }
    out[n] = '\0';
    return fby_text_is_extension(out) && fby_text_is_name(out) &&
           strcmp(out, "valid") != 0 && strcmp(out, "folder") != 0;
}

static bool put_column(
    struct fby_buffer *out, const struct fby_init_column *column)
{
    char from[FBY_NAME_SIZE];
    if (!fby_init_name(column->name, from) || column->wire == 0) {
        fby_init_put_line(
            out, "  # left out, for its name or its rows: column ");
        fby_init_put_quoted(out, column->name);
        fby_init_put(out, "\n");
        return false;
    }
    fby_init_put_line(out, "  %s: {from: %s, decode: ", from, from);
    fby_init_put(out, column->sparse ? "sparse, shape: [" : "array, shape: [");
    for (uint32_t i = 0; i < column->row.n_dims; i++) {
        fby_init_put_line(out, "%s%u", i > 0 ? ", " : "", column->row.dims[i]);
    }
    if (column->max_length > 0) {
        fby_init_put_line(out, "], max_length: %u", column->max_length);
        fby_init_put_line(out, ", wire: %s}", fby_type_word(column->wire));
        fby_init_put(out, " # 4 times the mean: longer rows are refused\n");
    } else {
        fby_init_put_line(out, "], wire: %s}\n", fby_type_word(column->wire));
    }
    return true;
}

static fby_err put_columns(struct fby_buffer *out,
    const struct fby_init_summary *s, struct fby_error_detail *why)
{
    size_t n = 0;
    fby_init_put(out,
        "fields:                     # of a column of ids also decode: "
        "label, classes: N\n");
    for (size_t i = 0; i < s->n_columns; i++) {
        n += put_column(out, &s->columns[i]) ? 1 : 0;
    }
    return n > 0 ? FBY_OK
                 : fby_error_set(why, FBY_CONFIG,
                       "%s: no column can be a field: names are lower-case "
                       "words, and rows have at most %d dimensions",
                       fby_text_show(s->path).text, FBY_MAX_DIMS);
}

static fby_err put_members(struct fby_buffer *out,
    const struct fby_init_summary *s, struct fby_error_detail *why)
{
    char found[200];
    if (fby_init_put_members(out, s) > 0) {
        return FBY_OK;
    }
    fby_init_list(s, found, sizeof(found));
    if (s->n_members > 0 && s->members[0].value != FBY_INIT_NO_VALUE) {
        return fby_error_set(why, FBY_CONFIG,
            "%s: no column can be a field as it is; found: %s. Each row needs "
            "one, and of an object a member: {from: COLUMN, decode: number, "
            "key: MEMBER}",
            fby_text_show(s->path).text, found[0] != '\0' ? found : "nothing");
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s: no picture among the files (.jpg, .jpeg, .png); found: %s",
        fby_text_show(s->path).text, found[0] != '\0' ? found : "nothing");
}

static fby_err put_fields(struct fby_buffer *out,
    const struct fby_init_summary *s, struct fby_error_detail *why)
{
    if (fby_source_traits(s->kind)->has_rows) {
        return put_columns(out, s, why);
    }
    if (fby_source_traits(s->kind)->has_sequences) {
        fby_init_put(out,
            "fields:\n"
            "  tokens: {from: input}     # ids; wire: u16 where all are "
            "below 65536\n"
            "  labels: {from: target}    # or both as one, in half of the "
            "bytes: {from: sequence}\n");
        return FBY_OK;
    }
    return put_members(out, s, why);
}

fby_err fby_init_text(const struct fby_init_summary *s, struct fby_buffer *out,
    struct fby_error_detail *why)
{
    struct fby_buffer fields = {0};
    if (!fby_is_utf8(s->path, strlen(s->path))) {
        return fby_error_set(why, FBY_CONFIG,
            "the path is not UTF-8 text, as a pipeline file must be");
    }
    fby_err err = put_fields(&fields, s, why);
    if (err == FBY_OK) {
        put_head(out, s);
        put_split(out, s);
        fby_put_bytes(out, fields.data, fields.size);
    }
    fby_buffer_fini(&fields);
    return err;
}
