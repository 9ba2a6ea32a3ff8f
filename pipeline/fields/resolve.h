/* resolve.h - what the kinds share when they fill in what a pipeline file
 * leaves out. */
#ifndef FBY_PIPELINE_FIELDS_RESOLVE_H
#define FBY_PIPELINE_FIELDS_RESOLVE_H

#include <string.h>

#include "pipeline/draft.h"
#include "pipeline/fields/kinds.h"

/* The dtype that stands for none. */
static inline void fby_default_dtype(
    struct fby_field_delivery *delivery, enum fby_type dtype)
{
    if (delivery->dtype == 0) {
        delivery->dtype = dtype;
    }
}

/* Rows with a max_length: refused when too long, and handed out as `as`. */
static inline void fby_default_rows(struct fby_field_content *field,
    struct fby_field_delivery *delivery, enum fby_as as)
{
    if (field->max_length == 0) {
        return;
    }
    if (field->too_long == 0) {
        field->too_long = FBY_TOO_LONG_REFUSE;
    }
    if (delivery->as == 0) {
        delivery->as = as;
    }
    if (delivery->offsets == 0) {
        delivery->offsets = FBY_I32;
    }
}

/* The type as which numbers travel: the one that was said. Bits are said with
 * a number that is no type, and are left to the kinds that have them. */
static inline enum fby_type fby_wire_said(const struct draft_field *said)
{
    return said->wire.type < DRAFT_BITS ? (enum fby_type)said->wire.type : 0;
}

/* What is said of JSON. */
static inline struct fby_from_json fby_json_said(const struct draft_field *said)
{
    struct fby_from_json json = {.pick = (enum fby_pick)said->pick};
    memcpy(json.key, said->json_key, sizeof(json.key));
    return json;
}

#endif
