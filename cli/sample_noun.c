/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sample_noun.h"

#include "pipeline/fields/kind.h"
#include "pipeline/sources/traits.h"

const char *fby_sample_noun(const struct fby_content *content)
{
    for (uint32_t i = 0; i < content->n_fields; i++) {
        if (fby_field_kind(&content->fields[i])->is_picture) {
            return "image";
        }
    }
    return fby_source_traits(content->source)->has_sequences ? "sequence"
                                                             : "sample";
}
