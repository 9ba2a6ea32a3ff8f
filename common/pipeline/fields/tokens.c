/* tokens.c - sequences of tokens. */
#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind fby_field_tokens = {
    .id   = FBY_DECODE_TOKENS,
    .name = "tokens",
    .is_sequence = true,
};
