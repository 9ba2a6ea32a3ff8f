/* SPDX-License-Identifier: Apache-2.0 */
/* guess_files_beside.c - notes on files beside folders of pictures that may have
 * labels of the pictures, or the numbers of the class folders. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "pipeline/text.h"

enum { MAX_NAMES = 32, MAX_NOTES = 3 };

struct files_beside { /* those that no note names */
    struct fby_search *search;
    bool               of_classes; /* only names such as classes.txt */
    const struct fby_guess_split
            *among; /* only files that it leaves out, of types
                                            of which it has few; NULL: all */
    char     names[MAX_NAMES][FBY_NAME_SIZE];
    uint32_t n;
};

static bool has_type(const char *name, const char *const *types)
{
    const char *dot = strrchr(name, '.');
    while (dot != NULL && *types != NULL && strcasecmp(dot + 1, *types) != 0) {
        types++;
    }
    return dot != NULL && *types != NULL;
}

static bool may_have_labels(const char *name)
{
    static const char *const types[] = {"txt", "csv", "tsv", "json", "jsonl",
        "xml", "lst", "xlsx", "xls", "ods", "parquet", "arrow", "feather",
        "mat", "pkl", "pickle", "npy", "npz", "h5", "hdf5", NULL};
    return has_type(name, types) && !fby_init_is_colour_table(name) &&
           strncasecmp(name, "readme", 6) != 0 &&
           strncasecmp(name, "license", 7) != 0;
}

/* True for classes.txt, class_to_idx.json, label_map.pbtxt and so on. */
static bool may_number_classes(const char *name)
{
    static const char *const types[] = {
        "txt", "json", "yaml", "yml", "names", "pbtxt", "pkl", NULL};
    static const char *const words[] = {"class", "label", "categor", "synset"};
    bool                     found   = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        found = found || strcasestr(name, words[i]) != NULL;
    }
    return found && has_type(name, types);
}

/* Does the split leave out few files of this type? Many are those of pictures. */
static bool is_left_out(const struct fby_guess_split *split, const char *name)
{
    size_t n     = strlen(name);
    bool   found = false;
    for (uint32_t i = 0; i < split->n_left_out; i++) {
        const char *extension = split->left_out[i].extension;
        size_t      k         = strlen(extension);
        found = found || (split->left_out[i].count <= MAX_NOTES && n > k &&
                             name[n - k - 1] == '.' &&
                             strcasecmp(name + n - k, extension) == 0);
    }
    return found;
}

static fby_err add_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct files_beside *self = arg;
    bool                 is_told =
        strstr(self->search->out->notes, entry->name) != NULL ||
        (self->among != NULL && !is_left_out(self->among, entry->name));
    bool is_one = self->of_classes ? may_number_classes(entry->name)
                                   : may_have_labels(entry->name);
    (void)why;
    if (!entry->is_dir && is_one && !is_told && self->n < MAX_NAMES &&
        strlen(entry->name) < FBY_NAME_SIZE) {
        snprintf(self->names[self->n++], FBY_NAME_SIZE, "%s", entry->name);
    }
    return FBY_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Find the first names of such files in the folder. */
static void find_files(const char *path, struct files_beside *out)
{
    if (fby_guess_visit_dir(
            out->search, path, NULL, add_file, out, NULL, NULL) != FBY_OK) {
        out->n = 0;
    }
    qsort(out->names, out->n, sizeof(out->names[0]), compare_names);
    out->n = out->n < MAX_NOTES ? out->n : MAX_NOTES;
}

/* Add notes of files that may have labels. */
static void note_files(const char *path, struct files_beside *files)
{
    find_files(path, files);
    for (uint32_t i = 0; i < files->n; i++) {
        fby_guess_note(files->search,
            "note: %s is not read; if it has labels or texts of the "
            "pictures, %swrite them into a .csv with a column of paths",
            fby_text_show(files->names[i]).text,
            files->search->in_zip ? "unpack the archive and " : "");
    }
}

void fby_guess_note_files_beside(struct fby_search *search, const char *path)
{
    struct files_beside files = {.search = search};
    note_files(path, &files);
}

void fby_guess_note_files_among(struct fby_search *search, const char *path,
    const struct fby_guess_split *pictures)
{
    struct files_beside files = {.search = search, .among = pictures};
    note_files(path, &files);
}

void fby_guess_note_class_files(struct fby_search *search, const char *path)
{
    struct files_beside files = {.search = search, .of_classes = true};
    find_files(path, &files);
    for (uint32_t i = 0; i < files.n; i++) {
        fby_guess_note(search,
            "note: %s is not read: the classes are numbered from 0 in byte "
            "order of their folders' names; if it has other numbers, write a "
            ".csv with the columns image (paths) and label",
            fby_text_show(files.names[i]).text);
    }
}
