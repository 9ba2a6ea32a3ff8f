/* schema.h - tables that map a plain struct to a protobuf message.
 *
 * A schema has a column for each member of a struct. The column has the offset
 * of the member, the number of its protobuf field, and the values allowed. The
 * functions below work on any schema; wire.c has the schemas of all messages.
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
    COLUMN_U64,    /* uint64_t, min .. max */
    COLUMN_U32,    /* uint32_t or an enum, min .. max */
    COLUMN_BOOL,   /* bool */
    COLUMN_REAL,   /* double, finite */
    COLUMN_DIGEST, /* struct fby_digest */
    COLUMN_MAYBE,  /* struct fby_maybe_digest: a digest, or no bytes */
    COLUMN_BLOB,   /* struct fby_blob of min .. max bytes */
    COLUMN_NAME,   /* const char *: min .. max bytes of UTF-8 without NUL */
    COLUMN_TEXT,   /* like COLUMN_NAME, but one line; sanitized by packing */
    COLUMN_DIMS,   /* struct fby_shape: every dimension >= 1 */
    /* Arrays inside the struct. Their length n <= max is a uint32_t. */
    COLUMN_REALS,      /* double, finite */
    COLUMN_REALS_SAME, /* COLUMN_REALS with the same length as the one before */
    COLUMN_PAIRS,      /* struct fby_coding_choice */
    /* Pointers to lists. Their length, min <= n <= max, is a size_t. */
    COLUMN_IDS,     /* structs of one uint64_t, which is not 0 */
    COLUMN_NUMBERS, /* uint64_t */
    COLUMN_SUMS,    /* struct fby_checksum */
    COLUMN_NAMES,   /* const char *, each 1 .. name_max bytes */
    COLUMN_RECORDS, /* structs with a schema of their own, `record_schema` */
};

struct schema;

struct schema_column {
    uint32_t             number; /* of the protobuf field */
    enum column_kind     kind;
    size_t               offset;        /* of the member, in the struct */
    size_t               length_offset; /* arrays, lists: of their length */
    uint64_t             min, max;      /* see enum column_kind */
    uint64_t             name_max;      /* COLUMN_NAMES */
    const struct schema *record_schema; /* COLUMN_RECORDS */
};

struct schema {
    const char                       *name;
    const ProtobufCMessageDescriptor *body;
    const struct schema_column       *columns;
    size_t                            n_columns;
    size_t                            size; /* of the struct */
    size_t max_bytes; /* of the whole message; 0: only part of a message */
    /* Checks several members together (rules.h); may be NULL. */
    fby_err (*rule)(const void *record, struct fby_error_detail *why);
};

/* The schema of message type `number`; NULL when this version has no such
 * type. */
const struct schema *schema_of(unsigned number);

/* Memory that is freed all at once. The budget prevents that a short hostile
 * body unpacks to a large message. */
struct message_arena {
    uint8_t *next;   /* first free byte of the current block */
    size_t   left;   /* bytes free in the current block */
    size_t   budget; /* bytes that may still be allocated from the heap */
    void    *blocks; /* from the heap; released by arena_free_blocks */
};

/* Allocate `size` bytes aligned to 16; NULL when the budget is used up. */
void *arena_allocate(struct message_arena *arena, size_t size);

/* Like arena_allocate, for packing, which has no budget; never NULL. */
void *arena_allocate_or_abort(struct message_arena *arena, size_t size);

/* Free the blocks of an arena and set *blocks_p to NULL. */
void arena_free_blocks(void **blocks_p);

/* Check `record`, a struct of `schema`. With `skip_texts` columns of kind
 * COLUMN_TEXT are not checked, because packing sanitizes them.
 * Errors: FBY_PROTO  `why` names the field. */
FBY_CHECKED fby_err schema_check(const struct schema *schema,
    const void *record, bool skip_texts, struct fby_error_detail *why);

/* Append the protobuf of `record`, which schema_check accepted. */
void schema_pack(
    const struct schema *schema, const void *record, struct fby_buffer *out);

/* Parse `body` into `record` (schema->size bytes) and check it; all memory is
 * from `arena`.
 * Errors: FBY_PROTO. */
FBY_CHECKED fby_err schema_unpack(const struct schema *schema,
    struct fby_reader body, struct message_arena *arena, void *record,
    struct fby_error_detail *why);

/* ---- columns: private to column.c and schema.c ---- */

/* The members of a protobuf-c struct that hold one protobuf field. */
struct protobuf_slot {
    void                 *value;  /* the value, or the pointer to the list */
    size_t               *length; /* of a list, else NULL */
    struct message_arena *arena;  /* memory for lists and texts */
};

/* The functions of a kind of column. COLUMN_RECORDS has no pack and unpack:
 * they are in schema.c. */
struct column_ops {
    const char *expected; /* for errors: "expected ..."; NULL: min .. max */
    /* True if the member is valid. NULL: every value is valid. */
    bool (*check)(const struct schema_column *c, const void *record);
    void (*pack)(const struct schema_column *c, const void *record,
        struct protobuf_slot slot);
    bool (*unpack)(
        const struct schema_column *c, void *record, struct protobuf_slot slot);
};

extern const struct column_ops column_kinds[]; /* by enum column_kind */

/* The pointer and the length of the list that `c` describes. */
const void *column_list(const struct schema_column *c, const void *record);
size_t      column_length(const struct schema_column *c, const void *record);

/* Set the pointer to `data` and the length to `n`; false when `data` is NULL
 * although `n` is not 0. */
bool column_set_list(
    const struct schema_column *c, void *record, const void *data, size_t n);

#endif
