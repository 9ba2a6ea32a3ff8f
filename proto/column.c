/* Check, pack and unpack one member, for each kind of column. A new kind is an
 * entry of `column_kinds`. */
#include "proto/column.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/hash.h"
#include "common/utf8.h"
#include "proto/text.h"
#include "proto/wire.h"

static const void *member(const struct schema_column *c, const void *record)
{
    return (const char *)record + c->offset;
}

static void *member_out(const struct schema_column *c, void *record)
{
    return (char *)record + c->offset;
}

size_t column_length(const struct schema_column *c, const void *record)
{
    size_t n = 0;
    memcpy(&n, (const char *)record + c->count, sizeof(n));
    return n;
}

static uint32_t inline_length(const struct schema_column *c, const void *record)
{
    uint32_t n = 0;
    memcpy(&n, (const char *)record + c->count, sizeof(n));
    return n;
}

const void *column_list(const struct schema_column *c, const void *record)
{
    const void *data = NULL;
    memcpy(&data, member(c, record), sizeof(data));
    return data;
}

static bool set_list(
    const struct schema_column *c, void *record, const void *data, size_t n)
{
    memcpy(member_out(c, record), &data, sizeof(data));
    memcpy((char *)record + c->count, &n, sizeof(n));
    return n == 0 || data != NULL;
}

static bool within(const struct schema_column *c, uint64_t value)
{
    return value >= c->min && value <= c->max;
}

/* Numbers */

static bool check_u64(const struct schema_column *c, const void *record)
{
    uint64_t value = 0;
    memcpy(&value, member(c, record), sizeof(value));
    return within(c, value);
}

static void pack_u64(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    memcpy(slot.value, member(c, record), sizeof(uint64_t));
}

static bool unpack_u64(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    memcpy(member_out(c, record), slot.value, sizeof(uint64_t));
    return true;
}

static bool check_u32(const struct schema_column *c, const void *record)
{
    uint32_t value = 0;
    memcpy(&value, member(c, record), sizeof(value));
    return within(c, value);
}

static void pack_u32(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    memcpy(slot.value, member(c, record), sizeof(uint32_t));
}

static bool unpack_u32(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    memcpy(member_out(c, record), slot.value, sizeof(uint32_t));
    return true;
}

static bool check_nothing(const struct schema_column *c, const void *record)
{
    (void)c;
    (void)record;
    return true;
}

static void pack_bool(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    *(protobuf_c_boolean *)slot.value = *(const bool *)member(c, record);
}

static bool unpack_bool(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    *(bool *)member_out(c, record) = *(protobuf_c_boolean *)slot.value != 0;
    return true;
}

static bool check_real(const struct schema_column *c, const void *record)
{
    return isfinite(*(const double *)member(c, record));
}

/* Bytes */

static void set_bytes(struct protobuf_slot slot, const void *data, size_t size)
{
    ProtobufCBinaryData *bytes = slot.value;
    void *mutable;
    memcpy(&mutable, &data, sizeof(data)); /* packing only reads it */
    *bytes = (ProtobufCBinaryData){.len = size, .data = mutable};
}

static void pack_digest(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    set_bytes(slot, member(c, record), sizeof(struct fby_digest));
}

static bool unpack_digest(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    const ProtobufCBinaryData *bytes = slot.value;
    if (bytes->len != sizeof(struct fby_digest)) {
        return false;
    }
    memcpy(member_out(c, record), bytes->data, bytes->len);
    return true;
}

static void pack_maybe(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    const struct fby_maybe_digest *maybe = member(c, record);
    if (maybe->known) {
        set_bytes(slot, maybe->digest.bytes, sizeof(maybe->digest.bytes));
    }
}

static bool unpack_maybe(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    const ProtobufCBinaryData *bytes = slot.value;
    struct fby_maybe_digest   *maybe = member_out(c, record);
    *maybe = (struct fby_maybe_digest){.known = bytes->len > 0};
    if (!maybe->known) {
        return true;
    }
    if (bytes->len != sizeof(maybe->digest.bytes)) {
        return false;
    }
    memcpy(maybe->digest.bytes, bytes->data, bytes->len);
    return true;
}

static bool check_blob(const struct schema_column *c, const void *record)
{
    const struct fby_blob *blob = member(c, record);
    return within(c, blob->size) && (blob->data != NULL || blob->size == 0);
}

static void pack_blob(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    const struct fby_blob *blob = member(c, record);
    set_bytes(slot, blob->data, blob->size);
}

static bool unpack_blob(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    const ProtobufCBinaryData *bytes = slot.value;
    *(struct fby_blob *)member_out(c, record) =
        (struct fby_blob){.data = bytes->data, .size = bytes->len};
    return true;
}

/* Text; NULL means empty. */

static const char *text_of(const struct schema_column *c, const void *record)
{
    const char *text = column_list(c, record);
    return text != NULL ? text : "";
}

static bool check_name(const struct schema_column *c, const void *record)
{
    const char *text = text_of(c, record);
    size_t      size = strlen(text);
    return within(c, size) && fby_is_utf8(text, size);
}

static bool check_text(const struct schema_column *c, const void *record)
{
    const char *text = text_of(c, record);
    size_t      size = strlen(text);
    return within(c, size) && text_is_plain(text, size);
}

static void pack_name(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    const char *text = text_of(c, record);
    set_bytes(slot, text, strlen(text));
}

static void pack_text(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    uint8_t *sanitized = arena_take_unlimited(arena, c->max);
    set_bytes(
        slot, sanitized, text_sanitize(text_of(c, record), sanitized, c->max));
}

/* A copy that ends with NUL; NULL when `bytes` contain a NUL, or the arena is
 * used up. */
static const char *text_copy(
    const ProtobufCBinaryData *bytes, struct message_arena *arena)
{
    if (bytes->len == 0) {
        return "";
    }
    if (memchr(bytes->data, 0, bytes->len) != NULL) {
        return NULL;
    }
    char *copy = arena_take(arena, bytes->len + 1);
    if (copy != NULL) {
        memcpy(copy, bytes->data, bytes->len);
        copy[bytes->len] = '\0';
    }
    return copy;
}

static bool unpack_text(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    const char *text = text_copy(slot.value, arena);
    memcpy(member_out(c, record), &text, sizeof(text));
    return text != NULL;
}

/* Short lists inside the struct */

static bool check_dims(const struct schema_column *c, const void *record)
{
    const struct fby_shape *shape = member(c, record);
    if (shape->n_dims > FBY_MAX_DIMS) {
        return false;
    }
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        if (shape->dims[i] == 0) {
            return false;
        }
    }
    return true;
}

static void pack_dims(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    const struct fby_shape *shape = member(c, record);
    *slot.n                       = shape->n_dims;
    *(void **)slot.value = arena_take_unlimited(arena, sizeof(shape->dims));
    memcpy(*(void **)slot.value, shape->dims, sizeof(shape->dims));
}

static bool unpack_dims(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    struct fby_shape *shape = member_out(c, record);
    *shape                  = (struct fby_shape){0};
    if (*slot.n > FBY_MAX_DIMS) {
        return false;
    }
    shape->n_dims = (uint32_t)*slot.n;
    if (shape->n_dims > 0) {
        memcpy(shape->dims, *(void **)slot.value,
            shape->n_dims * sizeof(shape->dims[0]));
    }
    return true;
}

static bool check_reals(const struct schema_column *c, const void *record)
{
    const double *values = member(c, record);
    uint32_t      n      = inline_length(c, record);
    if (n > c->max) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

static void pack_reals(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    size_t n             = inline_length(c, record);
    *slot.n              = n;
    *(void **)slot.value = arena_take_unlimited(arena, n * sizeof(double));
    memcpy(*(void **)slot.value, member(c, record), n * sizeof(double));
}

static bool unpack_reals(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    uint32_t n = (uint32_t)*slot.n;
    if (*slot.n > c->max) {
        return false;
    }
    memcpy((char *)record + c->count, &n, sizeof(n));
    if (n > 0) {
        memcpy(member_out(c, record), *(void **)slot.value, n * sizeof(double));
    }
    return true;
}

static bool unpack_reals_same(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    return *slot.n == inline_length(c, record) &&
           unpack_reals(c, record, slot, arena);
}

static bool check_pairs(const struct schema_column *c, const void *record)
{
    return inline_length(c, record) <= c->max;
}

static void pack_pairs(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    set_bytes(slot, member(c, record),
        inline_length(c, record) * sizeof(struct fby_coding_choice));
}

static bool unpack_pairs(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    const ProtobufCBinaryData *bytes = slot.value;
    size_t n = bytes->len / sizeof(struct fby_coding_choice);
    if (n > c->max || bytes->len % sizeof(struct fby_coding_choice) != 0) {
        return false;
    }
    uint32_t length = (uint32_t)n;
    memcpy((char *)record + c->count, &length, sizeof(length));
    if (n > 0) {
        memcpy(member_out(c, record), bytes->data, bytes->len);
    }
    return true;
}

/* Lists outside the struct */

static bool check_ids(const struct schema_column *c, const void *record)
{
    const uint64_t *ids = column_list(c, record);
    size_t          n   = column_length(c, record);
    if (!within(c, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (ids[i] == 0) {
            return false;
        }
    }
    return true;
}

static void pack_ids(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    size_t n             = column_length(c, record);
    *slot.n              = n;
    *(void **)slot.value = arena_take_unlimited(arena, n * sizeof(uint64_t));
    if (n > 0) {
        memcpy(
            *(void **)slot.value, column_list(c, record), n * sizeof(uint64_t));
    }
}

static bool unpack_ids(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    return set_list(c, record, *(void **)slot.value, *slot.n);
}

static bool check_length(const struct schema_column *c, const void *record)
{
    return within(c, column_length(c, record));
}

static void pack_sums(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    set_bytes(slot, column_list(c, record),
        column_length(c, record) * sizeof(struct fby_sum));
}

static bool unpack_sums(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    (void)arena;
    const ProtobufCBinaryData *bytes = slot.value;
    return bytes->len % sizeof(struct fby_sum) == 0 &&
           set_list(
               c, record, bytes->data, bytes->len / sizeof(struct fby_sum));
}

static bool check_names(const struct schema_column *c, const void *record)
{
    const char *const *names = column_list(c, record);
    size_t             n     = column_length(c, record);
    if (!within(c, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(names[i]);
        if (size == 0 || size > c->name_max || !fby_is_utf8(names[i], size)) {
            return false;
        }
    }
    return true;
}

static void pack_names(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    const char *const   *names = column_list(c, record);
    size_t               n     = column_length(c, record);
    ProtobufCBinaryData *list  = arena_take_unlimited(arena, n * sizeof(*list));
    *slot.n                    = n;
    *(void **)slot.value       = list;
    for (size_t i = 0; i < n; i++) {
        set_bytes((struct protobuf_slot){.value = &list[i]}, names[i],
            strlen(names[i]));
    }
}

static bool unpack_names(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    const ProtobufCBinaryData *list = *(void **)slot.value;
    const char **names = arena_take(arena, *slot.n * sizeof(*names));
    if (!set_list(c, record, names, *slot.n)) {
        return false;
    }
    for (size_t i = 0; i < *slot.n; i++) {
        names[i] = text_copy(&list[i], arena);
        if (names[i] == NULL) {
            return false;
        }
    }
    return true;
}

static void pack_records(const struct schema_column *c, const void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    const char        *records = column_list(c, record);
    size_t             n       = column_length(c, record);
    ProtobufCMessage **list = arena_take_unlimited(arena, n * sizeof(void *));
    *slot.n                 = n;
    *(void **)slot.value    = list;
    for (size_t i = 0; i < n; i++) {
        list[i] = schema_to_protobuf(c->of, records + i * c->of->size, arena);
    }
}

static bool unpack_records(const struct schema_column *c, void *record,
    struct protobuf_slot slot, struct message_arena *arena)
{
    ProtobufCMessage **list    = *(void **)slot.value;
    char              *records = arena_take(arena, *slot.n * c->of->size);
    if (!set_list(c, record, records, *slot.n)) {
        return false;
    }
    for (size_t i = 0; i < *slot.n; i++) {
        if (!schema_from_protobuf(
                c->of, list[i], records + i * c->of->size, arena)) {
            return false;
        }
    }
    return true;
}

const struct column_ops column_kinds[] = {
    [COLUMN_U64]    = {NULL, check_u64, pack_u64, unpack_u64},
    [COLUMN_U32]    = {NULL, check_u32, pack_u32, unpack_u32},
    [COLUMN_BOOL]   = {"a bool", check_nothing, pack_bool, unpack_bool},
    [COLUMN_REAL]   = {"a finite number", check_real, pack_u64, unpack_u64},
    [COLUMN_DIGEST] = {"32 bytes", check_nothing, pack_digest, unpack_digest},
    [COLUMN_MAYBE] = {"0 or 32 bytes", check_nothing, pack_maybe, unpack_maybe},
    [COLUMN_BLOB]  = {"bytes", check_blob, pack_blob, unpack_blob},
    [COLUMN_NAME]  = {"UTF-8 without NUL", check_name, pack_name, unpack_text},
    [COLUMN_TEXT]  = {"one line of UTF-8", check_text, pack_text, unpack_text},
    [COLUMN_DIMS]  = {"0 to 4 dimensions >= 1", check_dims, pack_dims,
         unpack_dims},
    [COLUMN_REALS] = {"finite numbers", check_reals, pack_reals, unpack_reals},
    [COLUMN_REALS_SAME] = {"as many finite numbers as before it", check_reals,
        pack_reals, unpack_reals_same},
    [COLUMN_PAIRS] = {"pairs of bytes", check_pairs, pack_pairs, unpack_pairs},
    [COLUMN_IDS]   = {"ids, none of them 0", check_ids, pack_ids, unpack_ids},
    [COLUMN_NUMBERS] = {"numbers", check_length, pack_ids, unpack_ids},
    [COLUMN_SUMS]  = {"sums of 16 bytes", check_length, pack_sums, unpack_sums},
    [COLUMN_NAMES] = {"names in UTF-8 without NUL", check_names, pack_names,
        unpack_names},
    [COLUMN_RECORDS] = {"entries", check_length, pack_records, unpack_records},
};
