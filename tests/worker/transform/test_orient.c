/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard.h"
#include "tests/worker/transform/pictures.h"

#include "worker/transform/orient.h"

/* "Exif", a TIFF header, and one entry (tag, type, count, value). */
static const uint8_t little[] = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8,
    0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0};
static const uint8_t big[] = {'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0,
    0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0};

static void both_byte_orders_are_read(void **state)
{
    (void)state;
    assert_int_equal(fby_exif_orientation(little, sizeof(little)), 6);
    assert_int_equal(fby_exif_orientation(big, sizeof(big)), 8);
}

static void what_is_no_exif_says_nothing(void **state)
{
    (void)state;
    assert_int_equal(fby_exif_orientation(NULL, 0), 0);
    assert_int_equal(
        fby_exif_orientation((const uint8_t *)"http://ns.adobe.com/", 20), 0);
}

/* No byte behind them may be read. */
static uint32_t orientation_of_first(size_t size)
{
    struct fby_guarded copy        = fby_guarded_copy(little, size);
    uint32_t           orientation = fby_exif_orientation(copy.bytes, size);
    fby_guarded_free(&copy);
    return orientation;
}

static void a_block_that_ends_early_stands_as_stored(void **state)
{
    (void)state;
    for (size_t size = 6; size < 28; size++) {
        assert_int_equal(orientation_of_first(size), 1);
    }
    assert_int_equal(orientation_of_first(28), 6);
    assert_int_equal(orientation_of_first(5), 0);
}

static void damaged_fields_stand_as_stored(void **state)
{
    (void)state;
    static const struct {
        size_t  at;
        uint8_t value;
    } damages[] = {
        {6, 'X'},   /* byte order */
        {8, 43},    /* TIFF's mark */
        {10, 200},  /* the directory is outside */
        {13, 0xff}, /* far outside */
        {16, 0x13}, /* another tag */
        {18, 4},    /* another type */
        {20, 2},    /* two values */
        {24, 0},    /* no orientation */
        {24, 9},    /* nor this */
        {14, 0},    /* no entries */
    };
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        uint8_t block[sizeof(little)];
        memcpy(block, little, sizeof(block));
        block[damages[i].at] = damages[i].value;
        assert_int_equal(fby_exif_orientation(block, sizeof(block)), 1);
    }
}

/* The position of pixel (x, y) of a 4 x 3 picture after each orientation. */
static void each_orientation_moves_the_corners_as_exif_says(void **state)
{
    (void)state;
    static const uint32_t corner[9][2] = {{0, 0}, {0, 0}, {3, 0}, {3, 2},
        {0, 2}, {0, 0}, {2, 0}, {2, 3}, {0, 3}}; /* of the stored (0, 0) */
    static const uint32_t right[9][2] = {{1, 0}, {1, 0}, {2, 0}, {2, 2}, {1, 2},
        {0, 1}, {2, 1}, {2, 2}, {0, 2}}; /* of the stored (1, 0) */
    struct fby_image      stored      = new_picture(4, 3);
    for (uint32_t k = 1; k <= 8; k++) {
        bool             turns = fby_orientation_turns(k);
        struct fby_image out   = new_picture(turns ? 3 : 4, turns ? 4 : 3);
        fby_orient_rows(&stored, 0, k, &out);
        assert_memory_equal(pixel_at(&stored, 0, 0),
            pixel_at(&out, corner[k][0], corner[k][1]), FBY_RGB);
        assert_memory_equal(pixel_at(&stored, 1, 0),
            pixel_at(&out, right[k][0], right[k][1]), FBY_RGB);
        free(out.pixels);
    }
    free(stored.pixels);
}

/* Boxes of every position and size: the stored part, oriented, is the box. */
static void a_box_lies_where_its_pixels_are_stored(void **state)
{
    (void)state;
    enum { W = 4, H = 3 };
    struct fby_image stored = new_picture(W, H);
    for (uint32_t k = 1; k <= 8; k++) {
        bool             turns = fby_orientation_turns(k);
        uint32_t         w     = turns ? H : W;
        uint32_t         h     = turns ? W : H;
        struct fby_image whole = new_picture(w, h);
        fby_orient_rows(&stored, 0, k, &whole);
        for (uint32_t i = 0; i < w * w * h * h; i++) {
            struct fby_box box = {
                i % w, i / w % h, 1 + i / (w * h) % w, 1 + i / (w * h) / w};
            if (box.x + box.w > w || box.y + box.h > h) {
                continue;
            }
            struct fby_box   at    = fby_orient_stored_box(&box, w, h, k);
            struct fby_image part  = part_of(stored, at.x, at.y, at.w, at.h);
            struct fby_image out   = new_picture(box.w, box.h);
            struct fby_image right = part_of(whole, box.x, box.y, box.w, box.h);
            fby_orient_rows(&part, 0, k, &out);
            assert_same_picture(&right, &out);
            free(out.pixels);
        }
        free(whole.pixels);
    }
    free(stored.pixels);
}

/* Orient strips of rows, one by one. */
static void rows_go_to_their_places_strip_by_strip(void **state)
{
    (void)state;
    struct fby_image stored = new_picture(5, 7);
    for (uint32_t k = 1; k <= 8; k++) {
        bool             turns = fby_orientation_turns(k);
        struct fby_image whole = new_picture(turns ? 7 : 5, turns ? 5 : 7);
        struct fby_image parts = new_picture(turns ? 7 : 5, turns ? 5 : 7);
        memset(parts.pixels, 0, parts.stride * parts.height);
        fby_orient_rows(&stored, 0, k, &whole);
        for (uint32_t y = 0; y < 7; y += 3) {
            struct fby_image strip =
                part_of(stored, 0, y, 5, y + 3 <= 7 ? 3 : 7 - y);
            fby_orient_rows(&strip, y, k, &parts);
        }
        assert_same_picture(&whole, &parts);
        free(whole.pixels);
        free(parts.pixels);
    }
    free(stored.pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_byte_orders_are_read),
        cmocka_unit_test(what_is_no_exif_says_nothing),
        cmocka_unit_test(a_block_that_ends_early_stands_as_stored),
        cmocka_unit_test(damaged_fields_stand_as_stored),
        cmocka_unit_test(each_orientation_moves_the_corners_as_exif_says),
        cmocka_unit_test(a_box_lies_where_its_pixels_are_stored),
        cmocka_unit_test(rows_go_to_their_places_strip_by_strip),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.orient", tests, NULL, NULL);
}
