/* SPDX-License-Identifier: Apache-2.0 */
/* Check, pack and unpack a record (a plain struct), column by column. Lists of
 * records are handled here, because their elements have their own schemas. */
#include "proto/schema.h"

#include <assert.h>
#include <inttypes.h>

static const ProtobufCFieldDescriptor *protobuf_field_of(
    const struct schema *schema, const struct schema_column *c)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(schema->body, c->number);
    assert(field != NULL);
    return field;
}

static struct protobuf_slot protobuf_slot_of(
    const ProtobufCFieldDescriptor *field, ProtobufCMessage *body,
    struct message_arena *arena)
{
    char *base = (char *)body;
    return (struct protobuf_slot){
        .value  = base + field->offset,
        .length = field->label == PROTOBUF_C_LABEL_REPEATED
                      ? (void *)(base + field->quantifier_offset)
                      : NULL,
        .arena  = arena,
    };
}

/* Set the error that the member of column `c` has no valid value. */
static fby_err set_member_error(const struct schema *schema,
    const struct schema_column *c, struct fby_error_detail *why)
{
    const char *field    = protobuf_field_of(schema, c)->name;
    const char *expected = column_kinds[c->kind].expected;
    if (expected == NULL) {
        return fby_error_set(why, FBY_PROTO,
            "%s.%s: expected a number from %" PRIu64 " to %" PRIu64,
            schema->name, field, c->min, c->max);
    }
    if (c->max == 0) { /* columns of this kind have no range */
        return fby_error_set(why, FBY_PROTO, "%s.%s: expected %s", schema->name,
            field, expected);
    }
    return fby_error_set(why, FBY_PROTO,
        "%s.%s: expected %s, %" PRIu64 " to %" PRIu64 " of them", schema->name,
        field, expected, c->min, c->max);
}

static fby_err check_records(const struct schema_column *c, const void *record,
    enum text_check text_check, struct fby_error_detail *why)
{
    const char *records = column_list(c, record);
    size_t      n       = column_length(c, record);
    for (size_t i = 0; i < n; i++) {
        FBY_TRY(schema_check(c->record_schema,
            records + i * c->record_schema->size, text_check, why));
    }
    return FBY_OK;
}

static fby_err check_column(const struct schema *schema,
    const struct schema_column *c, const void *record,
    enum text_check text_check, struct fby_error_detail *why)
{
    if (c->kind == COLUMN_TEXT && text_check == SKIP_TEXTS) {
        return FBY_OK;
    }
    const struct column_ops *ops = &column_kinds[c->kind];
    if (ops->check != NULL && !ops->check(c, record)) {
        return set_member_error(schema, c, why);
    }
    return c->kind == COLUMN_RECORDS ? check_records(c, record, text_check, why)
                                     : FBY_OK;
}

fby_err schema_check(const struct schema *schema, const void *record,
    enum text_check text_check, struct fby_error_detail *why)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        FBY_TRY(
            check_column(schema, &schema->columns[i], record, text_check, why));
    }
    return schema->rule != NULL ? schema->rule(record, why) : FBY_OK;
}

static ProtobufCMessage *to_protobuf(const struct schema *schema,
    const void *record, struct message_arena *arena);

static void pack_records(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    const char        *records = column_list(c, record);
    size_t             n       = column_length(c, record);
    ProtobufCMessage **list =
        /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
        arena_allocate_or_abort(slot.arena, n * sizeof(*list));
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it is a list */
    *slot.length         = n;
    *(void **)slot.value = list;
    for (size_t i = 0; i < n; i++) {
        list[i] = to_protobuf(
            c->record_schema, records + i * c->record_schema->size, slot.arena);
    }
}

/* Returns a new protobuf-c struct, in `arena`, with the values of `record`. */
static ProtobufCMessage *to_protobuf(const struct schema *schema,
    const void *record, struct message_arena *arena)
{
    ProtobufCMessage *body =
        arena_allocate_or_abort(arena, schema->body->sizeof_message);
    protobuf_c_message_init(schema->body, body);
    for (size_t i = 0; i < schema->n_columns; i++) {
        const struct schema_column *c = &schema->columns[i];
        struct protobuf_slot        slot =
            protobuf_slot_of(protobuf_field_of(schema, c), body, arena);
        if (c->kind == COLUMN_RECORDS) {
            pack_records(c, record, slot);
        } else {
            column_kinds[c->kind].pack(c, record, slot);
        }
    }
    return body;
}

struct buffer_sink {         /* protobuf-c writes to it; appends to `out` */
    ProtobufCBuffer    base; /* first: append_to_sink casts it to the sink */
    struct fby_buffer *out;
};

static void append_to_sink(
    ProtobufCBuffer *base, size_t size, const uint8_t *data)
{
    fby_put_bytes(((struct buffer_sink *)base)->out, data, size);
}

void schema_pack(
    const struct schema *schema, const void *record, struct fby_buffer *out)
{
    _Alignas(16) uint8_t stack_memory[1024];
    struct message_arena arena = {
        .next = stack_memory, .left = sizeof(stack_memory), .budget = SIZE_MAX};
    struct buffer_sink sink = {.base = {.append = append_to_sink}, .out = out};
    protobuf_c_message_pack_to_buffer(
        to_protobuf(schema, record, &arena), &sink.base);
    arena_free_blocks(&arena.blocks);
}

static const struct schema_column *unpack_record(const struct schema *schema,
    ProtobufCMessage *body, void *record, struct message_arena *arena);

static bool unpack_records(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    ProtobufCMessage **list = *(void **)slot.value;
    char              *records =
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): as above */
        arena_allocate(slot.arena, *slot.length * c->record_schema->size);
    bool valid = column_set_list(c, record, records, *slot.length);
    for (size_t i = 0; valid && i < *slot.length; i++) {
        valid = unpack_record(c->record_schema, list[i],
                    records + i * c->record_schema->size, slot.arena) == NULL;
    }
    return valid;
}

/* Unpack `body` into `record`. Returns NULL on success, else the first column
 * whose member cannot be unpacked. */
static const struct schema_column *unpack_record(const struct schema *schema,
    ProtobufCMessage *body, void *record, struct message_arena *arena)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        const struct schema_column *c = &schema->columns[i];
        struct protobuf_slot        slot =
            protobuf_slot_of(protobuf_field_of(schema, c), body, arena);
        const struct column_ops *ops = &column_kinds[c->kind];
        bool valid = c->kind == COLUMN_RECORDS ? unpack_records(c, record, slot)
                                               : ops->unpack(c, record, slot);
        if (!valid) {
            return c;
        }
    }
    return NULL;
}

/* The allocator for protobuf-c: memory from the arena, freed as a whole. */
static void *allocate_in_arena(void *arena, size_t size)
{
    return arena_allocate(arena, size);
}

static void free_nothing(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

fby_err schema_unpack(const struct schema *schema, struct fby_reader body,
    struct message_arena *arena, void *record, struct fby_error_detail *why)
{
    ProtobufCAllocator allocator = {.alloc = allocate_in_arena,
        .free                              = free_nothing,
        .allocator_data                    = arena};
    ProtobufCMessage  *parsed =
        protobuf_c_message_unpack(schema->body, &allocator, body.left, body.at);
    if (parsed == NULL) {
        return fby_error_set(
            why, FBY_PROTO, "%s: the body is not valid protobuf", schema->name);
    }
    const struct schema_column *invalid =
        unpack_record(schema, parsed, record, arena);
    if (invalid != NULL) {
        return set_member_error(schema, invalid, why);
    }
    return schema_check(schema, record, CHECK_TEXTS, why);
}
