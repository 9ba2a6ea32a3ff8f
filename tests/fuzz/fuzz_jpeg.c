/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_jpeg.c - hostile members through the decoders of all fields.
 *
 * The bytes are taken as a JPEG (size, then planned and written as a field
 * with ops, in pixels and in planes), as an EXIF block, as a label, as the name
 * of a class and as JSON.
 * The result is FBY_OK or a refusal of the sample, and a decoded picture has
 * the size of its header. */
#include <string.h>

#include "pipeline/class_names.h"
#include "tests/fuzz/demand.h"
#include "worker/transform/field.h"
#include "worker/transform/jpeg.h"
#include "worker/transform/orient.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIDE = 24, DECODE_PIXELS = 1 << 20 };

static struct fby_field_content *picture_field(void)
{
    static struct fby_field_content field = {.name = "f",
        .group                                     = "f",
        .decode                                    = FBY_DECODE_RGB8,
        .as.rgb8.dct_scale                         = FBY_DCT_FAST,
        .wire_type                                 = FBY_U8,
        .shape                                     = {3, {SIDE, SIDE, 3}},
        .n_ops                                     = 2};
    field.ops[0].op                       = fby_op_named("random_resized_crop");
    field.ops[0].params[0] = (struct fby_value){.n = 2, .i = {SIDE, SIDE}};
    field.ops[0].params[1] =
        (struct fby_value){.n = 2, .real = true, .r = {0.08, 1}};
    field.ops[0].params[2] =
        (struct fby_value){.n = 2, .real = true, .r = {0.75, 1.33}};
    field.ops[1].op        = fby_op_named("horizontal_flip");
    field.ops[1].params[0] = (struct fby_value){.n = 1, .real = true, .r = {1}};
    return &field;
}

static void try_picture(
    struct fby_transform *transform, struct fby_field_job job)
{
    uint8_t               pixels[SIDE * SIDE * 3];
    struct fby_field_plan plan;
    job.field       = picture_field();
    fby_err planned = fby_field_plan(&job, &plan, NULL);
    demand(planned == FBY_OK || planned == FBY_BAD_SAMPLE);
    if (planned == FBY_OK &&
        (uint64_t)plan.width * plan.height > DECODE_PIXELS) {
        return; /* legal, but slow under a sanitizer */
    }
    fby_err written = fby_field_write(transform, &job, pixels, NULL);
    demand(written == FBY_OK || written == FBY_BAD_SAMPLE);
    demand(written != FBY_OK || planned == FBY_OK);

    struct fby_field_content planes = *job.field; /* made alike, or refused */
    planes.as.rgb8.yuv420           = true;
    job.field                       = &planes;
    demand(fby_field_write(transform, &job, pixels, NULL) == written);
}

static void try_scalar(struct fby_transform *transform,
    struct fby_field_job job, enum fby_decode decode, const char *key)
{
    static struct fby_field_content field = {.name = "f", .group = "f"};
    struct fby_json_selector       *json =
        decode == FBY_DECODE_LABEL ? &field.as.label.json : &field.as.number;
    json->pick = FBY_PICK_RANDOM;
    memcpy(json->key, key, strlen(key) + 1);
    for (int type = FBY_U8; type <= FBY_U32; type++) {
        uint8_t value[8];
        field.decode    = decode;
        field.wire_type = (enum fby_type)type;
        job.field       = &field;
        fby_err err     = fby_field_write(transform, &job, value, NULL);
        demand(err == FBY_OK || err == FBY_BAD_SAMPLE || err == FBY_USAGE);
    }
}

/* The bytes as the name of a class, and as JSON with one. */
static void try_names(struct fby_transform *transform, struct fby_field_job job)
{
    static const char *const        words[] = {"cat", "dog", "3", "\xc3\xa9"};
    static struct fby_class_names   names;
    static struct fby_field_content field = {
        .name = "f", .decode = FBY_DECODE_LABEL, .wire_type = FBY_U8};
    for (size_t i = 0; names.n < sizeof(words) / sizeof(words[0]); i++) {
        demand(fby_class_names_add(&names, &field.as.label.names, words[i],
                   strlen(words[i]), NULL) == FBY_OK);
    }
    job.field       = &field;
    job.class_names = &names;
    for (int has_key = 0; has_key <= 1; has_key++) {
        uint8_t                 id  = 0;
        struct fby_error_detail why = {{0}};
        strcpy(field.as.label.json.key, has_key ? "k" : "");
        fby_err err = fby_field_write(transform, &job, &id, &why);
        demand(err == FBY_OK ? id < names.n : err == FBY_BAD_SAMPLE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_transform *transform;
    struct fby_field_job         job = {.bytes = data, .size = size, .seed = 1};
    if (transform == NULL) {
        transform = fby_transform_create(NULL);
    }
    demand(fby_exif_orientation(data, size) <= 8);
    try_picture(transform, job);
    try_scalar(transform, job, FBY_DECODE_LABEL, "");
    try_scalar(transform, job, FBY_DECODE_LABEL, "k");
    try_scalar(transform, job, FBY_DECODE_NUMBER, "k.k");
    try_scalar(transform, job, FBY_DECODE_NUMBER, "k.0");
    try_names(transform, job);
    return 0;
}
