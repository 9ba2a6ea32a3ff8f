/* yuv.c - self checks of yuv420, on the built-in pictures. */
#include <stdlib.h>

#include "common/mem.h"
#include "worker/transform/field.h"
#include "worker/transform/picture.h"
#include "worker/transform/self_check/decoder_hash.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/self_check/self_check.h"

/* ---- fields ---- */

static struct fby_op_use use_of(uint32_t id)
{
    return (struct fby_op_use){.op = fby_op_by_id(id)};
}

static struct fby_value whole(uint32_t n, const int64_t *numbers)
{
    struct fby_value value = {.n = n};
    for (uint32_t i = 0; i < n; i++) {
        value.i[i] = numbers[i];
    }
    return value;
}

static struct fby_value real(uint32_t n, double first, double second)
{
    return (struct fby_value){.n = n, .real = true, .r = {first, second}};
}

/* The ops that paint a colour, after a resize. */
static void add_ops(struct fby_field_content *field)
{
    static const int64_t size[]    = {20, 24};
    static const int64_t padding[] = {3, 3, 3, 3};
    static const int64_t value[]   = {200, 30, 90};
    static const int64_t fill[]    = {9, 40};
    static const int64_t constant  = 0;

    struct fby_op_use *ops = field->ops;
    ops[0]                 = use_of(FBY_OP_RESIZE);
    ops[0].params[1]       = whole(2, size);
    ops[1]                 = use_of(FBY_OP_PAD);
    ops[1].params[0]       = whole(4, padding);
    ops[1].params[1]       = whole(1, &fill[0]);
    ops[1].params[2]       = whole(1, &constant);
    ops[2]                 = use_of(FBY_OP_ROTATE);
    ops[2].params[0]       = real(1, 180, 0);
    ops[2].params[1]       = whole(1, &fill[1]);
    ops[3]                 = use_of(FBY_OP_RANDOM_ERASING);
    ops[3].params[0]       = real(1, 1, 0);
    ops[3].params[1]       = real(2, 0.02, 0.33);
    ops[3].params[2]       = real(2, 0.3, 3.3);
    ops[3].params[3]       = whole(3, value);
    field->n_ops           = 4;
    field->shape           = (struct fby_shape){3, {26, 30, FBY_RGB}};
}

/* ---- one file ---- */

struct yuv_check {
    struct fby_transform     *transform;
    struct fby_digest_state  *hash;
    struct fby_field_content *field;
    struct fby_picture_file   file;
    uint64_t                  sample;
};

static fby_err write_planes(const struct yuv_check *check)
{
    const struct fby_field_content *field  = check->field;
    size_t                          size   = fby_field_bytes(field);
    uint8_t                        *planes = fby_zalloc(size);
    const struct fby_field_job      job    = {.field = field,
                .bytes                               = check->file.bytes,
                .size                                = check->file.size,
                .seed                                = 1,
                .sample                              = check->sample};
    fby_err err    = fby_field_write(check->transform, &job, planes, NULL);
    fby_err broken = fby_self_check_outcome(check->hash, err);
    if (err == FBY_OK) {
        fby_decoder_hash_add(check->hash, field->shape.dims[1], 4);
        fby_decoder_hash_add(check->hash, field->shape.dims[0], 4);
        fby_digest_add(check->hash, planes, size);
    }
    free(planes);
    return broken;
}

/* Write the planes in the picture's own size, without ops. */
static fby_err try_whole(const struct yuv_check *check)
{
    const struct fby_picture_decoder *decoder;
    struct fby_picture_head           head = {0};
    fby_err                           err =
        fby_picture_decoder_for(check->field, &check->file, &decoder, NULL);
    if (err == FBY_OK) {
        err = decoder->head(&check->file, &head, NULL);
    }
    if (err != FBY_OK) {
        return fby_self_check_outcome(check->hash, err);
    }
    check->field->n_ops = 0;
    check->field->shape =
        (struct fby_shape){3, {head.height, head.width, FBY_RGB}};
    return write_planes(check);
}

static fby_err try_file(struct yuv_check *check, struct fby_picture_file file)
{
    check->file = file;
    fby_err err = try_whole(check);
    check->file.size /= 2;
    if (err == FBY_OK) {
        err = try_whole(check);
    }
    check->file = file;
    add_ops(check->field);
    for (int i = 0; i < 2 && err == FBY_OK; i++) {
        err = write_planes(check);
        check->sample++;
    }
    return err;
}

fby_err fby_self_check_yuv(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    struct fby_field_content *field = fby_zalloc(sizeof(*field));
    struct yuv_check          check = {transform, hash, field, {0}, 0};
    fby_err                   err   = FBY_OK;
    *field = (struct fby_field_content){.group = "fingerprint",
        .from                                  = {"png"},
        .n_from                                = 1,
        .decode                                = FBY_DECODE_RGB8,
        .as.rgb8.dct_scale                     = FBY_DCT_OFF,
        .wire_type                             = FBY_U8,
        .as.rgb8.yuv420                        = true};
    for (size_t i = 0; i < fby_n_probes && err == FBY_OK; i++) {
        err = try_file(&check, fby_probes[i]);
    }
    for (size_t i = 0; i < fby_n_png_probes && err == FBY_OK; i++) {
        err = try_file(&check, fby_png_probes[i]);
    }
    free(field);
    return err;
}
