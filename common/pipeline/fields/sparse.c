/* sparse.c - sparse rows of SciPy files. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_sparse = {
    .id   = FBY_DECODE_SPARSE,
    .name = "sparse",
};
