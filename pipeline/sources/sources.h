/* SPDX-License-Identifier: Apache-2.0 */
/* sources.h - the kinds of sources, one file each. Private to this folder. */
#ifndef FBY_PIPELINE_SOURCES_SOURCES_H
#define FBY_PIPELINE_SOURCES_SOURCES_H

#include "pipeline/location.h"
#include "pipeline/parse_state.h"
#include "pipeline/sources/traits.h"

extern const struct fby_source_traits fby_source_folder;
extern const struct fby_source_traits fby_source_shards;
extern const struct fby_source_traits fby_source_columns;
extern const struct fby_source_traits fby_source_list;
extern const struct fby_source_traits fby_source_parallel;
extern const struct fby_source_traits fby_source_tokens;

#endif
