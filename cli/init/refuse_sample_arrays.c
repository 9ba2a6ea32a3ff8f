/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_sample_arrays.c - files of arrays for each sample: images/7.npy with
 * masks/7.npy, 7.npz with the arrays image and label, and case_7/image.npy with
 * seg.npy.
 *
 * A table has samples as rows, so these would be rows of pictures. The command
 * makes one table of them. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/sample_list.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "worker/npy/npy.h"
#include "worker/source/columns/columns.h"

enum { MAX_FOLDERS = 4, MAX_CHANNELS = 4 };

/* S(name, arrays) stacks the arrays of a column. */
#define STACK                                                               \
    "import glob, os, numpy as n; S = lambda k, v: n.stack(v) if "          \
    "len({x.shape for x in v}) == 1 else exit(k + ' has arrays of '"        \
    " + ' and '.join(map(str, sorted({x.shape for x in v})[:2])) + ': pad " \
    "or cut them to one shape'); "

/* Sets `a`, the columns of the table, from the folders of L. */
#define STACK_FOLDERS                                                         \
    STACK "L = [%s]; k = sorted(set.intersection(*[{os.path.basename(f) "     \
          "for f in glob.glob(d + '/*.npy')} for d in L])); a = {d.lower(): " \
          "S(d, "                                                             \
          "[n.load(d + '/' + f) for f in k]) for d in L}; "

/* Sets it from .npz files. */
#define STACK_NPZ                                                 \
    STACK "p = sorted(glob.glob('*.npz')); a = {k.lower(): S(k, " \
          "[n.load(f)[k] for f in p]) for k in n.load(p[0]).files}; "

static fby_err refuse_with(struct fby_search *search, const char *path,
    const char *what, const char *stack, struct fby_error_detail *why)
{
    char        program[1400];
    bool        is_split = fby_split_of_folder(path) != NULL;
    const char *again =
        path[0] == '\0' || is_split ? "again" : "on that folder";
    snprintf(program, sizeof(program),
        "%s%s[n.save(open('%s' + c + '.npy', 'xb'), a[c]) for c in a]", stack,
        is_split ? "" : "os.mkdir('train'); ", is_split ? "" : "train/");
    fby_guess_advise(search, path, "", program);
    return fby_error_set(why, FBY_CONFIG,
        "%s seem to be a sample, and a table has samples as rows: write one "
        "(all arrays of a column must have the same shape), and run init %s:",
        what, again);
}

/* ---- images/7.npy with masks/7.npy ---- */

struct npy_search {                /* of a folder */
    char     first[FBY_NAME_SIZE]; /* a .npy file; "": none */
    uint32_t n;                    /* number of .npy files */
    bool     has_others;           /* pictures, folders, arrays of splits */
};

static fby_err add_file(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct npy_search *self = arg;
    (void)why;
    if (entry->is_dir || fby_init_is_any_picture(entry->name) ||
        fby_split_word(entry->name) != NULL) {
        self->has_others = true;
    } else if (fby_text_ends_with(entry->name, ".npy") &&
               strlen(entry->name) < sizeof(self->first)) {
        self->n++;
        snprintf(self->first, sizeof(self->first), "%s", entry->name);
    }
    return FBY_OK;
}

/* Find an array in a folder of arrays alone that is called like one for pictures.
 * "": none. */
static void find_array(struct fby_search *search, const char *path,
    const struct fby_listing *listing, char out[FBY_NAME_SIZE])
{
    out[0] = '\0';
    for (uint32_t i = 0; i < listing->count && out[0] == '\0'; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        struct npy_search       self  = {.first = ""};
        char                    dir[FBY_PATH_SIZE];
        if (entry->is_dir && fby_init_is_picture_name(entry->name) &&
            fby_path_join(path, entry->name, dir, NULL) == FBY_OK &&
            fby_guess_visit_dir(
                search, dir, NULL, add_file, &self, NULL, NULL) == FBY_OK &&
            self.n > 1 && !self.has_others) {
            memcpy(out, self.first, sizeof(self.first));
        }
    }
}

static fby_err check_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    char     file[FBY_NAME_SIZE];
    char     names[MAX_FOLDERS * FBY_NAME_SIZE] = "";
    char     stack[1024];
    char     dir[FBY_PATH_SIZE];
    size_t   used = 0;
    uint32_t n    = 0;
    find_array(search, path, listing, file);
    for (uint32_t i = 0;
         file[0] != '\0' && i < listing->count && n < MAX_FOLDERS; i++) {
        const char *name = listing->entries[i].name;
        bool        is_parallel =
            listing->entries[i].is_dir &&
            (fby_init_is_picture_name(name) || fby_init_is_partner_name(name));
        if (is_parallel && fby_shell_is_plain(name) && strlen(name) < 40 &&
            fby_path_join(path, name, dir, NULL) == FBY_OK &&
            fby_guess_has_file(search->root, dir, file)) {
            used += (size_t)snprintf(names + used, sizeof(names) - used,
                "%s'%s'", n++ > 0 ? ", " : "", name);
        }
    }
    if (n < 2) {
        return FBY_OK;
    }
    snprintf(stack, sizeof(stack), STACK_FOLDERS, names);
    return refuse_with(search, path,
        "the .npy files of one name in parallel folders", stack, why);
}

/* ---- 7.npz ---- */

/* Are the columns a picture and its mask? Then their first two dimensions are
 * height and width. Columns of pictures have three. */
static bool are_of_one_sample(const struct fby_column *columns, uint32_t n)
{
    bool has_picture = false;
    bool has_mask    = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct fby_column *column  = &columns[i];
        bool                     is_flat = column->n_dims == 1 ||
                       (column->n_dims == 2 && column->dims[1] <= MAX_CHANNELS);
        if (!is_flat || column->rows != columns[0].rows ||
            column->dims[0] != columns[0].dims[0]) {
            return false;
        }
        bool is_picture = fby_init_is_picture_name(column->name);
        has_picture     = has_picture || is_picture;
        has_mask =
            has_mask || (!is_picture && fby_init_is_partner_name(column->name));
    }
    return has_picture && has_mask;
}

static fby_err check_npz(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char      *first = fby_guess_find_file(listing, ".npz");
    char             file[FBY_PATH_SIZE];
    struct fby_shard shard;
    uint32_t         n = 0;

    struct fby_error_detail cause = {{0}};
    for (uint32_t i = 0; i < listing->count; i++) {
        n += fby_text_ends_with(listing->entries[i].name, ".npz") ? 1 : 0;
    }
    if (n < 2 || fby_path_join(path, first, file, NULL) != FBY_OK) {
        return FBY_OK;
    }
    fby_shard_init(&shard, file, FBY_SOURCE_COLUMNS);
    bool is_table =
        fby_columns_scan(search->root, file, &shard, &cause) == FBY_OK;
    bool is_sample = is_table
                         ? are_of_one_sample(shard.columns, shard.n_columns)
                         : strstr(cause.text, "its shape is []") != NULL;
    fby_shard_fini(&shard);
    return is_sample ? refuse_with(search, path, "the arrays of each .npz file",
                           STACK_NPZ, why)
                     : FBY_OK;
}

fby_err fby_refuse_sample_arrays(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    if (search->in_zip) {
        return FBY_OK;
    }
    FBY_TRY(check_folders(search, path, listing, why));
    return check_npz(search, path, listing, why);
}

/* ---- case_7/image.npy with seg.npy ---- */

enum { HEAD_SIZE = 4096 /* bytes of a file that are read */ };

struct shapes { /* those of the arrays of a folder */
    struct fby_npy first;
    bool           has_scalar, differ_in_rows, has_one_row;
    bool           are_planes;  /* of one height and width, with few channels */
    bool           are_volumes; /* of one shape */
    bool           has_partner; /* a file is called after a mask or label */
    bool           has_picture; /* or after a picture */
    bool           is_unknown;  /* an array of a split, or a part of a column */
    bool           lacks_array; /* that file is none */
    uint32_t       n;
};

/* Read the header of the file in the folder `dir` called `folder`. */
static bool read_head(const struct fby_search *search, const char *dir,
    const char *folder, const struct fby_sample_file *file, struct fby_npy *out)
{
    char   name[FBY_PATH_SIZE];
    char   head[HEAD_SIZE] = "";
    size_t size;
    bool   has_star = file->name[0] == '*';
    snprintf(name, sizeof(name), "%s%s", has_star ? folder : "",
        file->name + (has_star ? 1 : 0));
    return fby_guess_read_begin(search->root, dir, name, head, sizeof(head)) &&
           fby_npy_read_head(
               (const uint8_t *)head, sizeof(head), out, &size, NULL) == FBY_OK;
}

static void add_shape(struct shapes *self, const struct fby_npy *array)
{
    const struct fby_npy *first = &self->first;
    if (self->n++ == 0) {
        self->first      = *array;
        self->are_planes = self->are_volumes = true;
    }
    bool is_plane = array->n_dims == 2 ||
                    (array->n_dims == 3 && array->dims[2] <= MAX_CHANNELS);
    bool is_equal =
        array->n_dims > 2 && first->n_dims > 2 &&
        memcmp(array->dims, first->dims, 3 * sizeof(first->dims[0])) == 0;
    self->has_scalar = self->has_scalar || array->n_dims == 0;
    if (array->n_dims == 0 || first->n_dims == 0) {
        return;
    }
    self->has_one_row = self->has_one_row || array->dims[0] == 1;
    self->differ_in_rows =
        self->differ_in_rows || array->dims[0] != first->dims[0];
    self->are_planes = self->are_planes && is_plane && first->n_dims > 1 &&
                       array->dims[0] == first->dims[0] &&
                       array->dims[1] == first->dims[1];
    self->are_volumes = self->are_volumes && is_equal;
}

static void add_sample_file(struct shapes *self,
    const struct fby_search *search, const char *dir, const char *folder,
    const struct fby_sample_file *file)
{
    char           role[FBY_NAME_SIZE];
    size_t         size;
    const char    *begin = fby_sample_role(file, &size);
    struct fby_npy array;
    snprintf(role, sizeof(role), "%.*s", (int)size, begin);
    bool is_array     = fby_text_ends_with(file->name, ".npy");
    bool is_partner   = fby_init_is_partner_name(role);
    self->has_partner = self->has_partner || is_partner;
    self->has_picture = self->has_picture || fby_init_is_picture_name(role);
    self->is_unknown  = self->is_unknown || fby_split_word(role) != NULL ||
                       (is_array && strchr(role, '.') != NULL);
    self->lacks_array = self->lacks_array || (is_partner && !is_array);
    if (is_array && read_head(search, dir, folder, file, &array)) {
        add_shape(self, &array);
    }
}

/* Does the name say that the folder is a sample? */
static bool is_case(const char *folder)
{
    static const char *const words[] = {"case", "patient", "subject", "sample",
        "scan", "volume", "study", "brats"};
    size_t                   i       = 0;
    while (i < sizeof(words) / sizeof(words[0]) &&
           strncasecmp(folder, words[i], strlen(words[i])) != 0) {
        i++;
    }
    return i < sizeof(words) / sizeof(words[0]);
}

enum fby_samples_kind fby_sample_arrays_kind(const struct fby_search *search,
    const char *path, const struct fby_sample_folder *folder)
{
    struct shapes self = {.n = 0};
    char          dir[FBY_PATH_SIZE];
    if (fby_path_join(path, folder->name, dir, NULL) != FBY_OK) {
        return FBY_SAMPLES_NONE;
    }
    for (uint32_t i = 0; i < folder->n; i++) {
        add_sample_file(&self, search, dir, folder->name, &folder->files[i]);
    }
    bool has_role = self.has_picture || self.has_partner;
    if (self.is_unknown || self.n == 0) {
        return FBY_SAMPLES_NONE;
    }
    if (self.has_scalar || self.lacks_array ||
        (self.differ_in_rows && (self.has_one_row || has_role)) ||
        (self.are_planes && self.n > 1 && self.has_partner)) {
        return FBY_SAMPLES_ARRAYS;
    }
    bool are_either = self.are_volumes && self.n > 1 && self.has_partner;
    return !are_either             ? FBY_SAMPLES_NONE
           : is_case(folder->name) ? FBY_SAMPLES_ARRAYS
                                   : FBY_SAMPLES_EITHER;
}
