/* SPDX-License-Identifier: Apache-2.0 */
/* sources.c - the table of source kinds, by number. A new kind needs a file in
 * this folder, a number in types.h, and a line here and in sources.h. */
#include "pipeline/sources/traits.h"

#include "pipeline/sources/sources.h"

static const struct fby_source_traits *const traits[FBY_N_SOURCES] = {
    [FBY_SOURCE_FOLDER]   = &fby_source_folder,
    [FBY_SOURCE_SHARDS]   = &fby_source_shards,
    [FBY_SOURCE_COLUMNS]  = &fby_source_columns,
    [FBY_SOURCE_LIST]     = &fby_source_list,
    [FBY_SOURCE_PARALLEL] = &fby_source_parallel,
    [FBY_SOURCE_TOKENS]   = &fby_source_tokens,
};

const struct fby_source_traits *fby_source_traits_by_id(int64_t id)
{
    return id >= 0 && id < FBY_N_SOURCES ? traits[id] : NULL;
}

const struct fby_source_traits *fby_source_traits(enum fby_source_kind kind)
{
    return traits[kind];
}
