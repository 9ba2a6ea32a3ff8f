/* SPDX-License-Identifier: Apache-2.0 */
/* The EXIF block of a JPEG file: its segment, and its end. */
#include "tests/guard.h"
#include "tests/worker/transform/pictures.h"

/* An EXIF block that says "orientation 6", as a segment of `size` bytes. */
static void put_exif(struct fby_buffer *out, size_t size)
{
    static const uint8_t block[] = {'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0,
        8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0};
    const uint8_t        head[]  = {0xff, 0xe1, 0, (uint8_t)(2 + size)};
    assert_in_range(size, 0, sizeof(block));
    fby_put_bytes(out, head, sizeof(head));
    fby_put_bytes(out, block, size);
}

/* The orientation found when these bytes come before the other segments. */
static uint32_t orientation_with(const struct fby_buffer *segments)
{
    struct fby_buffer file =
        photo_file((struct fby_photo){.width = 20, .height = 10});
    struct fby_picture_head head   = {0};
    struct fby_buffer       longer = {0};
    fby_put_bytes(&longer, file.data, 2); /* the first marker */
    fby_put_bytes(&longer, segments->data, segments->size);
    fby_put_bytes(&longer, file.data + 2, file.size - 2);
    struct fby_picture_file jpeg = as_jpeg(&longer);
    assert_ok(fby_jpeg_picture.head(&jpeg, &head, NULL));
    fby_buffer_fini(&file);
    fby_buffer_fini(&longer);
    return head.orientation;
}

/* The value ends with the block's 26th byte, its entry with the 28th. The bytes
 * of the next segment would complete a truncated one. */
static void an_exif_block_ends_with_its_segment(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 28; size++) {
        struct fby_buffer segments = {0};
        put_exif(&segments, size);
        assert_int_equal(orientation_with(&segments), size == 28 ? 6 : 1);
        fby_buffer_fini(&segments);
    }
}

static void the_first_exif_block_counts(void **state)
{
    (void)state;
    struct fby_buffer segments = {0};
    fby_put_bytes(&segments, "\xff\xe1\0\0\xff\xe1\0\1\xff\xe1\0\2", 12);
    put_exif(&segments, 28);
    put_exif(&segments, 28);
    segments.data[segments.size - 4] = 3;
    assert_int_equal(orientation_with(&segments), 6);
    segments.data[segments.size - 4 - 32] = 9; /* no orientation, yet EXIF */
    assert_int_equal(orientation_with(&segments), 1);
    fby_buffer_fini(&segments);
}

static void a_long_segment_is_passed_over_whole(void **state)
{
    (void)state;
    static const uint8_t other[4 + 700] = {0xff, 0xe1, 700 >> 8, 700 & 255};
    struct fby_buffer    segments       = {0};
    fby_put_bytes(&segments, other, 2 + 700);
    put_exif(&segments, 28);
    assert_int_equal(orientation_with(&segments), 6);
    fby_buffer_fini(&segments);
}

static void refused_unread(const struct fby_buffer *file, size_t size)
{
    struct fby_guarded      cut  = fby_guarded_copy(file->data, size);
    struct fby_picture_file jpeg = {cut.bytes, cut.size};
    struct fby_picture_head head = {.width = 7};
    struct fby_error_detail why  = {0};
    assert_int_equal(fby_jpeg_picture.head(&jpeg, &head, &why), FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, "Premature end"));
    assert_int_equal(head.width, 7);
    fby_guarded_free(&cut);
}

/* Also if the EXIF directory begins with the segment's last two bytes. */
static void a_segment_that_the_file_cuts_is_not_read_beyond(void **state)
{
    (void)state;
    for (size_t at = 8; at <= 20; at += 12) {
        struct fby_buffer file = {0};
        fby_put_bytes(&file, "\xff\xd8", 2);
        put_exif(&file, 28);
        file.data[2 + 4 + 10] = (uint8_t)at;
        for (size_t size = 2; size <= file.size; size++) {
            refused_unread(&file, size);
        }
        fby_buffer_fini(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_exif_block_ends_with_its_segment),
        cmocka_unit_test(the_first_exif_block_counts),
        cmocka_unit_test(a_long_segment_is_passed_over_whole),
        cmocka_unit_test(a_segment_that_the_file_cuts_is_not_read_beyond),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.exif", tests, NULL, NULL);
}
