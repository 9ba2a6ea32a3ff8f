/* rgb8.c - JPEG and PNG pictures, to u8 [h, w, 3]. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_rgb8 = {
    .id   = FBY_DECODE_RGB8,
    .name = "rgb8",
    .is_picture = true,
};
