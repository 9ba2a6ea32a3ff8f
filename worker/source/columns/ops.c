/* Shards of columns: headers are read, at each opening anew; with a bucket_by
 * the offsets of its column too, and with --hash the files, but those that the
 * cache knows with the same stamps. */
#include "worker/source/columns/columns.h"
#include "worker/source/index_build.h"

static fby_err scan_shard(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct fby_build *b     = arg;
    struct fby_index *out   = b->out;
    struct fby_shard *shard = &out->shards[i];
    char              path[FBY_PATH_SIZE];
    if (atomic_load(stop)) {
        return FBY_GONE;
    }
    fby_shard_init(shard, b->names.at[i], false);
    fby_err err = fby_path_join(out->parts.base, shard->name, path, why);
    if (err == FBY_OK) {
        err = fby_columns_scan(out->root, path, shard, why);
    }
    if (err == FBY_OK && (b->spec->lengths != NULL || out->hashed)) {
        err = fby_build_read(b, shard, stop, why);
    }
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "shard %s", shard->name);
}

fby_err fby_build_columns(struct fby_build *self, struct fby_why *why)
{
    return fby_build_named(self, FBY_EXPAND_TABLES, scan_shard, self, why);
}
