/* label.c - class ids: the class folder's number, decimal text, or JSON. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_label = {
    .id   = FBY_DECODE_LABEL,
    .name = "label",
};
