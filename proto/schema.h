/* schema.h - tables that tie a plain struct to a protobuf message.
 *
 * A schema has a column for each member of a struct: where it lies, which
 * protobuf field carries it and what it may hold. Checking, packing and
 * unpacking walk these tables and know no message by name; wire.c has them.
 * Internal to proto/. */
#ifndef FBY_PROTO_SCHEMA_H
#define FBY_PROTO_SCHEMA_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"

enum column_kind {
    COLUMN_U64,    /* min .. max */
    COLUMN_U32,    /* min .. max; enums too */
    COLUMN_BOOL,   /* */
    COLUMN_REAL,   /* finite */
    COLUMN_DIGEST, /* exactly sizeof(struct fby_digest) bytes */
    COLUMN_MAYBE,  /* struct fby_maybe_digest: no bytes, or so many */
    COLUMN_BLOB,   /* struct fby_blob of min .. max bytes */
    COLUMN_NAME,   /* const char *: min .. max bytes of UTF-8 without NUL */
    COLUMN_TEXT,   /* the same without control characters; packing mends it */
    COLUMN_DIMS,   /* struct fby_shape: every dimension >= 1 */
    COLUMN_REALS,  /* double[n], finite; n in a u32 at `count`, n <= max */
    COLUMN_REALS_TOO, /* the same, with the n that COLUMN_REALS set */
    COLUMN_PAIRS,     /* struct fby_choice[n]; n in a u32, n <= max */
    /* lists: a pointer, and n in a size_t at `count`; min <= n <= max */
    COLUMN_IDS,     /* struct of one u64, not 0 */
    COLUMN_NUMBERS, /* u64 */
    COLUMN_SUMS,    /* struct fby_sum */
    COLUMN_NAMES,   /* const char *: each 1 .. name_max bytes */
    COLUMN_RECORDS, /* structs of schema `of` */
};

struct schema;

struct column {
    uint32_t             number; /* of the protobuf field */
    enum column_kind     kind;
    size_t               offset; /* of the member */
    size_t               count;  /* of the member that counts, for lists */
    uint64_t             min, max;
    uint64_t             name_max;
    const struct schema *of;
};

struct schema {
    const char                       *name;
    const ProtobufCMessageDescriptor *body;
    const struct column              *columns;
    size_t                            n_columns;
    size_t                            size; /* of the struct */
    size_t max_bytes; /* of a frame with it; 0: not a message by itself */
    /* What no column can say by itself; may be NULL. */
    fby_err (*rule)(const void *record, struct fby_why *why);
};

/* Memory that is given back all at once, and not more than `budget` of it:
 * a short hostile body must not unpack into a large one. */
struct arena {
    uint8_t *at;
    size_t   left;
    size_t   budget; /* bytes that may still be taken from the heap */
    void    *blocks;
};

/* `size` bytes aligned to 16, or NULL when the budget is used up. */
void *arena_take(struct arena *arena, size_t size);
void  arena_free(void **blocks_p);

/* Whether `record`, a struct of `schema`, holds what it may.
 * Errors: FBY_PROTO, `why` names the field. `mends`: texts are not looked at,
 * because packing mends them. */
FBY_CHECKED fby_err schema_check(const struct schema *schema,
    const void *record, bool mends, struct fby_why *why);

/* Append the protobuf of `record`, which schema_check took. */
void schema_pack(
    const struct schema *schema, const void *record, struct fby_buffer *out);

/* Parse `size` bytes into `record` (schema->size bytes), with all memory from
 * `arena`, and check it. Errors: FBY_PROTO. */
FBY_CHECKED fby_err schema_unpack(const struct schema *schema,
    struct fby_reader body, struct arena *arena, void *record,
    struct fby_why *why);

#endif
