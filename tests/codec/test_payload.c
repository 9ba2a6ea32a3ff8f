/* SPDX-License-Identifier: Apache-2.0 */
/* The payloads of codec.h byte for byte, and the exact limits of decoding,
 * checking and encoding. Payloads and results are next to inaccessible pages.
 */
#include "tests/codec/jobs.h"

#include <lz4.h>

#include "codec/filter.h"
#include "codec/photo.h"
#include "common/bytes.h"

#define BLOCK    ((size_t)FBY_CODEC_BLOCK)
#define AS_IT_IS UINT32_C(0x80000000)

static uint32_t below(uint32_t *state, uint32_t n)
{
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    return (uint32_t)((uint64_t)*state * n >> 32);
}

/* ---- lz4 ----------------------------------------------------------------- */

static void a_block_that_decodes_short_is_refused(void **state)
{
    (void)state;
    static const uint8_t abc[] = {4, 0, 0, 0, 0x30, 'a', 'b', 'c'};
    struct fby_codec_job plain = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    struct fby_codec_job delta = job(FBY_FILTER_DELTA, FBY_CODEC_LZ4);
    uint8_t              raw[4];
    assert_ok(decode(&plain, abc, sizeof(abc), raw, 3));
    assert_memory_equal(raw, "abc", 3);
    assert_ok(decode(&delta, abc, sizeof(abc), raw, 3));
    for (size_t size = 1; size <= 2 * BLOCK; size = size * 2 + (size == 1)) {
        assert_int_equal(
            decode(&plain, abc, sizeof(abc), NULL, size + 3), FBY_PROTO);
        assert_int_equal(
            decode(&delta, abc, sizeof(abc), NULL, size + 3), FBY_PROTO);
    }
    assert_int_equal(decode(&plain, abc, sizeof(abc), NULL, 2), FBY_PROTO);
    assert_int_equal(decode(&plain, abc, sizeof(abc), NULL, 1), FBY_PROTO);
}

/* Two blocks of equal bytes, then `last` bytes as they are. */
static size_t put_three_blocks(uint8_t *out, uint32_t last)
{
    static uint8_t zeros[BLOCK];
    size_t         at = 12;
    for (size_t b = 0; b < 2; b++) {
        int n = LZ4_compress_default(
            (const char *)zeros, (char *)out + at, (int)BLOCK, (int)BLOCK);
        fby_store_le(out + 4 * b, (uint64_t)n, 4);
        at += (size_t)n;
    }
    fby_store_le(out + 8, last | AS_IT_IS, 4);
    memset(out + at, 'x', last);
    return at + last;
}

static void each_block_has_its_place_and_its_size(void **state)
{
    (void)state;
    static uint8_t       payload[4096];
    static uint8_t       raw[2 * BLOCK + 8];
    struct fby_codec_job j    = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    size_t               size = put_three_blocks(payload, 5);
    memset(raw, 1, sizeof(raw));
    assert_ok(decode(&j, payload, size, raw, 2 * BLOCK + 5));
    for (size_t i = 0; i < 2 * BLOCK; i++) {
        assert_int_equal(raw[i], 0);
    }
    assert_memory_equal(raw + 2 * BLOCK, "xxxxx", 5);
    assert_int_equal(decode(&j, payload, size, NULL, 2 * BLOCK + 4), FBY_PROTO);
    assert_int_equal(decode(&j, payload, size, NULL, 2 * BLOCK + 6), FBY_PROTO);
    assert_int_equal(decode(&j, payload, size, NULL, 2 * BLOCK), FBY_PROTO);
    for (size_t shorter = 0; shorter < size; shorter++) {
        assert_int_equal(
            decode(&j, payload, shorter, NULL, 2 * BLOCK + 5), FBY_PROTO);
    }
}

static void a_block_as_it_is_has_exactly_its_raw_size(void **state)
{
    (void)state;
    struct fby_codec_job j = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    for (uint32_t said = 0; said <= 8; said++) {
        uint8_t payload[4 + 8] = {(uint8_t)said, 0, 0, 0x80};
        fby_err err            = said == 4 ? FBY_OK : FBY_PROTO;
        assert_int_equal(decode(&j, payload, 4 + said, NULL, 4), err);
        assert_int_equal(decode(&j, payload, 4 + 4, NULL, 4), err);
    }
}

/* The rules of codec.h and PROTOCOL.md for lz4, step by step. */
static size_t right_lz4(const struct fby_codec_job *j, const uint8_t *raw,
    size_t size, uint8_t *out)
{
    static uint8_t block[BLOCK];
    static uint8_t packed[2 * BLOCK];
    size_t         blocks = size / BLOCK + (size % BLOCK > 0);
    size_t         at     = 4 * blocks;
    for (size_t b = 0; b < blocks; b++) {
        size_t left = size - b * BLOCK;
        size_t n    = left < BLOCK ? left : BLOCK;
        filter_apply(j->coding.filter, j->params, raw + b * BLOCK, n, block);
        int m = LZ4_compress_default(
            (const char *)block, (char *)packed, (int)n, (int)sizeof(packed));
        bool less = (size_t)m < n;
        fby_store_le(out + 4 * b, less ? (uint32_t)m : n | AS_IT_IS, 4);
        memcpy(out + at, less ? packed : block, less ? (size_t)m : n);
        at += less ? (size_t)m : n;
    }
    return at;
}

static void encodes_as_it_should(
    const struct fby_codec_job *j, const uint8_t *raw, size_t size)
{
    static uint8_t     right[4 * BLOCK];
    size_t             n    = right_lz4(j, raw, size, right);
    size_t             made = 0;
    struct fby_guarded in   = fby_guarded_copy(raw, size);
    struct fby_guarded out =
        fby_guarded_copy(NULL, fby_codec_encode_capacity(j, size));
    struct fby_bytes_in from = {in.bytes, size};
    assert_ok(fby_codec_encode(
        j, from, (struct fby_bytes_out){out.bytes, out.size}, &made));
    assert_int_equal(made, n);
    assert_memory_equal(out.bytes, right, n);
    fby_guarded_free(&in);
    fby_guarded_free(&out);
}

static void every_filter_and_number_of_blocks_makes_the_right_bytes(
    void **state)
{
    (void)state;
    static uint8_t      raw[2 * BLOCK + 9];
    static const size_t sizes[] = {
        1, 9, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 9};
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof(raw); i++) {
        bool noise = i / 20000 % 2 == 1;
        raw[i]     = (uint8_t)(noise ? below(&random, 256) : i / 30);
    }
    for (int filter = 0; filter <= FBY_FILTER_BIT_SHUFFLE; filter++) {
        struct fby_codec_job j = job((uint8_t)filter, FBY_CODEC_LZ4);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            encodes_as_it_should(&j, raw, sizes[i]);
        }
    }
}

/* Texts of few letters: LZ4 saves on repeats about what it adds for lengths. */
static void only_a_block_that_gets_smaller_is_compressed(void **state)
{
    (void)state;
    struct fby_codec_job j        = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    uint32_t             random   = 2;
    unsigned             cases[3] = {0};
    for (unsigned i = 0; i < 4000; i++) {
        char text[100];
        char packed[200];
        int  size = (int)(1 + below(&random, sizeof(text) - 1));
        for (int k = 0; k < size; k++) {
            text[k] = (char)('a' + below(&random, 3 + i % 8));
        }
        int n = LZ4_compress_default(text, packed, size, sizeof(packed));
        encodes_as_it_should(&j, (const uint8_t *)text, (size_t)size);
        if (n - size >= -1 && n - size <= 1) {
            cases[n - size + 1]++;
        }
    }
    for (int i = 0; i < 3; i++) { /* one byte less, as many, one more */
        assert_in_range(cases[i], 1, 4000);
    }
}

/* ---- store --------------------------------------------------------------- */

static void stored_bytes_are_the_filtered_blocks(void **state)
{
    (void)state;
    static uint8_t raw[BLOCK + 7];
    static uint8_t right[BLOCK + 7];
    for (size_t i = 0; i < sizeof(raw); i++) {
        raw[i] = (uint8_t)(i * i / 5);
    }
    for (int filter = 0; filter <= FBY_FILTER_BIT_SHUFFLE; filter++) {
        struct fby_codec_job j   = job((uint8_t)filter, FBY_CODEC_STORE);
        struct fby_guarded   out = fby_guarded_copy(NULL, sizeof(raw));
        size_t               n   = 0;
        filter_apply((uint8_t)filter, j.params, raw, BLOCK, right);
        filter_apply((uint8_t)filter, j.params, raw + BLOCK, 7, right + BLOCK);
        assert_ok(fby_codec_encode(&j, (struct fby_bytes_in){raw, sizeof(raw)},
            (struct fby_bytes_out){out.bytes, out.size}, &n));
        assert_int_equal(n, sizeof(raw));
        assert_memory_equal(out.bytes, right, n);
        assert_ok(decode(&j, right, n, out.bytes, n));
        assert_memory_equal(out.bytes, raw, n);
        fby_guarded_free(&out);
    }
}

/* ---- sizes and bounds ---------------------------------------------------- */

static bool takes(const struct fby_codec_job *j, size_t size)
{
    static uint8_t raw[4096];
    static uint8_t out[1 << 17];
    size_t         n    = 0;
    size_t         room = fby_codec_encode_capacity(j, size);
    assert_in_range(room, size, sizeof(out));
    struct fby_bytes_in in = {raw, size};
    fby_err             err =
        fby_codec_encode(j, in, (struct fby_bytes_out){out, room}, &n);
    if (err == FBY_OK) {
        assert_int_equal(
            fby_codec_encode(j, in, (struct fby_bytes_out){out, room - 1}, &n),
            FBY_FULL);
        assert_ok(decode(j, out, n, NULL, size));
    } else {
        assert_int_equal(err, FBY_USAGE);
        assert_int_equal(decode(j, out, 64, NULL, size), FBY_USAGE);
    }
    return err == FBY_OK;
}

static void exactly_pictures_and_strips_of_one_are_packed(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        struct fby_codec_job j    = photo_job(5, 7, channels);
        size_t               line = (size_t)5 * channels;
        for (size_t size = 1; size <= 21 * line + 2; size++) {
            size_t lines = size / line;
            bool   fits  = size % line == 0 && (lines < 7 || lines % 7 == 0);
            assert_int_equal(takes(&j, size), fits);
        }
    }
}

static void exactly_planes_and_strips_of_one_are_packed(void **state)
{
    (void)state;
    static const uint32_t sides[][2] = {{5, 7}, {4, 33}, {1, 64}, {2, 1}};
    for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
        uint32_t             w     = sides[i][0];
        uint32_t             h     = sides[i][1];
        struct fby_codec_job j     = yuv_job(w, h);
        size_t               whole = (size_t)fby_yuv_bytes(w, h);
        for (size_t size = 1; size <= 2 * whole + 1; size++) {
            bool fits = size % whole == 0;
            for (uint32_t lines = 1; lines < h; lines++) {
                fits = fits || size == fby_yuv_bytes(w, lines);
            }
            assert_int_equal(takes(&j, size), fits);
        }
    }
}

/* The codec makes the payload that the photo format makes of these pictures. */
static void packs_as(
    const struct fby_codec_job *j, size_t size, struct fby_pictures photo)
{
    static uint8_t raw[8192];
    static uint8_t out[1 << 16];
    static uint8_t right[1 << 16];
    size_t         n      = 0;
    uint32_t       random = 3;
    for (size_t i = 0; i < size; i++) {
        raw[i] = (uint8_t)below(&random, 256);
    }
    assert_int_equal(
        fby_codec_encode_capacity(j, size), fby_photo_encode_capacity(&photo));
    assert_ok(fby_codec_encode(j, (struct fby_bytes_in){raw, size},
        (struct fby_bytes_out){out, sizeof(out)}, &n));
    assert_int_equal(n, fby_photo_encode(&photo, raw, right, scratch.block));
    assert_memory_equal(out, right, n);
}

static void lines_below_a_picture_are_one_image_of_that_height(void **state)
{
    (void)state;
    struct fby_codec_job rgb = photo_job(20, 40, 3);
    struct fby_codec_job yuv = yuv_job(21, 40);
    packs_as(&rgb, 2400, (struct fby_pictures){1, 20, 40, 3, false});
    packs_as(&rgb, 4800, (struct fby_pictures){2, 20, 40, 3, false});
    packs_as(&rgb, 1980, (struct fby_pictures){1, 20, 33, 3, false});
    packs_as(&rgb, 60, (struct fby_pictures){1, 20, 1, 3, false});
    for (uint32_t lines = 1; lines <= 40; lines++) {
        packs_as(&yuv, (size_t)fby_yuv_bytes(21, lines),
            (struct fby_pictures){1, 21, lines, 3, true});
    }
    packs_as(&yuv, 3 * (size_t)fby_yuv_bytes(21, 40),
        (struct fby_pictures){3, 21, 40, 3, true});
}

static void the_bound_of_lz4_counts_the_entries_of_its_table(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, BLOCK - 1, BLOCK, BLOCK + 1, 9 * BLOCK,
        9 * BLOCK + 1, FBY_CODEC_RAW_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        size_t               size   = sizes[i];
        size_t               blocks = size / BLOCK + (size % BLOCK > 0);
        struct fby_codec_job j      = job(FBY_FILTER_DELTA, FBY_CODEC_LZ4);
        struct fby_codec_job stored = job(FBY_FILTER_NONE, FBY_CODEC_STORE);
        assert_int_equal(
            fby_codec_bound(FBY_CODEC_LZ4, size), size + 4 * blocks);
        assert_int_equal(
            fby_codec_encode_capacity(&j, size), size + 4 * blocks);
        assert_int_equal(fby_codec_encode_capacity(&stored, size), size);
        assert_int_equal(fby_codec_bound(FBY_CODEC_PACK, size), size);
        assert_int_equal(fby_codec_bound(FBY_CODEC_STORE, size), size);
    }
}

/* The bytes of lz4 and store are not read here, so none are given. */
static bool checks(const struct fby_codec_job *j, size_t size, size_t raw_size)
{
    return fby_codec_can_decode(j, (struct fby_bytes_in){NULL, size}, raw_size);
}

static void a_check_refuses_sizes_that_cannot_be(void **state)
{
    (void)state;
    struct fby_codec_job stored = job(FBY_FILTER_DELTA, FBY_CODEC_STORE);
    struct fby_codec_job lz4    = job(FBY_FILTER_NONE, FBY_CODEC_LZ4);
    const size_t         most   = FBY_CODEC_RAW_MAX;
    assert_true(checks(&stored, most, most));
    assert_false(checks(&stored, most + 1, most + 1));
    assert_false(checks(&stored, 0, 0));
    assert_false(checks(&stored, 99, 100));
    assert_false(checks(&stored, 101, 100));
    assert_true(checks(&lz4, 104, 100));
    assert_false(checks(&lz4, 105, 100));
    assert_true(checks(&lz4, most, most));
    assert_false(checks(&lz4, most, most + 1));
    assert_false(checks(&lz4, 4, 0));
    lz4.params.distance = 0;
    assert_false(checks(&lz4, 104, 100));
    stored.coding.codec = FBY_CODEC_PACK;
    assert_false(checks(&stored, 100, 100));
    assert_int_equal(
        fby_codec_decode(&stored, (struct fby_bytes_in){NULL, 100}, NULL, 100),
        FBY_USAGE);
}

/* ---- valid codings ------------------------------------------------------- */

static void codings_are_known_and_suit_as_the_table_says(void **state)
{
    (void)state;
    const struct fby_codec_params pictures = {.channels = 1};
    const struct fby_codec_params others   = {.element_bytes = 1};
    for (unsigned i = 0; i < 256 * 256; i++) {
        struct fby_coding coding = {(uint8_t)(i / 256), (uint8_t)i};
        bool              packs  = coding.filter == 4 && coding.codec == 2;
        bool known = packs || (coding.filter <= 3 && coding.codec <= 1);
        if (fby_coding_is_known(coding) != known ||
            fby_coding_suits(coding, pictures) != known ||
            fby_coding_suits(coding, others) != (known && !packs)) {
            fail_msg("filter %u, codec %u", coding.filter, coding.codec);
        }
    }
}

static void same_params(
    struct fby_codec_params params, struct fby_codec_params right)
{
    assert_int_equal(params.element_bytes, right.element_bytes);
    assert_int_equal(params.distance, right.distance);
    assert_int_equal(params.width, right.width);
    assert_int_equal(params.height, right.height);
    assert_int_equal(params.channels, right.channels);
    assert_int_equal(params.yuv420, right.yuv420);
}

static void params_of_every_number_of_dimensions(void **state)
{
    (void)state;
    struct fby_shape shape = {.n_dims = 0};
    for (uint32_t i = 0; i < FBY_MAX_DIMS; i++) {
        shape.dims[i] = 10 + i;
    }
    for (uint32_t n = 0; n <= FBY_MAX_DIMS; n++) {
        shape.n_dims            = n;
        const uint32_t distance = n < 2 ? 1 : 9 + n;
        same_params(fby_codec_params_of(FBY_F32, &shape),
            (struct fby_codec_params){
                .element_bytes = 4, .distance = distance});
        same_params(fby_codec_params_of(FBY_I64, &shape),
            (struct fby_codec_params){
                .element_bytes = 8, .distance = distance});
    }
    shape.n_dims = FBY_MAX_DIMS + 1; /* invalid: its dims are not read */
    same_params(fby_codec_params_of(FBY_U16, &shape),
        (struct fby_codec_params){.element_bytes = 2, .distance = 1});
}

static void only_bytes_of_one_or_three_channels_are_pictures(void **state)
{
    (void)state;
    for (uint32_t channels = 0; channels <= 5; channels++) {
        struct fby_shape        shape = {3, {11, 22, channels}};
        bool                    is    = channels == 1 || channels == 3;
        struct fby_codec_params right = {.element_bytes = 1,
            .distance                                   = channels,
            .width                                      = is ? 22 : 0,
            .height                                     = is ? 11 : 0,
            .channels                                   = is ? channels : 0};
        same_params(fby_codec_params_of(FBY_U8, &shape), right);
        right.distance = 1;
        right.yuv420   = channels == 3;
        same_params(fby_codec_params_of_yuv420(&shape), right);
        shape.n_dims = 2;
        assert_int_equal(fby_codec_params_of(FBY_U8, &shape).channels, 0);
        shape = (struct fby_shape){4, {11, 22, 7, channels}};
        assert_int_equal(fby_codec_params_of(FBY_U8, &shape).channels, 0);
        shape.n_dims = 3;
        assert_int_equal(fby_codec_params_of(FBY_BOOL, &shape).channels, 0);
        shape.dims[2] = channels;
        assert_int_equal(fby_codec_params_of(FBY_U16, &shape).channels, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_decodes_short_is_refused),
        cmocka_unit_test(each_block_has_its_place_and_its_size),
        cmocka_unit_test(a_block_as_it_is_has_exactly_its_raw_size),
        cmocka_unit_test(
            every_filter_and_number_of_blocks_makes_the_right_bytes),
        cmocka_unit_test(only_a_block_that_gets_smaller_is_compressed),
        cmocka_unit_test(stored_bytes_are_the_filtered_blocks),
        cmocka_unit_test(exactly_pictures_and_strips_of_one_are_packed),
        cmocka_unit_test(exactly_planes_and_strips_of_one_are_packed),
        cmocka_unit_test(lines_below_a_picture_are_one_image_of_that_height),
        cmocka_unit_test(the_bound_of_lz4_counts_the_entries_of_its_table),
        cmocka_unit_test(a_check_refuses_sizes_that_cannot_be),
        cmocka_unit_test(codings_are_known_and_suit_as_the_table_says),
        cmocka_unit_test(params_of_every_number_of_dimensions),
        cmocka_unit_test(only_bytes_of_one_or_three_channels_are_pictures),
    };
    return cmocka_run_group_tests_name("codec.payload", tests, NULL, NULL);
}
