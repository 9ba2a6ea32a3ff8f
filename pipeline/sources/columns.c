/* columns.c - `columns`: tables of NumPy files, of which a row is a sample. */
#include "pipeline/draft.h"
#include "pipeline/location.h"
#include "pipeline/sources/sources.h"

static const struct fby_key key = {.name = "columns",
    .expects  = "a pattern of folders of .npy files, or of .npz",
    .kind     = FBY_KEY_TEXT,
    .offset   = offsetof(struct draft_split, pattern),
    .capacity = FBY_PATH_SIZE};

const struct fby_source_traits fby_source_columns = {
    .id         = FBY_SOURCE_COLUMNS,
    .key        = &key,
    .usage      = "columns: PATTERN",
    .samples    = "columns",
    .label      = "COLUMN",
    .has_rows   = true,
    .is_listed  = true,
    .check_rest = fby_pattern_check,
};
