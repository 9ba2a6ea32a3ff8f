/* derived.h - what follows from the values of a content, and is in no file and
 * on no wire: types, shapes, sizes, what a name stands for. Pure. */
#ifndef FBY_PIPELINE_DERIVED_H
#define FBY_PIPELINE_DERIVED_H

#include "pipeline/types.h"

/* Is `value` one of `type`'s? Of reals all that are finite in it are, rounded;
 * of whole numbers whole ones in its range. */
bool fby_type_takes(enum fby_type type, double value);

/* The largest of a type of whole numbers; 0 of other types. */
int64_t fby_type_largest(enum fby_type type);

/* The smallest of u8, u16, u32 that holds ids below `classes` (0: u32). */
enum fby_type fby_label_type(uint32_t classes);

/* The type in which lengths of documents travel: the smaller of u16 and u32
 * that holds `length`. */
enum fby_type fby_documents_type(uint32_t length);

/* Can token files hold that type (0: not said, and the files must say it)? */
bool fby_tokens_type_ok(const struct fby_tokens *tokens);

/* Bytes that hold a bit for each of `maps`. */
static inline uint32_t fby_bits_bytes(uint32_t maps)
{
    return maps / 8 + (maps % 8 != 0);
}

/* Bytes of an array; 0 when there are none, or more than FBY_MAX_LENGTH. */
uint64_t fby_array_bytes(const struct fby_shape *shape, enum fby_type type);

/* Bytes of an entry of a row that varies in length: of a sparse one those of a
 * value and its index. */
uint64_t fby_entry_bytes(const struct fby_field_content *field);

/* Bytes of the longest row of a field that varies in length, of a sparse one
 * with its indices; 0 when there are more than FBY_MAX_VARYING. */
uint64_t fby_varying_bytes(const struct fby_field_content *field);

/* The shape of a field after its ops; dimensions that are not known before a
 * sample is decoded are 0. */
struct fby_shape fby_field_shape(const struct fby_field_content *field);

/* ---- members of some kinds, asked of a field of any ---- */

/* Does it travel in planes? */
static inline bool fby_field_is_yuv420(const struct fby_field_content *field)
{
    return field->decode == FBY_DECODE_RGB8 && field->as.rgb8.yuv420;
}

static inline bool fby_field_is_normalized(
    const struct fby_field_content *field)
{
    return field->decode == FBY_DECODE_RGB8 && field->as.rgb8.normalize;
}

static inline bool fby_field_is_one_hot(const struct fby_field_content *field)
{
    return field->decode == FBY_DECODE_LABEL && field->as.label.one_hot;
}

/* Of label, number and text; of other kinds one without a key. */
const struct fby_from_json *fby_field_json(
    const struct fby_field_content *field);

/* How many values of the last dimension are packed as bits; 0: it travels
 * otherwise. */
uint32_t fby_field_maps(const struct fby_field_content *field);

/* Of an array, as the file says it; of other kinds one without dimensions. */
const struct fby_shape *fby_array_shape(const struct fby_field_content *field);

/* ---- names, shapes and sequences ---- */

/* What follows the last dot of an extension: "jpg" of "left.jpg". */
const char *fby_extension_kind(const char *extension);

/* Does its `from` name a png? Only then its pictures may be PNGs. */
bool fby_field_takes_png(const struct fby_field_content *field);

/* Is it made of targets, which only a source with shift: 1 has? */
bool fby_wants_targets(const char *from);

/* How many tokens a field of sequences has, at most: those of a sequence, and
 * of a `sequence` with its targets one more. */
uint32_t fby_sequence_length(
    const struct fby_field_content *field, const struct fby_tokens *tokens);

/* What a field of sequences takes over from its source; of others nothing. */
void fby_field_pack(
    struct fby_field_content *field, const struct fby_tokens *tokens);

#endif
