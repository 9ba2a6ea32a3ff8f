/* SPDX-License-Identifier: Apache-2.0 */
/* init.c - `forebay init`: write a first pipeline file for existing data.
 * guess.h finds what the data is, and text.h makes the text of the file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/init/arrays.h"
#include "cli/init/report.h"
#include "cli/inputs.h"
#include "cli/option.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "pipeline/text.h"
#include "worker/source/columns/ragged.h"

struct init_options {
    const char   *path;          /* the operand DIR|FILE */
    const char   *output;        /* NULL: standard output */
    const char   *type_word;     /* the value of --tokens; NULL: not given */
    enum fby_type token_type;    /* `type_word` as an enum; 0: not given */
    uint32_t      class_depth;   /* or FBY_GUESS_ANY_DEPTH */
    bool          force;         /* overwrite `output` */
    bool          allow_stretch; /* masks of another aspect ratio */
};

#define INIT(kind, member) FBY_VALUE(kind, struct init_options, member)

static const struct fby_option options[] = {
    {"output", 'o', "FILE",
        "Write the pipeline to FILE instead of standard output",
        INIT(FBY_TEXT, output)},
    {"force", 'f', NULL, "Overwrite FILE", INIT(FBY_FLAG, force)},
    {"tokens", 't', "TYPE",
        "Type of the tokens in files that do not store it: u8, u16, u32, i32 "
        "or i64; flat token files (.bin) are found only with this option",
        INIT(FBY_TEXT, type_word)},
    {"class-depth", 'c', "N",
        "Levels of folders down to the class folders, if more than 1; 0: no "
        "classes",
        FBY_RANGE(FBY_NUMBER, struct init_options, class_depth, 0,
            FBY_MAX_CLASS_DEPTH)},
    {"stretch", 's', NULL,
        "Accept masks of another aspect ratio than their pictures: they show "
        "the same scene, and are stretched to it (fit: stretch)",
        INIT(FBY_FLAG, allow_stretch)},
    {0},
};

static enum fby_type parse_type(
    const struct argp_state *state, const char *word)
{
    static const enum fby_type types[] = {
        FBY_U8, FBY_U16, FBY_U32, FBY_I32, FBY_I64};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(word, fby_type_word(types[i])) == 0) {
            return types[i];
        }
    }
    argp_error(state, "--tokens is u8, u16, u32, i32 or i64, not '%s'", word);
    return (enum fby_type)0;
}

static void finish_options(const struct argp_state *state, void *values)
{
    struct init_options *o = values;
    if (o->type_word != NULL) {
        o->token_type = parse_type(state, o->type_word);
    }
}

static const char about[] =
    "Look at data and write a pipeline file for it that works at once. DIR "
    "holds class folders, pictures alone, tar shards, columns of NumPy or "
    "SciPy files, a list "
    "(.csv, .jsonl), parallel folders such as images and masks, or token files "
    "(.mds; .bin with .idx). FILE is a list, a tar file, a token file, or a "
    "zip archive of pictures.\v"
    "Examples:\n"
    "  forebay init /data/photos -o p.yaml && forebay pull --pipeline p.yaml\n"
    "  forebay init /data/pets/train.csv\n"
    "  forebay init --tokens u16 /data/owt";

static const struct fby_usage usage = {.options = options,
    .operand                                    = "DIR|FILE",
    .operand_meaning = "the directory with the data, its list or zip archive",
    .operand_offset  = offsetof(struct init_options, path),
    .finish          = finish_options,
    .help            = about};

/* True for a file with data in which no line begins with `forebay:`, as one of
 * each pipeline file does. */
static bool is_other_file(const char *path)
{
    struct stat st;
    char        line[256];
    bool        is_pipeline = false;
    FILE       *file        = NULL;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0 ||
        (file = fopen(path, "re")) == NULL) {
        return false;
    }
    while (!is_pipeline && fgets(line, sizeof(line), file) != NULL) {
        is_pipeline = strncmp(line, "forebay:", strlen("forebay:")) == 0;
    }
    fclose(file);
    return !is_pipeline;
}

static fby_err write_file(const struct init_options *o,
    const struct fby_buffer *text, struct fby_error_detail *why)
{
    struct stat       st;
    struct fby_output output;
    if (!o->force && lstat(o->output, &st) == 0) {
        return fby_error_set(
            why, FBY_IO, "%s exists already; --force overwrites it", o->output);
    }
    if (is_other_file(o->output)) {
        return fby_error_set(why, FBY_USAGE,
            "%s is no pipeline file, so --force does not overwrite it; write "
            "to another file",
            o->output);
    }
    fby_err err = fby_output_open(&output, o->output, why);
    if (err != FBY_OK) {
        return err;
    }
    fby_output_write(&output, text->data, text->size);
    return fby_output_finish(&output, why);
}

static fby_err write_output(const struct init_options *o,
    const struct fby_buffer *text, struct fby_error_detail *why)
{
    if (o->output != NULL) {
        return write_file(o, text, why);
    }
    bool written = fwrite(text->data, 1, text->size, stdout) == text->size &&
                   fflush(stdout) == 0;
    return written ? FBY_OK
                   : fby_error_set(
                         why, FBY_IO, "standard output: %s", strerror(errno));
}

enum { MAX_WIDENING = 8 }; /* most bytes on the wire for a byte in a file */

/* Guess the most entries of a row without reading offsets: four times the mean,
 * rounded up to a power of two, within the limit. */
static uint32_t guess_max_length(
    const struct fby_column *values, uint64_t samples)
{
    uint64_t limit  = FBY_MAX_RAGGED / (values->row_bytes * MAX_WIDENING);
    uint64_t length = 1;
    while (length < 4 * (values->rows / samples + 1)) {
        length *= 2;
    }
    return (uint32_t)(length < limit ? length : limit);
}

/* Set the shape of a dense row, and a guess of the most values that a sparse
 * row stores. A column that is too wide gets no wire type. */
static void describe_sparse(const struct fby_column *column, uint64_t samples,
    struct fby_init_column *out)
{
    uint64_t length = guess_max_length(column, samples);
    out->sparse     = true;
    if (column->dense_width <= FBY_MAX_DENSE &&
        column->dense_width <= UINT32_MAX) {
        out->row = (struct fby_shape){1, {(uint32_t)column->dense_width}};
        out->max_length =
            (uint32_t)(length < column->dense_width ? length
                                                    : column->dense_width);
        out->wire = fby_init_wire_type(column->type);
    }
}

/* Describe a column. One that cannot be a field gets no wire type. */
static struct fby_init_column describe_column(
    const struct fby_column *column, uint64_t samples)
{
    struct fby_init_column out = {.name = ""};
    if (column->role == FBY_COLUMN_CSR) {
        memcpy(out.name, column->name, sizeof(out.name));
        describe_sparse(column, samples, &out);
        return out;
    }
    size_t name_length = strlen(column->name);
    bool   ragged =
        fby_ragged_role(column->name, &name_length) == FBY_COLUMN_VALUES;
    uint32_t max_dims = FBY_MAX_DIMS - (ragged ? 1 : 0); /* 1: the length */
    bool     fits     = column->n_dims <= max_dims &&
                column->row_bytes <= FBY_MAX_LENGTH / MAX_WIDENING;
    for (uint32_t i = 0; fits && i < column->n_dims; i++) {
        out.row.dims[out.row.n_dims++] = (uint32_t)column->dims[i];
    }
    memcpy(out.name, column->name, name_length); /* without ".values" */
    if (ragged) {
        out.max_length = guess_max_length(column, samples);
        fits           = fits && out.max_length > 0;
    }
    if (fits) {
        out.wire = fby_init_wire_type(column->type);
    }
    return out;
}

/* Describe all columns but those of offsets. Returns the number described. */
static size_t describe_columns(const struct fby_guess_split *split,
    struct fby_init_column out[FBY_GUESS_COLUMNS])
{
    size_t n = 0;
    for (uint32_t i = 0; i < split->n_columns; i++) {
        if (split->columns[i].role != FBY_COLUMN_OFFSETS) {
            out[n++] = describe_column(&split->columns[i], split->samples);
        }
    }
    return n;
}

/* Splits of a guess other than the first. */
struct other_splits {
    struct fby_init_split written[FBY_GUESS_SPLITS];
    uint32_t              n; /* number of those in the file */
    /* Why a split of the guess is not in the file; "": it is. */
    char reasons[FBY_GUESS_SPLITS][FBY_REASON_SIZE];
};

static struct fby_init_split describe_split(const struct fby_guess_split *split)
{
    return (struct fby_init_split){.name = split->name,
        .path                            = split->pattern,
        .files   = (const char(*)[FBY_NAME_SIZE])split->file_columns,
        .n_files = split->n_file_columns,
        .tokens  = &split->tokens};
}

/* Choose the splits that the file has beside the first. */
static void choose_splits(struct fby_guess *guess, struct other_splits *out)
{
    for (uint32_t i = 1; i < guess->n_splits; i++) {
        const struct fby_guess_split *split = &guess->splits[i];
        if (fby_text_is_evaluation_split(split->name)) {
            fby_init_compare_splits(&guess->splits[0], split, out->reasons[i]);
        } else {
            snprintf(out->reasons[i], sizeof(out->reasons[i]),
                "it is called neither train nor val, valid, validation, dev or "
                "test; add it under splits: if it is needed");
        }
        if (out->reasons[i][0] == '\0') {
            out->written[out->n++] = describe_split(split);
            fby_init_merge_split(&guess->splits[0], split);
        }
    }
}

/* Describe the first split. Uses `columns` as memory. */
static struct fby_init_summary summarize(const struct init_options *o,
    const struct fby_guess *guess, const struct other_splits *others,
    struct fby_init_column columns[FBY_GUESS_COLUMNS])
{
    const struct fby_guess_split *split    = &guess->splits[0];
    bool                          is_train = strcmp(split->name, "train") == 0;
    return (struct fby_init_summary){
        .evaluation_split = is_train ? NULL : split->name,
        .kind             = guess->kind,
        .path             = split->pattern,
        .samples          = split->counted_all ? split->samples : 0,
        .least_samples    = split->samples,
        .shards           = split->shards,
        .classes          = split->classes,
        .flat = guess->kind == FBY_SOURCE_FOLDER && split->class_depth == 0,
        .has_sides     = split->has_sides,
        .class_depth   = split->class_depth,
        .members       = split->members,
        .n_members     = split->n_members,
        .measured_keys = (const char(*)[FBY_NAME_SIZE])split->measured_keys,
        .allow_stretch = o->allow_stretch,
        .columns       = columns,
        .n_columns     = describe_columns(split, columns),
        .files         = (const char(*)[FBY_NAME_SIZE])split->file_columns,
        .n_files       = split->n_file_columns,
        .tokens        = &split->tokens,
        .roots         = fby_init_roots_of(guess),
        .others        = others->written,
        .n_others      = others->n,
    };
}

/* Make the text of the file, and the notes for the terminal. */
static fby_err make_text(const struct init_options *o,
    const struct fby_guess *guess, const struct other_splits *others,
    struct fby_buffer *text, struct fby_buffer *notes,
    struct fby_error_detail *why)
{
    struct fby_init_column        columns[FBY_GUESS_COLUMNS];
    const struct fby_init_summary summary =
        summarize(o, guess, others, columns);
    fby_init_append_notes(&summary, notes);
    return fby_init_text(&summary, text, why);
}

/* Show the progress of the guess, on a terminal only. */
static bool show_progress(void *arg, uint64_t done, uint64_t total)
{
    struct fby_progress_line *line = arg;
    if (line->is_terminal) {
        fby_progress_show_count(line,
            total == 0 ? "files looked at" : "looking at the data", done,
            total);
    }
    return true;
}

static fby_err guess_source(const struct init_options *o,
    struct fby_guess *guess, struct fby_error_detail *why)
{
    struct fby_progress_line  line     = fby_progress_begin();
    const struct fby_progress progress = {.fn = show_progress, .arg = &line};
    fby_signals_exit();
    fby_err err = fby_source_guess_at_depth(
        o->path, o->token_type, o->class_depth, progress, guess, why);
    fby_signals_catch(); /* the file is written whole */
    fby_progress_end(&line);
    return err == FBY_USAGE ? FBY_CONFIG : err; /* the data, not an option */
}

/* Refuse to overwrite a file of the data. */
static fby_err check_output(const struct init_options *o,
    const struct fby_guess *guess, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; i < guess->n_splits && err == FBY_OK; i++) {
        err =
            fby_inputs_check_pattern(o->output, guess->splits[i].pattern, why);
    }
    return err;
}

/* After an error, `command` is the one that its text ends with, or "". */
static fby_err write_pipeline(const struct init_options *o,
    char command[FBY_GUESS_COMMAND], struct fby_error_detail *why)
{
    struct fby_guess   *guess  = calloc(1, sizeof(*guess));
    struct other_splits others = {.n = 0};
    struct fby_buffer   text   = {0};
    struct fby_buffer   notes  = {0};
    if (guess == NULL) {
        return FBY_SYS;
    }
    fby_err err = guess_source(o, guess, why);
    memcpy(command, guess->command, sizeof(guess->command));
    if (err == FBY_OK) {
        command[0] = '\0';
        err        = check_output(o, guess, why);
    }
    if (err == FBY_OK) {
        choose_splits(guess, &others);
        err = make_text(o, guess, &others, &text, &notes, why);
    }
    if (err == FBY_OK) {
        err = write_output(o, &text, why);
    }
    if (err == FBY_OK) {
        fby_init_print_report(&(struct fby_init_report){.guess = guess,
            .reasons = (const char(*)[FBY_REASON_SIZE])others.reasons,
            .notes   = &notes,
            .text    = &text,
            .output  = o->output});
    }
    fby_buffer_fini(&text);
    fby_buffer_fini(&notes);
    fby_guess_fini(guess);
    free(guess);
    return err;
}

static int run(int argc, char **argv)
{
    struct init_options     o   = {.class_depth = FBY_GUESS_ANY_DEPTH};
    struct fby_error_detail why = {{0}};
    char                    command[FBY_GUESS_COMMAND] = "";
    fby_usage_parse(&usage, argc, argv, &o);
    fby_err err = write_pipeline(&o, command, &why);
    if (err != FBY_OK) {
        int code = fby_command_end("init", err, &why);
        fprintf(stderr, "%s%s", command, command[0] != '\0' ? "\n" : "");
        return code;
    }
    return fby_signals_caught() != 0 ? 128 + fby_signals_caught()
                                     : FBY_EXIT_DONE;
}

const struct fby_command fby_command_init = {
    .name    = "init",
    .summary = "write a first pipeline file for your data",
    .run     = run,
};
