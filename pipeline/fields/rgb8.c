/* SPDX-License-Identifier: Apache-2.0 */
/* rgb8.c - the field kind `rgb8`: JPEG, PNG and WebP pictures, u8 [h, w, 3]. */
#include "pipeline/fields/kinds.h"
#include "pipeline/text.h"
#include <math.h>

/* Only the first formats have a decoder. The other formats are refused. If the
 * kind `bytes` took them, a decoder added later would change old pipelines. */
enum { N_FORMATS_WITH_DECODER = 4 };
static const char *const extensions[] = {"jpg", "jpeg", "png", "webp", "gif",
    "bmp", "tif", "tiff", "avif", "heic", NULL};

enum { N_CHANNELS = 3 };

/* Move the parameters of the device op normalize from the op to as.rgb8. If
 * normalize is the only device op, empty the list. */
static void move_normalize(struct fby_field_content *field)
{
    for (uint32_t i = 0; i < field->n_device; i++) {
        struct fby_op_use *use = &field->device[i];
        if (use->op->id == FBY_OP_DEVICE_NORMALIZE) {
            struct fby_rgb8_field *rgb8 = &field->as.rgb8;
            rgb8->normalize             = true;
            memcpy(rgb8->mean, use->params[NORMALIZE_MEAN].r,
                N_CHANNELS * sizeof(double));
            memcpy(rgb8->std, use->params[NORMALIZE_STD].r,
                N_CHANNELS * sizeof(double));
            memset(use->params, 0, sizeof(use->params));
        }
    }
    if (field->n_device == 1 && field->as.rgb8.normalize) {
        memset(&field->device[0], 0, sizeof(field->device[0]));
        field->n_device = 0;
    }
}

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    struct fby_rgb8_field *rgb8 = &field->as.rgb8;
    rgb8->yuv420                = parsed->wire.type == PARSED_YUV420;
    rgb8->dct_scale             = parsed->dct_scale != 0
                                      ? (enum fby_dct_scale)parsed->dct_scale
                                      : FBY_DCT_FAITHFUL;
    field->wire_type = rgb8->yuv420 ? FBY_U8 : fby_wire_type_or(parsed, FBY_U8);
    move_normalize(field);
    fby_set_default_dtype(
        delivery, fby_parsed_normalizes(parsed) ? FBY_F32 : FBY_U8);
}

/* Refuse formats that have no decoder. */
static fby_err check_formats(const struct fby_field_check *check)
{
    for (uint32_t i = 0; i < check->field->n_from; i++) {
        const char *format = fby_extension_last_part(check->field->from[i]);
        if (fby_text_is_one_of(format, extensions + N_FORMATS_WITH_DECODER)) {
            return fby_field_error_at_item(check, FBY_FIELD_FROM, i,
                "%s pictures are not decoded; convert them, for example with "
                "ImageMagick: 'mogrify -format png *.%s'",
                format, format);
        }
    }
    return FBY_OK;
}

/* Refuse ops on colours if the picture is sent as yuv420. */
static fby_err check_yuv_ops(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    for (uint32_t i = 0; i < field->n_ops; i++) {
        const struct fby_op *op = field->ops[i].op;
        if (field->as.rgb8.yuv420 && op->is_colour) {
            return fby_field_error_at_item(check, FBY_FIELD_OPS, i,
                "%s needs red, green and blue, which a picture that travels "
                "as yuv420 gets on the device only; %s, or use wire: u8",
                op->name,
                fby_device_op_named(op->name) != NULL
                    ? "write it under 'device'"
                    : "leave it out");
        }
    }
    return FBY_OK;
}

/* Check that a list of device ops has normalize if and only if the field is
 * normalised, and that the list has another op, too (see move_normalize). */
static fby_err check_device_list(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    uint32_t n_normalize                  = fby_field_count_normalize(field);
    bool     agrees    = (n_normalize > 0) == field->as.rgb8.normalize;
    bool     has_other = field->n_device > n_normalize;
    FBY_REFUSE_IF(check, field->n_device > 0 && !(agrees && has_other),
        FBY_FIELD_DEVICE,
        "the list under device is not that of a normalised picture");
    return FBY_OK;
}

static fby_err check_normalize(const struct fby_field_check *check)
{
    const struct fby_rgb8_field *rgb8 = &check->field->as.rgb8;
    for (size_t k = 0; rgb8->normalize && k < N_CHANNELS; k++) {
        FBY_REFUSE_IF(check,
            fabs(rgb8->mean[k]) > FBY_NORMALIZE_MAX ||
                rgb8->std[k] < 1 / FBY_NORMALIZE_MAX ||
                rgb8->std[k] > FBY_NORMALIZE_MAX,
            FBY_FIELD_DEVICE,
            "normalize: a mean is within -1000000 to 1000000, a std "
            "within 0.000001 to 1000000");
    }
    return FBY_OK;
}

static fby_err check_dtype(const struct fby_field_check *check)
{
    if (!fby_check_is_from_file(check)) {
        return FBY_OK;
    }
    enum fby_type dtype = check->delivery->dtype;
    if (check->field->as.rgb8.normalize && dtype == FBY_U8) {
        return fby_field_error_dtype(
            check, "cannot hold normalised values; use f32, f16 or bf16");
    }
    return dtype == FBY_U8 || fby_type_is_float(dtype)
               ? FBY_OK
               : fby_field_error_dtype(check,
                     "cannot be made from pictures; use u8, f32, f16 or bf16");
}

static fby_err check_dct_scale(const struct fby_field_check *check)
{
    enum fby_dct_scale scale = check->field->as.rgb8.dct_scale;
    FBY_REFUSE_IF(check, scale < FBY_DCT_OFF || scale > FBY_DCT_FAST,
        FBY_FIELD_DCT_SCALE, "dct_scale is off, faithful or fast");
    return FBY_OK;
}

static fby_field_rule *const rules[] = {check_formats, check_device_list,
    fby_field_check_u8, check_dct_scale, check_yuv_ops, check_normalize,
    check_dtype, NULL};

static struct fby_shape shape(const struct fby_field_content *field)
{
    (void)field;
    return (struct fby_shape){.n_dims = 3, .dims = {0, 0, N_CHANNELS}};
}

static const struct fby_canon_entry entries[] = {
    {FBY_ENTRY(DCT_SCALE, U32, as.rgb8.dct_scale), .max = FBY_DCT_FAST},
    {FBY_ENTRY(NORMALIZE, BOOL, as.rgb8.normalize)},
    {FBY_ENTRY(MEAN, REALS, as.rgb8.mean), .count = N_CHANNELS},
    {FBY_ENTRY(STD, REALS, as.rgb8.std), .count = N_CHANNELS},
    {FBY_ENTRY(YUV420, BOOL, as.rgb8.yuv420), .min = 1},
    {0},
};

const struct fby_field_kind fby_kind_rgb8 = {
    .id         = FBY_DECODE_RGB8,
    .name       = "rgb8",
    .extensions = extensions,
    .keys       = FBY_FIELD_BIT(FBY_FIELD_DCT_SCALE) |
            FBY_FIELD_BIT(FBY_FIELD_GROUP) | FBY_FIELD_BIT(FBY_FIELD_OPS) |
            FBY_FIELD_BIT(FBY_FIELD_DEVICE),
    .wire_text     = "rgb8 pictures travel as u8, or as yuv420; use type: u8",
    .is_picture    = true,
    .has_layout    = true,
    .values        = FBY_VALUES_COLOURS,
    .entries       = entries,
    .fill_defaults = fill_defaults,
    .rules         = rules,
    .shape         = shape,
};
