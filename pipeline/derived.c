/* What a content does not say, because it follows from what it says. */
#include "pipeline/derived.h"

#include <math.h>
#include <string.h>

#include "pipeline/fields/kind.h"
#include "pipeline/op.h"

/* ---- types and names ---- */

enum fby_type fby_label_type(uint32_t classes)
{
    if (classes == 0 || classes > 65536) {
        return FBY_U32;
    }
    return classes > 256 ? FBY_U16 : FBY_U8;
}

enum fby_type fby_documents_type(uint32_t length)
{
    return length <= UINT16_MAX ? FBY_U16 : FBY_U32;
}

bool fby_tokens_type_ok(const struct fby_tokens *tokens)
{
    return !fby_is_real(tokens->type) &&
           (tokens->type != 0 || tokens->format != FBY_TOKENS_FLAT);
}

int64_t fby_type_largest(enum fby_type type)
{
    switch (type) {
    case FBY_U8:
        return UINT8_MAX;
    case FBY_U16:
        return UINT16_MAX;
    case FBY_I32:
        return INT32_MAX;
    case FBY_U32:
        return UINT32_MAX;
    case FBY_I64:
        return INT64_MAX;
    case FBY_F16:
    case FBY_BF16:
    case FBY_F32:
    case FBY_BOOL:
        break;
    }
    return 0;
}

bool fby_type_takes(enum fby_type type, double value)
{
    static const double ranges[][2] = {
        [FBY_U8]   = {0, UINT8_MAX},
        [FBY_U16]  = {0, UINT16_MAX},
        [FBY_I32]  = {INT32_MIN, INT32_MAX},
        [FBY_I64]  = {-0x1p53, 0x1p53},
        [FBY_F16]  = {-65504, 65504},
        [FBY_BF16] = {-FBY_SCALE_MAX, FBY_SCALE_MAX},
        [FBY_F32]  = {-FBY_SCALE_MAX, FBY_SCALE_MAX},
        [FBY_U32]  = {0, UINT32_MAX},
        [FBY_BOOL] = {0, 1},
    };
    return fby_type_bytes(type) > 0 && value >= ranges[type][0] &&
           value <= ranges[type][1] &&
           (fby_is_real(type) || value == floor(value));
}

const char *fby_extension_kind(const char *extension)
{
    const char *dot = strrchr(extension, '.');
    return dot != NULL ? dot + 1 : extension;
}

bool fby_field_takes_png(const struct fby_field_content *field)
{
    bool takes = false;
    for (size_t i = 0; i < field->n_from; i++) {
        takes = takes || strcmp(fby_extension_kind(field->from[i]), "png") == 0;
    }
    return takes;
}

/* ---- sequences ---- */

bool fby_wants_targets(const char *from)
{
    return strcmp(from, "target") == 0 || strcmp(from, "sequence") == 0;
}

uint32_t fby_sequence_length(
    const struct fby_field_content *field, const struct fby_tokens *tokens)
{
    bool all = strcmp(field->from[0], "sequence") == 0;
    return tokens->length + (all ? tokens->shift : 0);
}

void fby_field_pack(
    struct fby_field_content *field, const struct fby_tokens *tokens)
{
    if (field->decode == FBY_DECODE_TOKENS) {
        field->as.tokens.packed = tokens->packed;
        field->as.tokens.pad    = tokens->packed ? tokens->pad : 0;
    } else if (field->decode == FBY_DECODE_DOCUMENTS) {
        field->as.documents.shift = tokens->packed ? tokens->shift : 0;
    }
}

/* ---- members of some kinds ---- */

const struct fby_from_json *fby_field_json(
    const struct fby_field_content *field)
{
    static const struct fby_from_json none;
    return field->decode == FBY_DECODE_LABEL    ? &field->as.label.json
           : field->decode == FBY_DECODE_NUMBER ? &field->as.number
           : field->decode == FBY_DECODE_TEXT   ? &field->as.text
                                                : &none;
}

uint32_t fby_field_maps(const struct fby_field_content *field)
{
    return field->decode == FBY_DECODE_ARRAY  ? field->as.array.maps
           : field->decode == FBY_DECODE_MAPS ? field->as.maps.n
                                              : 0;
}

const struct fby_shape *fby_array_shape(const struct fby_field_content *field)
{
    static const struct fby_shape none;
    return field->decode == FBY_DECODE_ARRAY ? &field->as.array.shape : &none;
}

/* ---- shapes and sizes ---- */

/* Of `n` entries. */
static struct fby_shape list_of(uint32_t n, const struct fby_shape *entry)
{
    struct fby_shape shape = {.n_dims = 1, .dims = {n}};
    for (uint32_t i = 0; i < entry->n_dims && shape.n_dims < FBY_MAX_DIMS;
         i++) {
        shape.dims[shape.n_dims++] = entry->dims[i];
    }
    return shape;
}

struct fby_shape fby_field_shape(const struct fby_field_content *field)
{
    if (fby_field_form(field) == FBY_FORM_RAGGED) {
        return list_of(field->max_length, fby_array_shape(field));
    }
    const struct fby_field_kind *kind  = fby_field_kind(field);
    struct fby_shape             shape = {0};
    if (kind->shape != NULL) {
        shape = kind->shape(field);
    }
    for (size_t i = 0; i < field->n_ops; i++) {
        const struct fby_op_use *use = &field->ops[i];
        shape                        = use->op->shape(use, shape);
    }
    return shape;
}

uint64_t fby_array_bytes(const struct fby_shape *shape, enum fby_type type)
{
    uint64_t bytes = fby_type_bytes(type);
    for (uint32_t i = 0; i < shape->n_dims && bytes <= FBY_MAX_LENGTH; i++) {
        bytes *= shape->dims[i];
    }
    return bytes <= FBY_MAX_LENGTH ? bytes : 0;
}

uint64_t fby_entry_bytes(const struct fby_field_content *field)
{
    return fby_field_form(field) == FBY_FORM_SPARSE
               ? fby_type_bytes(field->wire_type) +
                     fby_index_bytes(&field->as.sparse.shape)
               : fby_array_bytes(fby_array_shape(field), field->wire_type);
}

uint64_t fby_varying_bytes(const struct fby_field_content *field)
{
    uint64_t bytes = fby_entry_bytes(field);
    bytes *= field->max_length; /* below 2^30 x 2^25 */
    return bytes <= FBY_MAX_VARYING ? bytes : 0;
}
