/* Tars into shards: each is scanned from end to end. */
#include "worker/source/index_build.h"
#include "worker/source/tar.h"

static fby_err scan(const struct fby_dataset_spec *spec,
    const struct fby_shard_files *files, struct fby_shard *out,
    struct fby_why *why)
{
    (void)spec;
    const struct fby_tar_file file = {
        .fd = files->fd[0], .size = files->stamps[0].size, .stop = files->stop};
    return fby_tar_scan(&file, out, why);
}

fby_err fby_build_tars(struct fby_build *self, struct fby_why *why)
{
    static const struct fby_file_kind tar = {.scan = scan};
    return fby_build_files(self, &tar, why);
}
