/* SPDX-License-Identifier: Apache-2.0 */
/* Check, pack and unpack one member of a record, for each kind of column
 * (schema.h). `record` is the plain struct, `c` the column of the member, and
 * `slot` its protobuf field. A new kind is an entry of `column_kinds`. */
#include "proto/schema.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/hash.h"
#include "common/utf8.h"
#include "proto/messages.h"
#include "proto/text.h"

static const void *member_of(const struct schema_column *c, const void *record)
{
    return (const char *)record + c->offset;
}

static void *mutable_member(const struct schema_column *c, void *record)
{
    return (char *)record + c->offset;
}

/* A list is outside the record, and its length is a size_t member. */
size_t column_length(const struct schema_column *c, const void *record)
{
    size_t n = 0;
    memcpy(&n, (const char *)record + c->length_offset, sizeof(n));
    return n;
}

/* An array is inside the record, and its length is a uint32_t member. */
static uint32_t array_length(const struct schema_column *c, const void *record)
{
    uint32_t n = 0;
    memcpy(&n, (const char *)record + c->length_offset, sizeof(n));
    return n;
}

const void *column_list(const struct schema_column *c, const void *record)
{
    const void *data = NULL;
    memcpy(&data, member_of(c, record), sizeof(data));
    return data;
}

bool column_set_list(
    const struct schema_column *c, void *record, const void *data, size_t n)
{
    memcpy(mutable_member(c, record), &data, sizeof(data));
    memcpy((char *)record + c->length_offset, &n, sizeof(n));
    return n == 0 || data != NULL;
}

/* Copy `n` elements of `width` bytes into the array inside the record, and set
 * its length. Returns false if there are too many. */
static bool set_array(const struct schema_column *c, void *record,
    const void *elements, size_t n, size_t width)
{
    uint32_t length = (uint32_t)n;
    if (n > c->max) {
        return false;
    }
    memcpy((char *)record + c->length_offset, &length, sizeof(length));
    if (n > 0) {
        memcpy(mutable_member(c, record), elements, n * width);
    }
    return true;
}

static bool is_in_range(const struct schema_column *c, uint64_t value)
{
    return value >= c->min && value <= c->max;
}

/* ---- Numbers ------------------------------------------------------------- */

static bool check_u64(const struct schema_column *c, const void *record)
{
    return is_in_range(c, *(const uint64_t *)member_of(c, record));
}

static bool check_u32(const struct schema_column *c, const void *record)
{
    return is_in_range(c, *(const uint32_t *)member_of(c, record));
}

static bool check_real(const struct schema_column *c, const void *record)
{
    return isfinite(*(const double *)member_of(c, record));
}

static size_t item_size(const struct schema_column *c)
{
    return c->kind == COLUMN_U32 ? sizeof(uint32_t) : sizeof(uint64_t);
}

static void pack_number(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    memcpy(slot.value, member_of(c, record), item_size(c));
}

static bool unpack_number(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    memcpy(mutable_member(c, record), slot.value, item_size(c));
    return true;
}

static void pack_bool(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    *(protobuf_c_boolean *)slot.value = *(const bool *)member_of(c, record);
}

static bool unpack_bool(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    *(bool *)mutable_member(c, record) = *(protobuf_c_boolean *)slot.value != 0;
    return true;
}

/* ---- Bytes --------------------------------------------------------------- */

static void pack_bytes(struct protobuf_slot slot, const void *data, size_t size)
{
    ProtobufCBinaryData *bytes = slot.value;
    void *mutable;
    memcpy(&mutable, &data, sizeof(data)); /* drop const: data is only read */
    *bytes = (ProtobufCBinaryData){.len = size, .data = mutable};
}

static bool copy_digest(
    const ProtobufCBinaryData *bytes, struct fby_digest *digest)
{
    if (bytes->len != sizeof(*digest)) {
        return false;
    }
    memcpy(digest, bytes->data, sizeof(*digest));
    return true;
}

static void pack_digest(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    pack_bytes(slot, member_of(c, record), sizeof(struct fby_digest));
}

static bool unpack_digest(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    return copy_digest(slot.value, mutable_member(c, record));
}

static void pack_maybe_digest(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    const struct fby_maybe_digest *maybe = member_of(c, record);
    if (maybe->known) {
        pack_bytes(slot, maybe->digest.bytes, sizeof(maybe->digest.bytes));
    }
}

static bool unpack_maybe_digest(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    const ProtobufCBinaryData *bytes = slot.value;
    struct fby_maybe_digest   *maybe = mutable_member(c, record);
    *maybe = (struct fby_maybe_digest){.known = bytes->len > 0};
    return !maybe->known || copy_digest(bytes, &maybe->digest);
}

static bool check_blob(const struct schema_column *c, const void *record)
{
    const struct fby_blob *blob = member_of(c, record);
    return is_in_range(c, blob->size) &&
           (blob->data != NULL || blob->size == 0);
}

static void pack_blob(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    const struct fby_blob *blob = member_of(c, record);
    pack_bytes(slot, blob->data, blob->size);
}

static bool unpack_blob(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    const ProtobufCBinaryData *bytes = slot.value;
    *(struct fby_blob *)mutable_member(c, record) =
        (struct fby_blob){.data = bytes->data, .size = bytes->len};
    return true;
}

/* The coding choices are one protobuf field, with two bytes for each choice. */
static bool check_choices(const struct schema_column *c, const void *record)
{
    return array_length(c, record) <= c->max;
}

static void pack_choices(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    pack_bytes(slot, member_of(c, record),
        array_length(c, record) * sizeof(struct fby_coding_choice));
}

static bool unpack_choices(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    const size_t               width = sizeof(struct fby_coding_choice);
    const ProtobufCBinaryData *bytes = slot.value;
    return bytes->len % width == 0 &&
           set_array(c, record, bytes->data, bytes->len / width, width);
}

static bool check_list_length(const struct schema_column *c, const void *record)
{
    return is_in_range(c, column_length(c, record));
}

static void pack_checksums(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    pack_bytes(slot, column_list(c, record),
        column_length(c, record) * sizeof(struct fby_checksum));
}

static bool unpack_checksums(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    const size_t               width = sizeof(struct fby_checksum);
    const ProtobufCBinaryData *bytes = slot.value;
    return bytes->len % width == 0 &&
           column_set_list(c, record, bytes->data, bytes->len / width);
}

/* ---- Texts: a NULL pointer is the empty text ----------------------------- */

static const char *text_of(const struct schema_column *c, const void *record)
{
    const char *text = column_list(c, record);
    return text != NULL ? text : "";
}

static bool check_name(const struct schema_column *c, const void *record)
{
    const char *text = text_of(c, record);
    size_t      size = strlen(text);
    return is_in_range(c, size) && fby_is_utf8(text, size);
}

static bool check_text(const struct schema_column *c, const void *record)
{
    const char *text = text_of(c, record);
    size_t      size = strlen(text);
    return is_in_range(c, size) && text_is_plain(text, size);
}

static void pack_name(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    const char *text = text_of(c, record);
    pack_bytes(slot, text, strlen(text));
}

static void pack_text(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    uint8_t *sanitized = arena_allocate_or_abort(slot.arena, c->max);
    pack_bytes(
        slot, sanitized, text_sanitize(text_of(c, record), sanitized, c->max));
}

/* Returns a copy of `bytes` that ends with NUL; NULL if `bytes` have a NUL, or
 * the arena is used up. */
static const char *copy_text(
    const ProtobufCBinaryData *bytes, struct message_arena *arena)
{
    if (bytes->len == 0) {
        return "";
    }
    if (memchr(bytes->data, 0, bytes->len) != NULL) {
        return NULL;
    }
    char *copy = arena_allocate(arena, bytes->len + 1);
    if (copy != NULL) {
        memcpy(copy, bytes->data, bytes->len);
        copy[bytes->len] = '\0';
    }
    return copy;
}

static bool unpack_text(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    const char *text = copy_text(slot.value, slot.arena);
    memcpy(mutable_member(c, record), &text, sizeof(text));
    return text != NULL;
}

/* ---- Lists --------------------------------------------------------------- */

/* Set the protobuf list to a copy of `n` elements of `width` bytes. */
static void pack_list(
    struct protobuf_slot slot, const void *elements, size_t n, size_t width)
{
    void *copy           = arena_allocate_or_abort(slot.arena, n * width);
    *slot.length         = n;
    *(void **)slot.value = copy;
    if (n > 0) {
        memcpy(copy, elements, n * width);
    }
}

static bool check_dims(const struct schema_column *c, const void *record)
{
    const struct fby_shape *shape = member_of(c, record);
    bool                    valid = shape->n_dims <= FBY_MAX_DIMS;
    for (uint32_t i = 0; valid && i < shape->n_dims; i++) {
        valid = shape->dims[i] != 0;
    }
    return valid;
}

static void pack_dims(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    const struct fby_shape *shape = member_of(c, record);
    pack_list(slot, shape->dims, shape->n_dims, sizeof(shape->dims[0]));
}

static bool unpack_dims(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    struct fby_shape *shape = mutable_member(c, record);
    *shape                  = (struct fby_shape){0};
    if (*slot.length > FBY_MAX_DIMS) {
        return false;
    }
    shape->n_dims = (uint32_t)*slot.length;
    if (shape->n_dims > 0) {
        memcpy(shape->dims, *(void **)slot.value,
            shape->n_dims * sizeof(shape->dims[0]));
    }
    return true;
}

static bool check_reals(const struct schema_column *c, const void *record)
{
    const double *values = member_of(c, record);
    uint32_t      n      = array_length(c, record);
    bool          valid  = n <= c->max;
    for (uint32_t i = 0; valid && i < n; i++) {
        valid = isfinite(values[i]);
    }
    return valid;
}

static void pack_reals(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    pack_list(
        slot, member_of(c, record), array_length(c, record), sizeof(double));
}

static bool unpack_reals(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    return set_array(
        c, record, *(void **)slot.value, *slot.length, sizeof(double));
}

static bool unpack_reals_same_length(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    /* The previous column uses the same length member, and has set it. */
    return *slot.length == array_length(c, record) &&
           unpack_reals(c, record, slot);
}

static bool check_ids(const struct schema_column *c, const void *record)
{
    const uint64_t *ids   = column_list(c, record);
    size_t          n     = column_length(c, record);
    bool            valid = is_in_range(c, n);
    for (size_t i = 0; valid && i < n; i++) {
        valid = ids[i] != 0;
    }
    return valid;
}

static void pack_u64s(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    pack_list(slot, column_list(c, record), column_length(c, record),
        sizeof(uint64_t));
}

static bool unpack_u64s(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    return column_set_list(c, record, *(void **)slot.value, *slot.length);
}

static bool check_names(const struct schema_column *c, const void *record)
{
    const char *const *names = column_list(c, record);
    size_t             n     = column_length(c, record);
    bool               valid = is_in_range(c, n);
    for (size_t i = 0; valid && i < n; i++) {
        size_t size = strlen(names[i]);
        valid = size > 0 && size <= c->name_max && fby_is_utf8(names[i], size);
    }
    return valid;
}

static void pack_names(const struct schema_column *c, const void *record,
    struct protobuf_slot slot)
{
    const char *const   *names = column_list(c, record);
    size_t               n     = column_length(c, record);
    ProtobufCBinaryData *list =
        arena_allocate_or_abort(slot.arena, n * sizeof(*list));
    *slot.length         = n;
    *(void **)slot.value = list;
    for (size_t i = 0; i < n; i++) {
        pack_bytes((struct protobuf_slot){.value = &list[i]}, names[i],
            strlen(names[i]));
    }
}

static bool unpack_names(
    const struct schema_column *c, void *record, struct protobuf_slot slot)
{
    const ProtobufCBinaryData *list = *(void **)slot.value;
    const char               **names =
        arena_allocate(slot.arena, *slot.length * sizeof(*names));
    bool valid = column_set_list(c, record, names, *slot.length);
    for (size_t i = 0; valid && i < *slot.length; i++) {
        names[i] = copy_text(&list[i], slot.arena);
        valid    = names[i] != NULL;
    }
    return valid;
}

const struct column_ops column_kinds[] = {
    /* expected, check, pack, unpack */
    [COLUMN_U64]  = {NULL, check_u64, pack_number, unpack_number},
    [COLUMN_U32]  = {NULL, check_u32, pack_number, unpack_number},
    [COLUMN_BOOL] = {"a bool", NULL, pack_bool, unpack_bool},
    [COLUMN_REAL] = {"a finite number", check_real, pack_number, unpack_number},
    [COLUMN_DIGEST]       = {"32 bytes", NULL, pack_digest, unpack_digest},
    [COLUMN_MAYBE_DIGEST] = {"0 or 32 bytes", NULL, pack_maybe_digest,
        unpack_maybe_digest},
    [COLUMN_BLOB]         = {"bytes", check_blob, pack_blob, unpack_blob},
    [COLUMN_NAME]  = {"UTF-8 without NUL", check_name, pack_name, unpack_text},
    [COLUMN_TEXT]  = {"one line of UTF-8", check_text, pack_text, unpack_text},
    [COLUMN_DIMS]  = {"0 to 4 dimensions >= 1", check_dims, pack_dims,
         unpack_dims},
    [COLUMN_REALS] = {"finite numbers", check_reals, pack_reals, unpack_reals},
    [COLUMN_REALS_SAME_LENGTH] = {"as many finite numbers as before it",
        check_reals, pack_reals, unpack_reals_same_length},
    [COLUMN_CODING_CHOICES]    = {"pairs of bytes", check_choices, pack_choices,
           unpack_choices},
    [COLUMN_IDS] = {"ids, none of them 0", check_ids, pack_u64s, unpack_u64s},
    [COLUMN_NUMBERS]   = {"numbers", check_list_length, pack_u64s, unpack_u64s},
    [COLUMN_CHECKSUMS] = {"sums of 16 bytes", check_list_length, pack_checksums,
        unpack_checksums},
    [COLUMN_NAMES]     = {"names in UTF-8 without NUL", check_names, pack_names,
            unpack_names},
    [COLUMN_RECORDS]   = {"entries", check_list_length, NULL, NULL},
};
