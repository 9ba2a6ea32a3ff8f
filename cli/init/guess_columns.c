/* guess_columns.c - recognise columns in a directory, for `forebay init`. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"
#include "pipeline/text.h"
#include "worker/source/columns/columns.h"
#include "worker/source/columns/csr.h"

static bool has_npy(const struct fby_listing *listing)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        if (!listing->entries[i].is_dir &&
            fby_text_ends_with(listing->entries[i].name, ".npy")) {
            return true;
        }
    }
    return false;
}

/* ---- Matrices of SciPy --------------------------------------------------- */

enum { MAX_NPZ_READ = 64 }; /* .npz files of a folder */

enum npz {
    NPZ_TABLE,  /* from np.savez: several columns */
    NPZ_MATRIX, /* from scipy.sparse.save_npz: one column */
    NPZ_SAMPLE, /* the same with a single row */
    NPZ_REFUSED /* unreadable; the later scan reports the cause */
};

static fby_err read_npz_kind(const struct fby_root *root, const char *path,
    enum npz *out, struct fby_error_detail *why)
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
    *out = err == FBY_NOT_FOUND ? NPZ_TABLE
           : err != FBY_OK      ? NPZ_REFUSED
           : rows == 1          ? NPZ_SAMPLE
                                : NPZ_MATRIX;
    return err == FBY_IO ? err : FBY_OK;
}

static bool is_npz_file(const struct fby_entry *entry)
{
    return !entry->is_dir && fby_is_npz(entry->name);
}

/* Set *out for a folder that contains only .npz matrices. In a folder with
 * other files, such as pictures, matrices are members of samples. */
static fby_err is_matrix_folder(const struct fby_root *root, const char *path,
    bool *out, struct fby_error_detail *why)
{
    struct fby_listing all   = {0};
    enum npz           first = NPZ_TABLE;
    char               below[FBY_PATH_SIZE];
    uint32_t           n   = 0;
    fby_err            err = fby_listing_read(root, path, NULL, &all, why);
    while (n < all.count && is_npz_file(&all.entries[n])) {
        n++;
    }
    bool alone = err == FBY_OK && n > 0 && n == all.count;
    if (alone) {
        err = fby_path_join(path, all.entries[0].name, below, why);
    }
    if (alone && err == FBY_OK) {
        err = read_npz_kind(root, below, &first, why);
    }
    *out = first == NPZ_MATRIX || first == NPZ_REFUSED;
    fby_listing_fini(&all);
    return err;
}

/* ---- Shards -------------------------------------------------------------- */

static fby_err is_shard_dir(const struct fby_root *root, const char *path,
    bool *out, struct fby_error_detail *why)
{
    struct fby_listing below = {0};
    fby_err            err = fby_listing_read(root, path, "*.np?", &below, why);
    *out                   = err == FBY_OK && has_npy(&below);
    if (err == FBY_OK && !*out && below.count > 0) {
        err = is_matrix_folder(root, path, out, why);
    }
    fby_listing_fini(&below);
    return err;
}

struct column_scan { /* the state of scanning the entries of a folder */
    const struct fby_root    *root;
    struct fby_guess_columns *out;
    uint32_t                  n_read;            /* .npz files read */
    uint32_t                  matrices, refused; /* .npz files */
    bool                      dirs;              /* the folder has folders */
};

static void add_shard(struct column_scan *scan, const char *path)
{
    if (scan->out->shards++ == 0) {
        snprintf(scan->out->first, FBY_PATH_SIZE, "%s", path);
    }
}

static fby_err add_npz(
    struct column_scan *scan, const char *path, struct fby_error_detail *why)
{
    enum npz kind = NPZ_TABLE;
    fby_err  err  = FBY_OK;
    if (scan->n_read++ < MAX_NPZ_READ) {
        err = read_npz_kind(scan->root, path, &kind, why);
    }
    if (kind == NPZ_TABLE) {
        add_shard(scan, path);
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
    bool shard = false;
    if (is_npz_file(entry)) {
        return add_npz(scan, path, why);
    }
    if (!entry->is_dir) {
        return FBY_OK;
    }
    scan->dirs  = true;
    fby_err err = is_shard_dir(scan->root, path, &shard, why);
    if (shard) {
        add_shard(scan, path);
    }
    return err;
}

/* The directory itself is the only shard. */
static void use_folder_itself(const char *path, struct fby_guess_columns *out)
{
    out->shards       = 1;
    out->misplaced[0] = '\0';
    snprintf(out->first, FBY_PATH_SIZE, "%s", path);
    snprintf(out->pattern, FBY_PATH_SIZE, "%s", path);
}

/* Count the shards in `path`. If all files in `path` are matrices, `path` is
 * the shard, and the matrices are its columns. */
static fby_err count_shards(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_guess_columns *out,
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
        if (scan.matrices + scan.refused > 0 && !scan.dirs) {
            use_folder_itself(path, out);
        }
        return FBY_OK;
    }
    out->shards += scan.refused;
    return fby_path_join(path, "*", out->pattern, why);
}

fby_err fby_guess_columns(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_guess_columns *out,
    struct fby_error_detail *why)
{
    *out = (struct fby_guess_columns){.sure = has_npy(listing)};
    if (!out->sure) {
        return count_shards(root, path, listing, out, why);
    }
    use_folder_itself(path, out);
    return FBY_OK;
}

fby_err fby_guess_scan_columns(const struct fby_root *root,
    const struct fby_guess_columns *found, struct fby_guess_split *split,
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
    fby_err err = fby_columns_scan(root, found->first, &shard, why);
    if (err == FBY_OK) {
        split->shards      = found->shards;
        split->samples     = shard.samples;
        split->counted_all = found->shards == 1;
        split->n_columns   = shard.n_columns < FBY_GUESS_COLUMNS
                                 ? shard.n_columns
                                 : FBY_GUESS_COLUMNS;
        memcpy(split->columns, shard.columns,
            split->n_columns * sizeof(*split->columns));
    } else {
        fby_error_prefix(why, err, "shard %s", found->first);
    }
    fby_shard_fini(&shard);
    return err;
}
