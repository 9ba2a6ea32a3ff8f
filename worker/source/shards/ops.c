/* Tars into shards: each is scanned from end to end, then the NumPy headers, if
 * their lengths are wanted. */
#include "worker/source/ops.h"
#include "worker/source/member_lengths.h"
#include "worker/source/shards/tar.h"

static fby_err scan(const struct fby_dataset_spec *spec,
    const struct fby_shard_files *files, struct fby_shard *out,
    struct fby_why *why)
{
    const struct fby_tar_file file = {.object = &files->objects[0],
        .size                                 = files->stamps[0].size,
        .stop                                 = files->stop};
    fby_err                   err  = fby_tar_scan(&file, out, why);
    if (err != FBY_OK || spec->lengths == NULL) {
        return err;
    }
    const struct fby_members members = {
        .field = spec->lengths, .object = file.object, .stop = file.stop};
    return fby_member_lengths_read(&members, out, why);
}

static fby_err index_tars(struct fby_build *self, struct fby_why *why)
{
    static const struct fby_file_kind tar = {.scan = scan};
    return fby_build_files(self, &tar, why);
}

const struct fby_source_ops fby_shards_ops = {
    .index = index_tars,
};
