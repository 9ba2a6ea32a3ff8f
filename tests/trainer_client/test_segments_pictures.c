/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of pictures: offsets of their lines, number of tiles, and shared
 * memory. test_expand_block.c tests their values. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/yuv420.h"
#include "trainer_client/expand/segments.h"

enum { ARENA = 1 << 16, LIST = 1 << 12, HEIGHT = 150, WIDTH = 290 };
enum { PLANES = 3 * FBY_TILE_ROWS * FBY_TILE_STRIDE }; /* bytes of a tile's */

struct rig {
    struct fby_expansion plan;
    struct fby_segments  list;
    uint8_t             *arena;
};

static void begin(struct rig *rig, bool yuv420)
{
    const struct fby_field_content  field = {.name = "image",
         .decode                                   = FBY_DECODE_RGB8,
         .wire_type                                = FBY_U8,
         .as.rgb8.yuv420                           = yuv420,
         .shape                                    = {3, {HEIGHT, WIDTH, 3}}};
    const struct fby_field_delivery to    = {
           .dtype = FBY_F32, .layout = FBY_LAYOUT_CHW};
    assert_ok(fby_expansion_init(&rig->plan, &field, &to, NULL));
    rig->arena = calloc(1, ARENA);
    fby_segments_begin(&rig->list, rig->arena, LIST);
}

static const struct fby_segment *add(
    struct rig *rig, const struct fby_piece *piece)
{
    fby_segments_add(&rig->list, &rig->plan, piece);
    return &rig->list.segments[rig->list.n - 1];
}

static void lines_of_a_picture_know_their_place(void **state)
{
    (void)state;
    struct rig     rig;
    const uint64_t line = UINT64_C(3) * WIDTH;
    begin(&rig, false);
    const struct fby_piece    piece = {.at = 64,
           .raw_offset = 2 * rig.plan.raw_bytes + 128 * line,
           .raw_bytes  = (HEIGHT - 128) * line,
           .out        = 1000,
           .params     = 500};
    const struct fby_segment *s     = add(&rig, &piece);
    assert_int_equal(s->kind, FBY_SEGMENT_PIXELS);
    assert_int_equal(s->in, 64);
    assert_int_equal(s->out, 1000 + 2 * rig.plan.out_bytes);
    assert_int_equal(s->first_pixel, 128 * WIDTH);
    assert_int_equal(s->pixels, (HEIGHT - 128) * WIDTH);
    assert_int_equal(s->n, ((HEIGHT - 128) * WIDTH + 3) / 4);
    assert_int_equal(s->plane, HEIGHT * WIDTH);
    assert_int_equal(s->params, 502);
    free(rig.arena);
}

static void strips_of_planes_know_their_place(void **state)
{
    (void)state;
    struct rig     rig;
    const uint64_t strip = fby_yuv_bytes(WIDTH, FBY_YUV_LINES);
    begin(&rig, true);
    const struct fby_piece last = {
        .raw_offset = 4 * strip, .raw_bytes = rig.plan.raw_bytes - 4 * strip};
    const struct fby_segment *s = add(&rig, &last);
    assert_int_equal(s->kind, FBY_SEGMENT_PLANES);
    assert_int_equal(s->first_pixel, 4 * FBY_YUV_LINES * WIDTH);
    assert_int_equal(s->lines, HEIGHT - 4 * FBY_YUV_LINES);
    assert_int_equal(s->n, 2); /* 256 wide, and the rest */
    assert_int_equal(rig.list.shared, PLANES);
    free(rig.arena);
}

/* Two pictures of 5 x 2 tiles; tile `i` has `sixteens` times 16 bytes, all
 * others 16. */
static void put_table(uint8_t *at, uint32_t i, uint32_t sixteens)
{
    uint32_t end = 0;
    fby_store_le(at, 0, 4);
    for (uint32_t tile = 0; tile < 20; tile++) {
        end += tile == i ? sixteens : 1;
        fby_store_le(at + 4 + (size_t)4 * tile, end, 4);
    }
}

static void shared_memory_is_what_the_largest_tile_needs(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, false);
    const struct fby_piece two = {
        .packed = true, .raw_bytes = 2 * rig.plan.raw_bytes};
    put_table(rig.arena, 0, 2); /* smaller than the sums before runs */
    (void)add(&rig, &two);
    assert_int_equal(rig.list.shared, PLANES + FBY_TILE_BEFORE);
    put_table(rig.arena, 13, 250);
    assert_int_equal(add(&rig, &two)->n, 20);
    assert_int_equal(rig.list.shared, PLANES + 16 * 250 + FBY_TILE_READ_OVER);
    put_table(rig.arena, 0, 2);
    (void)add(&rig, &two); /* needs less */
    assert_int_equal(rig.list.shared, PLANES + 16 * 250 + FBY_TILE_READ_OVER);
    free(rig.arena);
}

/* None comes this far; no more is asked for than a launch may have. */
static void a_false_table_asks_for_no_more_than_a_tile(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        begin(&rig, false);
        const struct fby_piece two = {
            .packed = true, .raw_bytes = 2 * rig.plan.raw_bytes};
        put_table(rig.arena, 19, i == 0 ? UINT32_MAX - 20 : 1 << 20);
        (void)add(&rig, &two);
        assert_int_equal(
            rig.list.shared, PLANES + FBY_TILE_PACKED + FBY_TILE_READ_OVER);
        free(rig.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_picture_know_their_place),
        cmocka_unit_test(strips_of_planes_know_their_place),
        cmocka_unit_test(shared_memory_is_what_the_largest_tile_needs),
        cmocka_unit_test(a_false_table_asks_for_no_more_than_a_tile),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.segments_pictures", tests, NULL, NULL);
}
