/* SPDX-License-Identifier: Apache-2.0 */
/* guess_npy.c - .npy files beside pictures: those of the same names are members
 * of the pictures' samples, and no table. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/arrays.h"
#include "cli/init/guess_columns.h"
#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_begin.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/split_names.h"
#include "cli/init/text_state.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "worker/npy/npy.h"

enum { PROGRAM_SIZE = 1536 };

bool fby_guess_is_npy_paired(const struct fby_root *root, const char *path,
    const struct fby_listing *listing)
{
    const char *npy = fby_guess_find_file(listing, ".npy");
    char        ending[FBY_NAME_SIZE];
    return npy != NULL &&
           fby_guess_find_picture(root, path, npy, strcspn(npy, "."), ending);
}

void fby_guess_note_npy(
    struct fby_search *search, const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        const char *extension = split->members[i].extension;
        if (fby_init_has_type(extension, "npy") &&
            fby_text_is_extension(extension)) {
            fby_guess_note(search,
                "note: the .%s files beside the pictures have no field yet; "
                "add one: {from: %s, decode: array, shape: [N], wire: f32}",
                extension, fby_init_write_name(extension).text);
            fby_guess_note(search, "note: " FBY_KEEP_PIXELS);
        }
    }
}

struct first_column { /* of a list */
    const struct fby_guess_split *split;
    bool                          is_array; /* has an array its name? */
};

static fby_err look_at_row(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct first_column *self = arg;
    char                 name[FBY_NAME_SIZE];
    (void)why;
    (void)fby_init_to_field_name(row->cells[0].column, name);
    for (uint32_t i = 0; i < self->split->n_columns; i++) {
        self->is_array = self->is_array ||
                         strcmp(self->split->columns[i].name, name) == 0 ||
                         strcmp(self->split->columns[i].name, "c0") == 0;
    }
    return FBY_GONE; /* only the first row is wanted */
}

static bool is_written(struct fby_search *search, const char *list_path,
    const struct fby_guess_split *split)
{
    struct first_column        first = {.split = split};
    const struct fby_list_sink sink  = {look_at_row, &first};
    struct fby_list_begin      begin;
    if (fby_list_begin_read(search, list_path, &begin)) {
        fby_list_begin_visit(&begin, &sink);
    }
    fby_list_begin_fini(&begin);
    return first.is_array;
}

static void note_list(struct fby_search *search, const char *path,
    const char *list, const struct fby_guess_split *split)
{
    char program[PROGRAM_SIZE];
    bool is_csv = fby_text_ends_with(list, ".csv") && fby_shell_is_plain(list);
    search->out->command[0] = '\0';
    if (is_csv) {
        snprintf(program, sizeof(program), "f = '%s'; N = %" PRIu64 "; %s",
            list, split->samples, fby_program_csv_arrays);
        fby_guess_advise(search, path, "", program);
    }
    fby_guess_note(search,
        "left out: %s: only the .npy files beside are read; write its columns "
        "as arrays of as many rows, and run init again%s%s",
        fby_text_show_begin(list, 60).text,
        search->out->command[0] != '\0' ? ": " : "", search->out->command);
    search->out->command[0] = '\0';
}

void fby_guess_note_lists_beside_npy(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const char *list = listing->entries[i].name;
        char        below[FBY_PATH_SIZE];
        if (fby_list_is_read(listing, &listing->entries[i]) &&
            fby_path_join(path, list, below, NULL) == FBY_OK &&
            !is_written(search, below, split)) {
            note_list(search, path, list, split);
        }
    }
}

/* May the file have data, by its name? Lists have notes of their own, as have files
 * of splits (guess_other_splits.c), and a folder of .npz files is a table. */
static bool may_be_data(const struct fby_entry *entry)
{
    static const char *const others[] = {".npy", ".npz", ".csv", ".jsonl",
        ".md", ".py", ".ipynb", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".sh",
        ".log", ".pdf", ".html", ".cff", ".bib", ".sha256", ".md5"};
    size_t                   n        = sizeof(others) / sizeof(others[0]);
    size_t                   i        = 0;
    while (i < n && !fby_text_ends_with(entry->name, others[i])) {
        i++;
    }
    return i == n && !entry->is_dir && entry->name[0] != '.' &&
           fby_split_word(entry->name) == NULL &&
           strncasecmp(entry->name, "readme", strlen("readme")) != 0 &&
           strncasecmp(entry->name, "license", strlen("license")) != 0;
}

static fby_err add_other_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    return may_be_data(entry) ? fby_listing_add(arg, entry, why) : FBY_OK;
}

void fby_guess_note_files_beside_npy(
    struct fby_search *search, const char *path)
{
    enum { MAX_NAMED = 4 };
    struct fby_listing others     = {0};
    char               names[240] = "";
    fby_err            err        = fby_guess_visit_dir(
                          search, path, NULL, add_other_file, &others, NULL, NULL);
    uint32_t n = err == FBY_OK ? others.count : 0;
    fby_listing_sort(&others);
    for (uint32_t i = 0; i < n && i < MAX_NAMED; i++) {
        fby_text_append_name(names, sizeof(names),
            fby_text_show_begin(others.entries[i].name, 40).text);
    }
    if (n > 0) {
        fby_guess_note(search,
            "left out%s%s: %s%s: only the .npy files beside are read; save "
            "what "
            "you need as arrays of as many rows",
            path[0] != '\0' ? " in " : "", path, names,
            n > MAX_NAMED ? ", ..." : "");
    }
    fby_listing_fini(&others);
}

enum { HEAD_SIZE = 4096 /* bytes of a file that are read */ };

/* Read the shape and type of the array at `path`. Returns false if no field can read
 * it. */
static bool read_array(const struct fby_search *search, const char *path,
    struct fby_init_array *out)
{
    struct fby_object object;
    struct fby_stamp  stamp;
    uint8_t           head[HEAD_SIZE];
    size_t            n = sizeof(head);
    if (fby_object_open_stamped(search->root, path, &object, &stamp, NULL) !=
        FBY_OK) {
        return false;
    }
    fby_err err = fby_object_read_some(&object, 0, head, &n, NULL);
    if (err == FBY_OK) {
        err = fby_init_add_array(out, head, n, stamp.size, NULL);
    }
    fby_object_close(&object);
    return err == FBY_OK;
}

void fby_guess_note_npy_in(
    struct fby_search *search, const char *path, const char *extension)
{
    struct fby_init_array array = {.wire = 0};
    struct fby_buffer     shape = {0};
    char                  name[FBY_NAME_SIZE];
    int                   n = (int)(strrchr(extension, '.') - extension);
    snprintf(name, sizeof(name), "%.*s", n, extension);
    if (!read_array(search, path, &array)) {
        fby_guess_note(search,
            "left out: the .npy files in %s are not read; write what you need "
            "of them into a table",
            name);
        return;
    }
    for (uint32_t i = 0; i < array.shape.n_dims; i++) {
        fby_init_printf(&shape, "%s%u", i > 0 ? ", " : "", array.shape.dims[i]);
    }
    fby_guess_note(search,
        "left out: the .npy files in %s; to read them, add to fields: %s: "
        "{from: %s, decode: array, shape: [%.*s], wire: %s}%s",
        name, fby_init_write_name(name).text,
        fby_init_write_name(extension).text, (int)shape.size,
        shape.size > 0 ? (const char *)shape.data : "",
        fby_type_word(array.wire),
        array.shape.n_dims >= 2 ? "; " FBY_KEEP_PIXELS : "");
    fby_buffer_fini(&shape);
}

/* A number of the array that f32 rounds by a half or more, of those that are read; 0:
 * none. */
static double find_rounded(
    const struct fby_npy *array, const uint8_t *values, size_t size)
{
    double found = 0;
    for (size_t at = 0; found == 0 && at + sizeof(found) <= size;
         at += sizeof(found)) {
        double value;
        memcpy(&value, values + at, sizeof(value));
        if (at / sizeof(value) < array->n_values && fabs(value) >= 0x1p23 &&
            fabs(value) < 0x1p53 && (double)(float)value != value) {
            found = value;
        }
    }
    return found;
}

void fby_guess_note_rounded_arrays(struct fby_search *search, const char *path,
    const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_columns; i++) {
        char           name[FBY_NAME_SIZE + 8];
        char           bytes[HEAD_SIZE] = "";
        struct fby_npy array;
        size_t         head    = 0;
        double         rounded = 0;
        snprintf(name, sizeof(name), "%s.npy", split->columns[i].name);
        if (split->columns[i].type == FBY_NPY_F8 &&
            fby_guess_read_begin(
                search->root, path, name, bytes, sizeof(bytes)) &&
            fby_npy_read_head((const uint8_t *)bytes, sizeof(bytes), &array,
                &head, NULL) == FBY_OK &&
            !array.big_endian && head < sizeof(bytes)) {
            rounded = find_rounded(&array, (const uint8_t *)bytes + head,
                sizeof(bytes) - 1 - head);
        }
        if (rounded != 0) {
            fby_guess_note(search,
                "note: f32 rounds %s, as %.2f to %.0f: save whole numbers, "
                "such "
                "as milliseconds, as int64, or the differences to the smallest "
                "number",
                name, rounded, (double)(float)rounded);
        }
    }
}
