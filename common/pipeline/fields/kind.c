/* kind.c - the table of field kinds, by number. To add a kind: a file like
 * its neighbours, a number in types.h, and a line here. */
#include "common/pipeline/fields/kind.h"

#include "common/pipeline/fields/kinds.h"

const struct fby_field_kind *const fby_field_kinds[] = {
    [FBY_DECODE_RGB8]      = &fby_field_rgb8,
    [FBY_DECODE_LABEL]     = &fby_field_label,
    [FBY_DECODE_NUMBER]    = &fby_field_number,
    [FBY_DECODE_BYTES]     = &fby_field_bytes,
    [FBY_DECODE_MASK8]     = &fby_field_mask8,
    [FBY_DECODE_ARRAY]     = &fby_field_array,
    [FBY_DECODE_TEXT]      = &fby_field_text,
    [FBY_DECODE_SPARSE]    = &fby_field_sparse,
    [FBY_DECODE_MAPS]      = &fby_field_maps,
    [FBY_DECODE_TOKENS]    = &fby_field_tokens,
    [FBY_DECODE_DOCUMENTS] = &fby_field_documents,
};
const size_t fby_n_field_kinds =
    sizeof(fby_field_kinds) / sizeof(fby_field_kinds[0]);

const struct fby_field_kind *fby_field_kind_by_id(int64_t id)
{
    return id > 0 && (uint64_t)id < fby_n_field_kinds ? fby_field_kinds[id]
                                                      : NULL;
}

const struct fby_field_kind *fby_field_kind(
    const struct fby_field_content *field)
{
    return fby_field_kinds[field->decode];
}
