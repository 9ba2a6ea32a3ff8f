/* SPDX-License-Identifier: Apache-2.0 */
/* pictures.c - self checks of pictures, on the built-in files.
 *
 * The first version of the PNG decoder refused pictures with an alpha channel
 * or 16 bits, and two of the built-in files have these. Their outcome is still
 * a refusal, because hashes must not change: tokens contain them. */
#include "worker/transform/picture_format.h"
#include "worker/transform/png.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/self_check/self_check.h"
#include "worker/transform/transform_private.h"
#include "worker/transform/webp.h"

static struct fby_picture_file first_half(struct fby_picture_file file)
{
    return (struct fby_picture_file){file.bytes, file.size / 2};
}

enum { PNG_DEPTH = 24, PNG_COLOUR_TYPE = 25, PNG_ALPHA_BIT = 4 };

/* True for a PNG with an alpha channel or 16 bits a channel. */
static bool was_refused(const struct fby_picture_file *file)
{
    return fby_picture_is_png(file) && file->size > PNG_COLOUR_TYPE &&
           (file->bytes[PNG_DEPTH] == 16 ||
               (file->bytes[PNG_COLOUR_TYPE] & PNG_ALPHA_BIT) != 0);
}

/* Decode each of the `n` files whole, then its first half. */
static void check_files(struct fby_self_check *check,
    const struct fby_picture_decoder *decoder, uint32_t channels,
    const struct fby_picture_file *files, size_t n)
{
    for (size_t i = 0; i < 2 * n; i++) {
        struct fby_image        picture = {0};
        struct fby_picture_file file =
            i % 2 == 0 ? files[i / 2] : first_half(files[i / 2]);
        fby_err err = was_refused(&file)
                          ? FBY_BAD_SAMPLE
                          : fby_picture_decode(decoder, &file,
                                &check->transform->results[0], &picture, NULL);
        if (fby_self_check_add_outcome(check, err)) {
            fby_self_check_add_picture(check, &picture, channels);
        }
    }
}

void fby_self_check_jpegs(struct fby_self_check *check)
{
    check_files(
        check, &fby_jpeg_picture, FBY_RGB, fby_jpeg_probes, fby_n_jpeg_probes);
}

void fby_self_check_pngs(struct fby_self_check *check)
{
    check_files(
        check, &fby_png_picture, FBY_RGB, fby_png_probes, fby_n_png_probes);
}

void fby_self_check_webps(struct fby_self_check *check)
{
    check_files(
        check, &fby_webp_picture, FBY_RGB, fby_webp_probes, fby_n_webp_probes);
}

void fby_self_check_masks(struct fby_self_check *check)
{
    check_files(check, &fby_png_mask, 1, fby_png_probes, fby_n_png_probes);
}

static void set_crop_field(struct fby_field_content *field,
    enum fby_dct_scale scale, int64_t h, int64_t w)
{
    const struct fby_value area  = {.n = 2, .real = true, .r = {0.3, 1}};
    const struct fby_value ratio = {.n = 2, .real = true, .r = {0.75, 1.25}};
    *field        = (struct fby_field_content){.group = "fingerprint",
               .decode                                = FBY_DECODE_RGB8,
               .as.rgb8.dct_scale                     = scale,
               .wire_type                             = FBY_U8,
               .shape = {3, {(uint32_t)h, (uint32_t)w, FBY_RGB}},
               .n_ops = 1};
    field->ops[0] = (struct fby_op_use){
        .op     = fby_op_by_id(FBY_OP_RANDOM_RESIZED_CROP),
        .params = {{.n = 2, .i = {h, w}}, area, ratio},
    };
}

/* Decode a file as check->field says. `sample` selects the random draws. */
static void check_sample(
    struct fby_self_check *check, struct fby_picture_file file, uint64_t sample)
{
    if (was_refused(&file)) {
        fby_self_check_add_outcome(check, FBY_BAD_SAMPLE);
        return;
    }
    fby_self_check_decode(check, &(struct fby_field_job){.field = &check->field,
                                     .bytes                     = file.bytes,
                                     .size                      = file.size,
                                     .seed                      = 1,
                                     .sample                    = sample});
}

/* Decode a random crop of each JPEG to three sizes, with two draws for each. */
static void check_scale(struct fby_self_check *check, enum fby_dct_scale scale)
{
    static const int64_t sizes[][2] = {{20, 24}, {9, 8}, {4, 5}};
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        set_crop_field(&check->field, scale, sizes[k][0], sizes[k][1]);
        for (size_t i = 0; i < 2 * fby_n_jpeg_probes; i++) {
            check_sample(check, fby_jpeg_probes[i / 2], i);
        }
    }
}

void fby_self_check_dct_faithful(struct fby_self_check *check)
{
    check_scale(check, FBY_DCT_FAITHFUL);
}

void fby_self_check_dct_fast(struct fby_self_check *check)
{
    check_scale(check, FBY_DCT_FAST);
}

/* The ops that paint a colour, after a resize. */
static void set_painting_ops(struct fby_field_content *field)
{
    static const struct {
        enum fby_op_id   op;
        struct fby_value params[4];
    } ops[] = {
        {FBY_OP_RESIZE, {{.n = 0}, {.n = 2, .i = {20, 24}}}},
        {FBY_OP_PAD, {{.n = 4, .i = {3, 3, 3, 3}}, {.n = 1, .i = {9}},
                         {.n = 1, .i = {0}}}},
        {FBY_OP_ROTATE,
            {{.n = 1, .real = true, .r = {180}}, {.n = 1, .i = {40}}}},
        {FBY_OP_RANDOM_ERASING, {{.n = 1, .real = true, .r = {1}},
                                    {.n = 2, .real = true, .r = {0.02, 0.33}},
                                    {.n = 2, .real = true, .r = {0.3, 3.3}},
                                    {.n = 3, .i = {200, 30, 90}}}},
    };
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        field->ops[i] = (struct fby_op_use){.op = fby_op_by_id(ops[i].op)};
        memcpy(field->ops[i].params, ops[i].params, sizeof(ops[i].params));
    }
    field->n_ops = COUNT_OF(ops);
    field->shape = (struct fby_shape){3, {26, 30, FBY_RGB}};
}

/* Decode a file in its own size, without ops. */
static void check_own_size(
    struct fby_self_check *check, struct fby_picture_file file)
{
    const struct fby_picture_decoder *decoder;
    struct fby_picture_head           head = {0};
    fby_err                           err  = was_refused(&file) ? FBY_BAD_SAMPLE
                                                                : fby_picture_decoder_for(&check->field,
                                                                      &file, &decoder, NULL);
    if (err == FBY_OK) {
        err = decoder->head(&file, &head, NULL);
    }
    if (err != FBY_OK) {
        fby_self_check_add_outcome(check, err);
        return;
    }
    check->field.n_ops = 0;
    check->field.shape =
        (struct fby_shape){3, {head.height, head.width, FBY_RGB}};
    check_sample(check, file, 0);
}

void fby_self_check_yuv(struct fby_self_check *check)
{
    check->field = (struct fby_field_content){.group = "fingerprint",
        .from                                        = {"png"},
        .n_from                                      = 1,
        .decode                                      = FBY_DECODE_RGB8,
        .as.rgb8.dct_scale                           = FBY_DCT_OFF,
        .wire_type                                   = FBY_U8,
        .as.rgb8.yuv420                              = true};
    for (size_t i = 0; i < fby_n_jpeg_probes + fby_n_png_probes; i++) {
        struct fby_picture_file file =
            i < fby_n_jpeg_probes ? fby_jpeg_probes[i]
                                  : fby_png_probes[i - fby_n_jpeg_probes];
        check_own_size(check, file);
        check_own_size(check, first_half(file));
        set_painting_ops(&check->field);
        check_sample(check, file, 2 * i);
        check_sample(check, file, 2 * i + 1);
    }
}
