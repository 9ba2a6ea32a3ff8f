/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_tokens.c - refuse files that may be tokens and are not read so: .bin
 * files whose type is not given, and NumPy files with --tokens. Without the
 * option there is a note on an array that may have token ids. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_tokens.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"
#include "worker/source/tokens/token_file.h"
#include "worker/source/tokens/token_type.h"

/* Writes train.bin from train.npy, and so on, with tokens of %u bytes. */
#define WRITE_TOKENS                                                      \
    FBY_PYTHON "import glob, numpy; [open(f[:-3] + 'bin', 'xb')"          \
               ".write(numpy.load(f).astype('<u%u').tobytes()) for f in " \
               "glob.glob('*.npy')]\""

/* The first file whose name ends so, and is of no other known format. */
static const char *find_file(
    const struct fby_listing *listing, const char *ending)
{
    struct fby_unread unread;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (!entry->is_dir && fby_text_ends_with(entry->name, ending) &&
            !fby_unread_file(entry->name, &unread)) {
            return entry->name;
        }
    }
    return NULL;
}

fby_err fby_refuse_token_arrays(const struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    const char *name = find_file(listing, ".npy");
    if (search->token_type == 0 || name == NULL) {
        return FBY_OK;
    }
    fby_guess_set_command(
        search, path, WRITE_TOKENS, fby_type_bytes(search->token_type));
    return fby_error_set(why, FBY_CONFIG,
        "%s is a NumPy file: leave out --tokens if its rows are samples; else "
        "write plain tokens:",
        fby_text_show(name).text);
}

/* True if the only column has one whole number in each row. */
static bool may_be_tokens(const struct fby_guess_split *split)
{
    enum { LEAST = 17 /* tokens of the shortest sequence, with a target */ };
    const struct fby_column *column = &split->columns[0];
    return split->n_columns == 1 && column->n_dims == 0 &&
           column->role == FBY_COLUMN_WHOLE && split->samples >= LEAST &&
           column->type >= FBY_NPY_I1 && column->type <= FBY_NPY_U8;
}

void fby_guess_note_token_array(
    struct fby_search *search, const struct fby_guess_split *split)
{
    char        dir[FBY_PATH_SIZE];
    char        word[FBY_WORD_SIZE];
    const char *end = fby_text_ends_with(split->pattern, ".npy")
                          ? strrchr(split->pattern, '/')
                          : NULL;
    snprintf(dir, sizeof(dir), "%.*s",
        end != NULL ? (int)(end - split->pattern) : (int)strlen(split->pattern),
        split->pattern);
    if (split->shards == 1 && may_be_tokens(split) &&
        strchr(split->pattern, '*') == NULL &&
        !fby_text_ends_with(split->pattern, ".npz") &&
        fby_shell_quote(dir, word, sizeof(word))) {
        uint32_t bytes = split->columns[0].row_bytes <= 2 ? 2 : 4;
        fby_guess_note(search,
            "note: each number of %s is a sample; if they are token ids, write "
            "plain tokens, and run init %s again with --tokens "
            "u%u: (cd %s && " WRITE_TOKENS ")",
            split->columns[0].name, word, 8 * bytes, word, bytes);
    }
}

/* ---- the type of a flat file ---- */

enum { LOOKED_AT = 8192 /* bytes */ };

/* `declared`: the type that the user gives; 0: none. */
static enum fby_type find_type_of_file(
    const struct fby_search *search, const char *below, enum fby_type declared)
{
    uint8_t                bytes[LOOKED_AT];
    size_t                 n      = sizeof(bytes);
    struct fby_object      object = {.ops = NULL};
    struct fby_token_bytes found  = {.n = 0};
    if (fby_object_open(search->root, below, &object, NULL) != FBY_OK) {
        return (enum fby_type)0;
    }
    fby_err err = fby_object_read_some(&object, 0, bytes, &n, NULL);
    fby_object_close(&object);
    if (err == FBY_OK) {
        fby_token_bytes_add(&found, bytes, n);
    }
    return fby_token_bytes_type(&found, declared);
}

static fby_err refuse_type(const struct fby_search *search, const char *name,
    const char *what, enum fby_type type, struct fby_error_detail *why)
{
    char operand[FBY_OPERAND_SIZE];
    fby_guess_write_operand(search, search->only_file, operand);
    return fby_error_set(why, FBY_CONFIG,
        "%s %s: its type seems to be %s, since %s: forebay init --tokens %s %s",
        fby_text_show_begin(name, 60).text, what, fby_type_word(type),
        type == FBY_U16 ? "both halves of wider numbers would be ids"
                        : "the upper bytes of all numbers are 0",
        fby_type_word(type), operand);
}

/* ---- files that are no plain tokens ---- */

/* Are the bytes 32-bit floats of usual sizes, and not only zeros? As such, ids would
 * have exponents of all sizes, or nearly none. */
static bool are_floats(const uint8_t *bytes, size_t n)
{
    const float least   = 1e-6F;
    const float largest = 1e6F;
    bool        found   = n >= 4 * sizeof(float);
    size_t      n_zeros = 0;
    for (size_t i = 0; found && i + sizeof(float) <= n; i += sizeof(float)) {
        float value;
        memcpy(&value, bytes + i, sizeof(value));
        float size = value < 0 ? -value : value;
        found      = size == 0 || (size >= least && size <= largest);
        n_zeros += size == 0 ? 1 : 0;
    }
    return found && 2 * n_zeros < n / sizeof(float);
}

/* Refuse files of floats, as clouds of points: a file may be a sample. */
static fby_err refuse_floats(const struct fby_search *search, const char *path,
    const char *name, uint64_t size, struct fby_error_detail *why)
{
    bool is_only             = search->only_file[0] != '\0';
    char only[FBY_PATH_SIZE] = "";
    if (is_only && fby_shell_is_plain(name)) {
        snprintf(only, sizeof(only), "'%s'", name);
    }
    const char *colon = fby_guess_set_command(search, path,
        FBY_PYTHON "F = [%s]; N = %d; O = 'table'; %s; %s; %s\"", only,
        size % 16 == 0   ? 4
        : size % 20 == 0 ? 5
                         : 1,
        fby_program_folder_begin, fby_program_float_files,
        fby_program_folder_end);
    fby_guess_end_command_with(search, path, "table");
    return fby_error_set(why, FBY_CONFIG,
        "%s has floats, no token ids: if each file is a sample, as points of a "
        "LiDAR, write a table, with N numbers for each point (needs NumPy)%s",
        fby_text_show_begin(name, 60).text, colon);
}

/* Refuse files with a header of llm.c, with the command that copies their tokens. */
static fby_err refuse_header(const struct fby_search *search, const char *path,
    const char *name, enum fby_type type, struct fby_error_detail *why)
{
    bool is_only = search->only_file[0] != '\0' && fby_shell_is_plain(name);
    const char *colon = fby_guess_set_command(search, path,
        "mkdir tokens && for f in %s; do tail -c +1025 \"$f\" > tokens/\"$f\" "
        "|| exit; done",
        is_only ? name : "*.bin");
    fby_guess_end_command_with(search, path, "tokens");
    size_t used = strlen(search->out->command);
    snprintf(search->out->command + used, sizeof(search->out->command) - used,
        " --tokens %s", fby_type_word(type));
    return fby_error_set(why, FBY_CONFIG,
        "%s begins with a header of llm.c, and its tokens are %s: copy the "
        "tokens of all such files%s",
        fby_text_show_begin(name, 60).text, fby_type_word(type), colon);
}

/* Refuse a file of floats, or with a header of llm.c. */
static fby_err refuse_others(const struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    uint8_t           bytes[LOOKED_AT];
    size_t            n = sizeof(bytes);
    struct fby_object object;
    struct fby_stamp  stamp;
    char              below[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(path, name, below, why));
    FBY_TRY(fby_object_open_stamped(search->root, below, &object, &stamp, why));
    enum fby_type type = (enum fby_type)0;
    fby_err       err  = fby_llmc_find_type(&object, stamp.size, &type, why);
    if (err == FBY_OK) {
        err = fby_object_read_some(&object, 0, bytes, &n, why);
    }
    fby_object_close(&object);
    if (err != FBY_OK || type != 0) {
        return err != FBY_OK ? err
                             : refuse_header(search, path, name, type, why);
    }
    return search->token_type != FBY_U8 && are_floats(bytes, n) &&
                   stamp.size % sizeof(float) == 0
               ? refuse_floats(search, path, name, stamp.size, why)
               : FBY_OK;
}

fby_err fby_refuse_token_type(const struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    char below[FBY_PATH_SIZE];
    char what[48];
    FBY_TRY(refuse_others(search, path, name, why));
    FBY_TRY(fby_path_join(path, name, below, why));
    enum fby_type type = find_type_of_file(search, below, search->token_type);
    if (type == 0) {
        return FBY_OK;
    }
    snprintf(what, sizeof(what), "has no token ids of type %s",
        fby_type_word(search->token_type));
    return refuse_type(search, name, what, type, why);
}

static fby_err refuse_untyped(const struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    char below[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(path, name, below, why));
    FBY_TRY(refuse_others(search, path, name, why));
    enum fby_type type = find_type_of_file(search, below, (enum fby_type)0);
    return type != 0
               ? refuse_type(search, name,
                     "may be token ids, without their type", type, why)
               : fby_error_set(why, FBY_CONFIG,
                     "%s may be token ids, without their type: give it, as "
                     "--tokens u16 for ids below 65536 (GPT-2, nanoGPT), or "
                     "--tokens u32",
                     fby_text_show(name).text);
}

fby_err fby_refuse_untyped_tokens(const struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    const char *name = find_file(listing, ".bin");
    if (search->token_type != 0 || search->in_zip || name == NULL ||
        fby_listing_has_dirs(listing) || fby_init_has_pictures(listing)) {
        return FBY_OK;
    }
    return refuse_untyped(search, path, name, why);
}
