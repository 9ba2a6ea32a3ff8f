/* SPDX-License-Identifier: Apache-2.0 */
/* canon.h - the canonical bytes of a field: a record (record.h) of entries.
 *
 * The entries are written in ascending order of their keys. A struct
 * fby_canon_entry describes the value of one key. A kind has such descriptions
 * for its own keys; canon.c has those for the other keys. */
#ifndef FBY_PIPELINE_FIELDS_CANON_H
#define FBY_PIPELINE_FIELDS_CANON_H

#include "common/bytes.h"
#include "pipeline/fields/kind.h"
#include "pipeline/record.h"

enum fby_field_entry_type {
    FBY_ENTRY_TYPE_NONE,  /* not written */
    FBY_ENTRY_TYPE_ZEROS, /* `count` zero bytes: the kind has no such setting */
    FBY_ENTRY_TYPE_U32,   /* uint32_t or enum of this size, min to max */
    FBY_ENTRY_TYPE_BOOL,  /* bool, written as 0 or 1 */
    FBY_ENTRY_TYPE_REALS, /* double[count]; mean, std: empty if unset */
    FBY_ENTRY_TYPE_TEXT,  /* char[FBY_NAME_SIZE] */
    FBY_ENTRY_TYPE_DIMS,  /* struct fby_shape */
    FBY_ENTRY_TYPE_LIST   /* from, ops, device or names; `offset` is of the
                             length */
};

struct fby_canon_entry {
    uint16_t                  key; /* 0: the end of a kind's list */
    enum fby_field_entry_type type;
    size_t                    offset; /* in struct fby_field_content */
    uint32_t min;   /* U32, BOOL, LIST: a smaller value is unset or invalid */
    uint32_t max;   /* U32: the largest valid number */
    uint32_t count; /* REALS: numbers; ZEROS: bytes */
};
/* The entry of `member`; the caller adds min, max or count. */
#define FBY_ENTRY(name, of_type, member)                       \
    .key = FBY_ENTRY_##name, .type = FBY_ENTRY_TYPE_##of_type, \
    .offset = offsetof(struct fby_field_content, member)

/* Append the record of a valid field to `out`, as the entry `key` of a list.
 * `names` are those of the content of the field. */
void fby_field_encode(struct fby_buffer *out, uint16_t key,
    const struct fby_field_content *field, const struct fby_class_names *names);

/* Read the entry `key` of `list` into `out`, which is zero on entry, and append
 * its names to `names`. Members that are not in the record stay zero. An error
 * is set in `list`. */
void fby_field_decode(struct fby_record *list, uint16_t key,
    struct fby_field_content *out, struct fby_class_names *names);

#endif
