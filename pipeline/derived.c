/* SPDX-License-Identifier: Apache-2.0 */
/* derived.c - types, shapes and sizes that follow from a content. */
#include "pipeline/derived.h"

#include <math.h>
#include <string.h>

#include "pipeline/op.h"

/* ---- types and names ---- */

enum fby_type fby_label_type(uint32_t classes)
{
    uint32_t largest_id = classes - 1; /* for 0 classes UINT32_MAX */
    return largest_id > UINT16_MAX  ? FBY_U32
           : largest_id > UINT8_MAX ? FBY_U16
                                    : FBY_U8;
}

enum fby_type fby_document_length_type(uint32_t length)
{
    return length <= UINT16_MAX ? FBY_U16 : FBY_U32;
}

/* Type 0: the headers of the files name it. Flat files have no headers. */
bool fby_tokens_type_is_valid(const struct fby_tokens *tokens)
{
    return !fby_type_is_float(tokens->type) &&
           (tokens->type != 0 || tokens->format != FBY_TOKENS_FLAT);
}

static const struct {
    const char *word;
    /* The limits of a number in a pipeline file: FBY_SCALE_MAX for the larger
     * float types; for i64, integers that are exact as a double. */
    double  min, max;
    int64_t largest; /* the largest value of an integer type, else 0 */
} types[] = {
    [FBY_U8]   = {"u8", 0, UINT8_MAX, UINT8_MAX},
    [FBY_U16]  = {"u16", 0, UINT16_MAX, UINT16_MAX},
    [FBY_I32]  = {"i32", INT32_MIN, INT32_MAX, INT32_MAX},
    [FBY_I64]  = {"i64", -0x1p53, 0x1p53, INT64_MAX},
    [FBY_F16]  = {"f16", -65504, 65504, 0},
    [FBY_BF16] = {"bf16", -FBY_SCALE_MAX, FBY_SCALE_MAX, 0},
    [FBY_F32]  = {"f32", -FBY_SCALE_MAX, FBY_SCALE_MAX, 0},
    [FBY_U32]  = {"u32", 0, UINT32_MAX, UINT32_MAX},
    [FBY_BOOL] = {"bool", 0, 1, 0},
};

const char *fby_type_word(enum fby_type type)
{
    return type < sizeof(types) / sizeof(types[0]) ? types[type].word : NULL;
}

int64_t fby_type_largest(enum fby_type type)
{
    return fby_type_bytes(type) > 0 ? types[type].largest : 0;
}

bool fby_type_can_hold(enum fby_type type, double value)
{
    return fby_type_bytes(type) > 0 && value >= types[type].min &&
           value <= types[type].max &&
           (fby_type_is_float(type) || value == floor(value));
}

const char *fby_extension_last_part(const char *extension)
{
    const char *dot = strrchr(extension, '.');
    return dot != NULL ? dot + 1 : extension;
}

static bool takes(const struct fby_field_content *field, const char *format)
{
    for (size_t i = 0; i < field->n_from; i++) {
        if (strcmp(fby_extension_last_part(field->from[i]), format) == 0) {
            return true;
        }
    }
    return false;
}

bool fby_field_takes_png(const struct fby_field_content *field)
{
    return takes(field, "png");
}

bool fby_field_takes_webp(const struct fby_field_content *field)
{
    return takes(field, "webp");
}

/* ---- sequences ---- */

bool fby_from_has_targets(const char *from)
{
    return strcmp(from, "target") == 0 || strcmp(from, "sequence") == 0;
}

uint32_t fby_sequence_length(
    const struct fby_field_content *field, const struct fby_tokens *tokens)
{
    /* `sequence` also has the target of the last input token. */
    bool has_targets = strcmp(field->from[0], "sequence") == 0;
    return tokens->length + (has_targets ? tokens->shift : 0);
}

void fby_field_set_packing(
    struct fby_field_content *field, const struct fby_tokens *tokens)
{
    if (fby_field_values(field) == FBY_VALUES_TOKENS) {
        field->as.tokens.packed = tokens->packed;
        field->as.tokens.pad    = tokens->packed ? tokens->pad : 0;
    } else if (fby_field_values(field) == FBY_VALUES_LENGTHS) {
        field->as.documents.shift = tokens->packed ? tokens->shift : 0;
    }
}

/* ---- settings that some kinds have ---- */

/* The setting at `offset` bytes in `field`, or `otherwise` if `offset` is 0,
 * because the kind of the field does not have the setting. */
static const void *setting_at(
    const struct fby_field_content *field, size_t offset, const void *otherwise)
{
    return offset > 0 ? (const char *)field + offset : otherwise;
}

const struct fby_json_selector *fby_field_json(
    const struct fby_field_content *field)
{
    static const struct fby_json_selector none;
    return setting_at(field, fby_field_kind(field)->json_offset, &none);
}

int fby_mask_picture_index(
    const struct fby_field_content *fields, uint32_t n, uint32_t mask)
{
    const char *group = fields[mask].group;
    int         found = -1;
    for (uint32_t i = 0; i < n; i++) {
        bool is_picture = fby_field_has_colours(&fields[i]) &&
                          strcmp(fields[i].group, group) == 0;
        if (is_picture && (found < 0 || strcmp(fields[i].name, group) == 0)) {
            found = (int)i;
        }
    }
    return fby_field_values(&fields[mask]) == FBY_VALUES_IDS ? found : -1;
}

uint32_t fby_field_packed_bits(const struct fby_field_content *field)
{
    static const uint32_t none;
    const uint32_t       *bits =
        setting_at(field, fby_field_kind(field)->bits_offset, &none);
    return *bits;
}

const struct fby_shape *fby_array_shape(const struct fby_field_content *field)
{
    static const struct fby_shape none;
    return setting_at(field, fby_field_kind(field)->shape_offset, &none);
}

/* ---- shapes and sizes ---- */

/* The shape of a list of `length` entries of shape `entry`. */
static struct fby_shape list_shape(
    uint32_t length, const struct fby_shape *entry)
{
    struct fby_shape shape = {.n_dims = 1, .dims = {length}};
    for (uint32_t i = 0; i < entry->n_dims && shape.n_dims < FBY_MAX_DIMS;
         i++) {
        shape.dims[shape.n_dims++] = entry->dims[i];
    }
    return shape;
}

struct fby_shape fby_field_shape(const struct fby_field_content *field)
{
    if (fby_field_form(field) == FBY_FORM_RAGGED) {
        return list_shape(field->max_length, fby_array_shape(field));
    }
    const struct fby_field_kind *kind  = fby_field_kind(field);
    struct fby_shape             shape = {0};
    if (kind->shape != NULL) {
        shape = kind->shape(field);
    }
    for (size_t i = 0; i < field->n_ops; i++) {
        shape = fby_op_shape(&field->ops[i], shape);
    }
    return shape;
}

uint64_t fby_array_bytes(const struct fby_shape *shape, enum fby_type type)
{
    uint64_t bytes = fby_type_bytes(type);
    /* The loop stops above the limit, so the product cannot overflow. */
    for (uint32_t i = 0; i < shape->n_dims && bytes <= FBY_MAX_LENGTH; i++) {
        bytes *= shape->dims[i];
    }
    return bytes <= FBY_MAX_LENGTH ? bytes : 0;
}

uint64_t fby_entry_bytes(const struct fby_field_content *field)
{
    return fby_field_form(field) == FBY_FORM_SPARSE
               ? fby_type_bytes(field->wire_type) +
                     fby_bytes_per_index(&field->as.sparse.shape)
               : fby_array_bytes(fby_array_shape(field), field->wire_type);
}

uint64_t fby_ragged_bytes(const struct fby_field_content *field)
{
    /* No overflow: max_length < 2^25, and an entry has at most 2^30 bytes. */
    uint64_t bytes = fby_entry_bytes(field) * field->max_length;
    return bytes <= FBY_MAX_RAGGED ? bytes : 0;
}
