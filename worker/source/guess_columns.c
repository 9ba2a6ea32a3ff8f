#include "worker/source/guess_columns.h"

#include <string.h>

#include "worker/source/columns.h"

static bool ends_as(const char *name, const char *end)
{
    size_t n = strlen(name);
    size_t k = strlen(end);
    return n > k && strcmp(name + n - k, end) == 0;
}

static bool has_npy(const struct fby_listing *listing)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        if (!listing->entries[i].is_dir &&
            ends_as(listing->entries[i].name, ".npy")) {
            return true;
        }
    }
    return false;
}

static fby_err is_shard(const struct fby_root *root, const char *path,
    const struct fby_entry *entry, bool *out, struct fby_why *why)
{
    struct fby_listing below = {0};
    *out                     = !entry->is_dir && fby_is_npz(entry->name);
    if (!entry->is_dir) {
        return FBY_OK;
    }
    fby_err err = fby_listing_read(root, path, "*.npy", &below, why);
    *out        = err == FBY_OK && has_npy(&below);
    fby_listing_fini(&below);
    return err;
}

/* Shards that lie in `path`: it is no shard itself. */
static fby_err count_shards(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_guess_columns *out,
    struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        char below[FBY_PATH_SIZE];
        bool shard = false;
        err        = fby_path_join(path, listing->entries[i].name, below, why);
        if (err == FBY_OK) {
            err = is_shard(root, below, &listing->entries[i], &shard, why);
        }
        if (shard && out->shards++ == 0) {
            memcpy(out->first, below, sizeof(below));
        }
    }
    return err == FBY_OK ? fby_path_join(path, "*", out->pattern, why) : err;
}

fby_err fby_guess_columns(const struct fby_root *root, const char *path,
    const struct fby_listing *listing, struct fby_guess_columns *out,
    struct fby_why *why)
{
    *out = (struct fby_guess_columns){.shards = 0};
    if (!has_npy(listing)) {
        return count_shards(root, path, listing, out, why);
    }
    out->shards = 1;
    memcpy(out->first, path, strlen(path));
    memcpy(out->pattern, path, strlen(path));
    return FBY_OK;
}

fby_err fby_guess_look_at_columns(const struct fby_root *root,
    const struct fby_guess_columns *found, struct fby_guess_split *split,
    struct fby_why *why)
{
    struct fby_shard shard;
    fby_shard_init(&shard, found->first, false);
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
