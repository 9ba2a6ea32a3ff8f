/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - write the text of a first pipeline file: see text.h. The fields of
 * sources with members (files or values of samples) are in text_members.c. */
#include "cli/init/text.h"

#include "cli/init/names.h"
#include "cli/init/text_state.h"
#include "common/shell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/plural.h"
#include "common/utf8.h"
#include "pipeline/schema.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

/* Samples of global_batch. Rows of columns are small, so many make a batch. */
enum { BATCH = 64, ROWS_BATCH = 4096 };

void fby_init_append(struct fby_buffer *out, const char *text)
{
    fby_put_bytes(out, text, strlen(text));
}

void fby_init_printf(struct fby_buffer *out, const char *format, ...)
{
    char    line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    fby_init_append(out, line);
}

/* The escape sequence of a character of more than one byte that libyaml refuses
 * or reads as the end of a line; NULL if it needs none. */
static const char *find_escape(const char *character)
{
    static const struct {
        const char *bytes;
        const char *escape;
    } escapes[] = {{"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"},
        {"\xef\xbb\xbf", "\\ufeff"}, {"\xef\xbf\xbe", "\\ufffe"},
        {"\xef\xbf\xbf", "\\uffff"}};
    for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
        if (strncmp(character, escapes[i].bytes, 3) == 0) {
            return escapes[i].escape;
        }
    }
    return NULL;
}

/* Append the character of `length` bytes at `text`; 1 for an invalid byte. */
static void append_character(
    struct fby_buffer *out, const char *text, size_t length)
{
    const char *escape = find_escape(text);
    if (fby_utf8_has_control(text, length)) { /* the last byte is the number */
        fby_init_printf(
            out, "\\x%02x", (unsigned)(unsigned char)text[length - 1]);
    } else if (escape != NULL) {
        fby_init_append(out, escape);
    } else if (fby_utf8_has_hidden(text, length)) { /* of three bytes */
        fby_init_printf(out, "\\u2%03x",
            (unsigned)(text[1] & 0x3f) << 6 | (unsigned)(text[2] & 0x3f));
    } else {
        fby_put_bytes(out, text, length);
    }
}

void fby_init_append_quoted(struct fby_buffer *out, const char *text)
{
    fby_init_append(out, "\"");
    while (*text != '\0') {
        size_t length = fby_utf8_length(text, strlen(text));
        length        = length > 0 ? length : 1;
        if (*text == '"' || *text == '\\') {
            fby_init_append(out, "\\");
        }
        append_character(out, text, length);
        text += length;
    }
    fby_init_append(out, "\"");
}

/* If there are several extensions of members, or columns, append a comment with
 * them. */
static void append_extensions(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    char list[128];
    if (fby_init_list_extensions(data, list, sizeof(list)) > 1) {
        fby_init_printf(out, "# Names for `from`: %s\n", list);
    }
}

bool fby_init_get_root(
    const struct fby_init_roots *roots, size_t i, struct fby_init_root *out)
{
    bool   has_data = roots->data != NULL && roots->data[0] != '\0';
    size_t n_before = has_data ? 1 : 0;
    if (i >= n_before + roots->n_linked) {
        return false;
    }
    if (i < n_before) {
        snprintf(out->name, sizeof(out->name), "data");
        out->dir = roots->data;
    } else {
        snprintf(out->name, sizeof(out->name), "links%zu", i - n_before);
        out->dir = roots->linked[i - n_before];
    }
    snprintf(out->option, sizeof(out->option), "%s=%s", out->name, out->dir);
    return true;
}

void fby_init_append_python_roots(
    struct fby_buffer *out, const struct fby_init_roots *roots)
{
    struct fby_init_root root;
    size_t               i = 0;
    for (; fby_init_get_root(roots, i, &root); i++) {
        fby_init_append(out, i == 0 ? "data={" : ", ");
        fby_init_append_quoted(out, root.name);
        fby_init_append(out, ": ");
        fby_init_append_quoted(out, root.dir);
    }
    fby_init_append(out, i > 0 ? "}" : "");
}

/* Append the command that reads the file, with the roots that it needs, and the
 * call that does so in Python, if it needs roots. */
static void append_command(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    struct fby_init_root root;
    size_t               n = 0;
    fby_init_append(out, "# Try it: forebay pull --pipeline THIS-FILE");
    for (; fby_init_get_root(&data->roots, n, &root); n++) {
        fby_init_append(out, " --data ");
        fby_init_append_quoted(out, root.option);
    }
    fby_init_append(out, "\n");
    if (n > 0) {
        fby_init_append(out, "# In Python: forebay.Loader(\"THIS-FILE\", ");
        fby_init_append_python_roots(out, &data->roots);
        fby_init_append(out, ")\n");
    }
}

static void append_head(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    fby_init_append(out,
        "# A pipeline of Forebay. What each key means: docs/pipeline.md\n");
    append_command(out, data);
    if (data->samples > 0) {
        fby_init_printf(
            out, "# Found: %s", fby_plural(data->samples, "sample").text);
        if (data->shards > 0) {
            fby_init_printf(
                out, " in %s", fby_plural(data->shards, "shard").text);
        }
        if (data->classes > 0) {
            fby_init_printf(
                out, ", %s", fby_plural(data->classes, "class").text);
        }
        fby_init_append(out, "\n");
    }
    append_extensions(out, data);
    fby_init_append(
        out, "forebay: 1                  # version of this format\n\n");
}

static uint32_t batch_of(const struct fby_init_summary *data)
{
    return fby_source_traits(data->kind)->has_rows ? ROWS_BATCH : BATCH;
}

static const char *source_key(const struct fby_init_summary *data)
{
    return fby_source_traits(data->kind)->key->name;
}

/* True if the samples that were read fill a batch, or none were read. */
static bool has_full_batch(const struct fby_init_summary *data)
{
    uint64_t samples = data->samples > 0 ? data->samples : data->least_samples;
    return samples == 0 || samples >= batch_of(data);
}

static void append_files_key(
    struct fby_buffer *out, const struct fby_init_split *split)
{
    for (size_t i = 0; i < split->n_files; i++) {
        fby_init_append(out, i == 0 ? "\n    files: [" : ", ");
        fby_init_append_quoted(out, split->files[i]);
    }
    fby_init_append(out, split->n_files > 0 ? "]      # columns of paths" : "");
}

static void append_tokens(
    struct fby_buffer *out, const struct fby_init_split *split)
{
    static const char *const formats[] = {[FBY_TOKENS_FLAT] = "flat",
        [FBY_TOKENS_MDS]                                    = "mds",
        [FBY_TOKENS_MEGATRON]                               = "megatron"};
    const struct fby_tokens *tokens    = split->tokens;
    fby_init_append(out, "\n      files: ");
    fby_init_append_quoted(out, split->path);
    fby_init_printf(out, "\n      format: %s\n", formats[tokens->format]);
    if (tokens->type != 0) {
        fby_init_printf(out, "      type: %s\n", fby_type_word(tokens->type));
    }
    if (tokens->format == FBY_TOKENS_MDS) {
        fby_init_append(out, "      column: ");
        fby_init_append_quoted(out, tokens->column);
        fby_init_append(out, "\n");
    }
    fby_init_printf(out,
        "      length: %-4u          # tokens of a sequence\n"
        "      shift: %u              # 1: with targets, the next tokens\n"
        "      # pack: documents     # whole ones; flat files also need end: "
        "ID",
        tokens->length, tokens->shift);
}

static void append_class_depth(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    if (data->flat) {
        fby_init_append(out,
            "\n    class_depth: 0          # no classes: the files in it and "
            "below");
    } else if (data->class_depth > 1) {
        fby_init_printf(out,
            "\n    class_depth: %u          # levels of folders down to the "
            "classes",
            data->class_depth);
    }
}

static void append_source(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_split *split)
{
    fby_init_printf(out,
        "  %s:\n    %s: ", fby_init_write_name(split->name).text,
        source_key(data));
    if (fby_source_traits(data->kind)->has_sequences) {
        append_tokens(out, split);
    } else {
        fby_init_append_quoted(out, split->path);
        append_files_key(out, split);
        append_class_depth(out, data);
    }
}

/* True for sources that can be shuffled in blocks of a few shards. */
static bool has_shards(const struct fby_init_summary *data)
{
    const struct fby_source_traits *source = fby_source_traits(data->kind);
    return !source->has_files && !source->has_sequences;
}

static void append_train(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    const struct fby_init_split train = {
        "train", data->path, data->files, data->n_files, data->tokens};
    append_source(out, data, &train);
    fby_init_append(
        out, has_shards(data)
                 ? "\n    shuffle: full           # or none, or {block: 4}: 4 "
                   "shards at a time\n"
                 : "\n    shuffle: full           # or none\n");
    fby_init_append(out, has_full_batch(data)
                             ? "    last: drop              # or pad, or short"
                             : "    last: short             # or pad, or drop");
    fby_init_append(out, ": what the last batch does\n");
}

static void append_evaluation(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_split *split)
{
    append_source(out, data, split);
    fby_init_append(out,
        "\n    shuffle: none\n"
        "    last: pad               # the field `valid` is false for "
        "padding\n");
}

/* Append the splits other than the first, or a comment with one of them. */
static void append_others(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    for (size_t i = 0; i < data->n_others; i++) {
        append_evaluation(out, data, &data->others[i]);
    }
    if (data->n_others == 0 && data->evaluation_split == NULL) {
        fby_init_printf(out, "  # val: {%s: %s, shuffle: none, last: pad}\n",
            source_key(data),
            fby_source_traits(data->kind)->has_sequences ? "{files: PATH, ...}"
            : data->n_files > 0                          ? "PATH, files: [...]"
                                                         : "PATH");
    }
}

static void append_splits(
    struct fby_buffer *out, const struct fby_init_summary *data)
{
    const struct fby_init_split first = {data->evaluation_split, data->path,
        data->files, data->n_files, data->tokens};
    fby_init_append(out, "splits:\n");
    if (data->evaluation_split != NULL) {
        append_evaluation(out, data, &first);
    } else {
        append_train(out, data);
    }
    append_others(out, data);
    fby_init_printf(out,
        "\nglobal_batch: %-4u          # shared by all ranks\n",
        batch_of(data));
    fby_init_append(out,
        "seed: 0\n"
        "on_bad_sample: fail         # or {do: substitute, limit: "
        "100}\n\n");
}

void fby_init_append_left_out(struct fby_buffer *out, const char *what,
    const char *name, const char *reason)
{
    fby_init_printf(out, "  # left out: %s ", what);
    fby_init_append_quoted(out, name);
    fby_init_printf(out, ": %s\n", reason);
}

static bool append_column(
    struct fby_buffer *out, const struct fby_init_column *column)
{
    char from[FBY_NAME_SIZE];
    if (!fby_init_to_field_name(column->name, from)) {
        fby_init_append_left_out(out, "column", column->name,
            "no field can have this name: rename its file in lower-case "
            "letters");
        return false;
    }
    if (column->wire == 0) {
        fby_init_append_left_out(out, "column", column->name,
            "its rows have too many dimensions or values: store it in another "
            "shape");
        return false;
    }
    fby_init_printf(out,
        "  %s: {from: %s, decode: ", fby_init_write_name(from).text,
        fby_init_write_name(from).text);
    fby_init_append(
        out, column->sparse ? "sparse, shape: [" : "array, shape: [");
    for (uint32_t i = 0; i < column->row.n_dims; i++) {
        fby_init_printf(out, "%s%u", i > 0 ? ", " : "", column->row.dims[i]);
    }
    if (column->max_length > 0) {
        fby_init_printf(out, "], max_length: %u", column->max_length);
        fby_init_printf(out, ", wire: %s}", fby_type_word(column->wire));
        fby_init_append(out, " # 4 times the mean: longer rows are refused\n");
    } else {
        fby_init_printf(out, "], wire: %s}\n", fby_type_word(column->wire));
    }
    return true;
}

static fby_err append_columns(struct fby_buffer *out,
    const struct fby_init_summary *data, struct fby_error_detail *why)
{
    size_t n = 0;
    fby_init_append(out,
        "fields:                     # for a column of class ids: decode: "
        "label, classes: N\n");
    for (size_t i = 0; i < data->n_columns; i++) {
        n += append_column(out, &data->columns[i]) ? 1 : 0;
    }
    return n > 0
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%s: no column can be a field: a column is one .npy file "
                     "of all rows, with at most %d dimensions each and a "
                     "lower-case word as its name; write arrays of one sample "
                     "each into tar shards, as 7.npy and 7.cls",
                     fby_text_show(data->path).text, FBY_MAX_DIMS);
}

/* True if the only files are of that type, in class folders. */
static bool are_only(const struct fby_init_summary *data, const char *type)
{
    return data->kind == FBY_SOURCE_FOLDER && data->classes > 0 &&
           data->class_depth == 1 && data->n_members == 1 &&
           fby_init_has_type(data->members[0].extension, type);
}

enum { WORD = 120 };

/* Write the path of the data as a word of a command. */
static void write_path(const struct fby_init_summary *data, char out[WORD])
{
    if (!fby_shell_quote(data->path, out, WORD)) {
        memcpy(out, "DIR", sizeof("DIR"));
    }
}

/* Links the tar files of all folders into one folder, and numbers them. */
#define LINK_TARS                                                         \
    "(cd %s && mkdir all && n=0 && for f in */*.tar; do ln -s \"../$f\" " \
    "all/$n.tar; n=$((n + 1)); done)"

static fby_err refuse_tars(
    const struct fby_init_summary *data, struct fby_error_detail *why)
{
    char word[WORD];
    write_path(data, word);
    return fby_error_set(why, FBY_CONFIG,
        "the tar files are in several folders: link them into one, all, and "
        "give init that: " LINK_TARS,
        word);
}

/* Refuse the files *.EXTENSION, whose format is not read. The command is for the
 * folder of the data, if there is one, and it fits. */
static fby_err refuse_unread(const struct fby_init_summary *data,
    const char *name, struct fby_error_detail *why)
{
    static const char here[] = ", in their folder: find .";
    struct fby_unread unread;
    char              word[FBY_PATH_SIZE];
    const char       *path = data->path;
    if (!fby_unread_file(name, &unread)) {
        return FBY_OK;
    }
    const char *command   = strstr(unread.text, here);
    bool        is_folder = path[0] == '/' && strpbrk(path, "{}*?") == NULL &&
                     strstr(path, ".zip") == NULL &&
                     fby_shell_quote(path, word, sizeof(word));
    if (command != NULL && is_folder &&
        2 * strlen(path) + strlen(unread.text) + 4 < sizeof(why->text)) {
        return fby_error_set(why, FBY_CONFIG, "%s: %.*s: find %s%s",
            fby_text_show(path).text, (int)(command - unread.text), unread.text,
            word, command + strlen(here));
    }
    return fby_error_set(
        why, FBY_CONFIG, "%s: %s", fby_text_show(path).text, unread.text);
}

static fby_err append_members(struct fby_buffer *out,
    const struct fby_init_summary *data, struct fby_error_detail *why)
{
    char found[200]; /* extensions, for the errors */
    FBY_TRY(fby_init_refuse_sizes(data, why));
    if (fby_init_append_members(out, data) > 0) {
        return FBY_OK;
    }
    fby_init_list_extensions(data, found, sizeof(found));
    if (data->n_members > 0 && data->members[0].value != FBY_INIT_NO_VALUE) {
        return fby_error_set(why, FBY_CONFIG,
            "%s: no column can be a field as it is; found: %s. A field needs a "
            "value in each row; of an object it reads one member: {from: "
            "COLUMN, decode: number, key: MEMBER}",
            fby_text_show(data->path).text,
            found[0] != '\0' ? found : "nothing");
    }
    if (are_only(data, "tar")) {
        return refuse_tars(data, why);
    }
    FBY_TRY(fby_init_refuse_other_members(data, why));
    for (size_t i = 0; i < data->n_members; i++) {
        char name[FBY_NAME_SIZE + 2];
        snprintf(name, sizeof(name), "*.%s", data->members[i].extension);
        FBY_TRY(refuse_unread(data, name, why));
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s: no picture among the files (.jpg, .jpeg, .png, .webp); found: %s",
        fby_text_show(data->path).text, found[0] != '\0' ? found : "nothing");
}

static fby_err append_fields(struct fby_buffer *out,
    const struct fby_init_summary *data, struct fby_error_detail *why)
{
    if (fby_source_traits(data->kind)->has_rows) {
        return append_columns(out, data, why);
    }
    if (fby_source_traits(data->kind)->has_sequences) {
        fby_init_append(out,
            "fields:\n"
            "  tokens: {from: input}     # ids; wire: u16 where all are "
            "below 65536\n"
            "  labels: {from: target}    # or both as one, in half of the "
            "bytes: {from: sequence}\n");
        return FBY_OK;
    }
    return append_members(out, data, why);
}

fby_err fby_init_text(const struct fby_init_summary *data,
    struct fby_buffer *out, struct fby_error_detail *why)
{
    struct fby_buffer fields = {0};
    if (!fby_is_utf8(data->path, strlen(data->path))) {
        return fby_error_set(why, FBY_CONFIG,
            "the path is not UTF-8 text, as a pipeline file must be");
    }
    fby_err err = append_fields(&fields, data, why);
    if (err == FBY_OK) {
        append_head(out, data);
        append_splits(out, data);
        fby_put_bytes(out, fields.data, fields.size);
    }
    fby_buffer_fini(&fields);
    return err;
}
