/* kinds.h - the kinds of fields, one file each. Private to this folder. */
#ifndef FBY_COMMON_PIPELINE_FIELDS_KINDS_H
#define FBY_COMMON_PIPELINE_FIELDS_KINDS_H

#include "common/pipeline/fields/kind.h"

extern const struct fby_field_kind fby_field_rgb8, fby_field_label;
extern const struct fby_field_kind fby_field_number, fby_field_bytes;
extern const struct fby_field_kind fby_field_mask8, fby_field_array;
extern const struct fby_field_kind fby_field_text, fby_field_sparse;
extern const struct fby_field_kind fby_field_maps, fby_field_tokens;
extern const struct fby_field_kind fby_field_documents;

#endif
