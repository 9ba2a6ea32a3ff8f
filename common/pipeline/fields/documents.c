/* documents.c - lengths of the documents that a sequence packs. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_documents = {
    .id   = FBY_DECODE_DOCUMENTS,
    .name = "documents",
    .is_sequence = true,
};
