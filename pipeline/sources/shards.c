/* shards.c - `shards`: tar files of samples. */
#include "pipeline/draft.h"
#include "pipeline/location.h"
#include "pipeline/sources/sources.h"

static const struct fby_key key = {.name = "shards",
    .expects                             = "a pattern of tar files",
    .kind                                = FBY_KEY_TEXT,
    .offset   = offsetof(struct draft_split, pattern),
    .capacity = FBY_PATH_SIZE};

const struct fby_source_traits fby_source_shards = {
    .id         = FBY_SOURCE_SHARDS,
    .key        = &key,
    .usage      = "shards: PATTERN",
    .samples    = "shards",
    .label      = "cls",
    .check_rest = fby_pattern_check,
};
