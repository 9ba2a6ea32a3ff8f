/* SPDX-License-Identifier: Apache-2.0 */
/* derived.h - types, shapes and sizes that follow from a content. Pure. */
#ifndef FBY_PIPELINE_DERIVED_H
#define FBY_PIPELINE_DERIVED_H

#include "pipeline/fields/kind.h"

/* True if `value` is in the range of `type` and, for an integer type, whole. */
bool fby_type_can_hold(enum fby_type type, double value);

/* The largest value of an integer type; 0 for other types. */
int64_t fby_type_largest(enum fby_type type);

/* The smallest of u8, u16, u32 that holds ids below `classes`; 0 gives u32. */
enum fby_type fby_label_type(uint32_t classes);

/* The type for lengths of documents that are packed into `length` tokens. */
enum fby_type fby_document_length_type(uint32_t length);

/* True if tokens->type is valid. 0 is valid if the files name their type. */
bool fby_tokens_type_is_valid(const struct fby_tokens *tokens);

/* Bytes that hold `bits` bits. */
static inline uint32_t fby_bytes_of_bits(uint32_t bits)
{
    return bits / 8 + (bits % 8 != 0);
}

/* Bytes of an array; 0 if it is empty or has more than FBY_MAX_LENGTH bytes. */
uint64_t fby_array_bytes(const struct fby_shape *shape, enum fby_type type);

/* Bytes of an entry of a ragged row, or of a sparse value and its index. */
uint64_t fby_entry_bytes(const struct fby_field_content *field);

/* Bytes of the longest row of a ragged or sparse field, indices included; 0 if
 * they are more than FBY_MAX_RAGGED. */
uint64_t fby_ragged_bytes(const struct fby_field_content *field);

/* The shape of a field after the worker's ops. A dimension that becomes known
 * when a sample is decoded is 0. */
struct fby_shape fby_field_shape(const struct fby_field_content *field);

/* ---- settings that some kinds have; `field` may be of any kind ---- */

static inline bool fby_field_has_colours(const struct fby_field_content *field)
{
    return fby_field_values(field) == FBY_VALUES_COLOURS;
}

/* True if the worker sends the field as yuv420 planes. */
static inline bool fby_field_is_yuv420(const struct fby_field_content *field)
{
    return fby_field_has_colours(field) && field->as.rgb8.yuv420;
}

static inline bool fby_field_is_normalized(
    const struct fby_field_content *field)
{
    return fby_field_has_colours(field) && field->as.rgb8.normalize;
}

static inline bool fby_field_is_one_hot(const struct fby_field_content *field)
{
    return fby_field_values(field) == FBY_VALUES_CLASSES &&
           field->as.label.one_hot;
}

/* The JSON selector of a field of kind label, number or text; else empty. */
const struct fby_json_selector *fby_field_json(
    const struct fby_field_content *field);

/* The index of the picture that the mask `fields[mask]` follows: of the fields
 * rgb8 of its group the one that gives the group its name, else the first.
 * Returns -1 if `mask` is no mask or its group has no picture. */
int fby_mask_picture_index(
    const struct fby_field_content *fields, uint32_t n, uint32_t mask);

/* The number of bits packed in the last dimension of a row; 0: not packed. */
uint32_t fby_field_packed_bits(const struct fby_field_content *field);

/* The `shape` of an array field. Other kinds: a shape without dimensions. */
const struct fby_shape *fby_array_shape(const struct fby_field_content *field);

/* ---- names and sequences ---- */

/* Returns "jpg" of "left.jpg", which is the extension of "0001.left.jpg". */
const char *fby_extension_last_part(const char *extension);

/* True if the last part of an extension in field->from is png, or webp. */
bool fby_field_takes_png(const struct fby_field_content *field);
bool fby_field_takes_webp(const struct fby_field_content *field);

/* True for the values "target" and "sequence" of the key `from`. They need a
 * source with `shift: 1`: the target of a token is the next token. */
bool fby_from_has_targets(const char *from);

/* The tokens in a row of a field of sequences: the length of a sequence, plus 1
 * for `from: sequence`, which also has the target of its last token. */
uint32_t fby_sequence_length(
    const struct fby_field_content *field, const struct fby_tokens *tokens);

/* Copy the settings of packed documents from the source to a field of tokens or
 * document lengths. Other fields stay unchanged. */
void fby_field_set_packing(
    struct fby_field_content *field, const struct fby_tokens *tokens);

#endif
