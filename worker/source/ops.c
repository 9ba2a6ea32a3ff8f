/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - the table of sources, by number. A new source needs a folder, and a
 * line here and in ops.h. */
#include "worker/source/ops.h"

static const struct fby_source_ops *const ops[FBY_N_SOURCES] = {
    [FBY_SOURCE_FOLDER]   = &fby_folder_ops,
    [FBY_SOURCE_SHARDS]   = &fby_shards_ops,
    [FBY_SOURCE_COLUMNS]  = &fby_columns_ops,
    [FBY_SOURCE_LIST]     = &fby_list_ops,
    [FBY_SOURCE_PARALLEL] = &fby_parallel_ops,
    [FBY_SOURCE_TOKENS]   = &fby_tokens_ops,
};

const struct fby_source_ops *fby_source_ops(enum fby_source_kind kind)
{
    return ops[kind];
}
