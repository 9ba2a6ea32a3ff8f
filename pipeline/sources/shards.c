/* SPDX-License-Identifier: Apache-2.0 */
/* shards.c - the source `shards`: tar files of samples. */
#include "pipeline/sources/sources.h"

#include "pipeline/location.h"
#include "pipeline/unread.h"

static const struct fby_key key = {
    FBY_TEXT("shards", parsed_split, pattern, "a pattern of tar files")};

/* Check the pattern, and name the formats that are not read. */
static fby_err check_path_rest(
    const char *rest, const char *pattern, struct fby_error_detail *why)
{
    struct fby_unread unread;
    if (fby_unread_file(rest, &unread)) {
        return fby_error_set(why, FBY_CONFIG, "%s", unread.text);
    }
    return fby_pattern_check(rest, pattern, why);
}

const struct fby_source_traits fby_source_shards = {
    .id              = FBY_SOURCE_SHARDS,
    .key             = &key,
    .usage           = "shards: PATTERN",
    .samples         = "shards",
    .label           = "cls",
    .check_path_rest = check_path_rest,
};
