/* SPDX-License-Identifier: Apache-2.0 */
/* WebP files as untrusted input, and files of formats that are not decoded;
 * test_picture_kinds.c tests the decoded values. */
#include "tests/worker/transform/pictures.h"

#include <stdio.h>

#include "worker/transform/picture_format.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/webp.h"

static const struct fby_field_content all_formats = {
    .decode = FBY_DECODE_RGB8, .from = {"jpg", "png", "webp"}, .n_from = 3};

static fby_err decode(
    const struct fby_picture_file *file, struct fby_error_detail *why)
{
    struct fby_scratch memory = {0};
    struct fby_image   image  = {0};
    fby_err            err =
        fby_picture_decode(&fby_webp_picture, file, &memory, &image, why);
    fby_scratch_fini(&memory);
    return err;
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < fby_n_webp_probes; i++) {
        struct fby_picture_file file = fby_webp_probes[i];
        struct fby_error_detail why  = {{0}};
        assert_ok(decode(&file, &why));
        /* The last byte may be padding. */
        for (size_t size = 0; size < file.size - 1; size += 1 + size / 64) {
            /* A copy, so that a sanitizer sees reads past the end. */
            uint8_t *copy = malloc(size + 1);
            memcpy(copy, file.bytes, size);
            struct fby_picture_file cut = {copy, size};
            assert_int_equal(decode(&cut, &why), FBY_BAD_SAMPLE);
            free(copy);
        }
        assert_string_equal(why.text, "WebP: the file is truncated");
    }
}

static void damage_is_refused_or_changes_pixels_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < fby_n_webp_probes; i++) {
        struct fby_picture_file file = fby_webp_probes[i];
        uint8_t                *copy = malloc(file.size);
        for (size_t at = 0; at < file.size; at += 1 + at / 32) {
            memcpy(copy, file.bytes, file.size);
            copy[at] ^= 0x15;
            struct fby_picture_file damaged = {copy, file.size};
            fby_err                 err     = decode(&damaged, NULL);
            assert_true(err == FBY_OK || err == FBY_BAD_SAMPLE);
        }
        free(copy);
    }
}

static void an_animation_is_refused_with_a_command(void **state)
{
    (void)state;
    static const uint8_t bytes[30] = "RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\2\0\0\0"
                                     "\7\0\0\7\0";
    const struct fby_picture_file file = {bytes, sizeof(bytes)};
    struct fby_error_detail       why  = {{0}};
    assert_int_equal(decode(&file, &why), FBY_BAD_SAMPLE);
    assert_string_equal(why.text,
        "the WebP is an animation, which is not decoded: take a frame, for "
        "example with 'webpmux -get frame 1 FILE -o FRAME.webp'");
}

/* A lossless header of 16,383 x 16,383 pixels. */
static void a_claim_of_too_many_pixels_is_refused(void **state)
{
    (void)state;
    static const uint8_t bytes[40]     = "RIFF\x20\0\0\0WEBPVP8L\x14\0\0\0\x2f"
                                         "\xfe\xbf\xff\x0f";
    const struct fby_picture_file file = {bytes, sizeof(bytes)};
    struct fby_error_detail       why  = {{0}};
    assert_int_equal(decode(&file, &why), FBY_BAD_SAMPLE);
    assert_string_equal(why.text,
        "WebP claims 16383 x 16383 pixels; at most 67108864 are decoded");
}

static void the_memory_of_decoding_is_known_before_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < fby_n_webp_probes; i++) {
        const struct fby_picture_part part = {{1, 2, 3, 4}, 1, false};
        struct fby_picture_head       head = {0};
        assert_ok(fby_webp_picture.head(&fby_webp_probes[i], &head, NULL));
        assert_int_equal(head.width, 55);
        assert_int_equal(head.height, 42);
        assert_int_equal(head.channels, FBY_RGB);
        assert_true(head.needs_whole && !head.is_scalable && !head.is_ycbcr);
        assert_in_range(head.library_bytes, 1 << 20, (1 << 20) + 30000);
        struct fby_picture_need need = fby_webp_picture.need(&head, &part);
        assert_int_equal(need.scratch[0], 0);
        assert_int_equal(need.scratch[1], 55 * 42 * 3 + 64);
        struct fby_picture_region region =
            fby_webp_picture.region(&head, &part);
        assert_int_equal(region.width, 3);
        assert_int_equal(region.height, 4);
    }
}

static void a_webp_is_taken_where_from_names_one(void **state)
{
    (void)state;
    const struct fby_picture_decoder *decoder = NULL;
    struct fby_field_content          field   = all_formats;
    struct fby_error_detail           why     = {{0}};
    assert_ok(
        fby_picture_decoder_for(&field, &fby_webp_probes[0], &decoder, &why));
    assert_ptr_equal(decoder, &fby_webp_picture);
    field.n_from = 2;
    assert_int_equal(
        fby_picture_decoder_for(&field, &fby_webp_probes[0], &decoder, &why),
        FBY_BAD_SAMPLE);
    assert_string_equal(
        why.text, "a WebP under another name: add webp to the field's 'from'");
    field.decode = FBY_DECODE_MASK8;
    assert_int_equal(
        fby_picture_decoder_for(&field, &fby_webp_probes[0], &decoder, &why),
        FBY_BAD_SAMPLE);
    assert_non_null(strstr(why.text, "store masks as PNG"));
}

static void formats_without_a_decoder_are_named_with_a_command(void **state)
{
    (void)state;
    static const struct {
        const char *bytes; /* 16 of them */
        const char *format;
    } cases[] = {
        {"GIF89a__________", "a GIF"},
        {"BM______________", "a BMP"},
        {"II*\0____________", "a TIFF"},
        {"MM\0*____________", "a TIFF"},
        {"\0\0\0\x1c"
         "ftypavif____",
            "an AVIF"},
        {"\0\0\0\x1c"
         "ftypheic____",
            "a HEIC"},
        {"\0\0\0\x1c"
         "ftypmif1____",
            "a HEIC or AVIF"},
        {"\xff\n______________", "a JPEG XL"},
        {"\0\0\0\x0cJXL \r\n\x87\n____", "a JPEG XL"},
        {"\0\0\0\x0cjP  \r\n\x87\n____", "a JPEG 2000"},
    };
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        const struct fby_picture_decoder *decoder = NULL;
        struct fby_field_content          field   = all_formats;
        struct fby_picture_file           file    = {
                         (const uint8_t *)cases[i / 2].bytes, 16};
        struct fby_error_detail why = {{0}};
        char                    start[64];
        field.n_from = i % 2 == 0 ? 3 : 1; /* with png and webp, or only jpg */
        snprintf(start, sizeof(start), "the file is %s picture by",
            cases[i / 2].format);
        assert_int_equal(fby_picture_decoder_for(&field, &file, &decoder, &why),
            FBY_BAD_SAMPLE);
        assert_true(strncmp(why.text, start, strlen(start)) == 0);
        assert_non_null(strstr(why.text, "'mogrify -format png FILE'"));
    }
}

static void masks_of_other_formats_are_refused_with_the_reason(void **state)
{
    (void)state;
    const struct fby_field_content mask = {
        .decode = FBY_DECODE_MASK8, .from = {"png"}, .n_from = 1};
    const struct fby_picture_decoder *decoder = NULL;
    struct fby_error_detail           why     = {{0}};
    assert_int_equal(
        fby_picture_decoder_for(&mask, &fby_jpeg_probes[0], &decoder, &why),
        FBY_BAD_SAMPLE);
    assert_string_equal(why.text,
        "a mask that is a JPEG, whose lossy compression changes ids: store "
        "masks as PNG, in grey or with a palette");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(damage_is_refused_or_changes_pixels_only),
        cmocka_unit_test(an_animation_is_refused_with_a_command),
        cmocka_unit_test(a_claim_of_too_many_pixels_is_refused),
        cmocka_unit_test(the_memory_of_decoding_is_known_before_it),
        cmocka_unit_test(a_webp_is_taken_where_from_names_one),
        cmocka_unit_test(formats_without_a_decoder_are_named_with_a_command),
        cmocka_unit_test(masks_of_other_formats_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.webp", tests, NULL, NULL);
}
