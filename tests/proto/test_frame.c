/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "common/bytes.h"
#include "proto/frame.h"
#include "proto/wire.h"
#include "tests/guard.h"
#include "tests/proto/golden.h"
#include "tests/says.h"

enum { RAW = 6, FRAME = FBY_CHUNK_PREFIX + RAW };

/* PROTOCOL.md's worked example: two rows of a field of three bytes, stored. */
static struct fby_chunk example_chunk(const uint8_t *raw)
{
    return (struct fby_chunk){.session = {0x1122334455667788},
        .request                       = {300},
        .filter                        = FBY_FILTER_NONE,
        .codec                         = FBY_CODEC_STORE,
        .field                         = 0,
        .number                        = 0,
        .raw_offset                    = 0,
        .raw_bytes                     = RAW,
        .wire_bytes                    = RAW,
        .raw_hash                      = fby_xxh3_64(raw, RAW)};
}

static struct fby_raw_layout example_layout(void)
{
    struct fby_raw_layout layout = {.rows = 2, .n_fields = 1};
    layout.fields[0].type        = FBY_U8;
    layout.fields[0].shape       = (struct fby_shape){1, {3}};
    assert_ok(fby_layout_compute(&layout, NULL));
    return layout;
}

static void example_frame(uint8_t frame[FRAME])
{
    memcpy(frame + FBY_CHUNK_PREFIX, "\1\2\3\4\5\6", RAW);
    struct fby_chunk chunk = example_chunk(frame + FBY_CHUNK_PREFIX);
    fby_chunk_write_prefix(&chunk, frame + FBY_CHUNK_PREFIX, frame);
}

static void the_worked_example_is_golden(void **state)
{
    (void)state;
    uint8_t           frame[FRAME];
    struct fby_buffer b = {.data = frame, .size = FRAME, .capacity = FRAME};
    example_frame(frame);
    golden_equal("chunk", &b);
}

/* ---- pictures ------------------------------------------------------------ */

struct pictures { /* as in tests/model/check_photo.py */
    const char *name;
    uint32_t    rows, height, width, channels;
    bool        yuv420;
};
static const struct pictures golden_pictures[] = {
    {"chunk_photo", 2, 5, 20, 3, false},
    {"chunk_photo_grey", 1, 34, 258, 1, false},
    {"chunk_photo_yuv420", 1, 34, 258, 3, true},
};

static struct fby_raw_layout layout_of_pictures(const struct pictures *p)
{
    struct fby_raw_layout layout = {.rows = p->rows, .n_fields = 1};
    layout.fields[0].type        = FBY_U8;
    layout.fields[0].shape =
        (struct fby_shape){3, {p->height, p->width, p->channels}};
    layout.fields[0].yuv420 = p->yuv420;
    assert_ok(fby_layout_compute(&layout, NULL));
    return layout;
}

static uint8_t *planes_of(const struct pictures *p)
{
    size_t   n   = (size_t)layout_of_pictures(p).raw_bytes;
    uint8_t *raw = malloc(n);
    for (size_t i = 0; i < n; i++) {
        raw[i] = (uint8_t)(i / 7 + i % 3);
    }
    return raw;
}

static uint8_t *pixels_of(const struct pictures *p)
{
    if (p->yuv420) {
        return planes_of(p);
    }
    size_t   n      = (size_t)p->rows * p->height * p->width * p->channels;
    uint8_t *pixels = malloc(n);
    for (size_t i = 0; i < n; i++) {
        size_t x   = i / p->channels % p->width;
        size_t y   = i / p->channels / p->width % p->height;
        size_t row = i / p->channels / p->width / p->height;
        size_t c   = i % p->channels;
        pixels[i]  = (uint8_t)(9 * row + x / 2 + 3 * y + 40 * c + x * y % 3);
    }
    return pixels;
}

static struct fby_codec_job photo_job(const struct pictures *p)
{
    static struct fby_codec_scratch scratch;
    struct fby_raw_layout           layout = layout_of_pictures(p);
    const struct fby_raw_field     *field  = &layout.fields[0];
    return (struct fby_codec_job){.coding = {FBY_FILTER_PHOTO, FBY_CODEC_PACK},
        .params                           = fby_layout_codec_params(field),
        .scratch                          = &scratch};
}

static void golden_pictures_are_packed_to_the_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct pictures *p      = &golden_pictures[i];
        struct fby_raw_layout  layout = layout_of_pictures(p);
        struct fby_codec_job   job    = photo_job(p);
        uint8_t               *raw    = pixels_of(p);
        struct fby_chunk       chunk  = example_chunk(raw);
        size_t                 size   = 0;
        chunk.filter                  = FBY_FILTER_PHOTO;
        chunk.codec                   = FBY_CODEC_PACK;
        chunk.raw_bytes               = (uint32_t)layout.raw_bytes;
        chunk.raw_hash                = fby_xxh3_64(raw, chunk.raw_bytes);
        size_t   room  = fby_codec_encode_capacity(&job, chunk.raw_bytes);
        uint8_t *frame = malloc(FBY_CHUNK_PREFIX + room);
        assert_ok(
            fby_codec_encode(&job, (struct fby_bytes_in){raw, chunk.raw_bytes},
                (struct fby_bytes_out){frame + FBY_CHUNK_PREFIX, room}, &size));
        chunk.wire_bytes = (uint32_t)size;
        fby_chunk_write_prefix(&chunk, frame + FBY_CHUNK_PREFIX, frame);
        const struct fby_buffer made = {
            .data = frame, .size = FBY_CHUNK_PREFIX + size};
        golden_equal(p->name, &made);
        free(frame);
        free(raw);
    }
}

static void golden_pictures_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct pictures *p      = &golden_pictures[i];
        struct fby_raw_layout  layout = layout_of_pictures(p);
        struct fby_codec_job   job    = photo_job(p);
        struct fby_buffer      golden = {0};
        struct fby_chunk       chunk;
        golden_read(p->name, &golden);
        assert_ok(
            fby_chunk_read_prefix(golden.data, golden.size, &chunk, NULL));
        assert_true(fby_chunk_is_intact(golden.data, golden.size));
        assert_ok(fby_chunk_check_layout(&chunk, &layout, NULL));
        uint8_t            *right   = pixels_of(p);
        uint8_t            *raw     = malloc(chunk.raw_bytes);
        struct fby_bytes_in payload = {
            golden.data + FBY_CHUNK_PREFIX, chunk.wire_bytes};
        assert_ok(fby_codec_decode(&job, payload, raw, chunk.raw_bytes));
        assert_memory_equal(raw, right, chunk.raw_bytes);
        free(raw);
        free(right);
        fby_buffer_fini(&golden);
    }
}

static void a_photo_of_what_is_no_picture_is_refused(void **state)
{
    (void)state;
    uint8_t                 raw[RAW] = {0};
    struct fby_error_detail why      = {{0}};
    struct fby_raw_layout   layout   = example_layout();
    struct fby_chunk        chunk    = example_chunk(raw);
    chunk.filter                     = FBY_FILTER_PHOTO;
    chunk.codec                      = FBY_CODEC_PACK;
    assert_int_equal(fby_chunk_check_layout(&chunk, &layout, &why), FBY_PROTO);
    assert_non_null(strstr(why.text, "do not suit"));
}

static void a_golden_chunk_reads_back(void **state)
{
    (void)state;
    struct fby_buffer     golden = {0};
    struct fby_raw_layout layout = example_layout();
    struct fby_chunk      chunk;
    golden_read("chunk", &golden);
    assert_ok(fby_chunk_read_prefix(golden.data, golden.size, &chunk, NULL));
    assert_true(fby_chunk_is_intact(golden.data, golden.size));
    assert_ok(fby_chunk_check_layout(&chunk, &layout, NULL));
    struct fby_chunk wanted = example_chunk(golden.data + FBY_CHUNK_PREFIX);
    assert_int_equal(chunk.session.value, wanted.session.value);
    assert_int_equal(chunk.request.value, 300);
    assert_int_equal(chunk.raw_bytes, RAW);
    assert_true(chunk.raw_hash == wanted.raw_hash);
    fby_buffer_fini(&golden);
}

static void each_flipped_bit_is_noticed(void **state)
{
    (void)state;
    uint8_t frame[FRAME];
    for (size_t bit = 0; bit < 8 * (size_t)FRAME; bit++) {
        example_frame(frame);
        frame[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(fby_chunk_is_intact(frame, FRAME));
    }
}

static void refuses_byte(size_t at, uint8_t value, const char *word)
{
    uint8_t                 frame[FRAME];
    struct fby_chunk        chunk;
    struct fby_error_detail why = {{0}};
    example_frame(frame);
    frame[at] = value;
    assert_int_equal(
        fby_chunk_read_prefix(frame, FRAME, &chunk, &why), FBY_PROTO);
    assert_says(&why, word);
}

static void each_member_of_the_prefix_is_checked(void **state)
{
    (void)state;
    refuses_byte(0, 'G', "do not begin with a prefix");
    refuses_byte(4, 2, "do not begin with a prefix");
    refuses_byte(5, 5, "filter 5");
    refuses_byte(6, 3, "codec 3");
    refuses_byte(5, FBY_FILTER_PHOTO, "or cannot be combined");
    refuses_byte(6, FBY_CODEC_PACK, "or cannot be combined");
    refuses_byte(7, 1, "do not begin with a prefix");
    refuses_byte(26, 1, "do not begin with a prefix");
    refuses_byte(27, 1, "do not begin with a prefix");
    refuses_byte(39, 1, "raw bytes at");
    refuses_byte(40, 0, "0 raw bytes");
    refuses_byte(40, 7, "expected 7 to 7");
    refuses_byte(43, 3, "raw bytes at");
    refuses_byte(44, 5, "says 5 bytes of payload, but it has 6");
}

/* All bytes of all members differ. */
static struct fby_chunk full_chunk(void)
{
    return (struct fby_chunk){.session = {0xf1f2f3f4f5f6f7f8},
        .request                       = {0xe1e2e3e4e5e6e7e8},
        .filter                        = FBY_FILTER_DELTA,
        .codec                         = FBY_CODEC_LZ4,
        .field                         = 0xd1d2,
        .number                        = 0xc1c2c3c4,
        .raw_offset                    = 0x00000091929394,
        .raw_bytes                     = 0x01a2a3a4,
        .wire_bytes                    = 9,
        .raw_hash                      = 0x8182838485868788};
}

static void every_byte_of_the_prefix_has_its_place(void **state)
{
    (void)state;
    static const uint8_t wanted[56] = {'F', 'B', 'Y', 'C', 1, 1, 1, 0, 0xf8,
        0xf7, 0xf6, 0xf5, 0xf4, 0xf3, 0xf2, 0xf1, 0xe8, 0xe7, 0xe6, 0xe5, 0xe4,
        0xe3, 0xe2, 0xe1, 0xd2, 0xd1, 0, 0, 0xc4, 0xc3, 0xc2, 0xc1, 0x94, 0x93,
        0x92, 0x91, 0, 0, 0, 0, 0xa4, 0xa3, 0xa2, 0x01, 9, 0, 0, 0, 0x88, 0x87,
        0x86, 0x85, 0x84, 0x83, 0x82, 0x81};
    uint8_t              frame[FBY_CHUNK_PREFIX + 9];
    memset(frame, 0xa5, sizeof(frame));
    struct fby_chunk chunk = full_chunk();
    fby_chunk_write_prefix(&chunk, frame + FBY_CHUNK_PREFIX, frame);
    assert_memory_equal(frame, wanted, sizeof(wanted));
    struct fby_chunk read;
    memset(&read, 0x5a, sizeof(read));
    assert_ok(fby_chunk_read_prefix(frame, sizeof(frame), &read, NULL));
    assert_int_equal(read.session.value, chunk.session.value);
    assert_int_equal(read.request.value, chunk.request.value);
    assert_int_equal(read.filter, chunk.filter);
    assert_int_equal(read.codec, chunk.codec);
    assert_int_equal(read.field, chunk.field);
    assert_int_equal(read.number, chunk.number);
    assert_int_equal(read.raw_offset, chunk.raw_offset);
    assert_int_equal(read.raw_bytes, chunk.raw_bytes);
    assert_int_equal(read.wire_bytes, chunk.wire_bytes);
    assert_int_equal(read.raw_hash, chunk.raw_hash);
}

/* The error of reading `chunk`; "" if it is accepted. */
static const char *read_error(struct fby_chunk chunk)
{
    static struct fby_error_detail why;
    uint8_t                        frame[FBY_CHUNK_PREFIX + 16] = {0};
    struct fby_chunk               read = {.number = 77};
    why.text[0]                         = '\0';
    fby_chunk_write_prefix(&chunk, frame + FBY_CHUNK_PREFIX, frame);
    fby_err err = fby_chunk_read_prefix(
        frame, FBY_CHUNK_PREFIX + chunk.wire_bytes, &read, &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_PROTO);
    assert_int_equal(read.number, err == FBY_OK ? chunk.number : 77);
    return why.text;
}

static void sizes_of_a_chunk_are_bounded(void **state)
{
    (void)state;
    struct fby_chunk chunk = full_chunk();
    chunk.raw_bytes        = 32 << 20;
    assert_string_equal(read_error(chunk), "");
    chunk.raw_bytes++;
    assert_string_equal(read_error(chunk),
        "chunk: 33554433 raw bytes at 2442302356: expected 1 to 33554432 "
        "bytes, at 1099511627776 at most");
    chunk            = full_chunk();
    chunk.raw_offset = UINT64_C(1) << 40;
    assert_string_equal(read_error(chunk), "");
    chunk.raw_offset++;
    assert_non_null(strstr(read_error(chunk), "raw bytes at 1099511627777"));
    chunk            = full_chunk();
    chunk.wire_bytes = 0;
    assert_non_null(strstr(
        read_error(chunk), "chunk: 0 bytes of payload for 27435940 raw"));
    chunk.wire_bytes = 1;
    assert_string_equal(read_error(chunk), "");
}

static void a_frame_is_read_no_further_than_it_goes(void **state)
{
    (void)state;
    uint8_t          frame[FRAME];
    struct fby_chunk chunk;
    example_frame(frame);
    for (size_t size = 0; size <= FRAME; size++) {
        struct fby_guarded cut = fby_guarded_copy(frame, size);
        assert_int_equal(fby_chunk_read_prefix(cut.bytes, size, &chunk, NULL),
            size == FRAME ? FBY_OK : FBY_PROTO);
        assert_int_equal(fby_chunk_is_intact(cut.bytes, size), size == FRAME);
        fby_guarded_free(&cut);
    }
}

static void a_prefix_alone_is_intact_by_itself(void **state)
{
    (void)state;
    uint8_t          prefix[FBY_CHUNK_PREFIX];
    struct fby_chunk chunk = full_chunk();
    chunk.wire_bytes       = 0;
    fby_chunk_write_prefix(&chunk, NULL, prefix);
    assert_true(fby_chunk_is_intact(prefix, sizeof(prefix)));
}

static void ids_of_zero_are_refused(void **state)
{
    (void)state;
    for (size_t at = 8; at <= 16; at += 8) {
        uint8_t          frame[FRAME];
        struct fby_chunk chunk;
        example_frame(frame);
        struct fby_error_detail why = {{0}};
        memset(frame + at, 0, 8);
        assert_int_equal(
            fby_chunk_read_prefix(frame, FRAME, &chunk, &why), FBY_PROTO);
        assert_string_equal(why.text, "chunk: session or request is 0");
    }
}

static void a_payload_beyond_the_codecs_bound_is_refused(void **state)
{
    (void)state;
    uint8_t          frame[FBY_CHUNK_PREFIX + 11] = {0};
    struct fby_chunk chunk = example_chunk(frame + FBY_CHUNK_PREFIX);
    chunk.codec            = FBY_CODEC_LZ4;
    for (uint32_t bytes = 1; bytes <= 11; bytes++) {
        chunk.wire_bytes = bytes;
        fby_chunk_write_prefix(&chunk, frame + FBY_CHUNK_PREFIX, frame);
        fby_err err = fby_chunk_read_prefix(
            frame, FBY_CHUNK_PREFIX + bytes, &chunk, NULL);
        assert_int_equal(err, bytes <= 10 ? FBY_OK : FBY_PROTO);
    }
    chunk.filter = FBY_FILTER_PHOTO;
    chunk.codec  = FBY_CODEC_PACK;
    for (uint32_t bytes = 1; bytes <= 11; bytes++) { /* at most the raw 6 */
        chunk.wire_bytes = bytes;
        fby_chunk_write_prefix(&chunk, frame + FBY_CHUNK_PREFIX, frame);
        struct fby_chunk read;
        fby_err          err =
            fby_chunk_read_prefix(frame, FBY_CHUNK_PREFIX + bytes, &read, NULL);
        assert_int_equal(err, bytes <= RAW ? FBY_OK : FBY_PROTO);
    }
}

/* The error of matching `chunk` with `layout`; "" if it belongs there. */
static const char *check_error(
    const struct fby_raw_layout *layout, struct fby_chunk chunk)
{
    static struct fby_error_detail why;
    why.text[0] = '\0';
    fby_err err = fby_chunk_check_layout(&chunk, layout, &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_PROTO);
    return why.text;
}

static void a_chunk_that_the_layout_lacks_is_refused(void **state)
{
    (void)state;
    uint8_t                raw[RAW] = {0};
    struct fby_raw_layout  layout   = example_layout();
    const struct fby_chunk right    = example_chunk(raw);
    struct fby_chunk       chunk    = right;
    assert_string_equal(check_error(&layout, chunk), "");
    chunk.field = 1;
    assert_string_equal(
        check_error(&layout, chunk), "chunk 0 of field 1: not in this batch");
    chunk.field = UINT16_MAX;
    assert_string_equal(check_error(&layout, chunk),
        "chunk 0 of field 65535: not in this batch");
    chunk        = right;
    chunk.number = 1;
    assert_string_equal(
        check_error(&layout, chunk), "chunk 1 of field 0: not in this batch");
    chunk            = right;
    chunk.raw_offset = 1;
    assert_string_equal(check_error(&layout, chunk),
        "chunk 0 of field 0: 6 bytes at 1: expected 6 at 0");
    chunk           = right;
    chunk.raw_bytes = 5;
    assert_string_equal(check_error(&layout, chunk),
        "chunk 0 of field 0: 5 bytes at 0: expected 6 at 0");
    chunk.raw_bytes = 7;
    assert_string_equal(check_error(&layout, chunk),
        "chunk 0 of field 0: 7 bytes at 0: expected 6 at 0");
}

static void a_field_behind_the_last_one_is_none(void **state)
{
    (void)state;
    struct fby_guarded room =
        fby_guarded_copy(NULL, sizeof(struct fby_raw_layout));
    struct fby_raw_layout *layout = (void *)room.bytes;
    layout->rows                  = 1;
    layout->n_fields              = FBY_MAX_FIELDS;
    for (uint32_t i = 0; i < FBY_MAX_FIELDS; i++) {
        layout->fields[i].type = FBY_U8;
    }
    assert_ok(fby_layout_compute(layout, NULL));
    struct fby_chunk chunk = {.field = FBY_MAX_FIELDS - 1, .raw_bytes = 1};
    assert_string_equal(check_error(layout, chunk), "");
    chunk.field = FBY_MAX_FIELDS;
    assert_string_equal(
        check_error(layout, chunk), "chunk 0 of field 32: not in this batch");
    fby_guarded_free(&room);
}

static void each_chunk_of_a_batch_is_one_of_it(void **state)
{
    (void)state;
    struct fby_raw_layout layout = {.rows = 5, .n_fields = 2};
    layout.fields[0].type        = FBY_U8;
    layout.fields[0].shape       = (struct fby_shape){1, {1 << 20}};
    layout.fields[1].type        = FBY_I64;
    assert_ok(fby_layout_compute(&layout, NULL));
    struct fby_chunk chunk = {.codec = FBY_CODEC_STORE};
    for (uint32_t i = 0; i < 3; i++) {
        chunk.number     = i;
        chunk.raw_offset = (uint64_t)i << 21;
        chunk.raw_bytes  = i < 2 ? 2 << 20 : 1 << 20;
        assert_string_equal(check_error(&layout, chunk), "");
    }
    chunk = (struct fby_chunk){.field = 1, .raw_bytes = 40};
    assert_string_equal(check_error(&layout, chunk), "");
}

/* Lengths of u16 and room for 300 bytes, three times. */
static fby_err check_rows_that_vary(
    uint32_t raw_bytes, struct fby_error_detail *why)
{
    struct fby_raw_layout layout = {.rows = 3, .n_fields = 1};
    struct fby_chunk      chunk  = {.codec = FBY_CODEC_STORE};
    layout.fields[0]             = (struct fby_raw_field){
                    .type       = FBY_U8,
                    .shape      = {1, {300}},
                    .form       = FBY_FORM_RAGGED,
                    .max_length = 300,
    };
    chunk.raw_bytes  = raw_bytes;
    chunk.wire_bytes = raw_bytes;
    assert_ok(fby_layout_compute(&layout, NULL));
    return fby_chunk_check_layout(&chunk, &layout, why);
}

static void rows_that_vary_have_their_lengths_and_at_most_their_room(
    void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    assert_ok(check_rows_that_vary(16, &why));
    assert_ok(check_rows_that_vary(19, &why));
    assert_ok(check_rows_that_vary(16 + 912, &why));
    assert_int_equal(check_rows_that_vary(15, &why), FBY_PROTO);
    assert_int_equal(check_rows_that_vary(16 + 913, &why), FBY_PROTO);
    assert_string_equal(why.text,
        "chunk 0 of field 0: 929 bytes at 0: expected at most 928 at 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_example_is_golden),
        cmocka_unit_test(golden_pictures_are_packed_to_the_same_bytes),
        cmocka_unit_test(golden_pictures_read_back),
        cmocka_unit_test(a_photo_of_what_is_no_picture_is_refused),
        cmocka_unit_test(a_golden_chunk_reads_back),
        cmocka_unit_test(each_flipped_bit_is_noticed),
        cmocka_unit_test(each_member_of_the_prefix_is_checked),
        cmocka_unit_test(every_byte_of_the_prefix_has_its_place),
        cmocka_unit_test(sizes_of_a_chunk_are_bounded),
        cmocka_unit_test(a_frame_is_read_no_further_than_it_goes),
        cmocka_unit_test(a_prefix_alone_is_intact_by_itself),
        cmocka_unit_test(ids_of_zero_are_refused),
        cmocka_unit_test(a_payload_beyond_the_codecs_bound_is_refused),
        cmocka_unit_test(a_chunk_that_the_layout_lacks_is_refused),
        cmocka_unit_test(a_field_behind_the_last_one_is_none),
        cmocka_unit_test(each_chunk_of_a_batch_is_one_of_it),
        cmocka_unit_test(
            rows_that_vary_have_their_lengths_and_at_most_their_room),
    };
    return cmocka_run_group_tests_name("proto.frame", tests, NULL, NULL);
}
