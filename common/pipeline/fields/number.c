/* number.c - one number of a JSON object, or of a column. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_number = {
    .id   = FBY_DECODE_NUMBER,
    .name = "number",
};
