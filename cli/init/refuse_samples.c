/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_samples.c - folders that are samples, no classes or tables: each has the same
 * few files, as case_001/flair.png, t1.png and seg.png, or image.npy and seg.npy, also
 * with the name of the folder before theirs.
 *
 * Class folders may have the same names, too, if the files of each class are
 * numbered. So the names must differ in more than numbers, and have a word. A few
 * folders may have other files. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/sample_list.h"
#include "cli/init/split_names.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

enum {
    MIN_FOLDERS = 4,
    MAX_FOLDERS = 64 /* that are looked at */
};

struct sample_folders {
    struct fby_sample_folder folders[MAX_FOLDERS];
    uint32_t                 n;      /* that were looked at */
    uint32_t                 n_dirs; /* all in the listing */
    enum fby_samples_kind    kind;
};

/* ---- the files ---- */

/* Write the name of a file with * for that of its folder, if it begins so. Returns
 * false if that does not fit. */
static bool set_file(
    struct fby_sample_file *out, const char *folder, const char *name)
{
    size_t n         = strlen(folder);
    bool   is_prefix = strncmp(name, folder, n) == 0 && name[n] != '\0' &&
                     strchr("_-. ", name[n]) != NULL;
    int size = snprintf(out->name, sizeof(out->name), "%s%s",
        is_prefix ? "*" : "", name + (is_prefix ? n : 0));
    return size >= 0 && (size_t)size < sizeof(out->name) &&
           (is_prefix || strchr(name, '*') == NULL);
}

/* Add a file; FBY_GONE for a folder that is no sample. */
static fby_err add_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct fby_sample_folder *self = arg;
    (void)why;
    if (entry->is_dir || self->n == FBY_SAMPLE_FILES ||
        !set_file(&self->files[self->n], self->name, entry->name)) {
        return FBY_GONE;
    }
    self->n++;
    return FBY_OK;
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct fby_sample_file *)a)->name,
        ((const struct fby_sample_file *)b)->name);
}

static void read_folder(struct fby_search *search, const char *path,
    const char *name, struct fby_sample_folder *out)
{
    char below[FBY_PATH_SIZE];
    *out = (struct fby_sample_folder){.name = name};
    if (fby_path_join(path, name, below, NULL) != FBY_OK ||
        fby_guess_visit_dir(search, below, NULL, add_file, out, NULL, NULL) !=
            FBY_OK) {
        out->n = 0;
    }
    qsort(out->files, out->n, sizeof(out->files[0]), compare_files);
}

static void read_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct sample_folders *out)
{
    const char *first;
    out->n_dirs = fby_guess_count_dirs(listing, &first);
    for (uint32_t i = 0; i < listing->count && out->n < MAX_FOLDERS &&
                         out->n_dirs >= MIN_FOLDERS;
         i++) {
        if (listing->entries[i].is_dir) {
            read_folder(search, path, listing->entries[i].name,
                &out->folders[out->n++]);
        }
    }
}

static bool is_equal(
    const struct fby_sample_folder *a, const struct fby_sample_folder *b)
{
    bool found = a->n == b->n;
    for (uint32_t i = 0; found && i < a->n; i++) {
        found = strcmp(a->files[i].name, b->files[i].name) == 0;
    }
    return found;
}

/* The first folder whose files three of four have; NULL: there is none. */
static const struct fby_sample_folder *find_usual(
    const struct sample_folders *self)
{
    for (uint32_t i = 0; 4 * i <= self->n && i < self->n; i++) {
        const struct fby_sample_folder *one   = &self->folders[i];
        uint32_t                        equal = 0;
        for (uint32_t k = i; k < self->n; k++) {
            equal += is_equal(one, &self->folders[k]) ? 1 : 0;
        }
        if (one->n > 1 && 4 * equal >= 3 * self->n) {
            return one;
        }
    }
    return NULL;
}

/* ---- their names ---- */

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* Has the role two letters in a row? */
static bool has_word(const struct fby_sample_file *file)
{
    size_t      size;
    const char *role = fby_sample_role(file, &size);
    for (size_t i = 1; i < size; i++) {
        if (is_letter(role[i - 1]) && is_letter(role[i])) {
            return true;
        }
    }
    return false;
}

/* Are two roles equal but for their digits? */
static bool are_counted(
    const struct fby_sample_file *a, const struct fby_sample_file *b)
{
    size_t      n;
    size_t      m;
    const char *x = fby_sample_role(a, &n);
    const char *y = fby_sample_role(b, &m);
    size_t      i = 0;
    size_t      k = 0;
    for (;; i++, k++) {
        for (; i < n && isdigit((unsigned char)x[i]); i++) {
        }
        for (; k < m && isdigit((unsigned char)y[k]); k++) {
        }
        if (i == n || k == m || x[i] != y[k]) {
            return i == n && k == m;
        }
    }
}

/* Decide from the names of the files of one folder what kind of samples the
 * folders are. All names must be those of roles. */
static enum fby_samples_kind find_kind(const struct fby_search *search,
    const char *path, const struct fby_sample_folder *folder)
{
    bool has_picture = false;
    bool has_words   = false;
    bool differ      = false;
    for (uint32_t i = 0; i < folder->n; i++) {
        const struct fby_sample_file *file = &folder->files[i];
        has_picture = has_picture || fby_init_is_any_picture(file->name);
        has_words   = has_words || has_word(file);
        differ      = differ || !are_counted(file, &folder->files[0]);
    }
    return has_picture && has_words && differ ? FBY_SAMPLES_FILES
           : has_picture || !differ
               ? FBY_SAMPLES_NONE
               : fby_sample_arrays_kind(search, path, folder);
}

/* Is a folder called after a part of samples, as images, masks, hr and lr? */
static bool has_role_name(const struct sample_folders *self)
{
    uint32_t i = 0;
    while (i < self->n && !fby_init_is_picture_name(self->folders[i].name) &&
           !fby_init_is_partner_name(self->folders[i].name) &&
           !fby_guess_is_role_name(self->folders[i].name)) {
        i++;
    }
    return i < self->n;
}

/* Are the names of the folders one text and a number? */
static bool are_numbered(const struct sample_folders *self)
{
    uint32_t i = 0;
    size_t   n = strcspn(self->folders[0].name, "0123456789");
    while (i < self->n &&
           strncmp(self->folders[i].name, self->folders[0].name, n) == 0 &&
           self->folders[i].name[n] != '\0' &&
           strspn(self->folders[i].name + n, "0123456789") ==
               strlen(self->folders[i].name + n)) {
        i++;
    }
    return i == self->n;
}

/* May the folders be samples, with such files? If they are not numbered, they may be
 * the roles: one has such a name, or there are fewer of them than files. */
static bool are_samples(
    const struct sample_folders *self, const struct fby_sample_folder *usual)
{
    bool has_prefix = usual->files[0].name[0] == '*';
    return has_prefix || are_numbered(self) ||
           (usual->n <= self->n_dirs && !has_role_name(self));
}

/* The first folder in the listing of `path` that has the files of samples; NULL: the
 * folders are no samples. */
static const struct fby_sample_folder *find_sample(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct sample_folders *out)
{
    read_folders(search, path, listing, out);
    const struct fby_sample_folder *usual = find_usual(out);
    if (usual != NULL && are_samples(out, usual)) {
        out->kind = find_kind(search, path, usual);
    }
    return out->kind != FBY_SAMPLES_NONE ? usual : NULL;
}

/* Write the names of the files: "flair.png, seg.png". */
static void list_files(
    const struct fby_sample_folder *folder, char *out, size_t size)
{
    out[0] = '\0';
    for (uint32_t i = 0; i < folder->n; i++) {
        fby_text_append_name(
            out, size, fby_text_show_begin(folder->files[i].name, 40).text);
    }
}

/* Refuse samples of arrays, or, if they may be tables, add a note. */
static fby_err refuse_arrays(struct fby_search *search,
    const struct fby_sample_folder *sample, enum fby_samples_kind kind,
    const char *files, struct fby_error_detail *why)
{
    char       *command = search->out->command;
    const char *name    = fby_text_show_begin(sample->name, 40).text;
    if (kind == FBY_SAMPLES_ARRAYS) {
        return fby_error_set(why, FBY_CONFIG,
            "%s and the folders beside it have the same files (%s), whose "
            "shapes are those of one sample, and a table has samples as rows: "
            "write one%s",
            name, files, command[0] != '\0' ? ":" : "");
    }
    if (command[0] != '\0') {
        fby_guess_note(search,
            "note: %s and the folders beside it are read as tables, whose rows "
            "are the samples; if each folder is a sample, write a table of "
            "them: %s",
            name, command);
    }
    command[0] = '\0';
    return FBY_OK;
}

/* `group` is the folder of the samples in `path`; NULL: they are in `path`. */
static fby_err refuse(struct fby_search *search, const char *path,
    const char *group, const struct fby_sample_folder *sample,
    enum fby_samples_kind kind, struct fby_error_detail *why)
{
    char files[160];
    for (uint32_t i = 0; i < sample->n; i++) {
        if (fby_unread_picture(sample->files[i].name) != NULL) {
            FBY_TRY(
                fby_refuse_unread(search, path, sample->files[i].name, why));
        }
    }
    const char *colon =
        fby_sample_list_advise(search, path, sample, kind, group != NULL);
    list_files(sample, files, sizeof(files));
    if (kind != FBY_SAMPLES_FILES) {
        return refuse_arrays(search, sample, kind, files, why);
    }
    fby_err err = fby_error_set(why, FBY_CONFIG,
        "%s%s%s and the folders beside it have the same files (%s), so they "
        "look like samples, not classes; if %s, add --class-depth 1; for "
        "samples write a "
        "list%s",
        group != NULL ? fby_text_show_begin(group, 40).text : "",
        group != NULL ? "/" : "", fby_text_show_begin(sample->name, 40).text,
        files, group != NULL ? "each file is a sample" : "they are classes",
        colon[0] != '\0' ? colon : " with a column of paths for each file");
    return fby_guess_unpack_first(search, err, why);
}

/* ---- groups of samples: HGG/case_001, LGG/case_002 ---- */

/* Find the samples in the folder `group` of `path`. */
static const struct fby_sample_folder *find_in_group(struct fby_search *search,
    const char *path, const char *group, struct fby_listing *listing,
    struct sample_folders *out)
{
    char below[FBY_PATH_SIZE];
    if (fby_is_split_name(group) ||
        fby_path_join(path, group, below, NULL) != FBY_OK ||
        fby_guess_list_dir(search, below, NULL, listing, NULL) != FBY_OK) {
        return NULL;
    }
    return find_sample(search, below, listing, out);
}

/* Refuse the first and the last folder in the listing, if their folders are samples
 * with the same files. */
static fby_err check_groups(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char                     *ends[2]  = {NULL, NULL};
    struct fby_listing              inner[2] = {{0}, {0}};
    struct sample_folders          *folders  = fby_zalloc(2 * sizeof(*folders));
    const struct fby_sample_folder *samples[2] = {NULL, NULL};
    fby_err                         err        = FBY_OK;
    for (uint32_t i = 0; i < listing->count; i++) {
        if (listing->entries[i].is_dir) {
            ends[0] = ends[0] == NULL ? listing->entries[i].name : ends[0];
            ends[1] = listing->entries[i].name;
        }
    }
    for (size_t i = 0; i < 2 && ends[0] != ends[1]; i++) {
        samples[i] =
            find_in_group(search, path, ends[i], &inner[i], &folders[i]);
    }
    if (samples[0] != NULL && samples[1] != NULL &&
        folders[0].kind == folders[1].kind &&
        is_equal(samples[0], samples[1])) {
        err = refuse(search, path, ends[0], samples[0], folders[0].kind, why);
    }
    fby_listing_fini(&inner[0]);
    fby_listing_fini(&inner[1]);
    free(folders);
    return err;
}

fby_err fby_refuse_samples(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    if (search->out->n_splits > 0 || /* train, which was looked at, decides */
        fby_listing_find(listing, FBY_SAMPLE_LIST) != NULL) {
        return FBY_OK;
    }
    struct sample_folders          *folders = fby_zalloc(sizeof(*folders));
    const struct fby_sample_folder *sample =
        find_sample(search, path, listing, folders);
    fby_err err = sample != NULL
                      ? refuse(search, path, NULL, sample, folders->kind, why)
                      : check_groups(search, path, listing, why);
    free(folders);
    return err;
}
