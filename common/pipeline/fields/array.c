/* array.c - NumPy arrays, of one shape or with rows of several lengths. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_array = {
    .id   = FBY_DECODE_ARRAY,
    .name = "array",
};
