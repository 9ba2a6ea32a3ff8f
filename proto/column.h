/* column.h - the interface between schema.c and column.c.
 *
 * A table has an entry for each kind of column: the text for errors, and three
 * functions that handle one member. Those for lists of records call back the
 * functions on schemas. Internal to proto/. */
#ifndef FBY_PROTO_COLUMN_H
#define FBY_PROTO_COLUMN_H

#include "proto/schema.h"

/* Storage of a protobuf field in a struct of protobuf-c. */
struct protobuf_slot {
    void   *value; /* the value, or the pointer to the list */
    size_t *n;     /* length of a list, else NULL */
};

struct column_ops {
    const char *expected; /* follows "expected "; NULL: a number in a range */
    bool (*check)(const struct schema_column *c, const void *record);
    void (*pack)(const struct schema_column *c, const void *record,
        struct protobuf_slot slot, struct message_arena *arena);
    bool (*unpack)(const struct schema_column *c, void *record,
        struct protobuf_slot slot, struct message_arena *arena);
};

extern const struct column_ops column_kinds[]; /* by enum column_kind */

/* The pointer and the length of the list that `c` describes. */
const void *column_list(const struct schema_column *c, const void *record);
size_t      column_length(const struct schema_column *c, const void *record);

/* The protobuf struct of one record; all memory is from `arena`. */
ProtobufCMessage *schema_to_protobuf(const struct schema *schema,
    const void *record, struct message_arena *arena);

/* The inverse; false when a member does not fit its column. */
bool schema_from_protobuf(const struct schema *schema, ProtobufCMessage *body,
    void *record, struct message_arena *arena);

/* Like arena_take, for packing, which has no budget; never NULL. */
void *arena_take_unlimited(struct message_arena *arena, size_t size);

#endif
