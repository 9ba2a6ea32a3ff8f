/* SPDX-License-Identifier: Apache-2.0 */
/* decoders.c - two tables: the function that decodes each kind of field, and
 * the entries of decoders in the fingerprint. */
#include "worker/transform/decoders.h"

#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "worker/transform/self_check/self_check.h"

/* ---- from a member's bytes to values ------------------------------------- */

static fby_field_writer *const writers[] = {
    [FBY_DECODE_RGB8]      = fby_picture_write,
    [FBY_DECODE_LABEL]     = fby_label_write,
    [FBY_DECODE_NUMBER]    = fby_number_write,
    [FBY_DECODE_BYTES]     = fby_bytes_write,
    [FBY_DECODE_MASK8]     = fby_picture_write,
    [FBY_DECODE_ARRAY]     = fby_array_write,
    [FBY_DECODE_TEXT]      = fby_text_write,
    [FBY_DECODE_SPARSE]    = fby_sparse_file_write,
    [FBY_DECODE_MAPS]      = fby_stack_write,
    [FBY_DECODE_TOKENS]    = fby_tokens_write,
    [FBY_DECODE_DOCUMENTS] = fby_documents_write,
};

fby_err fby_field_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    const struct fby_field_kind *kind =
        fby_field_kind_by_id(job->field->decode);
    return kind != NULL
               ? writers[kind->id](transform, job, dst, why)
               : fby_error_set(why, FBY_USAGE, "no decoder has the number %d",
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

static bool has_packed_bits(const struct fby_field_content *field)
{
    return fby_field_packed_bits(field) > 0;
}

/* True for packed documents, and for the field of their lengths. */
static bool is_packed(const struct fby_field_content *field)
{
    return fby_field_values(field) == FBY_VALUES_LENGTHS ||
           field->as.tokens.packed;
}

static bool has_key(const struct fby_field_content *field)
{
    return fby_field_json(field)->key[0] != '\0';
}

/* True if the field needs the self check of paths. The self checks of numbers
 * and texts cover their keys that have neither a dot nor a `pick`. */
static bool has_path(const struct fby_field_content *field)
{
    bool is_label    = fby_field_values(field) == FBY_VALUES_CLASSES;
    bool key_is_path = strchr(fby_field_json(field)->key, '.') != NULL;
    bool picks       = fby_field_json(field)->pick != FBY_PICK_NONE;
    return has_key(field) && (is_label || key_is_path || picks);
}

static bool has_class_names(const struct fby_field_content *field)
{
    return field->as.label.names.n > 0;
}

static bool is_ragged(const struct fby_field_content *field)
{
    return fby_field_form(field) == FBY_FORM_RAGGED;
}

/* ---- self checks --------------------------------------------------------- */

/* OF(RGB8) is the bit of fields of the kind RGB8 in fby_decoder_entry.kinds. */
#define OF(decode) (1U << FBY_DECODE_##decode)

const struct fby_decoder_entry fby_decoders[FBY_N_DECODERS] = {
    [FBY_DECODER_RGB8]     = {"rgb8", OF(RGB8), NULL, fby_self_check_jpegs},
    [FBY_DECODER_FAITHFUL] = {"rgb8_faithful", OF(RGB8), is_faithful,
        fby_self_check_dct_faithful},
    [FBY_DECODER_FAST]     = {"rgb8_fast", OF(RGB8), is_fast,
            fby_self_check_dct_fast},
    [FBY_DECODER_LABEL]    = {"label", OF(LABEL), NULL, fby_self_check_labels},
    [FBY_DECODER_LABEL_NAMES] = {"label_names", OF(LABEL), has_class_names,
        fby_self_check_label_names},
    [FBY_DECODER_NUMBER] = {"number", OF(NUMBER), NULL, fby_self_check_numbers},
    [FBY_DECODER_BYTES]  = {"bytes", OF(BYTES), NULL, NULL},
    [FBY_DECODER_PNG]    = {"rgb8_png", OF(RGB8), fby_field_takes_png,
           fby_self_check_pngs},
    [FBY_DECODER_MASK8]  = {"mask8", OF(MASK8) | OF(MAPS), NULL,
         fby_self_check_masks},
    [FBY_DECODER_ARRAY]  = {"array", OF(ARRAY), NULL, fby_self_check_arrays},
    [FBY_DECODER_BITS]   = {"bits", OF(ARRAY) | OF(MAPS), has_packed_bits,
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
        fby_self_check_ragged},
    [FBY_DECODER_SPARSE] = {"sparse", OF(SPARSE), NULL, fby_self_check_sparse},
    [FBY_DECODER_JSON_TEXT] = {"json_text", OF(TEXT), has_key,
        fby_self_check_json_texts},
    [FBY_DECODER_WEBP]      = {"rgb8_webp", OF(RGB8), fby_field_takes_webp,
             fby_self_check_webps},
};
