/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c - the table of field kinds, by enum fby_decode. A new kind needs a
 * file in this folder, a number in types.h, and a line here and in kinds.h. */
#include "pipeline/fields/kind.h"

#include "pipeline/fields/kinds.h"
#include "pipeline/text.h"

const struct fby_field_kind *const fby_field_kinds[] = {
    [FBY_DECODE_RGB8]      = &fby_kind_rgb8,
    [FBY_DECODE_LABEL]     = &fby_kind_label,
    [FBY_DECODE_NUMBER]    = &fby_kind_number,
    [FBY_DECODE_BYTES]     = &fby_kind_bytes,
    [FBY_DECODE_MASK8]     = &fby_kind_mask8,
    [FBY_DECODE_ARRAY]     = &fby_kind_array,
    [FBY_DECODE_TEXT]      = &fby_kind_text,
    [FBY_DECODE_SPARSE]    = &fby_kind_sparse,
    [FBY_DECODE_MAPS]      = &fby_kind_maps,
    [FBY_DECODE_TOKENS]    = &fby_kind_tokens,
    [FBY_DECODE_DOCUMENTS] = &fby_kind_documents,
};
const size_t fby_n_field_kinds =
    sizeof(fby_field_kinds) / sizeof(fby_field_kinds[0]);

const struct fby_field_kind *fby_field_kind_by_id(int64_t id)
{
    return id > 0 && (uint64_t)id < fby_n_field_kinds ? fby_field_kinds[id]
                                                      : NULL;
}

const struct fby_field_kind *fby_field_kind_for(const char *extension)
{
    const char *suffix = fby_extension_last_part(extension);
    for (size_t i = 1; i < fby_n_field_kinds; i++) {
        if (fby_text_is_one_of(suffix, fby_field_kinds[i]->extensions)) {
            return fby_field_kinds[i];
        }
    }
    return &fby_kind_bytes;
}
