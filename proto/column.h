/* column.h - what schema.c and column.c tell each other.
 *
 * A kind of column is a line of a table: what it expects, and three functions
 * on one member. Lists of records come back to the schema they consist of.
 * Internal to proto/. */
#ifndef FBY_PROTO_COLUMN_H
#define FBY_PROTO_COLUMN_H

#include "proto/schema.h"

/* A protobuf field as protobuf-c lays it out: the value or the pointer to the
 * list, and the length of a list. */
struct slot {
    void   *value;
    size_t *n;
};

struct column_ops {
    const char *expected; /* follows "expected "; NULL: number in a range */
    bool (*check)(const struct column *c, const void *record);
    void (*pack)(const struct column *c, const void *record, struct slot slot,
        struct arena *arena);
    bool (*unpack)(const struct column *c, void *record, struct slot slot,
        struct arena *arena);
};

extern const struct column_ops column_kinds[]; /* by enum column_kind */

/* The pointer and the length of the list that `c` describes. */
const void *column_list(const struct column *c, const void *record);
size_t      column_length(const struct column *c, const void *record);

/* The protobuf of one record, with all memory from `arena`. */
ProtobufCMessage *schema_fill(
    const struct schema *schema, const void *record, struct arena *arena);

/* The other way; false when a member cannot be taken over. */
bool schema_drain(const struct schema *schema, ProtobufCMessage *body,
    void *record, struct arena *arena);

/* Memory that the arena cannot refuse, because packing has no budget. */
void *arena_must(struct arena *arena, size_t size);

#endif
