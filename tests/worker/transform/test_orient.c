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

/* A copy of exactly `size` bytes: reading past it is seen by the sanitizer. */
static uint32_t orientation_of_first(size_t size)
{
    uint8_t *copy = malloc(size + (size == 0));
    memcpy(copy, little, size);
    uint32_t orientation = fby_exif_orientation(copy, size);
    free(copy);
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
        {10, 200},  /* the directory lies outside */
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

/* Where pixel (x, y) of a 4 x 3 picture stands after each orientation. */
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
        fby_orient(&stored, 0, k, &out);
        assert_memory_equal(pixel_at(&stored, 0, 0),
            pixel_at(&out, corner[k][0], corner[k][1]), FBY_RGB);
        assert_memory_equal(pixel_at(&stored, 1, 0),
            pixel_at(&out, right[k][0], right[k][1]), FBY_RGB);
        free(out.pixels);
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
    };
    return cmocka_run_group_tests_name(
        "worker.transform.orient", tests, NULL, NULL);
}
