/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h - the field kinds, each in its own file, and the functions that set
 * their defaults. Private to this folder. */
#ifndef FBY_PIPELINE_FIELDS_KINDS_H
#define FBY_PIPELINE_FIELDS_KINDS_H

#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/canon.h"
#include "pipeline/fields/check.h"
#include "pipeline/parse_state.h"

extern const struct fby_field_kind fby_kind_rgb8, fby_kind_label;
extern const struct fby_field_kind fby_kind_number, fby_kind_bytes;
extern const struct fby_field_kind fby_kind_mask8, fby_kind_array;
extern const struct fby_field_kind fby_kind_text, fby_kind_sparse;
extern const struct fby_field_kind fby_kind_maps, fby_kind_tokens;
extern const struct fby_field_kind fby_kind_documents;

/* Set the dtype if the pipeline file has none. */
static inline void fby_set_default_dtype(
    struct fby_field_delivery *delivery, enum fby_type dtype)
{
    if (delivery->dtype == 0) {
        delivery->dtype = dtype;
    }
}

/* For a field with a max_length, set the defaults of too_long, `as` and offsets
 * if the pipeline file does not have them. */
static inline void fby_set_row_defaults(struct fby_field_content *field,
    struct fby_field_delivery *delivery, enum fby_as default_as)
{
    if (field->max_length == 0) {
        return;
    }
    if (field->too_long == 0) {
        field->too_long = FBY_TOO_LONG_REFUSE;
    }
    if (delivery->as == 0) {
        delivery->as = default_as;
    }
    if (delivery->offsets == 0) {
        delivery->offsets = FBY_I32;
    }
}

/* The wire type in the pipeline file or, if it has none, `default_type`. For
 * bits and yuv420, which are not in enum fby_type, the result is 0. */
static inline enum fby_type fby_wire_type_or(
    const struct parsed_field *parsed, enum fby_type default_type)
{
    if (parsed->wire.type == 0) {
        return default_type;
    }
    bool is_type = parsed->wire.type < PARSED_BITS;
    return is_type ? (enum fby_type)parsed->wire.type : 0;
}

/* The values of the keys `key` and `pick` in the file. */
static inline struct fby_json_selector fby_parsed_json_selector(
    const struct parsed_field *parsed)
{
    struct fby_json_selector json = {.pick = (enum fby_pick)parsed->pick};
    memcpy(json.key, parsed->json_key, sizeof(json.key));
    return json;
}

#endif
