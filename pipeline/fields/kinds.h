/* kinds.h - the kinds of fields, one file each. Private to this folder. */
#ifndef FBY_PIPELINE_FIELDS_KINDS_H
#define FBY_PIPELINE_FIELDS_KINDS_H

#include "pipeline/fields/kind.h"

extern const struct fby_field_kind fby_kind_rgb8, fby_kind_label;
extern const struct fby_field_kind fby_kind_number, fby_kind_bytes;
extern const struct fby_field_kind fby_kind_mask8, fby_kind_array;
extern const struct fby_field_kind fby_kind_text, fby_kind_sparse;
extern const struct fby_field_kind fby_kind_maps, fby_kind_tokens;
extern const struct fby_field_kind fby_kind_documents;

#endif
