/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - the source `columns`: NumPy files of equal length, one for each
 * column. Sample i is row i of all columns. */
#include "pipeline/sources/sources.h"

static const struct fby_key key = {FBY_TEXT("columns", parsed_split, pattern,
    "a pattern of folders of .npy files, or of .npz")};

const struct fby_source_traits fby_source_columns = {
    .id              = FBY_SOURCE_COLUMNS,
    .key             = &key,
    .usage           = "columns: PATTERN",
    .samples         = "columns",
    .label           = "COLUMN",
    .has_rows        = true,
    .lists_folders   = true,
    .check_path_rest = fby_pattern_check,
};
