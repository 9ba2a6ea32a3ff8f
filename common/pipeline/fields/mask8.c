/* mask8.c - PNGs of ids, to u8 [h, w, 1]. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_mask8 = {
    .id   = FBY_DECODE_MASK8,
    .name = "mask8",
    .is_picture = true,
    .is_mask    = true,
};
