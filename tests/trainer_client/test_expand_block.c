/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's decomposition gives what the host device gives: of random
 * pictures and arrays, packed or not, whole or in parts. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/photo.h"
#include "common/yuv420.h"
#include "pipeline/derived.h"
#include "tests/trainer_client/kernel_run.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/expand/documents.h"
#include "trainer_client/expand/segments.h"

enum { GUARD = 64, PIECES = 1024 };

/* How often a test repeats what it draws. With real threads (kernel_threads.c)
 * less often: ThreadSanitizer makes all launches slow, and without it
 * test_expand_block runs them. */
static uint32_t repeats(uint32_t n)
{
#ifdef FBY_TEST_FEWER
    n = n < 10 ? 1 : n / 10;
#endif
    return n;
}

static uint64_t seed_now = 1;

static uint32_t draw(uint32_t n)
{
    seed_now = seed_now * UINT64_C(6364136223846793005) + 1;
    return n > 1 ? (uint32_t)((seed_now >> 33) % n) : 0;
}

/* Noise of `bits` bits on a slope: packs to groups of about that width. */
static void fill(uint8_t *raw, uint64_t n, uint32_t bits)
{
    for (uint64_t i = 0; i < n; i++) {
        raw[i] = (uint8_t)(i / 97 + draw(1U << bits));
    }
}

/* Every byte its own; of floats any, NaN too. */
static void noise(uint8_t *raw, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        raw[i] = (uint8_t)draw(256);
    }
}

/* A batch of one field on its way to a device. */
struct trip {
    struct fby_expansion plan;
    uint32_t             rows;
    uint8_t             *raw;
    uint8_t             *arena;
    uint64_t             used;
    uint8_t             *out;
    uint64_t             out_bytes;
    struct fby_segments  list;
};

static void begin(struct trip *t, const struct fby_field_content *field,
    const struct fby_field_delivery *to, uint32_t rows)
{
    *t = (struct trip){.rows = rows};
    assert_ok(fby_expansion_init(&t->plan, field, to, NULL));
    t->raw       = malloc(rows * t->plan.raw_bytes + 1);
    t->out_bytes = rows * t->plan.out_bytes;
    t->out       = aligned_alloc(64, (t->out_bytes + 128) / 64 * 64);
    memset(t->out, 0x5a, t->out_bytes + GUARD);
}

/* Pieces of `step` bytes of the field, each at the next multiple of 16. */
struct load {
    uint64_t step;
    bool     packed;
};

/* Lines of a part of a picture. */
static uint32_t lines_of(const struct trip *t, uint64_t bytes)
{
    const uint32_t *dims  = t->plan.shape.dims;
    uint64_t        strip = fby_yuv_bytes(dims[1], FBY_YUV_LINES);
    if (!t->plan.yuv420) {
        return (uint32_t)(bytes / ((uint64_t)dims[1] * dims[2]));
    }
    return (uint32_t)(bytes / strip) * FBY_YUV_LINES +
           (bytes % strip != 0 ? dims[0] % FBY_YUV_LINES : 0);
}

static struct fby_pictures pictures(const struct trip *t, uint64_t bytes)
{
    const uint32_t *dims = t->plan.shape.dims;
    bool            part = bytes < t->plan.raw_bytes;
    return (struct fby_pictures){
        .images = part ? 1 : (uint32_t)(bytes / t->plan.raw_bytes),
        .width  = dims[1],
        .height = part ? lines_of(t, bytes) : dims[0],
        .planes = dims[2],
        .yuv420 = t->plan.yuv420,
    };
}

static uint64_t room(const struct trip *t, const struct load *load)
{
    uint64_t all    = t->rows * t->plan.raw_bytes;
    uint64_t pieces = all / load->step + t->rows;
    uint64_t packed = 0;
    if (load->packed) {
        struct fby_pictures photo = pictures(t, load->step);
        packed = pieces * (fby_photo_encode_capacity(&photo) + 64);
    }
    return all + packed + 16 * pieces + 512 * (pieces + 1) +
           sizeof(float) * 2 * FBY_MAX_FACTORS +
           (all + t->out_bytes + packed) / 4 + (1 << 16);
}

static void put_piece(
    struct trip *t, struct fby_piece *piece, const struct load *load)
{
    static _Alignas(64) uint8_t scratch[FBY_PHOTO_SCRATCH_BYTES];
    const uint8_t              *raw = t->raw + piece->raw_offset;
    t->used                         = (t->used + 15) / 16 * 16;
    piece->at                       = t->used;
    piece->packed                   = load->packed;
    piece->bytes                    = (uint32_t)piece->raw_bytes;
    if (load->packed) {
        struct fby_pictures photo = pictures(t, piece->raw_bytes);
        piece->bytes              = (uint32_t)fby_photo_encode(
                         &photo, raw, t->arena + t->used, scratch);
        assert_true(
            fby_photo_is_valid(&photo, t->arena + t->used, piece->bytes));
    } else {
        memcpy(t->arena + t->used, raw, piece->raw_bytes);
    }
    t->used += piece->bytes;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* Pieces do not cross a row when they are parts of one. Returns how many. */
static uint32_t put_pieces(
    struct trip *t, const struct load *load, struct fby_piece pieces[PIECES])
{
    uint32_t n   = 0;
    uint64_t row = t->plan.raw_bytes;
    uint64_t all = t->rows * row;
    for (uint64_t at = 0; at < all; n++) {
        uint64_t end = load->step >= row ? all : at / row * row + row;
        assert_in_range(n, 0, PIECES - 1);
        pieces[n] = (struct fby_piece){
            .raw_offset = at, .raw_bytes = at_most(load->step, end - at)};
        put_piece(t, &pieces[n], load);
        at += pieces[n].raw_bytes;
    }
    return n;
}

static uint64_t put_factors(struct trip *t)
{
    uint64_t at = (t->used + 15) / 16 * 16;
    t->used     = at + sizeof(float) * fby_segments_write_factors(&t->plan,
                                           (float *)(void *)(t->arena + at));
    return at;
}

static void load_all(struct trip *t, const struct load *load)
{
    struct fby_piece pieces[PIECES];
    t->arena         = aligned_alloc(64, (room(t, load) + 63) / 64 * 64);
    uint32_t n       = put_pieces(t, load, pieces);
    uint64_t factors = put_factors(t);
    fby_segments_begin(&t->list, t->arena, t->used);
    for (uint32_t i = 0; i < n; i++) {
        pieces[i].factors = factors;
        fby_segments_add(&t->list, &t->plan, &pieces[i]);
    }
    t->used = fby_segments_finish(&t->list);
}

static void go_there(struct trip *t, uint64_t list)
{
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < t->list.n; i++) {
        kinds |= UINT32_C(1) << t->list.segments[i].kind;
    }
    run_kernel(&(struct kernel_run){
        .arena       = t->arena,
        .list        = list,
        .out         = t->out,
        .arena_bytes = t->used,
        .out_bytes   = t->out_bytes + GUARD,
        .kinds       = kinds,
    });
}

static void expect_guard(const struct trip *t)
{
    for (uint32_t i = 0; i < GUARD; i++) {
        assert_int_equal(t->out[t->out_bytes + i], 0x5a);
    }
}

static void expect_as_on_the_host(struct trip *t)
{
    uint8_t *right = aligned_alloc(64, (t->out_bytes + 128) / 64 * 64);
    if (t->plan.kind == FBY_EXPAND_COPY) {
        memcpy(right, t->raw, t->out_bytes);
    } else {
        assert_ok(
            fby_device_host.expand(&t->plan, t->raw, t->rows, right, NULL));
    }
    go_there(t, t->list.list);
    assert_memory_equal(t->out, right, t->out_bytes);
    expect_guard(t);
    free(right);
}

static void end(struct trip *t)
{
    free(t->raw);
    free(t->arena);
    free(t->out);
}

/* All of a trip that has begun, of noise of `bits` bits. */
static void travel(struct trip *t, uint32_t bits, struct load load)
{
    fill(t->raw, t->rows * t->plan.raw_bytes, bits);
    load_all(t, &load);
    expect_as_on_the_host(t);
    end(t);
}

/* ---- Pictures ------------------------------------------------------------ */

static struct fby_field_content picture(
    uint32_t height, uint32_t width, uint32_t channels)
{
    struct fby_field_content field = {.name = "image",
        .decode                             = FBY_DECODE_RGB8,
        .wire_type                          = FBY_U8,
        .shape                              = {3, {height, width, channels}}};
    for (uint32_t c = 0; c < channels; c++) {
        field.as.rgb8.mean[c] = 0.4 + 0.03 * c;
        field.as.rgb8.std[c]  = 0.2 + 0.01 * c;
    }
    return field;
}

static void go(const struct fby_field_content *field, enum fby_type to,
    enum fby_layout layout, uint32_t rows, struct load load)
{
    struct trip               t;
    struct fby_field_delivery delivery = {.dtype = to, .layout = layout};
    begin(&t, field, &delivery, rows);
    load.step = load.step > 0 ? load.step : rows * t.plan.raw_bytes;
    travel(&t, draw(9), load);
}

/* Of any size, a third of them of whole vectors; reals are normalised. */
static struct fby_field_content some_picture(
    uint32_t channels, enum fby_type to)
{
    uint32_t width = draw(3) == 0 ? 4 * (1 + draw(80)) : 1 + draw(300);
    struct fby_field_content field = picture(1 + draw(70), width, channels);
    field.as.rgb8.normalize        = fby_type_is_float(to);
    return field;
}

static enum fby_layout some_layout(void)
{
    static const enum fby_layout layouts[] = {
        FBY_LAYOUT_HWC, FBY_LAYOUT_CHW, FBY_LAYOUT_CHANNELS_LAST};
    return layouts[draw(3)];
}

static void random_pictures(bool packed, uint32_t times)
{
    static const enum fby_type types[] = {
        FBY_F32, FBY_BF16, FBY_F16, FBY_U8, FBY_I32, FBY_U16, FBY_U32};
    for (uint32_t i = 0; i < times; i++) {
        enum fby_type to               = types[draw(7)];
        uint32_t      channels         = packed ? 1 + 2 * draw(2) : 1 + draw(4);
        struct fby_field_content field = some_picture(channels, to);
        go(&field, to, some_layout(), 1 + draw(4), (struct load){0, packed});
    }
}

static void pictures_of_any_size_are_as_on_the_host(void **state)
{
    (void)state;
    random_pictures(false, repeats(150));
}

static void packed_pictures_of_any_size_are_as_on_the_host(void **state)
{
    (void)state;
    random_pictures(true, repeats(150));
}

static void parts_of_large_pictures_find_their_place(void **state)
{
    (void)state;
    struct fby_field_content field = picture(150, 290, 3);
    const uint64_t           lines = UINT64_C(32) * 290 * 3;
    field.as.rgb8.normalize        = true;
    for (uint32_t k = 1; k <= 4; k++) {
        go(&field, FBY_BF16, FBY_LAYOUT_CHW, 2,
            (struct load){k * lines, false});
        go(&field, FBY_F32, FBY_LAYOUT_CHW, 2, (struct load){k * lines, true});
        go(&field, FBY_F16, FBY_LAYOUT_CHANNELS_LAST, 2,
            (struct load){k * lines, true});
    }
}

static void rows_of_small_pictures_find_their_place(void **state)
{
    (void)state;
    struct fby_field_content field = picture(9, 13, 3);
    const uint64_t           rows  = UINT64_C(5) * 9 * 13 * 3;
    field.as.rgb8.normalize        = true;
    go(&field, FBY_F32, FBY_LAYOUT_CHW, 23, (struct load){rows, false});
    go(&field, FBY_F32, FBY_LAYOUT_CHW, 23, (struct load){rows, true});
    go(&field, FBY_BF16, FBY_LAYOUT_HWC, 1, (struct load){rows, true});
}

static void packed_masks_are_moved_or_cast(void **state)
{
    (void)state;
    struct fby_field_content field     = picture(40, 70, 1);
    field.decode                       = FBY_DECODE_MASK8;
    static const enum fby_type types[] = {
        FBY_U8, FBY_I64, FBY_I32, FBY_F32, FBY_F16};
    for (uint32_t i = 0; i < 5; i++) {
        go(&field, types[i], FBY_LAYOUT_HWC, 3, (struct load){0, true});
        go(&field, types[i], FBY_LAYOUT_HWC, 3, (struct load){0, false});
    }
}

static void every_width_of_groups_is_unpacked(void **state)
{
    (void)state;
    struct fby_field_content  field    = picture(64, 256, 3);
    struct fby_field_delivery delivery = {
        .dtype = FBY_U8, .layout = FBY_LAYOUT_CHW};
    for (uint32_t bits = 0; bits <= 8; bits++) {
        struct trip t;
        begin(&t, &field, &delivery, 1);
        travel(&t, bits, (struct load){t.plan.raw_bytes, true});
    }
}

/* ---- Planes -------------------------------------------------------------- */

static void planes_of_any_size_are_as_on_the_host(void **state)
{
    (void)state;
    static const enum fby_type types[] = {
        FBY_F32, FBY_BF16, FBY_F16, FBY_U8, FBY_I32};
    for (uint32_t i = 0; i < repeats(150); i++) {
        enum fby_type            to    = types[draw(5)];
        struct fby_field_content field = some_picture(3, to);
        field.as.rgb8.yuv420           = true;
        go(&field, to, some_layout(), 1 + draw(4),
            (struct load){0, draw(2) == 0});
    }
}

static void strips_of_large_planes_find_their_place(void **state)
{
    (void)state;
    struct fby_field_content field = picture(150, 291, 3);
    field.as.rgb8.yuv420           = true;
    field.as.rgb8.normalize        = true;
    for (uint32_t k = 1; k <= 4; k++) {
        uint64_t bytes = fby_yuv_bytes(291, k * FBY_YUV_LINES);
        go(&field, FBY_BF16, FBY_LAYOUT_CHW, 2, (struct load){bytes, false});
        go(&field, FBY_F32, FBY_LAYOUT_HWC, 2, (struct load){bytes, true});
    }
}

/* ---- Damaged payloads ---------------------------------------------------- */

static void damage(struct trip *t, uint64_t from, uint64_t bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        t->arena[from + draw((uint32_t)bytes)] ^= (uint8_t)(1 + draw(255));
    }
}

static void a_damaged_payload_that_passes_the_check_is_as_on_the_host(
    void **state)
{
    (void)state;
    static _Alignas(64) uint8_t scratch[FBY_PHOTO_SCRATCH_BYTES];
    struct fby_field_content    field    = picture(50, 300, 3);
    struct fby_field_delivery   delivery = {
          .dtype = FBY_U8, .layout = FBY_LAYOUT_HWC};
    uint32_t passed = 0;
    for (uint32_t i = 0; i < repeats(400); i++) {
        struct trip t;
        begin(&t, &field, &delivery, 1);
        fill(t.raw, t.plan.raw_bytes, 1 + draw(7));
        load_all(&t, &(struct load){t.plan.raw_bytes, true});
        struct fby_pictures photo = pictures(&t, t.plan.raw_bytes);
        damage(&t, 64, t.list.segments[0].bytes - 64, 1 + draw(20));
        if (fby_photo_decode(
                &photo, t.arena, t.list.segments[0].bytes, t.raw, scratch)) {
            passed++;
            expect_as_on_the_host(&t);
        }
        end(&t);
    }
    assert_in_range(passed, repeats(400) / 8, repeats(400));
}

/* Nothing of the kind comes this far; should it, no read leaves its tile. */
static void garbage_leaves_no_buffer(void **state)
{
    (void)state;
    struct fby_field_content  field    = picture(70, 270, 3);
    struct fby_field_delivery delivery = {
        .dtype = FBY_BF16, .layout = FBY_LAYOUT_CHW};
    for (uint32_t i = 0; i < repeats(100); i++) {
        struct trip t;
        begin(&t, &field, &delivery, 2);
        fill(t.raw, 2 * t.plan.raw_bytes, 4);
        load_all(&t, &(struct load){2 * t.plan.raw_bytes, true});
        damage(&t, 0, t.list.segments[0].bytes, 1U << draw(12));
        struct fby_segments again;
        struct fby_piece    piece = {.bytes = t.list.segments[0].bytes,
               .packed                      = true,
               .raw_bytes                   = 2 * t.plan.raw_bytes};
        fby_segments_begin(&again, t.arena, piece.bytes);
        fby_segments_add(&again, &t.plan, &piece);
        assert_int_equal(fby_segments_finish(&again), t.used);
        go_there(&t, again.list);
        expect_guard(&t);
        end(&t);
    }
}

/* ---- Other arrays -------------------------------------------------------- */

static struct fby_field_content array(enum fby_type type, uint32_t last)
{
    return (struct fby_field_content){.name = "array",
        .decode                             = FBY_DECODE_ARRAY,
        .wire_type                          = type,
        .shape                              = {2, {1 + draw(40), last}}};
}

static void arrays_are_cast_as_on_the_host(void **state)
{
    (void)state;
    for (uint32_t from = FBY_U8; from <= FBY_U32; from++) {
        for (uint32_t to = FBY_U8; to <= FBY_U32; to++) {
            struct fby_field_content field =
                array((enum fby_type)from, 1 + draw(60));
            struct trip               t;
            struct fby_field_delivery delivery = {.dtype = (enum fby_type)to};
            begin(&t, &field, &delivery, 1 + draw(9));
            travel(&t, 8, (struct load){t.plan.raw_bytes * 2, false});
        }
    }
}

static void arrays_are_scaled_by_channel_wherever_they_are_cut(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < repeats(60); i++) {
        uint32_t channels = 1 + draw(i % 2 == 0 ? 6 : FBY_MAX_FACTORS);
        struct fby_field_content  field = array(FBY_U16, channels);
        struct trip               t;
        struct fby_field_delivery delivery = {
            .dtype = FBY_F32, .scaled = true, .channels = channels};
        for (uint32_t c = 0; c < channels; c++) {
            delivery.scale[c]  = 0.5 + c;
            delivery.offset[c] = c % 2 == 0 ? c : -3.0 * c;
        }
        begin(&t, &field, &delivery, 4);
        uint64_t some = t.plan.raw_bytes / 128 * 2 + 2;
        travel(&t, 8, (struct load){some + 2 * (uint64_t)draw(20), false});
    }
}

/* Quiet and signalling NaNs with payloads and signs, infinities, zeros, the
 * smallest and largest subnormal numbers, the smallest and largest normal one. */
static void fill_with_edges(enum fby_type type, uint8_t *raw, uint64_t n)
{
    static const uint32_t f32[]  = {0x7fc00000, 0xffc01234, 0x7f800001,
         0xffbfffff, 0x7fffffff, 0x7f800000, 0xff800000, 0, 0x80000000, 1,
         0x807fffff, 0x00800000, 0x7f7fffff};
    static const uint32_t f16[]  = {0x7e00, 0xfe12, 0x7c01, 0xfdff, 0x7fff,
         0x7c00, 0xfc00, 0, 0x8000, 1, 0x83ff, 0x0400, 0x7bff};
    static const uint32_t bf16[] = {0x7fc0, 0xffc1, 0x7f81, 0xffbf, 0x7fff,
        0x7f80, 0xff80, 0, 0x8000, 1, 0x807f, 0x0080, 0x7f7f};
    const uint32_t       *edges  = type == FBY_F32   ? f32
                                   : type == FBY_F16 ? f16
                                                     : bf16;
    uint32_t              width  = fby_type_bytes(type);
    noise(raw, n * width);
    for (uint64_t i = 0; i < n; i++) {
        if (draw(2) == 0) {
            memcpy(raw + i * width, &edges[draw(13)], width);
        }
    }
}

static void go_edges(enum fby_type from, enum fby_type to, uint32_t channels)
{
    static const double       scales[] = {0.5, -1, 1e-30, 0x1p100, 3e-7};
    struct trip               t;
    struct fby_field_content  field    = array(from, channels);
    struct fby_field_delivery delivery = {
        .dtype = to, .scaled = true, .channels = channels};
    for (uint32_t c = 0; c < channels; c++) {
        delivery.scale[c]  = scales[draw(5)];
        delivery.offset[c] = draw(2) == 0 ? 0 : scales[draw(5)];
    }
    begin(&t, &field, &delivery, 3);
    fill_with_edges(
        from, t.raw, t.rows * t.plan.raw_bytes / fby_type_bytes(from));
    load_all(&t, &(struct load){t.plan.raw_bytes, false});
    expect_as_on_the_host(&t);
    end(&t);
}

static void nans_infinities_and_subnormals_are_scaled_as_on_the_host(
    void **state)
{
    (void)state;
    static const enum fby_type floats[] = {FBY_F32, FBY_F16, FBY_BF16};
    for (uint32_t i = 0; i < repeats(90); i++) {
        go_edges(floats[i % 3], floats[i / 3 % 3], 1 + draw(6));
        go_edges(floats[i % 3], floats[draw(3)], 1 + draw(FBY_MAX_FACTORS));
    }
}

static void channels_of_arrays_come_apart_wherever_they_are_cut(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < repeats(90); i++) {
        uint32_t                 depth = i % 3 == 0 ? 3 : 2 + draw(40);
        struct fby_field_content field = array(FBY_U16, depth);
        struct trip              t;
        field.shape =
            (struct fby_shape){3, {1 + draw(30), 1 + draw(30), depth}};
        struct fby_field_delivery delivery = {.dtype = FBY_F32,
            .layout                                  = FBY_LAYOUT_CHW,
            .scaled                                  = i % 3 != 1,
            .channels                                = depth};
        for (uint32_t c = 0; c < depth; c++) {
            delivery.scale[c]  = 0.5 + c;
            delivery.offset[c] = 100 - 3.0 * c;
        }
        begin(&t, &field, &delivery, 1 + draw(4));
        uint64_t step =
            i % 2 == 0 ? 2 * t.plan.raw_bytes : t.plan.raw_bytes / 32 * 2 + 2;
        travel(&t, 8, (struct load){step, false});
    }
}

static void packed_arrays_come_apart(void **state)
{
    (void)state;
    static const enum fby_type types[] = {
        FBY_U8, FBY_I64, FBY_I32, FBY_F32, FBY_F16};
    struct fby_field_content field = picture(40, 70, 3);
    field.decode                   = FBY_DECODE_ARRAY;
    field.as.array = (struct fby_array_field){.shape = field.shape};
    for (uint32_t i = 0; i < 5; i++) {
        go(&field, types[i], FBY_LAYOUT_CHW, 3, (struct load){0, true});
        go(&field, types[i], FBY_LAYOUT_CHW, 3, (struct load){0, false});
    }
}

static const enum fby_type label_types[] = {FBY_F32, FBY_F16, FBY_BF16};

static struct fby_field_content label_of(uint32_t classes)
{
    return (struct fby_field_content){.name = "label",
        .decode                             = FBY_DECODE_LABEL,
        .wire_type                          = FBY_U16,
        .as.label.one_hot                   = true,
        .as.label.classes                   = classes,
        .as.label.smoothing                 = 0.1};
}

static void draw_labels(struct trip *t, uint32_t classes)
{
    for (uint32_t row = 0; row < t->rows; row++) {
        uint16_t id = (uint16_t)draw(classes);
        memcpy(t->raw + (size_t)2 * row, &id, 2);
    }
}

static void go_labels(enum fby_type to, uint32_t classes, uint32_t rows)
{
    struct trip               t;
    struct fby_field_content  field    = label_of(classes);
    struct fby_field_delivery delivery = {.dtype = to};
    begin(&t, &field, &delivery, rows);
    draw_labels(&t, classes);
    load_all(&t, &(struct load){20, false});
    expect_as_on_the_host(&t);
    end(&t);
}

static void labels_become_rows_of_classes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        go_labels(label_types[i], 1000, 37);
        go_labels(label_types[i], 3 + draw(300), 5);
    }
}

static void bits_become_maps_wherever_they_are_cut(void **state)
{
    (void)state;
    static const enum fby_type types[] = {
        FBY_U8, FBY_BOOL, FBY_F32, FBY_F16, FBY_BF16};
    for (uint32_t i = 0; i < repeats(60); i++) {
        uint32_t                  most  = i % 2 == 0 ? 10 : 20;
        uint32_t                  maps  = 1 + draw(most);
        uint32_t                  bytes = (maps + 7) / 8;
        uint32_t                  width = 1 + draw(most);
        struct fby_field_content  field = {.name = "maps",
             .decode                             = FBY_DECODE_ARRAY,
             .wire_type                          = FBY_U8,
             .as.array.n_bits                    = maps,
             .shape = {3, {1 + draw(most), width, bytes}}};
        struct fby_field_delivery to    = {.dtype = types[draw(5)],
               .layout = draw(2) == 0 ? FBY_LAYOUT_HWC : FBY_LAYOUT_CHW};
        struct trip               t;
        begin(&t, &field, &to, 3);
        uint64_t step =
            draw(2) == 0 ? (uint64_t)width * bytes : t.plan.raw_bytes;
        travel(&t, 8, (struct load){step, false});
    }
}

/* ---- Ops of the device --------------------------------------------------- */

enum { OPS_ROWS = 5 };

struct ops {
    struct trip          t; /* of OPS_ROWS at most */
    struct fby_ops_row   rows[OPS_ROWS];
    struct fby_piece     pieces[PIECES];
    uint32_t             n_pieces;
    uint64_t             mirrors;
    struct fby_ops_piece ops;
    uint64_t             work; /* where pictures are gathered */
};

static float some_real(float least, float most)
{
    return least + (most - least) * (float)draw(1000) / 1000.0F;
}

static struct fby_ops_box some_box(const struct fby_ops_plan *plan)
{
    uint32_t x = draw(plan->width);
    uint32_t y = draw(plan->height);
    return (struct fby_ops_box){
        x, y, x + draw(plan->width - x + 1), y + draw(plan->height - y + 1)};
}

static void draw_ops_row(
    const struct fby_ops_plan *plan, uint32_t rows, struct fby_ops_row *row)
{
    *row          = (struct fby_ops_row){.partner = draw(rows),
                 .mirror_x                        = (uint8_t)draw(2),
                 .mirror_y                        = (uint8_t)draw(2)};
    uint32_t turn = draw(4);
    if (plan->plain) {
        return;
    }
    row->n_jitter = (uint8_t)draw(5);
    for (uint32_t i = 0; i < row->n_jitter; i++) {
        row->jitter[i] = (uint8_t)(FBY_OPS_BRIGHTNESS + (turn + i) % 4);
        row->factor[i] = row->jitter[i] == FBY_OPS_HUE ? some_real(-0.5F, 0.5F)
                                                       : some_real(0, 2);
    }
    row->erase         = some_box(plan);
    row->pair          = (uint8_t)draw(3);
    row->cut           = some_box(plan);
    row->share         = some_real(0, 1);
    row->partner_share = 1.0F - row->share;
}

static void plan_ops(struct ops *o, bool plain, enum fby_type to)
{
    struct fby_expansion *plan = &o->t.plan;
    plan->kind                 = FBY_EXPAND_OPS;
    plan->ops = (struct fby_ops_plan){.width = plan->shape.dims[1],
        .height                              = plan->shape.dims[0],
        .plain                               = plain ? 1 : 0,
        .erase_value                         = {0.25F, 0, 1},
        .mean                                = {0.4F, 0.5F, 0.6F},
        .std                                 = {0.2F, 0.25F, 0.3F}};
    if (to != FBY_U8) {
        plan->ops.normalized = 1;
        plan->ops.stages[2]  = FBY_OPS_NORMALIZE;
    }
    plan->ops.stages[0] = FBY_OPS_JITTER;
    plan->ops.stages[1] = FBY_OPS_ERASE;
    plan->ops.n_stages  = to != FBY_U8 ? 3 : 2;
    for (uint32_t r = 0; r < o->t.rows; r++) {
        draw_ops_row(&plan->ops, o->t.rows, &o->rows[r]);
    }
}

static uint64_t put_bytes(struct trip *t, const void *from, uint64_t bytes)
{
    uint64_t at = (t->used + 15) / 16 * 16;
    memcpy(t->arena + at, from, bytes);
    t->used = at + bytes;
    return at;
}

static void put_drawn(struct ops *o)
{
    static const uint64_t zeros[OPS_ROWS] = {0};
    uint8_t               mirrors[OPS_ROWS];
    struct trip          *t = &o->t;
    for (uint32_t r = 0; r < t->rows; r++) {
        mirrors[r] = (uint8_t)(o->rows[r].mirror_x * FBY_MIRROR_X +
                               o->rows[r].mirror_y * FBY_MIRROR_Y);
    }
    o->ops.params = put_bytes(t, o->rows, sizeof(o->rows));
    o->ops.plan   = put_bytes(t, &t->plan.ops, sizeof(t->plan.ops));
    o->ops.sums   = put_bytes(t, zeros, sizeof(zeros));
    o->ops.rows   = t->rows;
    o->mirrors    = put_bytes(t, mirrors, t->rows);
}

static void list_ops(struct ops *o)
{
    struct trip *t      = &o->t;
    bool         gather = fby_segments_needs_gather(&t->plan);
    fby_segments_begin(&t->list, t->arena, t->used);
    for (uint32_t i = 0; i < o->n_pieces; i++) {
        o->pieces[i].params = o->mirrors;
        o->pieces[i].out    = gather ? o->work : 0;
        (gather ? fby_segments_add_gathered : fby_segments_add)(
            &t->list, &t->plan, &o->pieces[i]);
    }
    if (!gather) {
        t->used = fby_segments_finish(&t->list);
        return;
    }
    o->ops.at = o->work;
    fby_segments_begin_pass(&t->list, FBY_PASS_GREYS);
    fby_segments_add_ops(&t->list, &t->plan, &o->ops);
    fby_segments_begin_pass(&t->list, FBY_PASS_OPS);
    fby_segments_add_ops(&t->list, &t->plan, &o->ops);
    t->used = fby_segments_finish(&t->list);
    assert_true(t->used <= o->work);
    t->used = o->work + t->rows * fby_segments_gathered_bytes(&t->plan);
}

static void expect_ops_as_on_the_host(struct ops *o)
{
    struct trip          *t     = &o->t;
    uint8_t              *right = malloc(t->out_bytes);
    struct fby_expand_job job   = {&t->plan, t->raw, t->rows, o->rows, right};
    assert_ok(fby_device_host.expand_ops(&job, NULL));
    go_there(t, t->list.list);
    assert_memory_equal(t->out, right, t->out_bytes);
    free(right);
}

static void go_ops(const struct fby_field_content *field, bool plain,
    uint32_t rows, struct load load, const struct fby_field_delivery *to)
{
    struct ops o = {0};
    begin(&o.t, field, to, rows);
    fill(o.t.raw, rows * o.t.plan.raw_bytes, draw(9));
    load.step    = load.step > 0 ? load.step : rows * o.t.plan.raw_bytes;
    o.work       = (room(&o.t, &load) + 4095) / 64 * 64;
    uint64_t all = o.work + rows * fby_segments_gathered_bytes(&o.t.plan);
    o.t.arena    = aligned_alloc(64, (all + 127) / 64 * 64);
    o.n_pieces   = put_pieces(&o.t, &load, o.pieces);
    plan_ops(&o, plain, to->dtype);
    put_drawn(&o);
    list_ops(&o);
    expect_ops_as_on_the_host(&o);
    end(&o.t);
}

/* A picture of few blocks, with its partner. */
static void ops_of_small_pictures_are_as_on_the_host(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        struct fby_field_content  field = picture(30, 71, 3);
        struct fby_field_delivery to    = {
               .dtype = label_types[i % 3], .layout = some_layout()};
        field.as.rgb8.normalize = true;
        go_ops(&field, false, 2, (struct load){0, i % 2 == 0}, &to);
    }
}

static void random_ops(bool yuv420, uint32_t times)
{
    static const enum fby_type types[] = {FBY_F32, FBY_BF16, FBY_F16, FBY_U8};
    for (uint32_t i = 0; i < times; i++) {
        enum fby_type             type  = types[draw(4)];
        struct fby_field_content  field = some_picture(3, type);
        struct fby_field_delivery to    = {.dtype = type,
               .layout = type == FBY_U8 ? FBY_LAYOUT_CHW : some_layout()};
        field.as.rgb8.yuv420            = yuv420;
        go_ops(&field, draw(3) == 0, draw(4) == 0 ? 1 : OPS_ROWS,
            (struct load){0, draw(2) == 0}, &to);
    }
}

static void ops_of_the_device_are_as_on_the_host(void **state)
{
    (void)state;
    random_ops(false, repeats(60));
}

static void ops_of_planes_are_as_on_the_host(void **state)
{
    (void)state;
    random_ops(true, repeats(90));
}

static void ops_find_pictures_that_come_in_parts(void **state)
{
    (void)state;
    const struct fby_field_delivery to = {
        .dtype = FBY_BF16, .layout = FBY_LAYOUT_CHW};
    for (uint32_t i = 0; i < repeats(8); i++) {
        struct fby_field_content field = picture(150, 291, 3);
        uint32_t                 lines = (1 + i / 4) * FBY_YUV_LINES;
        field.as.rgb8.yuv420           = i % 4 < 2;
        field.as.rgb8.normalize        = true;
        struct load load = {field.as.rgb8.yuv420 ? fby_yuv_bytes(291, lines)
                                                 : (uint64_t)lines * 291 * 3,
            i % 2 == 0};
        go_ops(&field, false, 3, load, &to);
        go_ops(&field, true, 2, load, &to);
    }
}

/* Labels of rows that are mixed in pairs. */
static void go_mixed(enum fby_type to, uint32_t classes, uint32_t n)
{
    struct ops                o        = {0};
    struct fby_field_content  image    = picture(1, 1, 3);
    struct fby_field_content  field    = label_of(classes);
    struct fby_field_delivery delivery = {.dtype = to};
    begin(&o.t, &field, &delivery, n);
    assert_ok(fby_expansion_set_mix(&o.t.plan, &field, &image, NULL));
    draw_labels(&o.t, classes);
    for (uint32_t r = 0; r < n; r++) {
        o.rows[r] = (struct fby_ops_row){
            .partner = draw(n), .label_share = some_real(0, 1)};
        o.rows[r].label_partner_share = 1.0F - o.rows[r].label_share;
    }
    o.t.arena                    = aligned_alloc(64, 1 << 16);
    const struct fby_piece piece = {
        .at        = put_bytes(&o.t, o.t.raw, n * o.t.plan.raw_bytes),
        .raw_bytes = n * o.t.plan.raw_bytes,
        .params    = put_bytes(&o.t, o.rows, sizeof(o.rows))};
    fby_segments_begin(&o.t.list, o.t.arena, o.t.used);
    fby_segments_add(&o.t.list, &o.t.plan, &piece);
    o.t.used = fby_segments_finish(&o.t.list);
    expect_ops_as_on_the_host(&o);
    expect_guard(&o.t);
    end(&o.t);
}

static void mixed_labels_are_as_on_the_host(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < repeats(30); i++) {
        go_mixed(label_types[i % 3], 2 + draw(i % 2 == 0 ? 40 : 3000),
            1 + draw(OPS_ROWS));
    }
}

/* ---- Rows of several lengths --------------------------------------------- */

struct rows {
    struct trip               t; /* of it the plan, the arena, the list */
    struct fby_raw_layout     layout;
    struct fby_ragged_offsets ragged_offsets;
    struct fby_arena_chunk   *arena_chunks;
    struct fby_chunk_sent    *sent;
    uint64_t                  part[FBY_TENSORS];
    uint64_t                  groups;
};

/* Some are empty, some full. */
static uint32_t some_length(uint32_t most)
{
    uint32_t kind = draw(4);
    return kind == 0 ? 0 : kind == 1 ? most : draw(most + 1);
}

/* `n` of `dense`, ascending. */
static void make_indices(
    const struct fby_raw_field *field, uint32_t n, uint64_t dense, uint8_t *to)
{
    uint64_t index = 0;
    for (uint32_t left = n; left > 0; left--, index++) {
        uint64_t skip = dense - index - left;
        index += skip > 0 ? draw((uint32_t)(skip / left + 1)) : 0;
        memcpy(to, &index, field->index_bytes);
        to += field->index_bytes;
    }
}

/* The lengths of a chunk, its indices, and its values, of any bytes. */
static uint32_t make_chunk(const struct rows *r, uint32_t number, uint8_t *to)
{
    const struct fby_raw_field *field = &r->layout.fields[0];
    struct fby_raw_span span  = fby_layout_chunk_span(&r->layout, 0, number);
    uint64_t            at    = fby_ragged_lengths_end(field, span.rows);
    uint64_t            total = 0;
    memset(to, 0, field->chunk_bytes);
    for (uint32_t i = 0; i < span.rows; i++) {
        uint32_t length = some_length(field->max_length);
        memcpy(
            to + (size_t)i * field->length_bytes, &length, field->length_bytes);
        make_indices(field, field->index_bytes > 0 ? length : 0,
            fby_dense_values(&field->shape),
            to + at + total * field->index_bytes);
        total += length;
    }
    at = fby_sparse_values_offset(field, span.rows, total);
    noise(to + at, total * field->entry_bytes);
    return (uint32_t)(at + total * field->entry_bytes);
}

static void take_room(struct trip *t, uint64_t bytes)
{
    t->used  = (t->used + 15) / 16 * 16;
    t->arena = realloc(t->arena, t->used + bytes + (1 << 20));
    assert_non_null(t->arena);
}

static void load_rows(struct rows *r)
{
    struct fby_raw_field *field = &r->layout.fields[0];
    r->arena_chunks = calloc(field->n_chunks, sizeof(*r->arena_chunks));
    r->sent         = calloc(field->n_chunks, sizeof(*r->sent));
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        take_room(&r->t, field->chunk_bytes);
        r->arena_chunks[i].offset = r->t.used;
        r->sent[i].raw_bytes      = make_chunk(r, i, r->t.arena + r->t.used);
        r->t.used += r->sent[i].raw_bytes;
    }
    const struct fby_ragged_offsets_in in = {
        .name         = "rows",
        .layout       = &r->layout,
        .raw          = r->t.arena,
        .arena_chunks = r->arena_chunks,
        .sent         = r->sent,
    };
    fby_ragged_offsets_init(&r->ragged_offsets, r->layout.rows);
    assert_ok(fby_ragged_offsets_read(&r->ragged_offsets, &in, NULL));
}

static struct fby_ragged_piece piece_of(const struct rows *r, uint32_t chunk)
{
    struct fby_raw_span     span  = fby_layout_chunk_span(&r->layout, 0, chunk);
    struct fby_ragged_piece piece = {
        .at        = r->arena_chunks[chunk].offset,
        .first_row = span.first_row,
        .rows      = span.rows,
    };
    memcpy(piece.out, r->part, sizeof(piece.out));
    return piece;
}

static void list_rows(struct rows *r)
{
    struct trip                *t     = &r->t;
    const struct fby_raw_field *field = &r->layout.fields[0];
    struct fby_ragged_piece *pieces = calloc(field->n_chunks, sizeof(*pieces));
    uint64_t                 first  = 0;
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        pieces[i]       = piece_of(r, i);
        pieces[i].first = first;
        pieces[i].total = r->ragged_offsets.total;
        uint64_t bytes  = 8 * fby_segments_n_groups(pieces[i].rows);
        take_room(t, bytes);
        pieces[i].groups = t->used;
        fby_segments_count_entries(&r->ragged_offsets, &pieces[i],
            (uint64_t *)(void *)(t->arena + t->used));
        t->used += bytes;
        first += pieces[i].entries;
    }
    take_room(t, r->t.out_bytes + 512 * (uint64_t)field->n_chunks);
    fby_segments_begin(&t->list, t->arena, t->used);
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        fby_segments_add_rows(&t->list, &t->plan, field,
            fby_expansion_padded_entries(&t->plan, &r->ragged_offsets),
            &pieces[i]);
    }
    t->used = fby_segments_finish(&t->list);
    assert_true(t->used - t->list.list <=
                fby_segments_max_bytes(&r->layout, &t->plan, 0));
    free(pieces);
}

static uint64_t bytes_of(const struct rows *r, uint32_t tensor)
{
    int64_t  shape[FBY_EXPAND_DIMS];
    int64_t  strides[FBY_EXPAND_DIMS];
    uint64_t bytes = fby_type_bytes(r->t.plan.tensors[tensor].type);
    uint32_t n     = fby_expansion_compute_ragged_shape(
            &r->t.plan, tensor, &r->ragged_offsets, shape, strides);
    for (uint32_t i = 0; i < n; i++) {
        bytes *= (uint64_t)shape[i];
    }
    return bytes;
}

/* Tensors at multiples of 64, and what is behind them left alone. */
static void expect_rows_as_on_the_host(struct rows *r)
{
    struct trip *t                  = &r->t;
    uint8_t     *right              = aligned_alloc(64, t->out_bytes);
    void        *parts[FBY_TENSORS] = {
               right + r->part[0], right + r->part[1], right + r->part[2]};
    memset(right, 0x5a, t->out_bytes);
    assert_ok(fby_device_host.expand_rows(
        &t->plan, &r->ragged_offsets, t->arena, parts, NULL));
    t->out_bytes -= GUARD; /* which go_there adds */
    go_there(t, t->list.list);
    for (uint32_t i = 0; i < t->plan.n_tensors; i++) {
        assert_memory_equal(
            t->out + r->part[i], right + r->part[i], bytes_of(r, i));
    }
    assert_memory_equal(t->out, right, t->out_bytes);
    free(right);
}

static void place_parts(struct rows *r)
{
    struct trip *t = &r->t;
    t->out_bytes   = 0;
    for (uint32_t i = 0; i < t->plan.n_tensors; i++) {
        const struct fby_tensor_plan *tensor = &t->plan.tensors[i];
        r->part[i]                           = t->out_bytes;
        t->out_bytes +=
            tensor->row_bytes * r->layout.rows + tensor->bytes_after_rows;
        t->out_bytes = (t->out_bytes + 127) / 64 * 64;
    }
    t->out_bytes += GUARD;
    t->out = aligned_alloc(64, t->out_bytes);
    memset(t->out, 0x5a, t->out_bytes);
}

static void go_rows(const struct fby_field_content *field,
    const struct fby_field_delivery *to, uint32_t rows)
{
    struct rows r                 = {.layout = {.rows = rows, .n_fields = 1}};
    r.layout.fields[0].type       = field->wire_type;
    r.layout.fields[0].shape      = field->shape;
    r.layout.fields[0].form       = fby_field_form(field);
    r.layout.fields[0].max_length = field->max_length;
    assert_ok(fby_layout_compute(&r.layout, NULL));
    assert_ok(fby_expansion_init(&r.t.plan, field, to, NULL));
    place_parts(&r);
    load_rows(&r);
    list_rows(&r);
    expect_rows_as_on_the_host(&r);
    fby_ragged_offsets_fini(&r.ragged_offsets);
    free(r.arena_chunks);
    free(r.sent);
    free(r.t.arena);
    free(r.t.out);
}

static enum fby_type some_type(void)
{
    return (enum fby_type)(FBY_U8 + draw(FBY_U32 - FBY_U8 + 1));
}

/* Of what travels as `wire`, as that or as any other type. */
static struct fby_field_delivery some_delivery(
    enum fby_type wire, enum fby_as as)
{
    return (struct fby_field_delivery){
        .dtype   = draw(2) == 0 ? wire : some_type(),
        .as      = as,
        .offsets = draw(2) == 0 ? FBY_I32 : FBY_I64,
    };
}

static void random_rows(enum fby_as as, uint32_t most, uint32_t rows)
{
    struct fby_field_content  field = {.name = "rows",
         .decode                             = FBY_DECODE_ARRAY,
         .wire_type                          = some_type(),
         .max_length                         = 1 + draw(most)};
    struct fby_field_delivery to    = some_delivery(field.wire_type, as);
    to.longest                      = draw(2) == 0;
    to.pad                          = 1;
    field.shape                     = (struct fby_shape){1, {field.max_length}};
    if (draw(3) == 0) {
        field.shape.n_dims  = 2;
        field.shape.dims[1] = 1 + draw(3);
    }
    go_rows(&field, &to, rows);
}

static void rows_of_any_length_are_as_on_the_host(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < repeats(150); i++) {
        random_rows(FBY_AS_PADDED, 60, 1 + draw(700));
        random_rows(FBY_AS_RAGGED, 60, 1 + draw(700));
    }
}

static void chunks_of_long_rows_find_their_place(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < repeats(3); i++) {
        random_rows(FBY_AS_PADDED, 200000, 30);
        random_rows(FBY_AS_RAGGED, 200000, 30);
    }
}

/* ---- Sparse rows --------------------------------------------------------- */

static struct fby_shape some_shape(uint32_t n_dims, uint32_t most)
{
    struct fby_shape shape = {.n_dims = n_dims};
    for (uint32_t d = 0; d < n_dims; d++) {
        shape.dims[d] = 1 + draw(most);
    }
    return shape;
}

static void random_sparse(enum fby_as as, struct fby_shape shape, uint32_t rows)
{
    uint32_t                  dense = (uint32_t)fby_dense_values(&shape);
    struct fby_field_content  field = {.name = "rows",
         .decode                             = FBY_DECODE_SPARSE,
         .wire_type                          = some_type(),
         .shape                              = shape,
         .as.sparse.shape                    = shape,
         .max_length = 1 + draw(dense < 60 ? dense : 60)};
    struct fby_field_delivery to    = some_delivery(field.wire_type, as);
    go_rows(&field, &to, rows);
}

static void sparse_rows_of_any_shape_are_as_on_the_host(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < repeats(60); i++) {
        uint32_t rows = i % 4 == 0 ? 1 : 1 + draw(600);
        random_sparse(FBY_AS_DENSE, some_shape(1 + draw(4), 6), rows);
        random_sparse(FBY_AS_COO, some_shape(1 + draw(4), 20), rows);
        random_sparse(FBY_AS_CSR, some_shape(1, 100000), rows);
    }
}

/* Dense rows of more values than a block has, and indices of 1, 2, 4 bytes. */
static void wide_sparse_rows_are_as_on_the_host(void **state)
{
    (void)state;
    static const uint32_t wide[] = {1, 256, 257, 2048, 5000, 65536, 65537};
    for (uint32_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
        struct fby_shape shape = {1, {wide[i]}};
        random_sparse(FBY_AS_DENSE, shape, 1 + draw(5));
        random_sparse(FBY_AS_COO, shape, 300);
        random_sparse(FBY_AS_CSR, shape, 300);
    }
}

/* Most of the values in one group, and chunks of several. */
static void sparse_rows_of_many_chunks_find_their_place(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < repeats(2); i++) {
        random_sparse(FBY_AS_COO, (struct fby_shape){2, {300, 200}}, 40000);
        random_sparse(FBY_AS_CSR, (struct fby_shape){1, {60000}}, 40000);
        random_sparse(FBY_AS_DENSE, (struct fby_shape){2, {2, 3}}, 60000);
    }
}

/* ---- Documents ----------------------------------------------------------- */

/* Rows of `room` tokens: full, with a rest, or empty. */
static void deal_documents(
    struct rows *r, uint32_t rows, uint32_t room, uint16_t *raw)
{
    uint64_t n = 0;
    fby_ragged_offsets_init(&r->ragged_offsets, rows);
    r->ragged_offsets.n = rows;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t left                  = some_length(room);
        r->ragged_offsets.values[row]  = 2 * n;
        r->ragged_offsets.lengths[row] = 0;
        while (left > 0) {
            uint32_t tokens = 1 + draw(left);
            raw[n++]        = (uint16_t)tokens;
            left -= tokens;
            r->ragged_offsets.lengths[row]++;
            r->ragged_offsets.total++;
        }
    }
}

static void list_documents(struct rows *r, const uint8_t *raw)
{
    struct trip *t     = &r->t;
    uint64_t     table = 4 * r->ragged_offsets.documents;
    uint32_t     rows  = r->ragged_offsets.n;
    take_room(t, table);
    assert_true(table <= fby_documents_table_bytes(&t->plan, rows));
    fby_documents_write_table(
        &t->plan, &r->ragged_offsets, raw, (uint32_t *)(void *)t->arena);
    t->used                                = table;
    const struct fby_documents_piece piece = {
        .rows = rows, .documents = (uint32_t)r->ragged_offsets.documents};
    fby_segments_begin(&t->list, t->arena, t->used);
    fby_segments_add_documents(&t->list, &t->plan, &piece);
    t->used = fby_segments_finish(&t->list);
}

static void go_documents(const struct fby_field_delivery *to)
{
    enum { MOST = 300 };
    struct rows              r     = {.layout = {.n_fields = 1}};
    uint32_t                 room  = 1 + draw(MOST);
    uint32_t                 rows  = draw(3) == 0 ? 1 : 1 + draw(40);
    uint16_t                *raw   = malloc(2 * (size_t)room * rows);
    struct fby_field_content field = {.name = "documents",
        .decode                             = FBY_DECODE_DOCUMENTS,
        .wire_type                          = FBY_U16,
        .max_length                         = room,
        .as.documents.shift                 = (uint8_t)draw(2),
        .shape                              = {1, {room}}};
    r.layout.rows                  = rows;
    assert_ok(fby_expansion_init(&r.t.plan, &field, to, NULL));
    assert_true(fby_segments_accept_table(&r.t.plan, rows));
    place_parts(&r);
    deal_documents(&r, rows, room, raw);
    const uint8_t *bytes = (const uint8_t *)raw;
    assert_ok(fby_documents_check(&r.t.plan, &r.ragged_offsets, bytes, NULL));
    list_documents(&r, bytes);
    uint8_t *right = malloc(fby_documents_bytes(&r.t.plan, &r.ragged_offsets));
    fby_expand_documents(&r.t.plan, &r.ragged_offsets, bytes, right);
    r.t.out_bytes -= GUARD;
    go_there(&r.t, r.t.list.list);
    assert_memory_equal(r.t.out, right, rows * r.t.plan.out_bytes);
    assert_int_equal(r.t.out[rows * r.t.plan.out_bytes], 0x5a);
    fby_ragged_offsets_fini(&r.ragged_offsets);
    free(right);
    free(raw);
    free(r.t.arena);
    free(r.t.out);
}

static void documents_are_as_on_the_host(void **state)
{
    (void)state;
    static const enum fby_type masks[] = {
        FBY_BOOL, FBY_U8, FBY_F16, FBY_BF16, FBY_F32};
    for (uint32_t i = 0; i < repeats(150); i++) {
        go_documents(&(struct fby_field_delivery){
            .dtype = i % 2 == 0 ? FBY_I32 : FBY_I64, .as = FBY_AS_POSITIONS});
        go_documents(&(struct fby_field_delivery){
            .dtype = masks[i % 5], .as = FBY_AS_MASK});
    }
}

/* ---- all of them --------------------------------------------------------- */

static void every_kind_of_segment_came(void **state)
{
    (void)state;
    uint32_t kinds = kernel_run_kinds();
    for (uint32_t kind = 0; kind < FBY_SEGMENT_KINDS; kind++) {
        if ((kinds >> kind & 1) == 0) {
            fail_msg("no segment of kind %u came", kind);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_of_any_size_are_as_on_the_host),
        cmocka_unit_test(packed_pictures_of_any_size_are_as_on_the_host),
        cmocka_unit_test(parts_of_large_pictures_find_their_place),
        cmocka_unit_test(rows_of_small_pictures_find_their_place),
        cmocka_unit_test(packed_masks_are_moved_or_cast),
        cmocka_unit_test(planes_of_any_size_are_as_on_the_host),
        cmocka_unit_test(strips_of_large_planes_find_their_place),
        cmocka_unit_test(every_width_of_groups_is_unpacked),
        cmocka_unit_test(
            a_damaged_payload_that_passes_the_check_is_as_on_the_host),
        cmocka_unit_test(garbage_leaves_no_buffer),
        cmocka_unit_test(arrays_are_cast_as_on_the_host),
        cmocka_unit_test(arrays_are_scaled_by_channel_wherever_they_are_cut),
        cmocka_unit_test(
            nans_infinities_and_subnormals_are_scaled_as_on_the_host),
        cmocka_unit_test(channels_of_arrays_come_apart_wherever_they_are_cut),
        cmocka_unit_test(packed_arrays_come_apart),
        cmocka_unit_test(labels_become_rows_of_classes),
        cmocka_unit_test(bits_become_maps_wherever_they_are_cut),
        cmocka_unit_test(ops_of_small_pictures_are_as_on_the_host),
        cmocka_unit_test(ops_of_the_device_are_as_on_the_host),
        cmocka_unit_test(ops_of_planes_are_as_on_the_host),
        cmocka_unit_test(ops_find_pictures_that_come_in_parts),
        cmocka_unit_test(mixed_labels_are_as_on_the_host),
        cmocka_unit_test(rows_of_any_length_are_as_on_the_host),
        cmocka_unit_test(chunks_of_long_rows_find_their_place),
        cmocka_unit_test(sparse_rows_of_any_shape_are_as_on_the_host),
        cmocka_unit_test(wide_sparse_rows_are_as_on_the_host),
        cmocka_unit_test(sparse_rows_of_many_chunks_find_their_place),
        cmocka_unit_test(documents_are_as_on_the_host),
        cmocka_unit_test(every_kind_of_segment_came), /* the last */
    };
    return cmocka_run_group_tests_name(
        "trainer_client.expand_block", tests, NULL, NULL);
}
