/* Check, pack and unpack a struct by iterating over its schema. Only lists of
 * records are a special case here, because these have schemas of their own. */
#include "proto/column.h"

#include <assert.h>
#include <inttypes.h>

static const ProtobufCFieldDescriptor *field_of(
    const struct schema *schema, const struct schema_column *c)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(schema->body, c->number);
    assert(field != NULL);
    return field;
}

static struct protobuf_slot slot_of(
    const ProtobufCFieldDescriptor *field, ProtobufCMessage *body)
{
    char *base = (char *)body;
    return (struct protobuf_slot){
        .value = base + field->offset,
        .n     = field->label == PROTOBUF_C_LABEL_REPEATED
                     ? (void *)(base + field->quantifier_offset)
                     : NULL,
    };
}

static fby_err refuse(const struct schema *schema,
    const struct schema_column *c, struct fby_why *why)
{
    const char *field    = field_of(schema, c)->name;
    const char *expected = column_kinds[c->kind].expected;
    if (expected == NULL) {
        return fby_because(why, FBY_PROTO,
            "%s.%s: expected a number from %" PRIu64 " to %" PRIu64,
            schema->name, field, c->min, c->max);
    }
    if (c->max == 0) {
        return fby_because(why, FBY_PROTO, "%s.%s: expected %s", schema->name,
            field, expected);
    }
    return fby_because(why, FBY_PROTO,
        "%s.%s: expected %s, %" PRIu64 " to %" PRIu64 " of them", schema->name,
        field, expected, c->min, c->max);
}

static fby_err check_records(const struct schema_column *c, const void *record,
    bool skip_texts, struct fby_why *why)
{
    const char *records = column_list(c, record);
    size_t      n       = column_length(c, record);
    for (size_t i = 0; i < n; i++) {
        fby_err err =
            schema_check(c->of, records + i * c->of->size, skip_texts, why);
        if (err != FBY_OK) {
            return err;
        }
    }
    return FBY_OK;
}

static fby_err check_column(const struct schema *schema,
    const struct schema_column *c, const void *record, bool skip_texts,
    struct fby_why *why)
{
    if (c->kind == COLUMN_TEXT && skip_texts) {
        return FBY_OK;
    }
    if (!column_kinds[c->kind].check(c, record)) {
        return refuse(schema, c, why);
    }
    return c->kind == COLUMN_RECORDS ? check_records(c, record, skip_texts, why)
                                     : FBY_OK;
}

fby_err schema_check(const struct schema *schema, const void *record,
    bool skip_texts, struct fby_why *why)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        fby_err err =
            check_column(schema, &schema->columns[i], record, skip_texts, why);
        if (err != FBY_OK) {
            return err;
        }
    }
    return schema->rule != NULL ? schema->rule(record, why) : FBY_OK;
}

ProtobufCMessage *schema_to_protobuf(const struct schema *schema,
    const void *record, struct message_arena *arena)
{
    ProtobufCMessage *body =
        arena_take_unlimited(arena, schema->body->sizeof_message);
    protobuf_c_message_init(schema->body, body);
    for (size_t i = 0; i < schema->n_columns; i++) {
        const struct schema_column *c = &schema->columns[i];
        column_kinds[c->kind].pack(
            c, record, slot_of(field_of(schema, c), body), arena);
    }
    return body;
}

struct sink { /* a ProtobufCBuffer that appends to a fby_buffer */
    ProtobufCBuffer    base;
    struct fby_buffer *out;
};

static void append(ProtobufCBuffer *base, size_t size, const uint8_t *data)
{
    fby_put_bytes(((struct sink *)base)->out, data, size);
}

void schema_pack(
    const struct schema *schema, const void *record, struct fby_buffer *out)
{
    _Alignas(16) uint8_t room[1024];
    struct message_arena arena = {
        .at = room, .left = sizeof(room), .budget = SIZE_MAX};
    struct sink sink = {.base = {.append = append}, .out = out};
    protobuf_c_message_pack_to_buffer(
        schema_to_protobuf(schema, record, &arena), &sink.base);
    arena_free(&arena.blocks);
}

static const struct schema_column *first_refused(const struct schema *schema,
    ProtobufCMessage *body, void *record, struct message_arena *arena)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        const struct schema_column *c    = &schema->columns[i];
        struct protobuf_slot        slot = slot_of(field_of(schema, c), body);
        if (!column_kinds[c->kind].unpack(c, record, slot, arena)) {
            return c;
        }
    }
    return NULL;
}

bool schema_from_protobuf(const struct schema *schema, ProtobufCMessage *body,
    void *record, struct message_arena *arena)
{
    return first_refused(schema, body, record, arena) == NULL;
}

static void *allocate(void *arena, size_t size)
{
    return arena_take(arena, size);
}

static void free_nothing(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

fby_err schema_unpack(const struct schema *schema, struct fby_reader body,
    struct message_arena *arena, void *record, struct fby_why *why)
{
    ProtobufCAllocator allocator = {
        .alloc = allocate, .free = free_nothing, .allocator_data = arena};
    ProtobufCMessage *parsed =
        protobuf_c_message_unpack(schema->body, &allocator, body.left, body.at);
    if (parsed == NULL) {
        return fby_because(
            why, FBY_PROTO, "%s: the body is not valid protobuf", schema->name);
    }
    const struct schema_column *c =
        first_refused(schema, parsed, record, arena);
    if (c != NULL) {
        return refuse(schema, c, why);
    }
    return schema_check(schema, record, false, why);
}
