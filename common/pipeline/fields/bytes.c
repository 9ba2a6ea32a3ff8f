/* bytes.c - the bytes of a member as they are. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_bytes = {
    .id   = FBY_DECODE_BYTES,
    .name = "bytes",
};
