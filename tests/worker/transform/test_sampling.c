/* SPDX-License-Identifier: Apache-2.0 */
/* Every sampling that a JPEG may have, decoded whole, in parts and smaller.
 *
 * The pictures are ramps. So the value of a result pixel can be computed from
 * the position of its centre, and a pixel from a wrong position is detected. */
#include "tests/worker/transform/sampled.h"
#include "tests/worker/transform/transform.h"

#include "worker/transform/field.h"
#include "worker/transform/transform_private.h"

/* Blocks of Y in x and y, and of Cb and Cr; all that a file may have at 10
 * blocks a group and whole factors between them. */
static const struct sampling samplings[] = {
    {1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {2, 2, 1, 1}, /* usual ones */
    {3, 1, 1, 1}, {1, 3, 1, 1}, {4, 1, 1, 1}, {1, 4, 1, 1}, /**/
    {2, 2, 2, 1}, {2, 2, 1, 2}, {1, 1, 2, 2}, {2, 1, 1, 2}, /**/
    {2, 3, 1, 1}, {3, 2, 1, 1}, {2, 4, 1, 1}, {4, 2, 1, 1}, /* too large */
    {4, 1, 1, 2}, {1, 4, 2, 1}, {3, 1, 1, 2}, {1, 3, 2, 1}, /* both ways */
};
enum { N_SAMPLINGS = sizeof(samplings) / sizeof(*samplings) };

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool is_small(const struct sampling *s)
{
    return larger(s->h, s->chroma_h) * larger(s->v, s->chroma_v) <= 4;
}

static void samplings_of_four_blocks_are_scaled_and_others_are_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SAMPLINGS; i++) {
        struct fby_buffer file = ramp_file(RAMP_LEFT, &samplings[i], 50, 40, 1);
        struct fby_picture_file jpeg = as_jpeg(&file);
        struct fby_picture_head head;
        assert_ok(fby_jpeg_picture.head(&jpeg, &head, NULL));
        assert_int_equal(head.is_scalable, is_small(&samplings[i]));
        assert_int_equal(head.width, 50);
        assert_int_equal(head.height, 40);
        fby_buffer_fini(&file);
    }
}

/* ---- memory --------------------------------------------------------------- */

static struct fby_picture_head head_of_photo(struct fby_photo photo)
{
    struct fby_buffer       file = photo_file(photo);
    struct fby_picture_file jpeg = as_jpeg(&file);
    struct fby_picture_head head = {0};
    assert_ok(fby_jpeg_picture.head(&jpeg, &head, NULL));
    fby_buffer_fini(&file);
    return head;
}

/* The library's memory: tables, 32 rows, and for a file in several scans all
 * blocks, whole groups of them, 128 bytes each. */
static void the_library_s_memory_is_known_from_the_header(void **state)
{
    (void)state;
    static const struct {
        enum fby_photo_sampling sampling;
        uint32_t                width, height;
        uint64_t                blocks;
    } cases[] = {
        {FBY_PHOTO_GREY, 17, 8, 3},
        {FBY_PHOTO_444, 17, 8, 9},
        {FBY_PHOTO_420, 16, 16, 6},
        {FBY_PHOTO_420, 17, 16, 12},
        {FBY_PHOTO_420, 17, 17, 24},
        {FBY_PHOTO_422, 17, 17, 24},
        {FBY_PHOTO_440, 33, 17, 40},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fby_photo photo = {.width = cases[i].width,
            .height                      = cases[i].height,
            .sampling                    = cases[i].sampling};
        uint64_t         rows  = (uint64_t)(photo.width + 32) * 32 * FBY_RGB;
        assert_int_equal(
            head_of_photo(photo).library_bytes, (128 << 10) + rows);
        photo.progressive = true;
        assert_int_equal(head_of_photo(photo).library_bytes,
            (128 << 10) + rows + 128 * cases[i].blocks);
    }
}

/* Sixteen rows with 128 pixels beside them, and the picture if it must be
 * oriented; each with 64 readable bytes after it. */
static void the_memory_of_decoding_is_known_before_it(void **state)
{
    (void)state;
    uint32_t random = 5;
    for (int i = 0; i < 500; i++) {
        struct fby_picture_head head = {.width = 1 + below(&random, 300),
            .height                            = 1 + below(&random, 300),
            .orientation                       = 1 + below(&random, 8)};
        struct fby_picture_part part = {
            .box  = {0, 0, 1 + below(&random, head.width),
                 1 + below(&random, head.height)},
            .unit = 1};
        bool     turns = fby_orientation_turns(head.orientation);
        uint64_t w     = turns ? part.box.h : part.box.w;
        uint64_t row   = ((w + 128) * FBY_RGB + 64 + 63) / 64 * 64;
        uint64_t whole = (uint64_t)part.box.w * part.box.h * FBY_RGB;

        struct fby_picture_need need = fby_jpeg_picture.need(&head, &part);
        assert_int_equal(need.scratch[0], 8 + 16 * row);
        assert_int_equal(
            need.scratch[1], head.orientation == 1 ? 0 : whole + 64);
    }
}

/* ---- parts --------------------------------------------------------------- */

struct kept {
    struct fby_picture_part part;
    struct fby_image        image;
    uint32_t                ready; /* rows */
};

static fby_err keep_head(void *arg, const struct fby_picture_head *head,
    struct fby_picture_part *part, struct fby_error_detail *why)
{
    (void)why;
    struct kept *kept                = arg;
    *part                            = kept->part;
    struct fby_picture_region region = fby_jpeg_picture.region(head, part);
    kept->image                      = new_picture(region.width, region.height);
    return FBY_OK;
}

static void keep_rows(void *arg, const struct fby_image *rows)
{
    struct kept *kept = arg;
    assert_int_equal(rows->width, kept->image.width);
    assert_in_range(kept->ready + rows->height, 1, kept->image.height);
    for (uint32_t y = 0; y < rows->height; y++) {
        memcpy(kept->image.pixels + kept->ready++ * kept->image.stride,
            rows->pixels + y * rows->stride, kept->image.stride);
    }
}

static struct fby_image part_in(
    const struct fby_buffer *file, struct fby_box box, uint32_t unit)
{
    struct kept                   kept      = {.part = {box, unit, false}};
    const struct fby_picture_sink sink      = {keep_head, keep_rows, &kept};
    struct fby_picture_file       jpeg      = as_jpeg(file);
    struct fby_scratch            memory[2] = {{0}};
    assert_ok(fby_jpeg_picture.stream(&jpeg, &sink, memory, NULL));
    assert_int_equal(kept.ready, kept.image.height);
    fby_scratch_fini(&memory[0]);
    fby_scratch_fini(&memory[1]);
    return kept.image;
}

static struct fby_box random_box(uint32_t *state, uint32_t w, uint32_t h)
{
    struct fby_box box = {.w = 1 + below(state, w), .h = 1 + below(state, h)};
    box.x              = below(state, w - box.w + 1);
    box.y              = below(state, h - box.h + 1);
    return box;
}

static void parts_are_those_of_the_whole(
    const struct sampling *sampling, uint32_t unit, uint32_t *random)
{
    uint32_t          w    = 1 + below(random, 200);
    uint32_t          h    = 1 + below(random, 200);
    struct fby_buffer file = ramp_file(RAMP_RIGHT, sampling, w, h, 1);
    struct fby_image  all  = part_in(&file, (struct fby_box){0, 0, w, h}, unit);
    for (int i = 0; i < 12; i++) {
        struct fby_box   box  = random_box(random, w, h);
        struct fby_image part = part_in(&file, box, unit);
        struct fby_image right =
            part_of(all, box.x / unit, box.y / unit, part.width, part.height);
        assert_same_picture(&right, &part);
        free(part.pixels);
    }
    free(all.pixels);
    fby_buffer_fini(&file);
}

static void parts_of_every_sampling_are_those_of_the_whole(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (size_t i = 0; i < N_SAMPLINGS; i++) {
        uint32_t most = is_small(&samplings[i]) ? 8 : 1;
        for (uint32_t unit = 1; unit <= most; unit *= 2) {
            parts_are_those_of_the_whole(&samplings[i], unit, &random);
        }
    }
}

/* ---- fields -------------------------------------------------------------- */

enum { SIDE = 16, EDGE = 3 /* result pixels whose triangles may be cut off */ };

static struct fby_field_content crop_field(enum fby_dct_scale scale)
{
    struct fby_field_content field = {.group = "f",
        .decode                              = FBY_DECODE_RGB8,
        .as.rgb8.dct_scale                   = scale,
        .wire_type                           = FBY_U8,
        .n_ops                               = 2,
        .shape                               = {3, {SIDE, SIDE, FBY_RGB}}};

    field.ops[0] =
        (struct fby_op_use){.op = fby_op_named("random_resized_crop"),
            .params             = {{.n = 2, .i = {SIDE, SIDE}},
                            {.n = 2, .real = true, .r = {0.1, 1}},
                            {.n = 2, .real = true, .r = {0.5, 2}}}};
    field.ops[1] = (struct fby_op_use){.op = fby_op_named("horizontal_flip"),
        .params = {{.n = 1, .real = true, .r = {0.5}}}};
    return field;
}

/* The mean error of the pixels for each channel: coding noise vanishes, but a
 * wrong position does not. */
static void assert_on_ramp(enum ramp ramp, const uint8_t *pixels,
    const struct fby_field_plan *plan, double most)
{
    const struct fby_op_plan *crop         = &plan->plans[0];
    double                    sum[FBY_RGB] = {0};
    const double              n = (SIDE - 2 * EDGE) * (SIDE - 2 * EDGE);
    for (uint32_t y = EDGE; y < SIDE - EDGE; y++) {
        for (uint32_t x = EDGE; x < SIDE - EDGE; x++) {
            uint32_t from = plan->plans[1].flip ? SIDE - 1 - x : x;
            double   at_x = crop->x + (from + 0.5) * crop->w / SIDE - 0.5;
            double   at_y = crop->y + (y + 0.5) * crop->h / SIDE - 0.5;
            for (int c = 0; c < FBY_RGB; c++) {
                sum[c] += pixels[(y * SIDE + x) * FBY_RGB + (uint32_t)c] -
                          ramp_at(ramp, c, at_x, at_y);
            }
        }
    }
    for (int c = 0; c < FBY_RGB; c++) {
        if (sum[c] / n > most || sum[c] / n < -most) {
            fail_msg("channel %d of %u x %u + %u + %u: %f", c, crop->w, crop->h,
                crop->x, crop->y, sum[c] / n);
        }
    }
}

static void crops_lie_on_the_ramp(enum ramp ramp, const struct fby_buffer *file,
    enum fby_dct_scale scale, uint64_t samples)
{
    uint8_t                  pixels[SIDE * SIDE * FBY_RGB];
    struct fby_field_content field = crop_field(scale);
    struct fby_field_job     job   = {
              .field = &field, .bytes = file->data, .size = file->size, .seed = 3};
    for (job.sample = 0; job.sample < samples; job.sample++) {
        struct fby_field_plan plan;
        assert_ok(fby_field_plan(&job, &plan, NULL));
        assert_ok(fby_field_write(transform, &job, pixels, NULL));
        assert_on_ramp(ramp, pixels, &plan, 0.8);
    }
}

static void every_sampling_orientation_and_scale_keeps_its_place(void **state)
{
    (void)state;
    uint32_t random = 2;
    for (uint32_t i = 0; i < N_SAMPLINGS * 8 * N_RAMPS; i++) {
        enum ramp         ramp = (enum ramp)(i / 8 % N_RAMPS);
        uint32_t          w    = RAMP_SIDE - below(&random, 30);
        uint32_t          h    = RAMP_SIDE - below(&random, 30);
        struct fby_buffer file =
            ramp_file(ramp, &samplings[i / 8 / N_RAMPS], w, h, 1 + i % 8);
        crops_lie_on_the_ramp(ramp, &file, FBY_DCT_OFF, 1);
        crops_lie_on_the_ramp(ramp, &file, FBY_DCT_FAITHFUL, 2);
        crops_lie_on_the_ramp(ramp, &file, FBY_DCT_FAST, 2);
        fby_buffer_fini(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            samplings_of_four_blocks_are_scaled_and_others_are_not),
        cmocka_unit_test(the_library_s_memory_is_known_from_the_header),
        cmocka_unit_test(the_memory_of_decoding_is_known_before_it),
        cmocka_unit_test(parts_of_every_sampling_are_those_of_the_whole),
        cmocka_unit_test(every_sampling_orientation_and_scale_keeps_its_place),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.sampling", tests, open_transform, close_transform);
}
