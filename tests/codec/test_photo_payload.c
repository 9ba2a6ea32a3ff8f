/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of photo format 1 at their limits: the largest ones and invalid
 * ones. An inaccessible page follows each. */
#include "tests/codec/photo_sample.h"

#include "codec/photo_kernel.h"
#include "common/bytes.h"

enum { TABLE_2 = 16 /* bytes of the table of one to three tiles */ };

/* A picture in which every group takes 8 bits a number: each pixel of an even
 * row and column is 128 above its prediction. */
static uint8_t worst(uint32_t x, uint32_t y)
{
    return x % 2 == 0 && y % 2 == 0 ? 128 : 0;
}

static void paint_worst(const struct fby_pictures *photo, uint8_t *raw)
{
    size_t pixels = (size_t)photo->images * photo->width * photo->height;
    for (size_t i = 0; i < pixels; i++) {
        uint32_t x     = (uint32_t)(i % photo->width);
        uint32_t y     = (uint32_t)(i / photo->width % photo->height);
        uint8_t  green = worst(x, y);
        if (photo->planes == 1) {
            raw[i] = green;
        } else { /* so that red - green and blue - green are as bad */
            raw[3 * i]     = 0;
            raw[3 * i + 1] = green;
            raw[3 * i + 2] = 0;
        }
    }
}

static void paint_plane(uint8_t *raw, uint32_t width, uint32_t height)
{
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            raw[(size_t)y * width + x] = worst(x, y);
        }
    }
}

static void paint_worst_yuv(const struct fby_pictures *photo, uint8_t *raw)
{
    size_t image = (size_t)fby_yuv_bytes(photo->width, photo->height);
    for (uint32_t i = 0; i < photo->images; i++) {
        for (uint32_t y = 0; y < photo->height; y += FBY_YUV_LINES) {
            struct fby_yuv_strip strip =
                fby_yuv_strip_at(photo->width, photo->height, y);
            uint8_t *at = raw + i * image;
            uint32_t w  = fby_yuv_chroma_dim(photo->width);
            uint32_t h  = fby_yuv_chroma_dim(strip.lines);
            paint_plane(at + strip.at[0], photo->width, strip.lines);
            paint_plane(at + strip.at[1], w, h);
            paint_plane(at + strip.at[2], w, h);
        }
    }
}

static void takes_all_but_the_overrun(struct fby_pictures photo)
{
    uint8_t *raw = malloc(raw_bytes(&photo));
    if (photo.yuv420) {
        paint_worst_yuv(&photo, raw);
    } else {
        paint_worst(&photo, raw);
    }
    struct fby_guarded payload = payload_of(&photo, raw);
    assert_int_equal(
        payload.size + PHOTO_OVERRUN, fby_photo_encode_capacity(&photo));
    fby_guarded_free(&payload);
    free(raw);
}

static void the_bound_is_what_the_worst_picture_takes(void **state)
{
    (void)state;
    static const uint32_t widths[]  = {1, 8, 9, 200, 256, 257, 512, 600};
    static const uint32_t heights[] = {1, 2, 3, 31, 32, 33, 64, 70};
    for (size_t i = 0; i < 64; i++) {
        struct fby_pictures photo = {
            1 + (uint32_t)i % 3, widths[i / 8], heights[i % 8], 1, false};
        takes_all_but_the_overrun(photo);
        photo.planes = 3;
        takes_all_but_the_overrun(photo);
        photo.yuv420 = true;
        takes_all_but_the_overrun(photo);
    }
}

/* ---- tables -------------------------------------------------------------- */

/* Write entry `i` of the table. */
static void set_entry(struct sample *s, size_t i, size_t at)
{
    fby_store_le(s->payload.bytes + 4 * i, at, 4);
}

static size_t table_entry(const struct sample *s, size_t i)
{
    struct fby_reader reader = fby_reader(s->payload.bytes + 4 * i, 4);
    return fby_read_u32(&reader);
}

/* The same with another size, cut or with zeros at the end. */
static struct sample resized(const struct sample *s, size_t size)
{
    struct sample other = *s;
    size_t        kept  = size < s->payload.size ? size : s->payload.size;
    other.payload       = fby_guarded_copy(NULL, size);
    memcpy(other.payload.bytes, s->payload.bytes, kept);
    return other;
}

static void refused_at(const struct sample *s, size_t size)
{
    struct sample other = resized(s, size);
    assert_refused(&other);
    fby_guarded_free(&other.payload);
}

/* The table has one entry more than tiles, in whole units of 16 bytes. */
static void tables_have_an_entry_for_each_tile(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 31, 32, 33, 64, 255, 256, 257, 512};
    for (size_t i = 0; i < 81; i++) {
        uint32_t      w = sides[i / 9];
        uint32_t      h = sides[i % 9];
        struct sample s =
            encoded((struct fby_pictures){3, w, h, 1, false}, EVEN);
        size_t tiles = (size_t)3 * ((w + 255) / 256) * ((h + 31) / 32);
        assert_int_equal(table_entry(&s, 0), (4 * (tiles + 1) + 15) / 16);
        assert_int_equal(16 * table_entry(&s, tiles), s.payload.size);
        for (size_t k = 0; k < tiles; k++) {
            assert_in_range(table_entry(&s, k + 1), table_entry(&s, k) + 1,
                table_entry(&s, tiles));
        }
        free_sample(&s);
    }
}

static void a_short_payload_is_refused(void **state)
{
    (void)state;
    struct sample s =
        encoded((struct fby_pictures){1, 300, 40, 3, false}, SMOOTH);
    for (size_t size = s.payload.size; size-- > 0;) {
        refused_at(&s, size);
        size -= size % 16 == 0 && size > 0 ? 7 : 0;
    }
    free_sample(&s);
}

static void a_long_payload_is_refused(void **state)
{
    (void)state;
    struct sample s =
        encoded((struct fby_pictures){1, 300, 40, 3, false}, SMOOTH);
    for (size_t more = 1; more <= 64; more++) {
        refused_at(&s, s.payload.size + more);
    }
    free_sample(&s);
}

static void a_wrong_table_is_refused(void **state)
{
    (void)state;
    for (size_t entry = 0; entry < 3; entry++) {
        for (int bit = 0; bit < 32; bit++) {
            struct sample s =
                encoded((struct fby_pictures){1, 300, 8, 3, false}, SMOOTH);
            s.payload.bytes[4 * entry + (size_t)bit / 8] ^=
                (uint8_t)(1 << bit % 8);
            assert_refused(&s);
            free_sample(&s);
        }
    }
}

/* Two tiles, with the payload cut and the table's last entry at the cut: no
 * byte behind the end is read, for any entry in between. */
static void a_table_that_agrees_with_a_cut_is_refused_unread(void **state)
{
    (void)state;
    struct sample s =
        encoded((struct fby_pictures){1, 300, 32, 3, false}, NOISE);
    const size_t middle[] = {0, 1, 2, table_entry(&s, 1) - 1,
        table_entry(&s, 1), table_entry(&s, 1) + 1, table_entry(&s, 2),
        table_entry(&s, 2) + 1, UINT32_MAX};
    for (size_t end = 1; end < table_entry(&s, 2); end += 1 + end / 40) {
        struct sample cut = resized(&s, 16 * end);
        set_entry(&cut, 2, end);
        for (size_t i = 0; i < sizeof(middle) / sizeof(*middle); i++) {
            set_entry(&cut, 1, middle[i]);
            assert_refused(&cut);
        }
        set_entry(&cut, 1, end);
        assert_refused(&cut);
        fby_guarded_free(&cut.payload);
    }
    free_sample(&s);
}

/* The payload has only the first of two tiles and ends with it. */
static void a_tile_that_ends_before_it_begins_is_refused_unread(void **state)
{
    (void)state;
    struct sample s =
        encoded((struct fby_pictures){1, 520, 32, 3, false}, SMOOTH);
    size_t        end = table_entry(&s, 1);
    struct sample cut = resized(&s, 16 * end);
    set_entry(&cut, 3, end);
    for (size_t middle = 0; middle <= end; middle++) {
        set_entry(&cut, 2, middle);
        assert_refused(&cut);
    }
    fby_guarded_free(&cut.payload);
    free_sample(&s);
}

/* ---- tiles --------------------------------------------------------------- */

/* All 0: 32 groups are 16 bytes of widths and nothing else. */
static struct sample widths_alone(void)
{
    struct sample s = {.photo = {1, 64, 8, 1, false}, .raw_size = 512};
    s.raw           = calloc(1, s.raw_size);
    s.payload       = payload_of(&s.photo, s.raw);
    assert_int_equal(s.payload.size, TABLE_2 + 16);
    return s;
}

static void a_tile_that_ends_with_its_last_plane_is_one(void **state)
{
    (void)state;
    struct sample s = widths_alone();
    uint8_t       back[64 * 8];
    memset(back, 0xa5, sizeof(back));
    assert_true(fby_photo_is_valid(&s.photo, s.payload.bytes, s.payload.size));
    assert_true(decodes(&s, back));
    assert_memory_equal(back, s.raw, sizeof(back));
    free_sample(&s);
}

static void a_tile_with_sixteen_bytes_too_many_is_refused(void **state)
{
    (void)state;
    struct sample s = widths_alone();
    for (size_t more = 1; more <= 4; more++) {
        struct sample longer = resized(&s, TABLE_2 + 16 + 16 * more);
        set_entry(&longer, 1, 2 + more);
        assert_refused(&longer);
        fby_guarded_free(&longer.payload);
    }
    free_sample(&s);
}

/* The padding of a tile may have any value: it is not read. */
static void up_to_fifteen_bytes_may_follow_the_planes(void **state)
{
    (void)state;
    struct fby_pictures photo = {1, 1, 1, 1, false};
    struct sample       s     = encoded(photo, EVEN);
    uint8_t             pixel = 0;
    assert_int_equal(s.payload.size, TABLE_2 + 16);
    for (unsigned bits = 0; bits <= 8; bits++) { /* 4 + 2 * bits, then pads */
        s.payload.bytes[TABLE_2] = (uint8_t)bits;
        bool fits                = 4 + 2 * bits <= 16;
        assert_int_equal(
            fby_photo_is_valid(&photo, s.payload.bytes, s.payload.size), fits);
        assert_int_equal(decodes(&s, &pixel), fits);
    }
    free_sample(&s);
}

static void a_tile_of_another_size_is_refused(void **state)
{
    (void)state;
    struct sample s =
        encoded((struct fby_pictures){1, 64, 8, 3, false}, SMOOTH);
    s.payload.bytes[16] ^= 1; /* a group one bit wider or narrower */
    struct sample longer = resized(&s, s.payload.size + 16);
    longer.payload.bytes[4]++; /* the table agrees, the widths do not */
    assert_refused(&longer);
    fby_guarded_free(&longer.payload);
    free_sample(&s);
}

static void a_width_above_eight_is_refused(void **state)
{
    (void)state;
    for (size_t group = 0; group < 5; group++) {
        for (unsigned width = 9; width <= 15; width++) {
            struct sample s =
                encoded((struct fby_pictures){1, 40, 2, 1, false}, EVEN);
            uint8_t *pair  = &s.payload.bytes[16 + group / 2];
            unsigned shift = 4 * (group % 2);
            *pair = (uint8_t)((*pair & ~(15U << shift)) | width << shift);
            assert_refused(&s);
            free_sample(&s);
        }
    }
}

/* One group per plane; the last plane has data or none. */
static void a_width_above_eight_in_any_plane_is_refused(void **state)
{
    (void)state;
    for (int content = EVEN; content <= NOISE; content++) {
        for (size_t plane = 0; plane < 3; plane++) {
            for (unsigned width = 9; width <= 15; width++) {
                struct sample s =
                    encoded((struct fby_pictures){1, 8, 2, 3, false},
                        (enum content)content);
                size_t at = TABLE_2;
                for (size_t p = 0; p < plane; p++) {
                    at += 4 + 2 * (size_t)(s.payload.bytes[at] & 15);
                }
                s.payload.bytes[at] = (uint8_t)width;
                assert_refused(&s);
                free_sample(&s);
            }
        }
    }
}

/* The widths of a plane reach to the payload's end or beyond: the next plane is
 * not read. */
static void planes_beyond_the_end_are_refused_unread(void **state)
{
    (void)state;
    for (size_t groups = 1; groups <= 512; groups += 1 + groups / 8) {
        struct fby_pictures photo = {1,
            (uint32_t)(groups < 32 ? 8 * groups : 256),
            (uint32_t)(groups < 32 ? 2 : groups / 32 * 2), 3, false};
        struct sample       s     = encoded(photo, EVEN);
        memset(s.payload.bytes + TABLE_2, 0x88, s.payload.size - TABLE_2);
        assert_refused(&s);
        free_sample(&s);
    }
}

/* ---- measuring ----------------------------------------------------------- */

static void measures(const struct photo_kernel *kernel, const uint8_t *widths,
    uint32_t groups, size_t right)
{
    struct fby_guarded in =
        fby_guarded_copy(widths, photo_bit_widths_bytes(groups));
    if (kernel->measure(in.bytes, groups) != right) {
        fail_msg("%u groups", groups);
    }
    fby_guarded_free(&in);
}

/* Random widths of `groups` groups; nibbles of padding hold 15. */
static size_t random_widths(uint32_t *state, uint32_t groups, uint8_t *widths)
{
    size_t sum = photo_bit_widths_bytes(groups);
    memset(widths, 0xff, sum);
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t bits  = next(state) % 9;
        unsigned shift = 4 * (g % 2);
        widths[g / 2] =
            (uint8_t)((widths[g / 2] & ~(15U << shift)) | bits << shift);
        sum += 2 * (size_t)bits;
    }
    return sum;
}

static void every_kernel_measures_any_number_of_groups(void **unused)
{
    (void)unused;
    uint32_t state = 1;
    for (unsigned level = 0; level <= fby_simd_level(); level++) {
        const struct photo_kernel *kernel = photo_kernel_of(level);
        for (uint32_t groups = 1; groups <= PHOTO_MAX_GROUPS; groups++) {
            uint8_t  widths[PHOTO_MAX_GROUPS / 2];
            size_t   right = random_widths(&state, groups, widths);
            uint32_t bad   = next(&state) % groups;
            measures(kernel, widths, groups, right);
            unsigned shift  = 4 * (bad % 2);
            widths[bad / 2] = (uint8_t)((widths[bad / 2] & ~(15U << shift)) |
                                        (9 + bad % 7) << shift);
            measures(kernel, widths, groups, SIZE_MAX);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_what_the_worst_picture_takes),
        cmocka_unit_test(tables_have_an_entry_for_each_tile),
        cmocka_unit_test(a_short_payload_is_refused),
        cmocka_unit_test(a_long_payload_is_refused),
        cmocka_unit_test(a_wrong_table_is_refused),
        cmocka_unit_test(a_table_that_agrees_with_a_cut_is_refused_unread),
        cmocka_unit_test(a_tile_that_ends_before_it_begins_is_refused_unread),
        cmocka_unit_test(a_tile_that_ends_with_its_last_plane_is_one),
        cmocka_unit_test(a_tile_with_sixteen_bytes_too_many_is_refused),
        cmocka_unit_test(up_to_fifteen_bytes_may_follow_the_planes),
        cmocka_unit_test(a_tile_of_another_size_is_refused),
        cmocka_unit_test(a_width_above_eight_is_refused),
        cmocka_unit_test(a_width_above_eight_in_any_plane_is_refused),
        cmocka_unit_test(planes_beyond_the_end_are_refused_unread),
        cmocka_unit_test(every_kernel_measures_any_number_of_groups),
    };
    return cmocka_run_group_tests_name(
        "codec.photo_payload", tests, NULL, NULL);
}
