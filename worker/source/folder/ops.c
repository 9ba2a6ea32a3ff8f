/* A folder into shards: its class folders are walked in parallel and cut into
 * parts of 1,024 samples. Names and stamps are all that takes; only for sums
 * and lengths are files read, and not those of parts that the cache knows with
 * the same stamps. */
#include "worker/source/ops.h"
#include "worker/source/folder/classes.h"

static fby_err walk_class(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct fby_build *b = arg;
    return fby_folder_walk(
        b->out->root, b->out->parts.base, stop, &b->out->classes[i], why);
}

static fby_err index_folder(struct fby_build *self, struct fby_why *why)
{
    struct fby_index *out = self->out;

    fby_err err = fby_folder_classes(
        out->root, out->parts.base, &out->classes, &out->n_classes, why);
    if (err == FBY_OK) {
        err = fby_build_run(self, out->n_classes, walk_class, self, why);
    }
    if (err == FBY_OK) {
        err = fby_folder_cut(
            out->classes, out->n_classes, &out->shards, &out->n_shards, why);
    }
    for (uint32_t i = 0; i < out->n_classes; i++) {
        fby_folder_forget_files(&out->classes[i]);
    }
    return err == FBY_OK ? fby_build_read_all(self, why) : err;
}

static fby_err path(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_why *why)
{
    (void)index;
    return fby_path_format(out, why, "%s.%s",
        fby_shard_key(shard, fby_shard_sample_of(shard, number)),
        fby_shard_suffix(shard, number));
}

const struct fby_source_ops fby_folder_ops = {
    .index        = index_folder,
    .path         = path,
    .check_fields = fby_classes_check,
};
