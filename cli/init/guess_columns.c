/* SPDX-License-Identifier: Apache-2.0 */
/* guess_columns.c - recognise tables (shards of columns) in a directory.
 *
 * A table is a folder of .npy files, an .npz file of several columns, or a
 * folder of .npz files of SciPy, each a sparse matrix and so one column. */
#include "cli/init/guess_columns.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/split_names.h"
#include "pipeline/text.h"
#include "worker/source/columns/columns.h"
#include "worker/source/columns/csr.h"

enum { MAX_NPZ_READ = 64 }; /* further .npz files of a folder count as tables */

enum npz_kind {
    NPZ_TABLE,  /* from np.savez: several columns */
    NPZ_MATRIX, /* from scipy.sparse.save_npz: one column */
    NPZ_SAMPLE, /* a matrix with one row: a member of one sample */
    NPZ_REFUSED /* unreadable; the later scan reports the cause */
};

static fby_err read_npz_kind(const struct fby_root *root, const char *path,
    enum npz_kind *out, struct fby_error_detail *why)
{
    struct fby_column column = {.name = ""};
    uint64_t          rows   = 0;
    struct fby_object object;
    struct fby_stamp  stamp;
    fby_err err = fby_object_open_stamped(root, path, &object, &stamp, why);
    if (err != FBY_OK) {
        return err;
    }
    err = fby_csr_scan(&object, stamp.size, &column, &rows, why);
    fby_object_close(&object);
    *out = err == FBY_NOT_FOUND ? NPZ_TABLE /* SciPy did not write it */
           : err != FBY_OK      ? NPZ_REFUSED
           : rows == 1          ? NPZ_SAMPLE
                                : NPZ_MATRIX;
    return err == FBY_IO ? err : FBY_OK;
}

static bool is_npz_file(const struct fby_entry *entry)
{
    return !entry->is_dir && fby_is_npz(entry->name);
}

/* Set *out if the folder contains only .npz files and the first one is a matrix
 * or unreadable. In a folder with other files, such as pictures, matrices are
 * members of samples. */
static fby_err check_matrix_folder(const struct fby_root *root,
    const char *path, bool *out, struct fby_error_detail *why)
{
    struct fby_listing files = {0};
    enum npz_kind      first = NPZ_TABLE;
    char               below[FBY_PATH_SIZE];
    uint32_t           n_npz = 0;
    fby_err            err   = fby_listing_read(root, path, NULL, &files, why);
    while (n_npz < files.count && is_npz_file(&files.entries[n_npz])) {
        n_npz++;
    }
    bool only_npz = err == FBY_OK && n_npz > 0 && n_npz == files.count;
    if (only_npz) {
        err = fby_path_join(path, files.entries[0].name, below, why);
    }
    if (only_npz && err == FBY_OK) {
        err = read_npz_kind(root, below, &first, why);
    }
    *out = first == NPZ_MATRIX || first == NPZ_REFUSED;
    fby_listing_fini(&files);
    return err;
}

/* Set *out if the folder is a table: it has .npy files, or only matrices. */
static fby_err check_table_dir(const struct fby_root *root, const char *path,
    bool *out, struct fby_error_detail *why)
{
    struct fby_listing files = {0}; /* .npy and .npz */
    fby_err            err = fby_listing_read(root, path, "*.np?", &files, why);
    bool               is_paired =
        err == FBY_OK && fby_guess_is_npy_paired(root, path, &files);
    *out = err == FBY_OK && fby_guess_find_file(&files, ".npy") != NULL &&
           !is_paired;
    if (err == FBY_OK && !*out && !is_paired && files.count > 0) {
        err = check_matrix_folder(root, path, out, why);
    }
    fby_listing_fini(&files);
    return err;
}

struct column_scan { /* the state of scanning the entries of a folder */
    const struct fby_root   *root;
    struct fby_guess_tables *out;
    uint32_t                 n_read;   /* .npz files that were read */
    uint32_t                 matrices; /* readable .npz files of SciPy */
    uint32_t                 refused;  /* unreadable .npz files */
    bool                     has_dirs; /* the folder has subfolders */
};

/* The split of a table by its name; one without a word is of train. */
static const char *split_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *word  = fby_split_word(slash != NULL ? slash + 1 : path);
    return word != NULL ? word : "train";
}

static void add_table(struct column_scan *scan, const char *path)
{
    struct fby_guess_tables *out = scan->out;
    if (out->shards++ == 0) {
        snprintf(out->first, FBY_PATH_SIZE, "%s", path);
    } else if (strcmp(split_of(path), split_of(out->first)) != 0) {
        snprintf(out->other_split, FBY_PATH_SIZE, "%s", path);
    }
}

static fby_err add_npz(
    struct column_scan *scan, const char *path, struct fby_error_detail *why)
{
    enum npz_kind kind = NPZ_TABLE;
    fby_err       err  = FBY_OK;
    if (scan->n_read++ < MAX_NPZ_READ) {
        err = read_npz_kind(scan->root, path, &kind, why);
    }
    if (kind == NPZ_TABLE) {
        add_table(scan, path);
    } else if (kind == NPZ_REFUSED) {
        scan->refused++;
    } else if (scan->matrices++ == 0) {
        snprintf(scan->out->misplaced, FBY_PATH_SIZE, "%s", path);
    }
    return err;
}

static fby_err add_entry(struct column_scan *scan, const char *path,
    const struct fby_entry *entry, struct fby_error_detail *why)
{
    bool is_table = false;
    if (is_npz_file(entry)) {
        return add_npz(scan, path, why);
    }
    if (!entry->is_dir) {
        return FBY_OK;
    }
    scan->has_dirs = true;
    fby_err err    = check_table_dir(scan->root, path, &is_table, why);
    if (is_table) {
        add_table(scan, path);
    }
    return err;
}

/* Store the directory itself as the only table. */
static void use_folder_itself(const char *path, struct fby_guess_tables *out)
{
    out->shards       = 1;
    out->misplaced[0] = '\0';
    snprintf(out->first, FBY_PATH_SIZE, "%s", path);
    snprintf(out->pattern, FBY_PATH_SIZE, "%s", path);
}

/* Count the tables in `path`. If `path` has matrices but no tables or folders,
 * it is a table itself, and the matrices are its columns. */
static fby_err count_tables(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_guess_tables *out,
    struct fby_error_detail *why)
{
    struct column_scan scan = {.root = root, .out = out};
    fby_err            err  = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        char below[FBY_PATH_SIZE];
        err = fby_path_join(path, listing->entries[i].name, below, why);
        if (err == FBY_OK) {
            err = add_entry(&scan, below, &listing->entries[i], why);
        }
    }
    if (err != FBY_OK) {
        return err;
    }
    if (out->shards == 0) {
        if (scan.matrices + scan.refused > 0 && !scan.has_dirs) {
            use_folder_itself(path, out);
        }
        return FBY_OK;
    }
    out->shards += scan.refused; /* beside tables, they are damaged tables */
    return fby_path_join(path, "*", out->pattern, why);
}

fby_err fby_guess_find_tables(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_guess_tables *out,
    struct fby_error_detail *why)
{
    *out = (struct fby_guess_tables){
        .is_table = fby_guess_find_file(listing, ".npy") != NULL};
    if (!out->is_table) {
        return count_tables(root, path, listing, out, why);
    }
    use_folder_itself(path, out);
    return FBY_OK;
}

/* Add where the error is: the table, if it is not the folder of the search. */
static fby_err prefix_table(
    fby_err err, const char *path, struct fby_error_detail *why)
{
    return path[0] != '\0' ? fby_error_prefix(why, err, "shard %s", path) : err;
}

fby_err fby_guess_scan_columns(struct fby_search *search,
    const struct fby_guess_tables *found, struct fby_guess_split *split,
    struct fby_error_detail *why)
{
    struct fby_shard shard;
    if (found->misplaced[0] != '\0') {
        return fby_error_set(why, FBY_CONFIG,
            "%s is a matrix of scipy.sparse.save_npz, so a column of its "
            "folder, but %s is a shard; put them into separate folders",
            found->misplaced, found->first);
    }
    fby_shard_init(&shard, found->first, FBY_SOURCE_COLUMNS);
    fby_err err = fby_columns_scan(search->root, found->first, &shard, why);
    if (err != FBY_OK) {
        err = prefix_table(err, found->first, why);
    }
    err = fby_guess_explain_arrays(
        search, found, shard.columns, shard.n_columns, err, why);
    if (err == FBY_OK) {
        split->shards      = found->shards;
        split->samples     = shard.n_samples;
        split->counted_all = found->shards == 1;
        split->n_columns   = shard.n_columns < FBY_GUESS_COLUMNS
                                 ? shard.n_columns
                                 : FBY_GUESS_COLUMNS;
        memcpy(split->columns, shard.columns,
            split->n_columns * sizeof(*split->columns));
        if (split->n_columns < shard.n_columns) {
            fby_guess_note(search,
                "left out: %u of %u arrays, as %s: to read it, too, add a "
                "field; arrays of numbers that belong together can be one of "
                "two dimensions",
                shard.n_columns - split->n_columns, shard.n_columns,
                fby_text_show_begin(shard.columns[split->n_columns].name, 40)
                    .text);
        }
    }
    fby_shard_fini(&shard);
    return err;
}

/* The split for evaluation that all columns are called after; NULL: there is
 * none. */
static const char *split_of_columns(const struct fby_guess_split *split)
{
    const char *word = fby_split_word(split->columns[0].name);
    for (uint32_t i = 1; i < split->n_columns && word != NULL; i++) {
        const char *other = fby_split_word(split->columns[i].name);
        word = other != NULL && strcmp(word, other) == 0 ? word : NULL;
    }
    return word;
}

void fby_guess_name_tables(
    const struct fby_guess_tables *found, struct fby_guess_split *split)
{
    const char *word = found->first[0] != '\0' ? split_of(found->first)
                       : split->n_columns > 0  ? split_of_columns(split)
                                               : NULL;
    if (word != NULL && fby_text_is_evaluation_split(word)) {
        snprintf(split->name, sizeof(split->name), "%s", word);
    }
}
