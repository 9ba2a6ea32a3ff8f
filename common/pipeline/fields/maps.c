/* maps.c - stacks of masks, to bits [h, w, masks]. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_maps = {
    .id   = FBY_DECODE_MAPS,
    .name = "maps",
    .is_picture = true,
    .is_mask    = true,
    .is_stack   = true,
};
