/* SPDX-License-Identifier: Apache-2.0 */
/* test_picture_kinds.c - pictures as people have them decode as in Pillow.
 *
 * tests/golden/pictures/digests.txt has a line for each file: its name, width,
 * height, and the BLAKE2b-256 of the RGB bytes that Pillow decodes. */
#include "tests/worker/transform/pictures.h"

#include <stdio.h>

#include "common/hash.h"
#include "worker/transform/picture_format.h"

#define FOLDER FBY_TEST_DATA "/pictures/"

struct line {
    char     name[64];
    uint32_t width;
    uint32_t height;
    char     digest[65];
};

static struct line lines[64];
static size_t      n_lines;

static int read_lines(void **state)
{
    (void)state;
    FILE *in = fopen(FOLDER "digests.txt", "r");
    char  width[16];
    char  height[16];
    assert_non_null(in);
    for (struct line *line = lines;
         fscanf(in, "%63s %15s %15s %64s", line->name, width, height,
             line->digest) == 4;
         line++) {
        line->width  = (uint32_t)strtoul(width, NULL, 10);
        line->height = (uint32_t)strtoul(height, NULL, 10);
        n_lines++;
        assert_true(n_lines < sizeof(lines) / sizeof(lines[0]));
    }
    fclose(in);
    return n_lines > 0 ? 0 : -1;
}

static struct fby_buffer read_picture(const char *name)
{
    struct fby_buffer out = {0};
    char              path[512];
    uint8_t           part[4096];
    snprintf(path, sizeof(path), FOLDER "%s", name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    for (size_t n = 1; n > 0;) {
        n = fread(part, 1, sizeof(part), in);
        fby_put_bytes(&out, part, n);
    }
    fclose(in);
    return out;
}

static const struct fby_picture_decoder *decoder_of(
    const struct fby_picture_file *file)
{
    const struct fby_field_content field = {
        .decode = FBY_DECODE_RGB8, .from = {"jpg", "png", "webp"}, .n_from = 3};
    const struct fby_picture_decoder *decoder = NULL;
    assert_ok(fby_picture_decoder_for(&field, file, &decoder, NULL));
    return decoder;
}

static void assert_digest(
    const struct line *line, const struct fby_image *image)
{
    struct fby_digest_state hash;
    char                    hex[65];
    fby_digest_begin(&hash);
    for (uint32_t y = 0; y < image->height; y++) {
        fby_digest_add(&hash, image->pixels + y * image->stride,
            (size_t)image->width * FBY_RGB);
    }
    struct fby_digest digest = fby_digest_end(&hash);
    fby_hex(digest.bytes, sizeof(digest.bytes), hex);
    if (image->width != line->width || image->height != line->height ||
        strcmp(hex, line->digest) != 0) {
        fail_msg(
            "%s: %u x %u %s", line->name, image->width, image->height, hex);
    }
}

static void every_file_decodes_as_pillow_decodes_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_lines; i++) {
        struct fby_buffer       bytes = read_picture(lines[i].name);
        struct fby_picture_file file  = {bytes.data, bytes.size};
        struct fby_scratch      all   = {0};
        struct fby_image        image = {0};
        struct fby_error_detail why   = {{0}};
        if (fby_picture_decode(decoder_of(&file), &file, &all, &image, &why) !=
            FBY_OK) {
            fail_msg("%s: %s", lines[i].name, why.text);
        }
        assert_digest(&lines[i], &image);
        fby_scratch_fini(&all);
        fby_buffer_fini(&bytes);
    }
}

/* Decode `box` of the file, and compare it with that part of `whole`. */
static void assert_part(const struct fby_picture_file *file,
    const struct fby_image *whole, struct fby_box box)
{
    struct fby_decoded_part part = {
        .decoder = decoder_of(file), .part = {.box = box, .unit = 1}};
    assert_ok(fby_picture_decode_part(&part, file, NULL));
    struct fby_image same = part_of(*whole, box.x, box.y, box.w, box.h);
    assert_same_picture(&same, &part.image);
    fby_scratch_fini(&part.memory);
}

static void a_part_is_that_part_of_the_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_lines; i++) {
        struct fby_buffer       bytes = read_picture(lines[i].name);
        struct fby_picture_file file  = {bytes.data, bytes.size};
        struct fby_scratch      all   = {0};
        struct fby_image        whole = {0};
        assert_ok(
            fby_picture_decode(decoder_of(&file), &file, &all, &whole, NULL));
        assert_part(&file, &whole, (struct fby_box){5, 7, 21, 13});
        assert_part(&file, &whole, (struct fby_box){0, 37, 45, 1});
        assert_part(&file, &whole, (struct fby_box){33, 0, 1, 38});
        fby_scratch_fini(&all);
        fby_buffer_fini(&bytes);
    }
}

static uint32_t mean_of(const struct fby_image *image)
{
    uint64_t sum   = 0;
    size_t   bytes = (size_t)image->width * FBY_RGB;
    for (uint32_t y = 0; y < image->height; y++) {
        for (size_t i = 0; i < bytes; i++) {
            sum += image->pixels[y * image->stride + i];
        }
    }
    uint64_t n = bytes * image->height;
    return n > 0 ? (uint32_t)(sum / n) : 0;
}

static void cmyk_decodes_at_a_fraction_of_its_size(void **state)
{
    (void)state;
    for (uint32_t unit = 1; unit <= 8; unit *= 2) {
        struct fby_buffer       bytes = read_picture("ycck.jpg");
        struct fby_picture_file file  = {bytes.data, bytes.size};
        struct fby_decoded_part part  = {
             .decoder = decoder_of(&file), .part.unit = unit};
        assert_ok(fby_picture_decode_part(&part, &file, NULL));
        assert_true(part.head.is_cmyk && part.head.is_scalable);
        assert_int_equal(part.image.width, (61 + unit - 1) / unit);
        assert_in_range(mean_of(&part.image), 60, 72);
        fby_scratch_fini(&part.memory);
        fby_buffer_fini(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_decodes_as_pillow_decodes_it),
        cmocka_unit_test(a_part_is_that_part_of_the_whole),
        cmocka_unit_test(cmyk_decodes_at_a_fraction_of_its_size),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.picture_kinds", tests, read_lines, NULL);
}
