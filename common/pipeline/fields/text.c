/* text.c - UTF-8 texts of any length, to u8 [bytes]. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_text = {
    .id   = FBY_DECODE_TEXT,
    .name = "text",
};
