#include "common/pipeline/init.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/pipeline/text.h"
#include "common/plural.h"
#include "common/utf8.h"

enum { BATCH = 64, ROWS_BATCH = 4096 }; /* global_batch */

static void put(struct fby_buffer *out, const char *text)
{
    fby_put_bytes(out, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void put_line(
    struct fby_buffer *out, const char *format, ...)
{
    char    line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    put(out, line);
}

/* A double-quoted YAML text. */
static void put_quoted(struct fby_buffer *out, const char *text)
{
    put(out, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            put(out, "\\");
        }
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            put_line(out, "\\x%02x", (unsigned)(unsigned char)*text);
        } else {
            fby_put_u8(out, (uint8_t)*text);
        }
    }
    put(out, "\"");
}

static bool ends_as(const char *extension, const char *kind)
{
    const char *dot = strrchr(extension, '.');
    return strcmp(dot != NULL ? dot + 1 : extension, kind) == 0;
}

static bool is_picture(const char *extension)
{
    return ends_as(extension, "jpg") || ends_as(extension, "jpeg") ||
           ends_as(extension, "png");
}

/* Not one of several pictures of a sample: jpg, rather than mask.png. */
static bool is_the_picture(const char *extension)
{
    return is_picture(extension) && strchr(extension, '.') == NULL;
}

/* The extensions that `wanted` likes, as "a, b"; how many they are. */
static size_t list(const struct fby_init_summary *s,
    bool (*wanted)(const char *), char *out, size_t capacity)
{
    size_t n    = 0;
    size_t used = 0;
    out[0]      = '\0';
    for (size_t i = 0; i < s->n_extensions && n < FBY_MAX_FROM; i++) {
        if (fby_text_is_extension(s->extensions[i]) &&
            (wanted == NULL || wanted(s->extensions[i])) &&
            used + strlen(s->extensions[i]) + 3 < capacity) {
            used += (size_t)snprintf(out + used, capacity - used, "%s%s",
                n > 0 ? ", " : "", s->extensions[i]);
            n++;
        }
    }
    return n;
}

/* More than pictures: masks, labels, numbers that a field could take. */
static void put_files(struct fby_buffer *out, const struct fby_init_summary *s)
{
    char files[128];
    if (list(s, NULL, files, sizeof(files)) > 1) {
        put_line(
            out, "# Extensions: %s; a field reads those of its from\n", files);
    }
}

static void put_head(struct fby_buffer *out, const struct fby_init_summary *s)
{
    put(out, "# A pipeline of Forebay. What each key means: docs/pipeline.md\n"
             "# Try it: forebay pull --pipeline THIS-FILE\n");
    if (s->samples > 0) {
        put_line(out, "# Found: %s", fby_plural(s->samples, "sample").text);
        if (s->shards > 0) {
            put_line(out, " in %s", fby_plural(s->shards, "shard").text);
        }
        if (s->classes > 0) {
            put_line(out, ", %s", fby_plural(s->classes, "class").text);
        }
        put(out, "\n");
    }
    put_files(out, s);
    put(out, "forebay: 1                  # version of this format\n\n");
}

static uint32_t batch_of(const struct fby_init_summary *s)
{
    return s->kind == FBY_SOURCE_COLUMNS ? ROWS_BATCH : BATCH;
}

static const char *source_key(const struct fby_init_summary *s)
{
    if (s->kind == FBY_SOURCE_COLUMNS) {
        return "columns";
    }
    return s->kind == FBY_SOURCE_FOLDER ? "folder" : "shards";
}

/* Fewer samples than that would make no batch at all with `last: drop`. */
static bool fills_a_batch(const struct fby_init_summary *s)
{
    return s->samples == 0 || s->samples >= batch_of(s);
}

static void put_split(struct fby_buffer *out, const struct fby_init_summary *s)
{
    put(out, "splits:\n  train:\n    ");
    put_line(out, "%s: ", source_key(s));
    put_quoted(out, s->path);
    put(out, s->kind == FBY_SOURCE_FOLDER
                 ? "\n    shuffle: full           # or none\n"
                 : "\n    shuffle: full           # or none, or {block: 4}: 4 "
                   "shards at a time\n");
    put(out, fills_a_batch(s)
                 ? "    last: drop              # or pad, or short"
                 : "    last: short             # or pad, or drop");
    put_line(out,
        ": what the last batch does\n"
        "  # val: {%s: PATH, shuffle: none, last: pad}\n\n"
        "global_batch: %-4u          # shared by all ranks\n",
        source_key(s), batch_of(s));
    put(out,
        "seed: 0\n"
        "on_bad_sample: fail         # or {do: substitute, limit: 100}\n\n");
}

static void put_image(struct fby_buffer *out, const char *extensions, size_t n)
{
    put(out, "fields:\n  image:\n    from: ");
    put(out, n > 1 ? "[" : "");
    put(out, extensions);
    put(out, n > 1 ? "]\n" : "\n");
    put(out,
        "    decode: rgb8\n"
        "    ops:                    # on the workers; only: SPLIT limits "
        "one\n"
        "      - random_resized_crop: {size: 224, scale: [0.08, 1.0]}\n"
        "      - horizontal_flip: {p: 0.5}\n"
        "      # for val, with only: train added to the two above:\n"
        "      # - resize: {shorter: 256, only: val}\n"
        "      # - center_crop: {size: 224, only: val}\n"
        "    device:                 # at the trainer; of values 0..1\n"
        "      - normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, "
        "0.225]}\n"
        "    out: {dtype: f32, layout: chw}\n");
}

static bool is_cls(const char *extension)
{
    return ends_as(extension, "cls");
}

/* Folders always have labels; shards if they hold .cls members. */
static void put_label(struct fby_buffer *out, const struct fby_init_summary *s)
{
    char from[FBY_NAME_SIZE] = "folder";
    if (s->kind != FBY_SOURCE_FOLDER &&
        list(s, is_cls, from, sizeof(from)) == 0) {
        put(out, "  # no label: the shards hold no .cls members\n");
        return;
    }
    from[strcspn(from, ",")] = '\0';
    put_line(out, "  label:\n    from: %s", from);
    put(out, s->kind == FBY_SOURCE_FOLDER
                 ? "            # the number of the class folder, by name\n"
                 : "               # decimal text of this member\n");
    if (s->classes > 0) {
        put_line(out, "    classes: %u\n", s->classes);
    }
    put_line(out,
        "    # one_hot: {classes: %u, smoothing: 0.1}    # instead of "
        "numbers\n",
        s->classes > 0 ? s->classes : 1000);
}

/* ---- columns ---- */

static const char *type_word(enum fby_type type)
{
    static const char *const words[] = {[FBY_U8] = "u8",
        [FBY_U16]                                = "u16",
        [FBY_I32]                                = "i32",
        [FBY_I64]                                = "i64",
        [FBY_F16]                                = "f16",
        [FBY_BF16]                               = "bf16",
        [FBY_F32]                                = "f32",
        [FBY_U32]                                = "u32"};
    return words[type];
}

/* Its name in lower case, as `from` has it. */
static bool name_from(const char *name, char out[FBY_NAME_SIZE])
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
    if (!name_from(column->name, from) || column->wire == 0) {
        put_line(out, "  # left out, for its name or its rows: column ");
        put_quoted(out, column->name);
        put(out, "\n");
        return false;
    }
    put_line(out, "  %s: {from: %s, decode: ", from, from);
    put(out, column->sparse ? "sparse, shape: [" : "array, shape: [");
    for (uint32_t i = 0; i < column->row.n_dims; i++) {
        put_line(out, "%s%u", i > 0 ? ", " : "", column->row.dims[i]);
    }
    if (column->max_length > 0) {
        put_line(out, "], max_length: %u", column->max_length);
        put_line(out, ", wire: %s}", type_word(column->wire));
        put(out, " # 4 times the mean: longer rows are refused\n");
    } else {
        put_line(out, "], wire: %s}\n", type_word(column->wire));
    }
    return true;
}

static fby_err put_columns(struct fby_buffer *out,
    const struct fby_init_summary *s, struct fby_why *why)
{
    size_t n = 0;
    put(out, "fields:                     # of a column of ids also decode: "
             "label, classes: N\n");
    for (size_t i = 0; i < s->n_columns; i++) {
        n += put_column(out, &s->columns[i]) ? 1 : 0;
    }
    return n > 0 ? FBY_OK
                 : fby_because(why, FBY_CONFIG,
                       "%s: no column can be a field: names are lower-case "
                       "words, and rows have at most %d dimensions",
                       fby_text_show(s->path).text, FBY_MAX_DIMS);
}

fby_err fby_init_text(const struct fby_init_summary *s, struct fby_buffer *out,
    struct fby_why *why)
{
    char   extensions[200];
    size_t n = list(s, is_the_picture, extensions, sizeof(extensions));
    if (n == 0) {
        n = list(s, is_picture, extensions, sizeof(extensions));
    }
    if (!fby_is_utf8(s->path, strlen(s->path))) {
        return fby_because(why, FBY_CONFIG,
            "the path is not UTF-8 text, as a pipeline file must be");
    }
    if (s->kind == FBY_SOURCE_COLUMNS) {
        put_head(out, s);
        put_split(out, s);
        return put_columns(out, s, why);
    }
    if (n == 0) {
        list(s, NULL, extensions, sizeof(extensions));
        return fby_because(why, FBY_CONFIG,
            "%s: no picture among the files (.jpg, .jpeg, .png); found: %s",
            fby_text_show(s->path).text,
            extensions[0] != '\0' ? extensions : "nothing");
    }
    put_head(out, s);
    put_split(out, s);
    put_image(out, extensions, n);
    put_label(out, s);
    return FBY_OK;
}
