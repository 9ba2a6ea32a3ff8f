/* SPDX-License-Identifier: Apache-2.0 */
/* test_golden.c - every committed JPEG through every op, by digest.
 *
 * The table tests/golden/jpeg/digests.txt has a line for each file and op:
 * the XXH3-128 of the result's width, height and pixels. With `--write` the
 * program prints the table instead of testing it. */
#include "tests/worker/transform/pictures.h"

#include <glob.h>
#include <stdio.h>

#include "common/hash.h"
#include "pipeline/plan/draw.h"
#include "worker/transform/apply.h"

#define FOLDER FBY_TEST_DATA "/jpeg"

struct way {
    const char      *name;
    const char      *op; /* NULL: decoding alone */
    struct fby_value params[5];
};

static const struct way ways[] = {
    {"decode", NULL, {{0}}},
    {"random_resized_crop", "random_resized_crop",
        {{.n = 2, .i = {56, 48}}, {.n = 2, .real = true, .r = {0.08, 1}},
            {.n = 2, .real = true, .r = {0.75, 1.3333333333333333}}}},
    {"resize_shorter", "resize", {{.n = 1, .i = {61}}}},
    {"resize_larger", "resize", {{0}, {.n = 2, .i = {233, 131}}}},
    {"center_crop", "center_crop", {{.n = 2, .i = {64, 71}}}},
    {"random_crop", "random_crop", {{.n = 2, .i = {48, 80}}}},
    {"horizontal_flip", "horizontal_flip", {{.n = 1, .real = true, .r = {1}}}},
    {"vertical_flip", "vertical_flip", {{.n = 1, .real = true, .r = {1}}}},
    {"pad", "pad",
        {{.n = 4, .i = {1, 2, 3, 40}}, {.n = 1}, {.n = 1, .i = {2}}}},
    {"grayscale", "grayscale", {{0}}},
    {"random_grayscale", "random_grayscale",
        {{.n = 1, .real = true, .r = {1}}}},
    {"colour_jitter", "colour_jitter",
        {{.n = 1, .real = true, .r = {0.4}}, {.n = 1, .real = true, .r = {0.4}},
            {.n = 1, .real = true, .r = {0.2}},
            {.n = 1, .real = true, .r = {0.1}}}},
    {"gaussian_blur", "gaussian_blur",
        {{.n = 2, .i = {23, 23}}, {.n = 2, .real = true, .r = {0.1, 2}}}},
    {"random_erasing", "random_erasing",
        {{.n = 1, .real = true, .r = {1}},
            {.n = 2, .real = true, .r = {0.02, 0.33}},
            {.n = 2, .real = true, .r = {0.3, 3.3}},
            {.n = 3, .i = {10, 20, 30}}}},
    {"rotate", "rotate",
        {{.n = 1, .real = true, .r = {45}}, {.n = 1, .i = {128}}}},
    {"affine", "affine",
        {{.n = 1, .real = true, .r = {20}},
            {.n = 2, .real = true, .r = {0.1, 0.2}},
            {.n = 2, .real = true, .r = {0.8, 1.2}},
            {.n = 1, .real = true, .r = {15}}, {.n = 1}}},
    {"trivial_augment_wide", "trivial_augment_wide",
        {{.n = 1, .i = {31}}, {.n = 1}}},
    {"rand_augment", "rand_augment",
        {{.n = 1, .i = {4}}, {.n = 1, .i = {20}}, {.n = 1, .i = {31}},
            {.n = 1, .i = {7}}}},
};
enum { N_WAYS = sizeof(ways) / sizeof(ways[0]) };

struct table {
    char text[65536];
};

static struct fby_buffer read_file(const char *path)
{
    struct fby_buffer out = {0};
    FILE             *in  = fopen(path, "rb");
    uint8_t           part[4096];
    assert_non_null(in);
    for (size_t n = 1; n > 0;) {
        n = fread(part, 1, sizeof(part), in);
        fby_put_bytes(&out, part, n);
    }
    fclose(in);
    return out;
}

static struct fby_checksum sum_of(const struct fby_image *image)
{
    struct fby_checksum_state state;
    uint8_t                   sides[8];
    fby_store_le(sides, image->width, 4);
    fby_store_le(sides + 4, image->height, 4);
    fby_checksum_begin(&state);
    fby_checksum_add(&state, sides, sizeof(sides));
    fby_checksum_add(&state, image->pixels, image->stride * image->height);
    return fby_checksum_end(&state);
}

/* One op on `picture`, with the draws of sample 7, epoch 1, seed 2025. */
static struct fby_checksum run_op(struct fby_transform *transform,
    const struct way *way, struct fby_image picture)
{
    struct fby_op_use  use = {.op = fby_op_named(way->op)};
    struct fby_op_plan plan;
    struct fby_shape   shape = {3, {picture.height, picture.width, FBY_RGB}};
    struct fby_draw    draw  = fby_draw_begin(2025, 1, 7, "image", way->op, 0);
    assert_non_null(use.op);
    memcpy(use.params, way->params, sizeof(way->params));
    assert_ok(use.op->plan(&use, &draw, shape, &plan, NULL));
    struct fby_planned_ops run = {&use, &plan, 1};
    struct fby_size        end = fby_op_plan_size(&plan);
    struct fby_image       out = new_picture(end.w, end.h);
    assert_ok(fby_transform_run_ops(transform, &run, picture, out, NULL));
    struct fby_checksum sum = sum_of(&out);
    free(out.pixels);
    return sum;
}

static void add_file(
    struct table *table, struct fby_transform *transform, const char *path)
{
    struct fby_buffer       file    = read_file(path);
    struct fby_picture_file jpeg    = as_jpeg(&file);
    struct fby_scratch      scratch = {0};
    for (size_t i = 0; i < N_WAYS; i++) {
        struct fby_image picture = {0};
        char             hex[33];
        assert_ok(fby_picture_decode(
            &fby_jpeg_picture, &jpeg, &scratch, &picture, NULL));
        struct fby_checksum sum = ways[i].op == NULL
                                      ? sum_of(&picture)
                                      : run_op(transform, &ways[i], picture);
        size_t              at  = strlen(table->text);
        snprintf(table->text + at, sizeof(table->text) - at, "%s %s %s\n",
            strrchr(path, '/') + 1, ways[i].name,
            fby_hex(sum.bytes, sizeof(sum.bytes), hex));
    }
    fby_scratch_fini(&scratch);
    fby_buffer_fini(&file);
}

static void make_table(struct table *table)
{
    struct fby_transform *transform = fby_transform_create(NULL);
    glob_t                found;
    snprintf(table->text, sizeof(table->text),
        "# dct_scale: off; seed 2025, epoch 1, sample 7, group image\n");
    assert_int_equal(glob(FOLDER "/*.jpg", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        add_file(table, transform, found.gl_pathv[i]);
    }
    globfree(&found);
    fby_transform_destroy(&transform);
}

static void every_file_through_every_op_has_the_recorded_digest(void **state)
{
    (void)state;
    struct fby_buffer   recorded = read_file(FOLDER "/digests.txt");
    static struct table table;
    make_table(&table);
    fby_put_u8(&recorded, 0);
    assert_string_equal(table.text, (const char *)recorded.data);
    fby_buffer_fini(&recorded);
}

static void every_op_has_a_way(void **state)
{
    (void)state;
    for (size_t i = 0; i < fby_n_ops; i++) {
        bool found = false;
        for (size_t k = 1; k < N_WAYS; k++) {
            found = found || strcmp(ways[k].op, fby_ops[i]->name) == 0;
        }
        assert_true(found);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--write") == 0) {
        static struct table table;
        make_table(&table);
        fputs(table.text, stdout);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_through_every_op_has_the_recorded_digest),
        cmocka_unit_test(every_op_has_a_way),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.golden", tests, NULL, NULL);
}
