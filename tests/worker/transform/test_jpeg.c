/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/says.h"
#include "tests/worker/transform/foreign.h"
#include "tests/worker/transform/pictures.h"
#include "worker/transform/orient.h"

static struct fby_scratch scratch;

static int give_back(void **state)
{
    (void)state;
    fby_scratch_fini(&scratch);
    return 0;
}

static struct fby_image decode_ok(const struct fby_buffer *file)
{
    struct fby_picture_file jpeg  = as_jpeg(file);
    struct fby_image        image = {0};
    struct fby_error_detail why   = {0};
    if (fby_picture_decode(&fby_jpeg_picture, &jpeg, &scratch, &image, &why) !=
        FBY_OK) {
        fail_msg("%s", why.text);
    }
    return image;
}

/* Refused by decode, and as is said. */
static void assert_refused(struct fby_picture_file jpeg, const char *words)
{
    struct fby_image        image = {0};
    struct fby_error_detail why   = {0};
    assert_int_equal(
        fby_picture_decode(&fby_jpeg_picture, &jpeg, &scratch, &image, &why),
        FBY_BAD_SAMPLE);
    assert_says(&why, words);
    assert_null(image.pixels);
}

/* The file is refused by its header. */
static void assert_head_refused(struct fby_picture_file jpeg, const char *words)
{
    struct fby_picture_head head = {.width = 7};
    struct fby_error_detail why  = {0};
    assert_int_equal(fby_jpeg_picture.head(&jpeg, &head, &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, words));
    assert_int_equal(head.width, 7);
    assert_refused(jpeg, words);
}

static void every_orientation_ends_upright(void **state)
{
    (void)state;
    for (uint32_t orientation = 0; orientation <= 8; orientation++) {
        struct fby_buffer file =
            photo_file((struct fby_photo){.number = 77 + orientation,
                .width                            = 150,
                .height                           = 101,
                .orientation                      = orientation});
        struct fby_image image  = decode_ok(&file);
        uint32_t         number = 0;
        assert_int_equal(image.width, 150);
        assert_int_equal(image.height, 101);
        assert_true(fby_photo_read_number(&image, &number));
        assert_int_equal(number, 77 + orientation);
        fby_buffer_fini(&file);
    }
}

/* A copy of the picture, in new memory. */
static struct fby_image copy_of(struct fby_image image)
{
    struct fby_image copy = new_picture(image.width, image.height);
    memcpy(copy.pixels, image.pixels, image.stride * image.height);
    return copy;
}

/* Orienting strip by strip gives the same as orienting the whole afterwards. */
static void every_row_of_a_turned_picture_is_where_it_belongs(void **state)
{
    (void)state;
    enum { VALUE_AT = 28 /* of the orientation, in an APP1 segment */ };
    for (uint32_t k = 2; k <= 8; k++) {
        struct fby_buffer file   = photo_file((struct fby_photo){
              .number = k, .width = 70, .height = 53, .orientation = k});
        struct fby_image  turned = copy_of(decode_ok(&file));
        struct fby_image  whole  = new_picture(70, 53);
        file.data[find_segment(&file, 0xe1) + VALUE_AT] = 1;
        struct fby_image stored                         = decode_ok(&file);
        fby_orient_rows(&stored, 0, k, &whole);
        assert_same_picture(&whole, &turned);
        free(turned.pixels);
        free(whole.pixels);
        fby_buffer_fini(&file);
    }
}

/* Insert `size` bytes after the file's first marker. */
static void insert(struct fby_buffer *file, const char *bytes, size_t size)
{
    struct fby_buffer longer = {0};
    fby_put_bytes(&longer, file->data, 2);
    fby_put_bytes(&longer, bytes, size);
    fby_put_bytes(&longer, file->data + 2, file->size - 2);
    fby_buffer_fini(file);
    *file = longer;
}

static void segments_that_are_no_exif_are_passed_over(void **state)
{
    (void)state;
    struct fby_buffer file = photo_file(
        (struct fby_photo){.width = 60, .height = 40, .orientation = 6});
    struct fby_image upright = copy_of(decode_ok(&file));
    insert(&file, "\xff\xe1\0\x09http://", 11);
    insert(&file, "\xff\xe1\0\x02", 4); /* nothing but its length */
    struct fby_image image = decode_ok(&file);
    assert_same_picture(&upright, &image);
    free(upright.pixels);
    file.size = 6; /* in the middle of a segment */
    assert_head_refused(as_jpeg(&file), "Premature end");
    fby_buffer_fini(&file);
}

static void the_header_tells_the_size_of_the_decoded_picture(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        struct fby_buffer file = photo_file((struct fby_photo){.number = i,
            .width       = 1 + i * 5,
            .height      = 1 + i * 3,
            .orientation = i % 9,
            .progressive = i % 2 == 0,
            .sampling    = (enum fby_photo_sampling)(i % 5)});
        struct fby_picture_file jpeg  = as_jpeg(&file);
        struct fby_image        image = decode_ok(&file);
        struct fby_picture_head head;
        assert_ok(fby_jpeg_picture.head(&jpeg, &head, NULL));
        assert_int_equal(head.width, image.width);
        assert_int_equal(head.height, image.height);
        assert_int_equal(head.width, 1 + i * 5);
        fby_buffer_fini(&file);
    }
}

static void grey_is_spread_over_three_equal_channels(void **state)
{
    (void)state;
    struct fby_buffer file  = photo_file((struct fby_photo){
         .width = 50, .height = 40, .sampling = FBY_PHOTO_GREY});
    struct fby_image  image = decode_ok(&file);
    for (uint32_t x = 0; x < 50; x++) {
        const uint8_t *pixel = pixel_at(&image, x, 30);
        assert_int_equal(pixel[0], pixel[1]);
        assert_int_equal(pixel[0], pixel[2]);
    }
    fby_buffer_fini(&file);
}

static void a_file_cut_anywhere_before_its_last_pixel_is_refused(void **state)
{
    (void)state;
    for (int progressive = 0; progressive <= 1; progressive++) {
        struct fby_buffer file = photo_file((struct fby_photo){.number = 5,
            .width                                                     = 120,
            .height                                                    = 90,
            .progressive = progressive != 0});
        size_t            last = file.size - (progressive ? 1 : 3);
        for (size_t size = 0; size < last; size += 1 + size / 97) {
            assert_refused((struct fby_picture_file){file.data, size}, "JPEG");
        }
        assert_refused((struct fby_picture_file){file.data, last}, "JPEG");
        fby_buffer_fini(&file);
    }
}

static void bytes_after_the_picture_change_nothing(void **state)
{
    (void)state;
    for (int progressive = 0; progressive <= 1; progressive++) {
        struct fby_buffer file  = photo_file((struct fby_photo){.number = 6,
             .width                                                     = 64,
             .height                                                    = 48,
             .progressive = progressive != 0});
        struct fby_image  clean = decode_ok(&file);
        struct fby_image  kept  = new_picture(64, 48);
        memcpy(kept.pixels, clean.pixels, clean.stride * clean.height);
        fby_put_bytes(&file, "\0\0\xff\xd8 a thumbnail, or anything", 29);
        struct fby_image image = decode_ok(&file);
        assert_same_picture(&kept, &image);
        free(kept.pixels);
        fby_buffer_fini(&file);
    }
}

static void kinds_without_a_conversion_to_rgb_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        struct foreign kind;
        const char    *words;
    } cases[] = {
        {{JCS_UNKNOWN, 2, false, false}, "2 channels"},
        {{JCS_YCbCr, 3, true, false}, "arithmetic"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_buffer file = foreign_file(cases[i].kind);
        assert_head_refused(as_jpeg(&file), cases[i].words);
        fby_buffer_fini(&file);
    }
}

static void twelve_bits_a_sample_are_refused(void **state)
{
    (void)state;
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 32, .height = 32});
    file.data[find_segment(&file, 0xc0) + 4] = 12;
    assert_head_refused(as_jpeg(&file), "12");
    fby_buffer_fini(&file);
}

static void a_small_file_cannot_claim_a_large_picture(void **state)
{
    (void)state;
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 32, .height = 32});
    claim_sides(&file, 0xc0, 65000, 65000);
    assert_head_refused(as_jpeg(&file), "at most 67108864");
    claim_sides(&file, 0xc0, 8000, 8000);
    assert_head_refused(
        as_jpeg(&file), "more than a JPEG of this size can hold");
    assert_int_equal(scratch.size_bytes, 0); /* no memory was taken */
    fby_buffer_fini(&file);
}

static void coefficients_of_a_progressive_file_are_bounded(void **state)
{
    (void)state;
    struct fby_buffer file = photo_file((struct fby_photo){.width = 64,
        .height                                                   = 64,
        .progressive                                              = true,
        .sampling = FBY_PHOTO_444});
    claim_sides(&file, 0xc2, 8000, 8000);
    uint8_t *padding = calloc(1, 64000);
    fby_put_bytes(&file, padding, 64000); /* large enough for its pixels */
    assert_head_refused(as_jpeg(&file), "256 MiB of coefficients");
    free(padding);
    fby_buffer_fini(&file);
}

static void scans_are_counted(void **state)
{
    (void)state;
    struct fby_buffer file =
        foreign_file((struct foreign){JCS_YCbCr, 3, false, true});
    struct fby_image image = decode_ok(&file);
    assert_int_equal(image.width, 40);
    size_t last = file.size - 2;
    while (file.data[last] != 0xff || file.data[last + 1] != 0xda) {
        last--;
    }
    size_t   scan_bytes = file.size - 2 - last;
    uint8_t *scan       = malloc(scan_bytes + 1);
    memcpy(scan, file.data + last, scan_bytes);
    file.size -= 2; /* the end marker */
    for (int i = 3; i <= FBY_JPEG_MAX_SCANS; i++) {
        fby_put_bytes(&file, scan, scan_bytes);
    }
    fby_put_bytes(&file, "\xff\xd9", 2);
    assert_refused(as_jpeg(&file), "more than 100 scans");
    free(scan);
    fby_buffer_fini(&file);
}

static void no_file_lends_its_tables_to_the_next(void **state)
{
    (void)state;
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 32, .height = 32});
    decode_ok(&file);
    uint8_t *table = file.data + find_segment(&file, 0xdb);
    table[1]       = 0xfe; /* now a comment */
    assert_refused(as_jpeg(&file), "Quantization table");
    fby_buffer_fini(&file);
}

static void a_restart_marker_that_is_missing_is_refused(void **state)
{
    (void)state;
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 64, .height = 64, .restart = 1});
    size_t at = find_segment(&file, 0xda);
    while (file.data[at] != 0xff || file.data[at + 1] != 0xd1) {
        at++;
    }
    file.data[at + 1] = 0xd5;
    assert_refused(as_jpeg(&file), "JPEG");
    fby_buffer_fini(&file);
}

static void what_is_no_jpeg_is_refused(void **state)
{
    (void)state;
    static const uint8_t png[] = "\x89PNG\r\n\x1a\n";
    assert_head_refused((struct fby_picture_file){png, sizeof(png)}, "89 0x50");
    assert_head_refused((struct fby_picture_file){NULL, 0}, "of 0 bytes");
}

static void damaged_bytes_decode_or_are_refused_but_do_no_harm(void **state)
{
    (void)state;
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 80, .height = 60});
    unsigned refused = 0;
    for (size_t at = 0; at < file.size; at += 7) {
        uint8_t                 kept  = file.data[at];
        struct fby_picture_file jpeg  = as_jpeg(&file);
        struct fby_image        image = {0};
        file.data[at] ^= 0x5a;
        fby_err err = fby_picture_decode(
            &fby_jpeg_picture, &jpeg, &scratch, &image, NULL);
        file.data[at] = kept;
        assert_true(err == FBY_OK || err == FBY_BAD_SAMPLE);
        refused += err == FBY_BAD_SAMPLE;
    }
    assert_true(refused > 0);
    fby_buffer_fini(&file);
}

/* ---- parts --------------------------------------------------------------- */

/* A sink that copies the rows to its own picture. */
struct kept {
    struct fby_picture_part   part;
    struct fby_picture_region region;
    struct fby_image          image;
    uint32_t                  ready; /* rows */
};

static fby_err keep_head(void *arg, const struct fby_picture_head *head,
    struct fby_picture_part *part, struct fby_error_detail *why)
{
    (void)why;
    struct kept *kept = arg;
    if (kept->part.box.w == 0) {
        kept->part.box.w = head->width;
        kept->part.box.h = head->height;
    }
    *part        = kept->part;
    kept->region = fby_jpeg_picture.region(head, part);
    kept->image  = new_picture(kept->region.width, kept->region.height);
    return FBY_OK;
}

static void keep_rows(void *arg, const struct fby_image *rows)
{
    struct kept *kept = arg;
    assert_int_equal(rows->width, kept->region.width);
    assert_in_range(kept->ready + rows->height, 1, kept->region.height);
    for (uint32_t y = 0; y < rows->height; y++) {
        memcpy(kept->image.pixels + kept->ready++ * kept->image.stride,
            rows->pixels + y * rows->stride, kept->image.stride);
    }
}

/* The box, or all of the picture when it is empty. */
static struct kept part_in(
    const struct fby_buffer *file, struct fby_box box, uint32_t unit)
{
    struct kept                   kept = {.part = {.box = box, .unit = unit}};
    const struct fby_picture_sink sink = {keep_head, keep_rows, &kept};
    struct fby_picture_file       jpeg = as_jpeg(file);
    struct fby_scratch            memory[2] = {{0}};
    struct fby_error_detail       why       = {0};
    if (fby_jpeg_picture.stream(&jpeg, &sink, memory, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_int_equal(kept.ready, kept.region.height);
    fby_scratch_fini(&memory[0]);
    fby_scratch_fini(&memory[1]);
    return kept;
}

static struct fby_box random_box(
    uint32_t *state, const struct fby_image *picture)
{
    struct fby_box box = {.w = 1 + below(state, picture->width),
        .h                   = 1 + below(state, picture->height)};
    box.x              = below(state, picture->width - box.w + 1);
    box.y              = below(state, picture->height - box.h + 1);
    return box;
}

static void assert_part_of_whole(const struct kept *part,
    const struct fby_image *whole, uint32_t x, uint32_t y)
{
    struct fby_image right =
        part_of(*whole, x, y, part->region.width, part->region.height);
    assert_same_picture(&right, &part->image);
}

static void compare_parts(uint32_t *state, uint32_t unit, bool turned)
{
    struct fby_buffer file  = photo_file(random_photo(state, turned));
    struct fby_image  image = decode_ok(&file);
    struct kept       whole = part_in(&file, (struct fby_box){0}, unit);
    for (int i = 0; i < 50; i++) {
        struct fby_box box  = random_box(state, &image);
        struct kept    part = part_in(&file, box, unit);
        assert_part_of_whole(&part, &whole.image, box.x / unit, box.y / unit);
        free(part.image.pixels);
    }
    free(whole.image.pixels);
    fby_buffer_fini(&file);
}

static void ten_thousand_parts_are_those_of_the_whole_picture(void **state)
{
    (void)state;
    uint32_t random = 4;
    for (int i = 0; i < 200; i++) {
        compare_parts(&random, 1, i % 4 == 0);
    }
}

static void parts_decoded_smaller_are_those_of_the_smaller_picture(void **state)
{
    (void)state;
    uint32_t random = 5;
    for (int i = 0; i < 60; i++) {
        compare_parts(&random, UINT32_C(2) << i % 3, false);
    }
}

static void the_whole_streamed_is_the_whole_decoded(void **state)
{
    (void)state;
    uint32_t random = 6;
    for (int i = 0; i < 100; i++) {
        struct fby_buffer file  = photo_file(random_photo(&random, true));
        struct fby_image  image = decode_ok(&file);
        struct kept       whole = part_in(&file, (struct fby_box){0}, 1);
        assert_same_picture(&image, &whole.image);
        free(whole.image.pixels);
        fby_buffer_fini(&file);
    }
}

/* The offset of an oriented box in the pixels of a unit, from its position:
 * offset, side and the rest add up to whole units. */
static void offsets_say_where_a_box_begins(void **state)
{
    (void)state;
    uint32_t random = 7;
    for (int i = 0; i < 2000; i++) {
        struct fby_picture_head head = {.width = 1 + below(&random, 300),
            .height                            = 1 + below(&random, 300),
            .orientation                       = 1 + below(&random, 8)};
        struct fby_image size = {.width = head.width, .height = head.height};
        struct fby_picture_part   part = {random_box(&random, &size),
              UINT32_C(1) << below(&random, 4), false};
        struct fby_picture_region region =
            fby_jpeg_picture.region(&head, &part);
        assert_in_range(region.offset_x, 0, part.unit - 1);
        assert_in_range(region.offset_y, 0, part.unit - 1);
        assert_int_equal(region.width,
            (region.offset_x + part.box.w + part.unit - 1) / part.unit);
        assert_int_equal(region.height,
            (region.offset_y + part.box.h + part.unit - 1) / part.unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_orientation_ends_upright, give_back),
        cmocka_unit_test_teardown(
            every_row_of_a_turned_picture_is_where_it_belongs, give_back),
        cmocka_unit_test_teardown(
            segments_that_are_no_exif_are_passed_over, give_back),
        cmocka_unit_test_teardown(
            the_header_tells_the_size_of_the_decoded_picture, give_back),
        cmocka_unit_test_teardown(
            grey_is_spread_over_three_equal_channels, give_back),
        cmocka_unit_test_teardown(
            a_file_cut_anywhere_before_its_last_pixel_is_refused, give_back),
        cmocka_unit_test_teardown(
            bytes_after_the_picture_change_nothing, give_back),
        cmocka_unit_test_teardown(
            kinds_without_a_conversion_to_rgb_are_refused_by_name, give_back),
        cmocka_unit_test_teardown(twelve_bits_a_sample_are_refused, give_back),
        cmocka_unit_test_teardown(
            a_small_file_cannot_claim_a_large_picture, give_back),
        cmocka_unit_test_teardown(
            coefficients_of_a_progressive_file_are_bounded, give_back),
        cmocka_unit_test_teardown(scans_are_counted, give_back),
        cmocka_unit_test_teardown(
            no_file_lends_its_tables_to_the_next, give_back),
        cmocka_unit_test_teardown(
            a_restart_marker_that_is_missing_is_refused, give_back),
        cmocka_unit_test_teardown(what_is_no_jpeg_is_refused, give_back),
        cmocka_unit_test_teardown(
            damaged_bytes_decode_or_are_refused_but_do_no_harm, give_back),
        cmocka_unit_test_teardown(
            ten_thousand_parts_are_those_of_the_whole_picture, give_back),
        cmocka_unit_test(
            parts_decoded_smaller_are_those_of_the_smaller_picture),
        cmocka_unit_test_teardown(
            the_whole_streamed_is_the_whole_decoded, give_back),
        cmocka_unit_test(offsets_say_where_a_box_begins),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.jpeg", tests, NULL, NULL);
}
