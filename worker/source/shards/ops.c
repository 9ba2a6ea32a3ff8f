/* SPDX-License-Identifier: Apache-2.0 */
/* Index tar files: read the headers, and skip the payloads. */
#include "worker/source/ops.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"
#include "worker/source/shards/tar.h"

static fby_err scan_tar(const struct fby_dataset_spec *spec,
    const struct fby_shard_files *files, struct fby_shard *out,
    struct fby_error_detail *why)
{
    const struct fby_tar_file file = {.object = &files->objects[0],
        .size                                 = files->stamps[0].size,
        .stop                                 = files->stop};
    (void)spec;
    return fby_tar_scan(&file, out, why);
}

static fby_err index_tars(struct fby_build *self, struct fby_error_detail *why)
{
    static const struct fby_file_kind tar = {.scan = scan_tar};
    return fby_build_file_shards(self, &tar, why);
}

const struct fby_source_ops fby_shards_ops = {
    .index = index_tars,
};
