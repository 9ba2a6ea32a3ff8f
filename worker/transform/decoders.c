/* decoders.c - the tables of decoders, by kind of field: the function that
 * decodes a member, and the self checks that represent it in the fingerprint.
 */
#include "worker/transform/decoders.h"

#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "worker/transform/scalar.h"
#include "worker/transform/scratch.h"
#include "worker/transform/self_check/self_check.h"
#include "worker/transform/sparse.h"

/* ---- from a member's bytes to values ------------------------------------- */

/* Write one sample's values, as fby_field_write does. */
typedef fby_err field_writer(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

typedef fby_err scalar_fn(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* The JSON parser allocates objects, so memory is reserved for them. */
static fby_err write_json(scalar_fn *write, struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    const struct fby_need need = {
        .libraries = (uint64_t)job->size * FBY_JSON_BYTES_PER_BYTE};
    fby_err err = FBY_OK;
    if (job->size <= FBY_JSON_MAX_BYTES) { /* a larger one is refused */
        err = fby_transform_reserve(transform, &need, why);
    }
    if (err == FBY_OK) {
        err = write(job, dst, why);
    }
    fby_transform_release(transform);
    return err;
}

/* The member is JSON only if the field has a key. */
static fby_err write_text(scalar_fn *write, struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    return fby_field_json(job->field)->key[0] != '\0'
               ? write_json(write, transform, job, dst, why)
               : write(job, dst, why);
}

static struct fby_image picture_at(
    uint8_t *dst, const struct fby_field_content *field)
{
    uint32_t height = field->shape.dims[0];
    uint32_t width  = field->shape.dims[1];
    return (struct fby_image){
        dst, (size_t)width * field->shape.dims[2], width, height};
}

static fby_err write_picture(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    return fby_picture_write(transform, job, picture_at(dst, job->field), why);
}

static fby_err write_label(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    return write_text(fby_label_write, transform, job, dst, why);
}

static fby_err write_number(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    return write_json(fby_number_write, transform, job, dst, why);
}

static fby_err write_string(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    return write_text(fby_text_write, transform, job, dst, why);
}

/* Decoders that need no memory of the transform. */
#define WRITE(name)                                                         \
    static fby_err write_##name(struct fby_transform *transform,            \
        const struct fby_field_job *job, uint8_t *dst, struct fby_why *why) \
    {                                                                       \
        (void)transform;                                                    \
        return fby_##name##_write(job, dst, why);                           \
    }
WRITE(bytes)
WRITE(array)
WRITE(tokens)
WRITE(documents)

static field_writer *const writers[] = {
    [FBY_DECODE_RGB8]      = write_picture,
    [FBY_DECODE_LABEL]     = write_label,
    [FBY_DECODE_NUMBER]    = write_number,
    [FBY_DECODE_BYTES]     = write_bytes,
    [FBY_DECODE_MASK8]     = write_picture,
    [FBY_DECODE_ARRAY]     = write_array,
    [FBY_DECODE_TEXT]      = write_string,
    [FBY_DECODE_SPARSE]    = fby_sparse_file_write,
    [FBY_DECODE_MAPS]      = fby_stack_write,
    [FBY_DECODE_TOKENS]    = write_tokens,
    [FBY_DECODE_DOCUMENTS] = write_documents,
};

fby_err fby_field_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    const struct fby_field_kind *kind =
        fby_field_kind_by_id(job->field->decode);
    return kind != NULL
               ? writers[kind->id](transform, job, dst, why)
               : fby_because(why, FBY_USAGE, "no decoder has the number %d",
                     (int)job->field->decode);
}

/* ---- which entries a field has in the fingerprint ------------------------ */

static bool is_faithful(const struct fby_field_content *field)
{
    return field->as.rgb8.dct_scale == FBY_DCT_FAITHFUL;
}

static bool is_fast(const struct fby_field_content *field)
{
    return field->as.rgb8.dct_scale == FBY_DCT_FAST;
}

static bool is_yuv420(const struct fby_field_content *field)
{
    return field->as.rgb8.yuv420;
}

static bool has_maps(const struct fby_field_content *field)
{
    return fby_field_maps(field) > 0;
}

static bool is_packed(const struct fby_field_content *field)
{
    return fby_field_values(field) == FBY_VALUES_LENGTHS ||
           field->as.tokens.packed;
}

static bool has_key(const struct fby_field_content *field)
{
    return fby_field_json(field)->key[0] != '\0';
}

/* The self check of `number` covers a plain key of an object; other keys need
 * the self check of paths, too. */
static bool has_path(const struct fby_field_content *field)
{
    bool plain = strchr(fby_field_json(field)->key, '.') == NULL &&
                 fby_field_json(field)->pick == FBY_PICK_NONE;
    return has_key(field) &&
           (!plain || fby_field_values(field) == FBY_VALUES_CLASSES);
}

static bool is_ragged(const struct fby_field_content *field)
{
    return fby_field_form(field) == FBY_FORM_RAGGED;
}

/* ---- self checks --------------------------------------------------------- */

static fby_err try_faithful(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    return fby_self_check_scale(transform, hash, FBY_DCT_FAITHFUL);
}

static fby_err try_fast(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    return fby_self_check_scale(transform, hash, FBY_DCT_FAST);
}

static fby_err try_labels(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    return fby_self_check_texts(transform, hash, FBY_DECODE_LABEL);
}

static fby_err try_numbers(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    return fby_self_check_texts(transform, hash, FBY_DECODE_NUMBER);
}

static fby_err try_png_pictures(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    return fby_self_check_pngs(transform, hash, FBY_DECODE_RGB8);
}

static fby_err try_png_masks(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    return fby_self_check_pngs(transform, hash, FBY_DECODE_MASK8);
}

static fby_err try_sparse(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    (void)transform;
    return fby_self_check_sparse(hash);
}

/* The bit of a kind of field. */
#define OF(decode) (1U << FBY_DECODE_##decode)

const struct fby_decoder_entry fby_decoders[FBY_N_DECODERS] = {
    [FBY_DECODER_RGB8]     = {"rgb8", OF(RGB8), NULL, fby_self_check_jpegs},
    [FBY_DECODER_FAITHFUL] = {"rgb8_faithful", OF(RGB8), is_faithful,
        try_faithful},
    [FBY_DECODER_FAST]     = {"rgb8_fast", OF(RGB8), is_fast, try_fast},
    [FBY_DECODER_LABEL]    = {"label", OF(LABEL), NULL, try_labels},
    [FBY_DECODER_NUMBER]   = {"number", OF(NUMBER), NULL, try_numbers},
    [FBY_DECODER_BYTES]    = {"bytes", OF(BYTES), NULL, NULL},
    [FBY_DECODER_PNG]      = {"rgb8_png", OF(RGB8), fby_field_takes_png,
             try_png_pictures},
    [FBY_DECODER_MASK8]  = {"mask8", OF(MASK8) | OF(MAPS), NULL, try_png_masks},
    [FBY_DECODER_ARRAY]  = {"array", OF(ARRAY), NULL, fby_self_check_arrays},
    [FBY_DECODER_BITS]   = {"bits", OF(ARRAY) | OF(MAPS), has_maps,
          fby_self_check_bits},
    [FBY_DECODER_PATH]   = {"json_path", OF(LABEL) | OF(NUMBER) | OF(TEXT),
          has_path, fby_self_check_paths},
    [FBY_DECODER_TOKENS] = {"tokens", OF(TOKENS), NULL, fby_self_check_tokens},
    [FBY_DECODER_PACKED] = {"packed", OF(TOKENS) | OF(DOCUMENTS), is_packed,
        fby_self_check_packed},
    [FBY_DECODER_YUV420] = {"rgb8_yuv420", OF(RGB8), is_yuv420,
        fby_self_check_yuv},
    [FBY_DECODER_RAGGED] = {"ragged",
        OF(ARRAY) | OF(BYTES) | OF(TEXT) | OF(NUMBER), is_ragged,
        fby_self_check_lengths},
    [FBY_DECODER_SPARSE] = {"sparse", OF(SPARSE), NULL, try_sparse},
    [FBY_DECODER_JSON_TEXT] = {"json_text", OF(TEXT), has_key,
        fby_self_check_json_texts},
};
