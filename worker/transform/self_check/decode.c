/* decode.c - self checks of pictures, labels and numbers. */
#include <stdlib.h>
#include <string.h>

#include "worker/transform/field.h"
#include "worker/transform/png.h"
#include "worker/transform/scratch.h"
#include "worker/transform/self_check/decoder_hash.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/self_check/self_check.h"

/* ---- JPEG ---- */

static fby_err try_file(struct fby_transform *transform,
    struct fby_digest_state *hash, struct fby_picture_file file)
{
    struct fby_image picture = {0};
    fby_err err = fby_jpeg_decode(&file, &transform->made[0], &picture, NULL);
    fby_err broken = fby_self_check_outcome(hash, err);
    if (err == FBY_OK) {
        fby_self_check_picture(hash, &picture, FBY_RGB);
    }
    return broken;
}

fby_err fby_self_check_jpegs(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < fby_n_probes && err == FBY_OK; i++) {
        struct fby_picture_file half = {
            fby_probes[i].bytes, fby_probes[i].size / 2};
        err = try_file(transform, hash, fby_probes[i]);
        if (err == FBY_OK) {
            err = try_file(transform, hash, half);
        }
    }
    return err;
}

/* ---- PNG ---- */

static fby_err try_png(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_decode decode,
    struct fby_picture_file file)
{
    bool             is_mask = decode == FBY_DECODE_MASK8;
    struct fby_image picture = {0};
    fby_err err = fby_picture_decode(is_mask ? &fby_png_mask : &fby_png_picture,
        &file, &transform->made[0], &picture, NULL);
    fby_err broken = fby_self_check_outcome(hash, err);
    if (err == FBY_OK) {
        fby_self_check_picture(hash, &picture, is_mask ? 1 : FBY_RGB);
    }
    return broken;
}

fby_err fby_self_check_pngs(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_decode decode)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < fby_n_png_probes && err == FBY_OK; i++) {
        struct fby_picture_file half = {
            fby_png_probes[i].bytes, fby_png_probes[i].size / 2};
        err = try_png(transform, hash, decode, fby_png_probes[i]);
        if (err == FBY_OK) {
            err = try_png(transform, hash, decode, half);
        }
    }
    return err;
}

/* ---- JPEG, decoded smaller ---- */

struct size {
    uint32_t side[2]; /* height, width */
};
static const struct size sizes[] = {{{20, 24}}, {{9, 8}}, {{4, 5}}};

/* Decode a file as the job's field says, and hash the result. */
static fby_err try_box(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_job *job)
{
    uint8_t          pixels[20 * 24 * FBY_RGB];
    struct fby_image image  = {.pixels = pixels,
         .stride = (size_t)job->field->shape.dims[1] * FBY_RGB,
         .width  = job->field->shape.dims[1],
         .height = job->field->shape.dims[0]};
    fby_err          err    = fby_field_write(transform, job, pixels, NULL);
    fby_err          broken = fby_self_check_outcome(hash, err);
    if (err == FBY_OK) {
        fby_self_check_picture(hash, &image, FBY_RGB);
    }
    return broken;
}

static void set_size(struct fby_field_content *field, const struct size *size)
{
    const struct fby_value scale = {.n = 2, .real = true, .r = {0.3, 1}};
    const struct fby_value ratio = {.n = 2, .real = true, .r = {0.75, 1.25}};
    field->shape  = (struct fby_shape){3, {size->side[0], size->side[1], 3}};
    field->n_ops  = 1;
    field->ops[0] = (struct fby_op_use){
        .op     = fby_op_by_id(FBY_OP_RANDOM_RESIZED_CROP),
        .params = {{.n = 2, .i = {size->side[0], size->side[1]}}, scale, ratio},
    };
}

/* Decode each file in each size, with two draws. */
static fby_err try_sizes(struct fby_transform *transform,
    struct fby_digest_state *hash, struct fby_field_content *field)
{
    fby_err err = FBY_OK;
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        set_size(field, &sizes[k]);
        for (size_t i = 0; i < 2 * fby_n_probes && err == FBY_OK; i++) {
            const struct fby_field_job job = {.field = field,
                .bytes                               = fby_probes[i / 2].bytes,
                .size                                = fby_probes[i / 2].size,
                .seed                                = 1,
                .sample                              = i};
            err                            = try_box(transform, hash, &job);
        }
    }
    return err;
}

fby_err fby_self_check_scale(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_dct_scale scale)
{
    struct fby_field_content *field = calloc(1, sizeof(*field));
    if (field == NULL) {
        return FBY_FULL;
    }
    *field      = (struct fby_field_content){.group = "fingerprint",
             .decode                                = FBY_DECODE_RGB8,
             .as.rgb8.dct_scale                     = scale,
             .wire_type                             = FBY_U8};
    fby_err err = try_sizes(transform, hash, field);
    free(field);
    return err;
}

/* ---- labels and numbers ---- */

static const char *const label_texts[] = {"0", " 7\n", "255", "256", "65535",
    "65536", "4294967295", "4294967296", "007", "-1", "1.0", "", "1 2", "x"};

static const char *const number_texts[] = {"{\"k\":0}", "{\"k\":-1}",
    "{\"k\":255}", "{\"k\":256}", "{\"k\":65504}", "{\"k\":65520}",
    "{\"k\":70000}", "{\"k\":16777217}", "{\"k\":2147483648}",
    "{\"k\":9223372036854775807}", "{\"k\":3.0}", "{\"k\":0.1}", "{\"k\":-0.0}",
    "{\"k\":1e-7}", "{\"k\":1e-40}", "{\"k\":1e39}", "{\"k\":0.333251953125}",
    "{\"k\":\"1\"}", "{\"j\":1}", "[1]", "{"};

static fby_err try_text(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_content *field,
    const char *text)
{
    uint8_t              value[8] = {0};
    struct fby_field_job job      = {
             .field = field,
             .bytes = (const uint8_t *)text,
             .size  = strlen(text),
    };
    fby_err err = fby_field_write(transform, &job, value, NULL);
    fby_err broken =
        err == FBY_USAGE ? FBY_OK : fby_self_check_outcome(hash, err);
    if (err == FBY_OK) {
        fby_digest_add(hash, value, fby_field_bytes(field));
    }
    return broken;
}

struct texts {
    const char *const *at;
    size_t             n;
};

static struct texts texts_for(enum fby_decode decode)
{
    if (decode == FBY_DECODE_LABEL) {
        return (struct texts){
            label_texts, sizeof(label_texts) / sizeof(label_texts[0])};
    }
    return (struct texts){
        number_texts, sizeof(number_texts) / sizeof(number_texts[0])};
}

/* Decode each text in each wire type, as a scalar. */
fby_err fby_self_check_texts(struct fby_transform *transform,
    struct fby_digest_state *hash, enum fby_decode decode)
{
    struct texts              texts = texts_for(decode);
    struct fby_field_content *field = calloc(1, sizeof(*field));
    fby_err                   err   = field == NULL ? FBY_FULL : FBY_OK;
    for (int type = FBY_U8; err == FBY_OK && type <= FBY_U32; type++) {
        *field = (struct fby_field_content){
            .decode = decode, .wire_type = (enum fby_type)type};
        if (decode == FBY_DECODE_NUMBER) {
            strcpy(field->as.number.key, "k");
        }
        for (size_t i = 0; i < texts.n && err == FBY_OK; i++) {
            err = try_text(transform, hash, field, texts.at[i]);
        }
    }
    free(field);
    return err;
}

/* ---- paths ---- */

static const char path_keys[][8] = {
    "a", "a.b", "a.0", "a.b.1", "a.01", "a.7", "a..b", "."};

static const char *const path_texts[] = {"{\"a\":5}", "{\"a\":{\"b\":6}}",
    "{\"a\":[7,8]}", "{\"a\":{\"b\":[9,10,11]}}", "{\"a\":[]}",
    "{\"a\":{\"0\":12}}", "{\"a\":[[1,2],[3]]}", "13", "[14,15,16]"};

static fby_err try_key(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_content *field)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < sizeof(path_texts) / sizeof(char *);
         i++) {
        err = try_text(transform, hash, field, path_texts[i]);
    }
    return err;
}

fby_err fby_self_check_paths(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    struct fby_field_content *field = calloc(1, sizeof(*field));
    fby_err                   err   = field == NULL ? FBY_FULL : FBY_OK;
    for (size_t i = 0;
         err == FBY_OK && i < 2 * (sizeof(path_keys) / sizeof(path_keys[0]));
         i++) {
        *field = (struct fby_field_content){.group = "fingerprint",
            .decode                                = FBY_DECODE_NUMBER,
            .wire_type                             = FBY_U8,
            .as.number.pick = i % 2 == 0 ? FBY_PICK_NONE : FBY_PICK_RANDOM};
        memcpy(field->as.number.key, path_keys[i / 2], sizeof(path_keys[0]));
        err = try_key(transform, hash, field);
    }
    free(field);
    return err;
}
