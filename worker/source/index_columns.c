/* Shards of columns: only headers are read, at each opening anew; with --hash
 * also the files, but those that the cache knows with the same stamps. */
#include "common/mem.h"
#include "worker/source/columns.h"
#include "worker/source/expand.h"
#include "worker/source/index_build.h"
#include "worker/source/row_lengths.h"

struct tables {
    struct fby_build *build;
    struct fby_names  names;
};

static fby_err scan_shard(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct tables    *t     = arg;
    struct fby_index *out   = t->build->out;
    struct fby_shard *shard = &out->shards[i];
    char              path[FBY_PATH_SIZE];
    if (atomic_load(stop)) {
        return FBY_GONE;
    }
    fby_shard_init(shard, t->names.at[i], false);
    fby_err err = fby_path_join(out->parts.base, shard->name, path, why);
    if (err == FBY_OK) {
        err = fby_columns_scan(out->root, path, shard, why);
    }
    if (err == FBY_OK && t->build->spec->lengths != NULL) {
        err = fby_row_lengths_read(out, shard, t->build->spec->lengths, why);
    }
    if (err == FBY_OK && out->hashed) {
        err = fby_build_sum(t->build, shard, stop, why);
    }
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "shard %s", shard->name);
}

fby_err fby_build_columns(struct fby_build *self, struct fby_why *why)
{
    struct fby_index *out = self->out;
    struct tables     t   = {.build = self};
    fby_err           err =
        fby_expand(out->root, &out->parts, FBY_EXPAND_TABLES, &t.names, why);
    if (err == FBY_OK) {
        out->n_shards = t.names.count;
        out->shards   = fby_zalloc(out->n_shards * sizeof(*out->shards));
        err           = fby_build_run(self, out->n_shards, scan_shard, &t, why);
    }
    fby_names_fini(&t.names);
    return err;
}
