/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/codec/photo_sample.h"

#include "codec/photo_kernel.h"

/* Assert that planes and interleaved image have the same `n` pixels. */
static void same_pixels(
    const uint8_t *planar, const uint8_t *raw, size_t n, uint32_t planes)
{
    for (size_t i = 0; i < n; i++) {
        for (uint32_t p = 0; p < planes; p++) {
            assert_int_equal(planar[p * n + i], raw[i * planes + p]);
        }
    }
}

static void decodes_to_planes_at(const struct sample *s, uint8_t *planar)
{
    const struct fby_pictures *photo  = &s->photo;
    size_t                     pixels = (size_t)photo->width * photo->height;
    assert_true(fby_photo_decode_planar(
        photo, s->payload.bytes, s->payload.size, planar, scratch()));
    for (uint32_t i = 0; i < photo->images; i++) {
        size_t at = i * pixels * photo->planes;
        same_pixels(planar + at, s->raw + at, pixels, photo->planes);
    }
}

/* Decode with streaming stores; no byte after the pixels may be written. */
static void streams_to(const struct sample *s, uint8_t *raw)
{
    memset(raw, 0x5a, s->raw_size + 1);
    fby_photo_stream_valid(
        &s->photo, s->payload.bytes, s->payload.size, raw, scratch());
    assert_memory_equal(raw, s->raw, s->raw_size);
    assert_int_equal(raw[s->raw_size], 0x5a);
}

/* Decode to the beginning and to the middle of a cache line, and to one byte
 * after its beginning. */
static void decodes_to_any_address(const struct sample *s)
{
    static const size_t shifts[] = {0, 32, 1};
    for (size_t i = 0; i < sizeof(shifts) / sizeof(*shifts); i++) {
        void  *memory = NULL;
        size_t size   = shifts[i] + s->raw_size + 1;
        assert_int_equal(posix_memalign(&memory, 64, size), 0);
        uint8_t *raw = (uint8_t *)memory + shifts[i];
        streams_to(s, raw);
        if (!s->photo.yuv420) {
            decodes_to_planes_at(s, raw);
        }
        free(memory);
    }
}

static void survives(struct fby_pictures photo, enum content content)
{
    struct sample      s    = encoded(photo, content);
    struct fby_guarded back = fby_guarded_copy(NULL, s.raw_size);
    assert_true(fby_photo_is_valid(&photo, s.payload.bytes, s.payload.size));
    assert_true(decodes(&s, back.bytes));
    assert_memory_equal(back.bytes, s.raw, s.raw_size);
    decodes_to_any_address(&s);
    fby_guarded_free(&back);
    free_sample(&s);
}

static void every_size_and_content_survives(void **state)
{
    (void)state;
    static const uint32_t widths[] = {
        1, 2, 7, 8, 9, 16, 31, 32, 33, 63, 224, 255, 256, 257, 288, 513};
    static const uint32_t heights[] = {1, 2, 3, 31, 32, 33, 65};
    for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++) {
        for (size_t h = 0; h < sizeof(heights) / sizeof(*heights); h++) {
            uint32_t planes = (w + h) % 3 == 0 ? 1 : 3;
            for (int content = 0; content < N_CONTENTS; content++) {
                struct fby_pictures photo = {
                    1 + (w + h) % 2, widths[w], heights[h], planes, false};
                survives(photo, (enum content)content);
                photo.planes = 3;
                photo.yuv420 = true;
                survives(photo, (enum content)content);
            }
        }
    }
}

/* ---- bytes --------------------------------------------------------------- */

static void one_grey_pixel_is_one_group(void **state)
{
    (void)state;
    struct fby_pictures photo = {1, 1, 1, 1, false};
    uint8_t             out[128];
    uint8_t             raw[1] = {3}; /* residue 3, folded 6: three bits */
    assert_in_range(fby_photo_encode_capacity(&photo), 48, sizeof(out));
    size_t               size = fby_photo_encode(&photo, raw, out, scratch());
    static const uint8_t right[32] = {1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 0, 0};
    assert_int_equal(size, sizeof(right));
    assert_memory_equal(out, right, sizeof(right));
}

/* The picture of PROTOCOL.md, "Photo format 1". */
static void planes_of_yuv420_have_their_own_groups(void **state)
{
    (void)state;
    static const uint8_t raw[] = {3, 4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8, 9, 10, 4,
        5, 6, 7, 8, 9, 11, /* Y */
        3, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1};
    static const uint8_t right[] = {1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0,                                                          /* table */
        0x23, 0, 0, 0, 0x96, 0x24, 0x09, 0x02, 0, 0, 0, 0x20, 0, 0, /* Y */
        0x03, 0, 0, 0, 0x06, 0, 0, 0, 0, 0,                         /* Cb */
        0x02, 0, 0, 0, 0x02, 0, 0, 0};                              /* Cr */
    struct fby_pictures  photo   = {1, 7, 3, 3, true};
    uint8_t              out[256] = {0};
    uint8_t              back[sizeof(raw)];
    assert_in_range(
        fby_photo_encode_capacity(&photo), sizeof(right), sizeof(out));
    size_t size = fby_photo_encode(&photo, raw, out, scratch());
    assert_true(fby_photo_decode(&photo, out, size, back, scratch()));
    assert_memory_equal(back, raw, sizeof(raw));
    assert_int_equal(size, sizeof(right));
    assert_memory_equal(out, right, sizeof(right));
}

static void an_even_picture_nearly_vanishes(void **state)
{
    (void)state;
    struct sample s =
        encoded((struct fby_pictures){2, 224, 224, 3, false}, EVEN);
    assert_in_range(s.payload.size, 1, s.raw_size / 25);
    free_sample(&s);
}

static void noise_costs_only_widths_and_table(void **state)
{
    (void)state;
    struct sample s =
        encoded((struct fby_pictures){4, 224, 224, 3, false}, NOISE);
    assert_in_range(s.payload.size, s.raw_size, s.raw_size + s.raw_size / 30);
    free_sample(&s);
}

/* ---- kernels ------------------------------------------------------------- */

static void fill_plane(
    struct photo_plane *plane, struct photo_size size, enum content content)
{
    uint32_t state = size.width;
    memset(plane, 0, sizeof(*plane));
    for (uint32_t y = 0; y < (size.height + 1) / 2 * 2; y++) {
        uint8_t *row = photo_row(plane, y);
        for (uint32_t x = 0; x < size.width; x++) {
            row[x] = y < size.height ? value(content, x, &state)
                                     : row[(ptrdiff_t)x - PHOTO_STRIDE];
        }
        memset(row + size.width, row[size.width - 1],
            (size.width + 31) / 32 * 32 - size.width);
    }
}

static void same_rows(
    struct photo_plane *a, struct photo_plane *b, struct photo_size size)
{
    for (uint32_t y = 0; y < size.height; y++) {
        assert_memory_equal(photo_row(a, y), photo_row(b, y), size.width);
    }
}

static void planes_pack_alike(const struct photo_kernel *kernel,
    struct photo_size size, enum content content)
{
    enum { MOST = PHOTO_MAX_GROUPS / 2 + PHOTO_MAX_GROUPS * PHOTO_GROUP_MAX };
    static struct photo_plane plane;
    static struct photo_plane first;
    static struct photo_plane second;
    static uint8_t            right[MOST + PHOTO_OVERRUN];
    static uint8_t            out[MOST + PHOTO_OVERRUN];
    fill_plane(&plane, size, content);
    size_t n = photo_portable.pack(size, &plane, right);
    assert_int_equal(kernel->pack(size, &plane, out), n);
    assert_memory_equal(out, right, n);
    assert_int_equal(kernel->measure(out, photo_groups(size)), n);
    assert_int_equal(photo_portable.unpack(size, right, &first), n);
    assert_int_equal(kernel->unpack(size, right, &second), n);
    same_rows(&first, &plane, size);
    same_rows(&second, &plane, size);
}

/* Reads and writes exactly `width` pixels; a guard page follows them. */
static void rows_split_alike(const struct photo_kernel *kernel, uint32_t width)
{
    static uint8_t     rows[6][256];
    size_t             size   = 3 * (size_t)width;
    struct fby_guarded pixels = fby_guarded_copy(NULL, size);
    struct fby_guarded back   = fby_guarded_copy(NULL, size);
    uint32_t           state  = width;
    for (uint32_t i = 0; i < size; i++) {
        pixels.bytes[i] = (uint8_t)next(&state);
    }
    uint8_t *const right[3] = {rows[0], rows[1], rows[2]};
    uint8_t *const out[3]   = {rows[3], rows[4], rows[5]};
    photo_portable.split(pixels.bytes, width, right);
    kernel->split(pixels.bytes, width, out);
    for (int p = 0; p < 3; p++) {
        assert_memory_equal(out[p], right[p], width);
    }
    kernel->join(right, width, back.bytes);
    assert_memory_equal(back.bytes, pixels.bytes, size);
    kernel->join_planar(right, width, back.bytes, width);
    kernel->fence();
    same_pixels(back.bytes, pixels.bytes, width, 3);
    fby_guarded_free(&pixels);
    fby_guarded_free(&back);
}

/* Rows of random bytes of a tile's width, each before a guard page. */
static void fill_rows(struct fby_guarded rows[3])
{
    uint32_t state = 1;
    for (int p = 0; p < 3; p++) {
        rows[p] = fby_guarded_copy(NULL, FBY_PHOTO_TILE_W);
        for (uint32_t x = 0; x < FBY_PHOTO_TILE_W; x++) {
            rows[p].bytes[x] = (uint8_t)next(&state);
        }
    }
}

/* Pixels are streamed to both halves of a cache line. Nothing after a row is
 * read, and nothing after the pixels is written. */
static void rows_stream_alike(const struct photo_kernel *kernel, uint32_t width)
{
    uint8_t            right[3 * FBY_PHOTO_TILE_W];
    size_t             size = 3 * (size_t)width;
    struct fby_guarded back = fby_guarded_copy(NULL, size + PHOTO_STREAM_ALIGN);
    struct fby_guarded rows[3];
    fill_rows(rows);
    uint8_t *const row[3] = {rows[0].bytes, rows[1].bytes, rows[2].bytes};
    photo_portable.join(row, width, right);
    for (size_t at = 0; at <= PHOTO_STREAM_ALIGN; at += PHOTO_STREAM_ALIGN) {
        kernel->join_streaming(row, width, back.bytes + at);
        kernel->fence();
        assert_memory_equal(back.bytes + at, right, size);
        kernel->join_planar(row, width, back.bytes + at, width);
        kernel->fence();
        same_pixels(back.bytes + at, right, width, 3);
    }
    for (int p = 0; p < 3; p++) {
        fby_guarded_free(&rows[p]);
    }
    fby_guarded_free(&back);
}

static void every_kernel_makes_the_portable_ones_bytes(void **state)
{
    (void)state;
    const struct photo_kernel *kernel = photo_kernel_of(fby_simd_level());
    for (uint32_t width = 1; width <= FBY_PHOTO_TILE_W; width++) {
        for (int content = 0; content < N_CONTENTS; content++) {
            struct photo_size size = {width, width % 32 + 1};
            planes_pack_alike(kernel, size, (enum content)content);
        }
        rows_split_alike(kernel, width);
        if (width % PHOTO_STREAM_ALIGN == 0) {
            rows_stream_alike(kernel, width);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_and_content_survives),
        cmocka_unit_test(one_grey_pixel_is_one_group),
        cmocka_unit_test(planes_of_yuv420_have_their_own_groups),
        cmocka_unit_test(an_even_picture_nearly_vanishes),
        cmocka_unit_test(noise_costs_only_widths_and_table),
        cmocka_unit_test(every_kernel_makes_the_portable_ones_bytes),
    };
    return cmocka_run_group_tests_name("codec.photo", tests, NULL, NULL);
}
