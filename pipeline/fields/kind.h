/* SPDX-License-Identifier: Apache-2.0 */
/* kind.h - the table of field kinds. The kind is the value of `decode:`; it
 * decides which keys, types and rules a field has.
 *
 * Each kind is one file of this folder and one line in kinds.c. Other code
 * tests the properties of a kind, not its number, so that a new kind needs few
 * changes. The decoders of the kinds are in worker/transform/. */
#ifndef FBY_PIPELINE_FIELDS_KIND_H
#define FBY_PIPELINE_FIELDS_KIND_H

#include "common/err.h"
#include "pipeline/types.h"

/* Keys of the canonical record of a field (canon.h). Numbers may be added, but
 * not changed. Keys before SHAPE are written for all kinds, as zero or empty if
 * the kind does not have the setting. SHAPE and later keys may be left out. */
enum fby_field_entry_key {
    FBY_ENTRY_NAME       = 1,
    FBY_ENTRY_GROUP      = 2,
    FBY_ENTRY_FROM       = 3,
    FBY_ENTRY_DECODE     = 4,
    FBY_ENTRY_DCT_SCALE  = 5,
    FBY_ENTRY_JSON_KEY   = 6,
    FBY_ENTRY_WIRE_TYPE  = 7,
    FBY_ENTRY_LENGTH     = 8,
    FBY_ENTRY_CLASSES    = 9,
    FBY_ENTRY_ONE_HOT    = 10,
    FBY_ENTRY_SMOOTHING  = 11,
    FBY_ENTRY_OPS        = 12,
    FBY_ENTRY_NORMALIZE  = 13,
    FBY_ENTRY_MEAN       = 14,
    FBY_ENTRY_STD        = 15,
    FBY_ENTRY_SHAPE      = 16,
    FBY_ENTRY_MAX_LENGTH = 17,
    FBY_ENTRY_TOO_LONG   = 18,
    FBY_ENTRY_PICK       = 19,
    FBY_ENTRY_MAPS       = 22,
    FBY_ENTRY_DEVICE     = 24,
    FBY_ENTRY_YUV420     = 25,
    FBY_ENTRY_FIT        = 26,
    FBY_ENTRY_NAMES      = 27,
    FBY_ENTRY_KEYS /* the largest key + 1 */
};

/* Keys of a field in a pipeline file. */
enum fby_field_key {
    FBY_FIELD_FROM,
    FBY_FIELD_DECODE,
    FBY_FIELD_DCT_SCALE,
    FBY_FIELD_GROUP,
    FBY_FIELD_FIT,
    FBY_FIELD_KEY,
    FBY_FIELD_PICK,
    FBY_FIELD_LENGTH,
    FBY_FIELD_SHAPE,
    FBY_FIELD_MAX_LENGTH,
    FBY_FIELD_TOO_LONG,
    FBY_FIELD_CLASSES,
    FBY_FIELD_NAMES,
    FBY_FIELD_OPS,
    FBY_FIELD_WIRE,
    FBY_FIELD_DEVICE,
    FBY_FIELD_OUT,
    FBY_FIELD_ONE_HOT,
    FBY_FIELD_TOP_KEYS, /* the number of keys above */

    FBY_FIELD_WIRE_TYPE = FBY_FIELD_TOP_KEYS, /* inside `wire` */
    FBY_FIELD_WIRE_FILTER,
    FBY_FIELD_WIRE_CODEC,

    FBY_FIELD_OUT_DTYPE, /* inside `out` */
    FBY_FIELD_OUT_LAYOUT,
    FBY_FIELD_OUT_SCALE,
    FBY_FIELD_OUT_OFFSET,
    FBY_FIELD_OUT_AS,
    FBY_FIELD_OUT_TO,
    FBY_FIELD_OUT_PAD,
    FBY_FIELD_OUT_OFFSETS,

    FBY_FIELD_ONE_HOT_CLASSES, /* inside `one_hot` */
    FBY_FIELD_ONE_HOT_SMOOTHING,
    FBY_FIELD_ONE_HOT_DTYPE,
    FBY_FIELD_ONE_HOT_ONLY,

    FBY_FIELD_WHOLE /* the field as a whole */
};
#define FBY_FIELD_BIT(key) (UINT64_C(1) << (key))
/* The keys of all kinds whose rows can have different lengths. */
#define FBY_FIELD_ROW_KEYS \
    (FBY_FIELD_BIT(FBY_FIELD_MAX_LENGTH) | FBY_FIELD_BIT(FBY_FIELD_TOO_LONG))

/* The meaning of the values of a field. */
enum fby_values {
    FBY_VALUES_COLOURS, /* colours of pixels */
    FBY_VALUES_IDS,     /* ids of pixels, which are never interpolated */
    FBY_VALUES_CLASSES, /* one class id for each sample */
    FBY_VALUES_NUMBERS,
    FBY_VALUES_BYTES,
    FBY_VALUES_TEXT,
    FBY_VALUES_TOKENS,
    FBY_VALUES_LENGTHS /* lengths of the documents in a sequence */
};

struct parsed_field; /* a field of a pipeline file: parse_state.h */
struct fby_field_check;
struct fby_canon_entry;

typedef fby_err fby_field_rule(const struct fby_field_check *check);

struct fby_field_kind {
    enum fby_decode id;
    const char     *name; /* the word after `decode:` */
    /* Extensions whose default kind this is; ends with NULL. NULL: none. */
    const char *const *extensions;
    uint64_t    keys;      /* FBY_FIELD_BITs of keys that not all kinds have */
    const char *only_from; /* the only extension allowed; NULL: any */
    const char *only_from_text; /* the error for another extension */
    const char *wire_text;      /* the error for a wrong wire type */

    /* Canonical entries of this kind only; ends with key 0. NULL: none. */
    const struct fby_canon_entry *entries;

    enum fby_values values;
    bool            is_picture;  /* pixels [h, w, channels], changed by ops */
    bool            is_sequence; /* the source must be token files */
    bool is_stack;      /* a row is made of all members in `from`, not of one */
    bool can_be_column; /* can come from a column of NumPy files */
    bool is_ragged;     /* can have max_length: rows of different lengths */
    bool header_has_length; /* a member's file header has the row's length */
    bool is_sparse;         /* rows are values and their indices */
    bool has_bits;          /* can be sent as packed bits */
    bool has_layout;        /* rows of three dimensions can have a layout */
    bool has_hw;            /* the layouts are hwc and hw: one channel */
    bool has_scale;         /* the device can make value * scale + offset */

    /* Offsets in struct fby_field_content of settings that several kinds have;
     * 0: this kind does not have the setting. */
    size_t json_offset;  /* struct fby_json_selector */
    size_t bits_offset;  /* uint32_t: bits packed in the last dimension */
    size_t shape_offset; /* struct fby_shape of a row or, if ragged, an entry */

    /* Set the defaults of keys that the file leaves out, and the settings that
     * follow from `wire`. The rules are checked later. */
    void (*fill_defaults)(const struct parsed_field *parsed,
        struct fby_field_content *field, struct fby_field_delivery *delivery);

    /* The rules that only this kind has; ends with NULL. The rules of all
     * fields are checked first. Errors: FBY_CONFIG, see fby_field_error. */
    fby_field_rule *const *rules;

    /* The shape of a row before the ops. A dimension that becomes known when a
     * sample is decoded is 0. NULL: a row is one value. */
    struct fby_shape (*shape)(const struct fby_field_content *field);
};

/* All kinds, by enum fby_decode; fby_field_kinds[0] is NULL. */
enum { FBY_MAX_KINDS = 32 }; /* the upper limit of fby_n_field_kinds */
extern const struct fby_field_kind *const fby_field_kinds[];
extern const size_t                       fby_n_field_kinds;

/* The kind with this enum fby_decode; NULL if there is none. */
const struct fby_field_kind *fby_field_kind_by_id(int64_t id);

/* The kind of a field; field->decode must be valid. */
static inline const struct fby_field_kind *fby_field_kind(
    const struct fby_field_content *field)
{
    return fby_field_kinds[field->decode];
}

/* The form of the field's rows: dense, ragged or sparse. */
static inline enum fby_form fby_field_form(
    const struct fby_field_content *field)
{
    if (fby_field_kind(field)->is_sparse) {
        return FBY_FORM_SPARSE;
    }
    return field->max_length > 0 ? FBY_FORM_RAGGED : FBY_FORM_DENSE;
}

static inline enum fby_values fby_field_values(
    const struct fby_field_content *field)
{
    return fby_field_kind(field)->values;
}

/* The kind whose `extensions` has the suffix of `extension`, else bytes. */
const struct fby_field_kind *fby_field_kind_for(const char *extension);

#endif
