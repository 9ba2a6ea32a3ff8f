/* SPDX-License-Identifier: Apache-2.0 */
/* The fields in a list of segments, their codings, and that no list is longer
 * than the room reserved for it. */
#include "tests/test.h"

#include <stdlib.h>

#include "trainer_client/expand/segments.h"

static uint64_t seed_now = 1;

static uint32_t draw(uint32_t n)
{
    seed_now = seed_now * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)((seed_now >> 33) % n);
}

/* ---- Kinds of fields ----------------------------------------------------- */

static void fields_made_on_the_host_have_no_segments(void **state)
{
    (void)state;
    static const enum fby_expand_kind made[] = {
        FBY_EXPAND_CU_SEQLENS, FBY_EXPAND_POSITIONS, FBY_EXPAND_MASK};
    struct fby_expansion plan = {.to = FBY_F32};
    for (int kind = FBY_EXPAND_COPY; kind < FBY_EXPAND_CU_SEQLENS; kind++) {
        plan.kind = (enum fby_expand_kind)kind;
        assert_true(fby_segments_can_expand(&plan));
    }
    for (uint32_t i = 0; i < 3; i++) {
        plan.kind = made[i];
        assert_false(fby_segments_can_expand(&plan));
    }
    plan = (struct fby_expansion){.kind = FBY_EXPAND_OPS, .to = FBY_BOOL};
    assert_false(fby_segments_can_expand(&plan));
}

static void a_table_of_documents_has_at_most_the_tokens_of_a_segment(
    void **state)
{
    (void)state;
    struct fby_expansion plan = {
        .kind = FBY_EXPAND_MASK, .shape = {1, {1 << 20}}};
    assert_true(fby_segments_accept_table(&plan, 1 << 10));
    assert_false(fby_segments_accept_table(&plan, (1 << 10) + 1));
    assert_false(
        fby_segments_accept_table(&plan, UINT32_C(1) << 31)); /* 2^51 */
    plan.kind = FBY_EXPAND_CU_SEQLENS;
    assert_false(fby_segments_accept_table(&plan, 1));
}

static void pictures_of_one_channel_or_three_may_come_packed(void **state)
{
    (void)state;
    struct fby_expansion plan = {
        .kind = FBY_EXPAND_AFFINE, .from = FBY_U8, .shape = {3, {8, 8, 3}}};
    assert_true(fby_segments_accept_packed(&plan));
    plan.shape.dims[2] = 1;
    assert_true(fby_segments_accept_packed(&plan));
    plan.kind = FBY_EXPAND_BITS;
    assert_false(fby_segments_accept_packed(&plan));
    plan.kind          = FBY_EXPAND_AFFINE;
    plan.shape.dims[2] = 4;
    assert_false(fby_segments_accept_packed(&plan));
    plan.shape.dims[2] = 3;
    plan.from          = FBY_U16;
    assert_false(fby_segments_accept_packed(&plan));
}

static void only_flips_leave_pictures_where_they_are(void **state)
{
    (void)state;
    struct fby_expansion plan = {
        .kind = FBY_EXPAND_OPS, .pixels = 70, .channels = 3};
    assert_true(fby_segments_needs_gather(&plan));
    assert_int_equal(fby_segments_gathered_bytes(&plan), 210);
    plan.ops.plain = 1;
    assert_false(fby_segments_needs_gather(&plan));
    plan.kind      = FBY_EXPAND_AFFINE;
    plan.ops.plain = 0;
    assert_false(fby_segments_needs_gather(&plan));
}

/* ---- Room ---------------------------------------------------------------- */

/* The list of a batch of pictures: in its chunks, or in one piece. */
static uint64_t list_of_pictures(const struct fby_raw_layout *layout,
    const struct fby_expansion *plan, bool whole, bool packed)
{
    enum { LIST = 1 << 14 };
    struct fby_segments list;
    uint8_t            *arena = calloc(1, 1 << 20);
    uint32_t            n     = whole ? 1 : layout->fields[0].n_chunks;
    fby_segments_begin(&list, arena, LIST);
    fby_segments_append_copy(&list, 0, 100, 0);
    for (uint32_t i = 0; i < n; i++) {
        struct fby_raw_span    span  = fby_layout_chunk_span(layout, 0, i);
        const struct fby_piece piece = {
            .packed     = packed,
            .raw_offset = span.raw_offset,
            .raw_bytes  = whole ? layout->raw_bytes : span.raw_bytes,
        };
        fby_segments_add(&list, plan, &piece);
    }
    uint64_t bytes = fby_segments_finish(&list) - list.list;
    free(arena);
    return bytes;
}

static void a_list_fits_the_room_reserved_for_it(void **state)
{
    (void)state;
    const struct fby_field_delivery to = {
        .dtype = FBY_F32, .layout = FBY_LAYOUT_CHW};
    struct fby_field_content field = {
        .name = "image", .decode = FBY_DECODE_RGB8, .wire_type = FBY_U8};
    for (uint32_t i = 0; i < 300; i++) {
        struct fby_expansion *plan   = calloc(1, sizeof(*plan));
        struct fby_raw_layout layout = {.rows = 1 + draw(60), .n_fields = 1};
        uint32_t              most   = 1 << draw(10);
        field.shape =
            (struct fby_shape){3, {1 + draw(most), 1 + draw(most), 3}};
        layout.fields[0].type  = FBY_U8;
        layout.fields[0].shape = field.shape;
        assert_ok(fby_layout_compute(&layout, NULL));
        assert_ok(fby_expansion_init(plan, &field, &to, NULL));
        uint64_t room = fby_segments_max_bytes(&layout, plan, 100);
        for (uint32_t way = 0; way < 4; way++) {
            assert_in_range(
                list_of_pictures(&layout, plan, way / 2 != 0, way % 2 != 0), 1,
                room);
        }
        free(plan);
    }
}

/* The list of one chunk of `rows` rows, each with all values that it may
 * have. */
static uint64_t list_of_full_rows(const struct fby_raw_layout *layout,
    const struct fby_expansion *plan, uint32_t rows)
{
    struct fby_segments           list;
    const struct fby_raw_field   *field = &layout->fields[0];
    const struct fby_ragged_piece piece = {
        .rows    = rows,
        .entries = (uint64_t)rows * field->max_length,
        .total   = (uint64_t)rows * field->max_length,
    };
    uint8_t *arena = calloc(1, 1 << 20);
    fby_segments_begin(&list, arena, 0);
    fby_segments_append_copy(&list, 0, 100, 0);
    fby_segments_add_rows(&list, plan, field, field->max_length, &piece);
    uint64_t bytes = fby_segments_finish(&list) - list.list;
    free(arena);
    return bytes + fby_segments_n_groups(rows) * sizeof(uint64_t);
}

/* Of sparse rows fewer may need more blocks than all. */
static void a_list_of_fewer_rows_fits_too(void **state)
{
    (void)state;
    static const enum fby_as as[] = {FBY_AS_COO, FBY_AS_DENSE, FBY_AS_CSR};
    for (uint32_t i = 0; i < 3; i++) {
        struct fby_expansion           *plan     = calloc(1, sizeof(*plan));
        struct fby_field_content        field    = {.name = "f",
                      .decode                             = FBY_DECODE_SPARSE,
                      .wire_type                          = FBY_U8,
                      .max_length                         = 8,
                      .as.sparse.shape                    = {1, {300}},
                      .shape                              = {1, {300}}};
        const struct fby_field_delivery delivery = {
            .dtype = FBY_U8, .as = as[i], .offsets = FBY_I32};
        struct fby_raw_layout layout = {.rows = 65281, .n_fields = 1};
        layout.fields[0]             = (struct fby_raw_field){
                        .type       = FBY_U8,
                        .shape      = field.shape,
                        .form       = FBY_FORM_SPARSE,
                        .max_length = field.max_length,
        };
        assert_ok(fby_expansion_init(plan, &field, &delivery, NULL));
        assert_ok(fby_layout_compute(&layout, NULL));
        assert_int_equal(layout.fields[0].n_chunks, 1);
        uint64_t most = fby_segments_max_bytes(&layout, plan, 100);
        for (uint32_t rows = layout.rows; rows > 64000; rows--) {
            assert_true(list_of_full_rows(&layout, plan, rows) <= most);
        }
        free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_made_on_the_host_have_no_segments),
        cmocka_unit_test(
            a_table_of_documents_has_at_most_the_tokens_of_a_segment),
        cmocka_unit_test(pictures_of_one_channel_or_three_may_come_packed),
        cmocka_unit_test(only_flips_leave_pictures_where_they_are),
        cmocka_unit_test(a_list_fits_the_room_reserved_for_it),
        cmocka_unit_test(a_list_of_fewer_rows_fits_too),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.segments", tests, NULL, NULL);
}
