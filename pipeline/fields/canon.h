/* canon.h - the canonical bytes of a field: a record (record.h) of entries.
 *
 * The keys are written in ascending order. A struct fby_field_entry describes
 * the value of a key: the one in the table of the field's kind or, if the kind
 * has none for the key, the one for all kinds (canon.c). */
#ifndef FBY_PIPELINE_FIELDS_CANON_H
#define FBY_PIPELINE_FIELDS_CANON_H

#include "common/bytes.h"
#include "pipeline/fields/kind.h"
#include "pipeline/record.h"

enum fby_field_entry_type {
    FBY_ENTRY_TYPE_NONE,  /* not written */
    FBY_ENTRY_TYPE_ZEROS, /* the kind has no such setting: `count` zero bytes */
    FBY_ENTRY_TYPE_U32,   /* uint32_t or an enum, from `least` to `most` */
    FBY_ENTRY_TYPE_BOOL,  /* bool, written as a number */
    FBY_ENTRY_TYPE_REALS, /* double[count]; mean, std: empty if unset */
    FBY_ENTRY_TYPE_TEXT,  /* char[FBY_NAME_SIZE] */
    FBY_ENTRY_TYPE_DIMS,  /* struct fby_shape */
    FBY_ENTRY_TYPE_LIST /* from, ops or device; `offset` is that of the count */
};

struct fby_field_entry {
    uint16_t                  key; /* 0: the end of a kind's list */
    enum fby_field_entry_type type;
    size_t                    offset; /* in struct fby_field_content */
    uint32_t
        least;     /* the smallest number; a smaller LIST or BOOL is left out */
    uint32_t most; /* U32: the largest number */
    uint32_t count; /* REALS: numbers; ZEROS: bytes */
};
#define FBY_ENTRY(name, of_type, member)                       \
    .key = FBY_ENTRY_##name, .type = FBY_ENTRY_TYPE_##of_type, \
    .offset = offsetof(struct fby_field_content, member)

/* Append the record of a valid field to a list, as the entry `key`. */
void fby_field_encode(struct fby_buffer *out, uint16_t key,
    const struct fby_field_content *field);

/* Read the next record of `list` into `out`, which is zero on entry; members
 * that are not in the record stay zero. An error is set in `list`. */
void fby_field_decode(
    struct fby_record *list, uint16_t key, struct fby_field_content *out);

#endif
