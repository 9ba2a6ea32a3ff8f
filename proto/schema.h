/* schema.h - tables that map a plain struct to a protobuf message.
 *
 * A schema has a column for each member of a struct: its offset, the number of
 * its protobuf field and the values allowed. The functions below work on any
 * schema; wire.c has the tables. Internal to proto/. */
#ifndef FBY_PROTO_SCHEMA_H
#define FBY_PROTO_SCHEMA_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"

enum column_kind {
    COLUMN_U64,        /* min .. max */
    COLUMN_U32,        /* min .. max; enums too */
    COLUMN_BOOL,       /* bool */
    COLUMN_REAL,       /* finite */
    COLUMN_DIGEST,     /* exactly sizeof(struct fby_digest) bytes */
    COLUMN_MAYBE,      /* struct fby_maybe_digest: a digest, or no bytes */
    COLUMN_BLOB,       /* struct fby_blob of min .. max bytes */
    COLUMN_NAME,       /* const char *: min .. max bytes of UTF-8 without NUL */
    COLUMN_TEXT,       /* the same on one line; sanitized when packed */
    COLUMN_DIMS,       /* struct fby_shape: every dimension >= 1 */
    COLUMN_REALS,      /* double[n], finite; n in a u32 at `count`, n <= max */
    COLUMN_REALS_SAME, /* the same, with the n that COLUMN_REALS set */
    COLUMN_PAIRS,      /* struct fby_coding_choice[n]; n in a u32, n <= max */
    /* Lists: a pointer, and n in a size_t at `count`; min <= n <= max. */
    COLUMN_IDS,     /* struct of one u64, not 0 */
    COLUMN_NUMBERS, /* u64 */
    COLUMN_SUMS,    /* struct fby_sum */
    COLUMN_NAMES,   /* const char *: each 1 .. name_max bytes */
    COLUMN_RECORDS, /* structs of schema `of` */
};

struct schema;

struct schema_column {
    uint32_t             number; /* of the protobuf field */
    enum column_kind     kind;
    size_t               offset; /* of the member */
    size_t               count;  /* lists: offset of the member with n */
    uint64_t             min, max;
    uint64_t             name_max;
    const struct schema *of;
};

struct schema {
    const char                       *name;
    const ProtobufCMessageDescriptor *body;
    const struct schema_column       *columns;
    size_t                            n_columns;
    size_t                            size; /* of the struct */
    size_t max_bytes; /* of a frame with it; 0: not a message by itself */
    /* Checks several members together, see rules.h; may be NULL. */
    fby_err (*rule)(const void *record, struct fby_why *why);
};

/* Memory that is freed all at once. The budget keeps a short hostile body from
 * unpacking into a large message. */
struct message_arena {
    uint8_t *at;     /* next free byte of the current block */
    size_t   left;   /* bytes free in the current block */
    size_t   budget; /* bytes that may still be taken from the heap */
    void    *blocks; /* from the heap; released by arena_free */
};

/* `size` bytes aligned to 16, or NULL when the budget is used up. */
void *arena_take(struct message_arena *arena, size_t size);

/* Free the blocks of an arena and set *blocks_p to NULL. */
void arena_free(void **blocks_p);

/* Check `record`, a struct of `schema`; with `skip_texts` all but its texts,
 * because packing sanitizes these.
 * Errors: FBY_PROTO  `why` names the field. */
FBY_CHECKED fby_err schema_check(const struct schema *schema,
    const void *record, bool skip_texts, struct fby_why *why);

/* Append the protobuf of `record`, which schema_check accepted. */
void schema_pack(
    const struct schema *schema, const void *record, struct fby_buffer *out);

/* Parse `body` into `record` (schema->size bytes) and check it; all memory is
 * from `arena`.
 * Errors: FBY_PROTO. */
FBY_CHECKED fby_err schema_unpack(const struct schema *schema,
    struct fby_reader body, struct message_arena *arena, void *record,
    struct fby_why *why);

#endif
