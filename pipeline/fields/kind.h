/* kind.h - the table of field kinds: all that differs by `decode:` before a
 * value is decoded.
 *
 * Each kind is one file of this folder, and one line in kind.c. Whoever needs
 * to know how a field differs from others asks its kind, not its number. The
 * rules of a field stand in `rules` of its kind and in check.c, once: for a
 * pipeline file, which points at the key that is wrong, and for bytes from the
 * network. */
#ifndef FBY_PIPELINE_FIELDS_KIND_H
#define FBY_PIPELINE_FIELDS_KIND_H

#include "common/err.h"
#include "pipeline/types.h"

/* Keys of a field in a pipeline file. */
enum fby_field_key {
    FBY_FIELD_FROM,
    FBY_FIELD_DECODE,
    FBY_FIELD_DCT_SCALE,
    FBY_FIELD_GROUP,
    FBY_FIELD_KEY,
    FBY_FIELD_PICK,
    FBY_FIELD_LENGTH,
    FBY_FIELD_SHAPE,
    FBY_FIELD_MAX_LENGTH,
    FBY_FIELD_TOO_LONG,
    FBY_FIELD_CLASSES,
    FBY_FIELD_OPS,
    FBY_FIELD_WIRE,
    FBY_FIELD_DEVICE,
    FBY_FIELD_OUT,
    FBY_FIELD_ONE_HOT,
    FBY_FIELD_TOP_KEYS, /* how many stand in the field itself */

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

    FBY_FIELD_NAME /* the field as a whole */
};
#define FBY_FIELD_BIT(key) (UINT64_C(1) << (key))
/* Keys of rows that vary in length. */
#define FBY_FIELD_ROW_KEYS \
    (FBY_FIELD_BIT(FBY_FIELD_MAX_LENGTH) | FBY_FIELD_BIT(FBY_FIELD_TOO_LONG))

/* What the values of a field are. */
enum fby_values {
    FBY_VALUES_COLOURS, /* of pixels */
    FBY_VALUES_IDS,     /* of pixels: never mixed, never coloured */
    FBY_VALUES_CLASSES, /* one id a sample */
    FBY_VALUES_NUMBERS,
    FBY_VALUES_BYTES,
    FBY_VALUES_TEXT,
    FBY_VALUES_TOKENS,
    FBY_VALUES_LENGTHS /* of the documents of a sequence */
};

struct draft_field; /* a field as a pipeline file says it: draft.h */
struct fby_field_check;
struct fby_field_entry;

typedef fby_err fby_field_rule(const struct fby_field_check *check);

struct fby_field_kind {
    enum fby_decode id;
    const char     *name; /* the word after `decode:` */
    /* Extensions that stand for this kind without `decode:`; ends with NULL. */
    const char *const *extensions;
    uint64_t keys; /* bits: the keys it takes beyond from, decode, wire, out */
    /* The one extension of its members, and what is said of others. */
    const char *only_from;
    const char *only_from_text;
    const char *wire_text; /* what is said of a wire type that it has not */

    /* Its own canonical entries, by key; ends with key 0. NULL: none. */
    const struct fby_field_entry *entries;

    enum fby_values values;
    bool            is_picture; /* decoded to pixels [h, w, channels], by ops */
    bool is_sequence; /* cut from token files, by a source of tokens */
    bool is_stack;    /* a sample has all members of `from`, not one */
    bool is_column;   /* a row of a column of NumPy files can be one */
    bool is_ragged;   /* rows can vary in length: max_length */
    bool is_counted;  /* a member's header says how many entries a row has */
    bool has_bits;    /* can travel as bits, `maps` of them */
    bool has_layout;  /* rows of three dimensions are images */
    bool has_scale;   /* handed out as value * scale + offset */

    /* Fill in what the file left out, and what follows from the words of
     * `wire`. `field` and `delivery` hold the other values as they were said;
     * nothing is refused here. */
    void (*resolve)(const struct draft_field *said,
        struct fby_field_content *field, struct fby_field_delivery *delivery);

    /* The rules of this kind alone, in order, up to NULL; those of all fields
     * are checked before. Errors: FBY_CONFIG, see fby_field_wrong. */
    fby_field_rule *const *rules;

    /* The shape of a row before ops; dimensions that are not known before a
     * sample is decoded are 0. NULL: a row is one value. */
    struct fby_shape (*shape)(const struct fby_field_content *field);
};

/* The kind of that number; NULL when there is none. */
const struct fby_field_kind *fby_field_kind_by_id(int64_t id);

/* The kind of a field, whose decode is valid. */
const struct fby_field_kind *fby_field_kind(
    const struct fby_field_content *field);

/* What its values are. */
static inline enum fby_values fby_field_values(
    const struct fby_field_content *field)
{
    return fby_field_kind(field)->values;
}

/* The kind for members of that extension, where `decode:` is not said. Bytes,
 * if no other takes it. */
const struct fby_field_kind *fby_field_kind_for(const char *extension);

/* All kinds, by number: fby_field_kinds[0] is NULL, as number 0 is none. */
enum { FBY_MAX_KINDS = 32 };
extern const struct fby_field_kind *const fby_field_kinds[];
extern const size_t                       fby_n_field_kinds;

#endif
