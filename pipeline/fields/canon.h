/* canon.h - a field as a canonical record: its keys, and the entries that each
 * kind writes under them.
 *
 * One loop walks the keys in ascending order and takes for each the entry of
 * the field's kind, else that of all fields. */
#ifndef FBY_PIPELINE_FIELDS_CANON_H
#define FBY_PIPELINE_FIELDS_CANON_H

#include "common/bytes.h"
#include "pipeline/record.h"
#include "pipeline/types.h"

/* Keys of a field's record, of all kinds: add, never renumber. Keys before
 * SHAPE are written for every kind, as zero or empty where it has no such
 * value. Keys after SHAPE are left out where the number is below `least`. */
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
    FBY_ENTRY_KEYS /* one more than the largest */
};

enum fby_field_entry_type {
    FBY_ENTRY_NONE,    /* not written */
    FBY_ENTRY_NOTHING, /* no member: `most` zero bytes */
    FBY_ENTRY_U32,     /* uint32_t, or an enum, `least` to `most` */
    FBY_ENTRY_BOOL,    /* bool, as a number */
    FBY_ENTRY_REALS,   /* double[most]; several only where normalised */
    FBY_ENTRY_TEXT,    /* char[FBY_NAME_SIZE] */
    FBY_ENTRY_DIMS,    /* struct fby_shape */
    FBY_ENTRY_LIST     /* from, ops or device; the member is their number */
};

struct fby_field_entry {
    uint16_t                  key; /* 0: the end of a kind's list */
    enum fby_field_entry_type type;
    size_t                    offset; /* in struct fby_field_content */
    uint32_t                  least;
    uint32_t                  most;
};
#define FBY_ENTRY(name, of_type, member)                  \
    .key = FBY_ENTRY_##name, .type = FBY_ENTRY_##of_type, \
    .offset = offsetof(struct fby_field_content, member)

/* Append the record of a valid field to a list. */
void fby_field_encode(struct fby_buffer *out, uint16_t key,
    const struct fby_field_content *field);

/* Read the next record of `list` into `out`, which is zero before. What follows
 * from the values is left to the caller. Errors: as of other records. */
void fby_field_decode(
    struct fby_record *list, uint16_t key, struct fby_field_content *out);

#endif
