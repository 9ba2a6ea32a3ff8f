/* SPDX-License-Identifier: Apache-2.0 */
/* pixels.c - our decoder and our resize behind a pipe, for compare_pillow.py.
 *
 * Commands on standard input, answers on standard output, numbers u32 LE:
 *   'R' width height x y w h out_w out_h, pixels  ->  pixels of the result
 *   'D' size, a JPEG file                         ->  width height, pixels
 *   'F' size side dct_scale sample, a JPEG file   ->  x y w h of the crop that
 *       the sample draws, and its side x side pixels
 *   'N' channels size, a PNG file  ->  0 width height, its pixels (channels 3)
 *       or ids (1); or 1 size, why it is refused
 *   'S' kind width height channels, 8 values (i64), pixels  ->  width height,
 *       pixels after the step
 *   'P' number width height sampling progressive  ->  size, a JPEG file
 * A command that is refused ends the program with a message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/photos/photos.h"
#include "common/bytes.h"
#include "common/mem.h"
#include "worker/transform/field.h"
#include "worker/transform/jpeg.h"
#include "worker/transform/png.h"
#include "worker/transform/resize/resize.h"
#include "worker/transform/steps/steps.h"

static void stop(const char *text)
{
    fprintf(stderr, "pixels: %s\n", text);
    exit(1);
}

static void take(void *to, size_t size)
{
    if (fread(to, 1, size, stdin) != size) {
        stop("input ends early");
    }
}

static void take_numbers(uint32_t *out, size_t n)
{
    uint8_t bytes[8 * 4];
    take(bytes, 4 * n);
    struct fby_reader r = fby_reader(bytes, 4 * n);
    for (size_t i = 0; i < n; i++) {
        out[i] = fby_read_u32(&r);
    }
}

static void give(const void *from, size_t size)
{
    if (fwrite(from, 1, size, stdout) != size) {
        stop("output is closed");
    }
}

static void resize_one(struct fby_resizer *resizer)
{
    uint32_t n[8]; /* width height x y w h out_w out_h */
    take_numbers(n, 8);
    size_t   stride = (size_t)n[0] * FBY_RGB;
    size_t   size   = (size_t)n[6] * n[7] * FBY_RGB;
    uint8_t *pixels = fby_zalloc(stride * n[1]);
    uint8_t *result = fby_zalloc(size);

    struct fby_image in = {
        pixels + n[3] * stride + (size_t)n[2] * FBY_RGB, stride, n[4], n[5]};
    struct fby_image       out  = {result, (size_t)n[6] * FBY_RGB, n[6], n[7]};
    struct fby_resize_spec spec = fby_resize_spec_whole(&in, &out);
    take(pixels, stride * n[1]);
    if (fby_resize(resizer, &in, &spec, &out) != FBY_OK) {
        stop("resize failed");
    }
    give(result, size);
    free(pixels);
    free(result);
}

static void decode_one(struct fby_scratch *scratch)
{
    uint32_t                size = 0;
    struct fby_error_detail why  = {0};
    struct fby_image        out  = {0};
    take_numbers(&size, 1);
    uint8_t *bytes = fby_zalloc(size);
    take(bytes, size);
    struct fby_picture_file file = {bytes, size};
    if (fby_picture_decode(&fby_jpeg_picture, &file, scratch, &out, &why) !=
        FBY_OK) {
        stop(why.text);
    }
    uint8_t head[8];
    fby_store_le(head, out.width, 4);
    fby_store_le(head + 4, out.height, 4);
    give(head, sizeof(head));
    give(out.pixels, out.stride * out.height);
    free(bytes);
}

static void give_numbers(const uint32_t *numbers, size_t n)
{
    uint8_t bytes[8 * 4];
    for (size_t i = 0; i < n; i++) {
        fby_store_le(bytes + 4 * i, numbers[i], 4);
    }
    give(bytes, 4 * n);
}

static struct fby_field_content crop_field(uint32_t side, uint32_t scale)
{
    struct fby_field_content field = {.group = "image",
        .decode                              = FBY_DECODE_RGB8,
        .as.rgb8.dct_scale                   = (enum fby_dct_scale)scale,
        .wire_type                           = FBY_U8,
        .n_ops                               = 1,
        .shape                               = {3, {side, side, FBY_RGB}}};

    field.ops[0] =
        (struct fby_op_use){.op = fby_op_named("random_resized_crop"),
            .params             = {{.n = 2, .i = {side, side}},
                            {.n = 2, .real = true, .r = {0.08, 1}},
                            {.n = 2, .real = true, .r = {0.75, 4.0 / 3}}}};
    return field;
}

static void run_field(struct fby_transform *transform)
{
    uint32_t n[4]; /* size side dct_scale sample */
    take_numbers(n, 4);
    uint8_t                 *bytes  = fby_zalloc(n[0]);
    uint8_t                 *result = fby_zalloc((size_t)n[1] * n[1] * FBY_RGB);
    struct fby_field_content field  = crop_field(n[1], n[2]);
    struct fby_field_job     job    = {.field = &field,
               .bytes                         = bytes,
               .size                          = n[0],
               .seed                          = 1,
               .sample                        = n[3]};
    struct fby_field_plan    plan;
    struct fby_error_detail  why = {0};
    take(bytes, n[0]);
    if (fby_field_plan(&job, &plan, &why) != FBY_OK ||
        fby_field_write(transform, &job, result, &why) != FBY_OK) {
        stop(why.text);
    }
    const struct fby_op_plan *crop = &plan.plans[0];
    give_numbers((uint32_t[]){crop->x, crop->y, crop->w, crop->h}, 4);
    give(result, fby_field_bytes(&field));
    free(bytes);
    free(result);
}

static void decode_png(struct fby_scratch *scratch)
{
    uint32_t                n[2]; /* channels size */
    struct fby_error_detail why = {0};
    struct fby_image        out = {0};
    take_numbers(n, 2);
    uint8_t *bytes = fby_zalloc(n[1]);
    take(bytes, n[1]);
    const struct fby_picture_file file = {bytes, n[1]};
    fby_err                       err =
        fby_picture_decode(n[0] == 1 ? &fby_png_mask : &fby_png_picture, &file,
            scratch, &out, &why);
    if (err == FBY_OK) {
        give_numbers((uint32_t[]){0, out.width, out.height}, 3);
        give(out.pixels, out.stride * out.height);
    } else {
        give_numbers((uint32_t[]){1, (uint32_t)strlen(why.text)}, 2);
        give(why.text, strlen(why.text));
    }
    free(bytes);
}

static struct fby_step take_step(uint32_t kind)
{
    uint8_t           bytes[FBY_STEP_VALUES * 8] = {0};
    struct fby_step   step = {.kind = (enum fby_step_kind)kind};
    struct fby_reader r    = fby_reader(bytes, sizeof(bytes));
    take(bytes, sizeof(bytes));
    for (int i = 0; i < FBY_STEP_VALUES; i++) {
        step.v[i] = (int64_t)fby_read_u64(&r);
    }
    return step;
}

static void do_step(void)
{
    uint32_t n[4]; /* kind width height channels */
    take_numbers(n, 4);
    struct fby_step    step   = take_step(n[0]);
    struct fby_size    size   = {n[1], n[2]};
    struct fby_size    end    = fby_step_size(&step, size);
    struct fby_scratch all[3] = {{0}};
    struct fby_image   in     = {0};
    struct fby_image   out    = {0};
    uint64_t           bytes  = fby_step_memory_bytes(&step, size);
    if (!fby_step_is_known(step.kind) ||
        fby_image_alloc(&all[0], size, n[3], &in) != FBY_OK ||
        fby_image_alloc(&all[1], end, n[3], &out) != FBY_OK ||
        fby_scratch_grow(&all[2], bytes) != FBY_OK) {
        stop("no such step");
    }
    out = fby_step_needs_output(step.kind) ? out : in;
    take(in.pixels, in.stride * in.height);
    fby_step_apply(
        &(struct fby_step_work){&step, in, out, n[3], false, all[2].memory});
    give_numbers((uint32_t[]){out.width, out.height}, 2);
    give(out.pixels, out.stride * out.height);
    for (int i = 0; i < 3; i++) {
        fby_scratch_fini(&all[i]);
    }
}

static void make_photo(void)
{
    uint32_t n[5]; /* number width height sampling progressive */
    take_numbers(n, 5);
    struct fby_buffer file  = {0};
    struct fby_photo  photo = {.number = n[0],
         .width                        = n[1],
         .height                       = n[2],
         .sampling                     = (enum fby_photo_sampling)n[3],
         .progressive                  = n[4] != 0};
    if (fby_photo_write(&photo, &file) != FBY_OK) {
        stop("no such photo");
    }
    give_numbers((uint32_t[]){(uint32_t)file.size}, 1);
    give(file.data, file.size);
    fby_buffer_fini(&file);
}

int main(void)
{
    struct fby_transform *transform = fby_transform_create(NULL);
    struct fby_resizer    resizer   = {0};
    struct fby_scratch    scratch   = {0};
    for (int command = getchar(); command != EOF; command = getchar()) {
        if (command == 'R') {
            resize_one(&resizer);
        } else if (command == 'D') {
            decode_one(&scratch);
        } else if (command == 'F') {
            run_field(transform);
        } else if (command == 'N') {
            decode_png(&scratch);
        } else if (command == 'S') {
            do_step();
        } else if (command == 'P') {
            make_photo();
        } else {
            stop("no such command");
        }
        fflush(stdout);
    }
    fby_resizer_fini(&resizer);
    fby_scratch_fini(&scratch);
    fby_transform_destroy(&transform);
    return 0;
}
