/* SPDX-License-Identifier: Apache-2.0 */
/* shards.c - the source `shards`: tar files of samples. */
#include "pipeline/sources/sources.h"

static const struct fby_key key = {
    FBY_TEXT("shards", parsed_split, pattern, "a pattern of tar files")};

const struct fby_source_traits fby_source_shards = {
    .id              = FBY_SOURCE_SHARDS,
    .key             = &key,
    .usage           = "shards: PATTERN",
    .samples         = "shards",
    .label           = "cls",
    .check_path_rest = fby_pattern_check,
};
