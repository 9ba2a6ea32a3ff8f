#include "cli/init/guess_columns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- matrices of SciPy --------------------------------------------------- */

enum { LOOKED_INTO = 64 }; /* .npz files of a folder, at most */

enum npz {
    NPZ_TABLE,  /* of np.savez: columns */
    NPZ_MATRIX, /* of scipy.sparse.save_npz: a column */
    NPZ_SAMPLE, /* the same, of one row */
    NPZ_REFUSED /* one of them, that cannot be read: reading it says why */
};

static fby_err look_into_npz(const struct fby_root *root, const char *path,
    enum npz *out, struct fby_why *why)
{
    struct fby_column column = {.name = ""};
    struct stat       st     = {0};
    uint64_t          rows   = 0;
    int               fd     = -1;
    fby_err           err = fby_root_open(root, path, FBY_WANT_FILE, &fd, why);
    if (err != FBY_OK) {
        return err;
    }
    err = fstat(fd, &st) == 0
              ? fby_csr_scan(fd, (uint64_t)st.st_size, &column, &rows, why)
              : fby_because(why, FBY_IO, "%s", strerror(errno));
    close(fd);
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

/* A folder of them alone: beside pictures they are members of samples. */
static fby_err is_of_matrices(const struct fby_root *root, const char *path,
    bool *out, struct fby_why *why)
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
        err = look_into_npz(root, below, &first, why);
    }
    *out = first == NPZ_MATRIX || first == NPZ_REFUSED;
    fby_listing_fini(&all);
    return err;
}

/* ---- shards -------------------------------------------------------------- */

static fby_err is_shard_dir(const struct fby_root *root, const char *path,
    bool *out, struct fby_why *why)
{
    struct fby_listing below = {0};
    fby_err            err = fby_listing_read(root, path, "*.np?", &below, why);
    *out                   = err == FBY_OK && has_npy(&below);
    if (err == FBY_OK && !*out && below.count > 0) {
        err = is_of_matrices(root, path, out, why);
    }
    fby_listing_fini(&below);
    return err;
}

struct among { /* the entries of a folder */
    const struct fby_root    *root;
    struct fby_guess_columns *out;
    uint32_t                  looked; /* .npz files looked into */
    uint32_t                  matrices, refused;
    bool                      dirs;
};

static void add_shard(struct among *among, const char *path)
{
    if (among->out->shards++ == 0) {
        snprintf(among->out->first, FBY_PATH_SIZE, "%s", path);
    }
}

static fby_err take_npz(
    struct among *among, const char *path, struct fby_why *why)
{
    enum npz kind = NPZ_TABLE;
    fby_err  err  = FBY_OK;
    if (among->looked++ < LOOKED_INTO) {
        err = look_into_npz(among->root, path, &kind, why);
    }
    if (kind == NPZ_TABLE) {
        add_shard(among, path);
    } else if (kind == NPZ_REFUSED) {
        among->refused++;
    } else if (among->matrices++ == 0) {
        snprintf(among->out->odd, FBY_PATH_SIZE, "%s", path);
    }
    return err;
}

static fby_err take_entry(struct among *among, const char *path,
    const struct fby_entry *entry, struct fby_why *why)
{
    bool shard = false;
    if (is_npz_file(entry)) {
        return take_npz(among, path, why);
    }
    if (!entry->is_dir) {
        return FBY_OK;
    }
    among->dirs = true;
    fby_err err = is_shard_dir(among->root, path, &shard, why);
    if (shard) {
        add_shard(among, path);
    }
    return err;
}

static void take_itself(const char *path, struct fby_guess_columns *out)
{
    out->shards = 1;
    out->odd[0] = '\0';
    snprintf(out->first, FBY_PATH_SIZE, "%s", path);
    snprintf(out->pattern, FBY_PATH_SIZE, "%s", path);
}

/* Shards that lie in `path`; where there are none but matrices, these are its
 * columns. */
static fby_err count_shards(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_guess_columns *out,
    struct fby_why *why)
{
    struct among among = {.root = root, .out = out};
    fby_err      err   = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        char below[FBY_PATH_SIZE];
        err = fby_path_join(path, listing->entries[i].name, below, why);
        if (err == FBY_OK) {
            err = take_entry(&among, below, &listing->entries[i], why);
        }
    }
    if (err != FBY_OK) {
        return err;
    }
    if (out->shards == 0) {
        if (among.matrices + among.refused > 0 && !among.dirs) {
            take_itself(path, out);
        }
        return FBY_OK;
    }
    out->shards += among.refused;
    return fby_path_join(path, "*", out->pattern, why);
}

fby_err fby_guess_columns(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_guess_columns *out,
    struct fby_why *why)
{
    *out = (struct fby_guess_columns){.sure = has_npy(listing)};
    if (!out->sure) {
        return count_shards(root, path, listing, out, why);
    }
    take_itself(path, out);
    return FBY_OK;
}

fby_err fby_guess_look_at_columns(const struct fby_root *root,
    const struct fby_guess_columns *found, struct fby_guess_split *split,
    struct fby_why *why)
{
    struct fby_shard shard;
    if (found->odd[0] != '\0') {
        return fby_because(why, FBY_CONFIG,
            "%s is a matrix of scipy.sparse.save_npz, a column of the folder "
            "that it lies in, and %s is a shard; give each a folder",
            found->odd, found->first);
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
        fby_because_in(why, err, "shard %s", found->first);
    }
    fby_shard_fini(&shard);
    return err;
}
