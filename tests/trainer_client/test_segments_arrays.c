/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of arrays, ids and bits: where parts of a sample go, what is cut. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/expand/host.h"
#include "trainer_client/expand/segments.h"

struct rig {
    struct fby_expansion plan;
    struct fby_segments  list;
    uint8_t             *arena;
};

static void begin(struct rig *rig, const struct fby_field_content *field,
    const struct fby_field_delivery *to)
{
    assert_ok(fby_expansion_init(&rig->plan, field, to, NULL));
    rig->arena = calloc(1, 1 << 16);
    fby_segments_begin(&rig->list, rig->arena, 0);
}

static struct fby_field_content label_of(uint32_t classes)
{
    return (struct fby_field_content){.name = "label",
        .decode                             = FBY_DECODE_LABEL,
        .wire_type                          = FBY_U16,
        .as.label.one_hot                   = true,
        .as.label.classes                   = classes};
}

static void parts_of_a_scaled_array_know_their_first_channel(void **state)
{
    (void)state;
    struct rig                      rig;
    const struct fby_field_content  field = {.name = "array",
         .decode                                   = FBY_DECODE_ARRAY,
         .wire_type                                = FBY_U16,
         .shape                                    = {2, {100, 3}}};
    const struct fby_field_delivery to    = {
           .dtype = FBY_F32, .scaled = true, .channels = 3, .scale = {1, 2, 3}};
    begin(&rig, &field, &to);
    const struct fby_piece piece = {.at = 16,
        .raw_offset                     = UINT64_C(2) * 301,
        .raw_bytes                      = 80,
        .out                            = 1000};
    fby_segments_add(&rig.list, &rig.plan, &piece);
    const struct fby_segment *s = &rig.list.segments[0];
    assert_int_equal(s->kind, FBY_SEGMENT_VALUES);
    assert_int_equal(s->n, 40);
    assert_int_equal(s->first_pixel, 301 % 3);
    assert_int_equal(s->out, 1000 + 4 * 301);
    assert_true(s->scale[2] == 3);
    free(rig.arena);
}

/* 2^30 values are no whole number of groups of three. */
static void a_part_that_is_cut_goes_on_with_the_next_channel(void **state)
{
    (void)state;
    struct rig                      rig;
    const struct fby_field_content  field = {.name = "array",
         .decode                                   = FBY_DECODE_ARRAY,
         .wire_type                                = FBY_U8,
         .shape                                    = {2, {1 << 28, 3}}};
    const struct fby_field_delivery to    = {
           .dtype = FBY_F16, .scaled = true, .channels = 3};
    begin(&rig, &field, &to);
    const struct fby_piece piece = {.raw_bytes = UINT64_C(3) << 30};
    fby_segments_add(&rig.list, &rig.plan, &piece);
    assert_int_equal(rig.list.n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct fby_segment *s = &rig.list.segments[i];
        assert_int_equal(s->first_pixel, ((uint64_t)i << 30) % 3);
        assert_int_equal(s->in, (uint64_t)i << 30);
        assert_int_equal(s->out, (uint64_t)i << 31);
    }
    free(rig.arena);
}

static void ids_of_more_values_than_a_segment_takes_are_cut_by_rows(
    void **state)
{
    (void)state;
    static const enum fby_expand_kind kinds[] = {
        FBY_EXPAND_ONE_HOT, FBY_EXPAND_MIX};
    enum { CLASSES = 60000, MOST = FBY_SEGMENT_MAX / CLASSES };
    const struct fby_field_content  field = label_of(CLASSES);
    const struct fby_field_delivery to    = {.dtype = FBY_F32};
    for (uint32_t k = 0; k < 2; k++) {
        struct rig rig;
        begin(&rig, &field, &to);
        rig.plan.kind                = kinds[k];
        const struct fby_piece piece = {
            .raw_bytes = UINT64_C(2) * (2 * MOST + 7), .params = 16};
        fby_segments_add(&rig.list, &rig.plan, &piece);
        assert_int_equal(rig.list.n, 3);
        for (uint32_t i = 0; i < 3; i++) {
            const struct fby_segment *s = &rig.list.segments[i];
            assert_int_equal(s->n, (i < 2 ? MOST : 7) * CLASSES);
            assert_int_equal(s->out, i * rig.plan.out_bytes * MOST);
            assert_int_equal(k == 0 ? s->in : UINT64_C(2) * s->first_row,
                UINT64_C(2) * i * MOST);
        }
        free(rig.arena);
    }
}

/* Of 12 maps a pixel has two bytes. */
static void bits_of_more_values_than_a_segment_takes_are_cut_by_pixels(
    void **state)
{
    (void)state;
    enum { SIDE = 16384, MAPS = 12, MOST = FBY_SEGMENT_MAX / MAPS };
    const struct fby_field_content  field = {.name = "bits",
         .decode                                   = FBY_DECODE_ARRAY,
         .wire_type                                = FBY_U8,
         .as.array.n_bits                          = MAPS,
         .shape                                    = {3, {SIDE, SIDE, 2}}};
    const struct fby_field_delivery to    = {
           .dtype = FBY_F16, .layout = FBY_LAYOUT_CHW};
    struct rig rig;
    begin(&rig, &field, &to);
    const struct fby_piece whole = {.raw_bytes = 2 * rig.plan.raw_bytes};
    fby_segments_add(&rig.list, &rig.plan, &whole);
    assert_int_equal(rig.list.n, 2 * 4); /* 3 times most values, and a rest */
    for (uint32_t i = 0; i < rig.list.n; i++) {
        const struct fby_segment *s     = &rig.list.segments[i];
        uint32_t                  first = i % 4 * MOST;
        assert_int_equal(s->first_pixel, first);
        assert_int_equal(s->pixels, i % 4 < 3 ? MOST : SIDE * SIDE - first);
        assert_int_equal(s->n, s->pixels * MAPS);
        assert_int_equal(
            s->in, i / 4 * rig.plan.raw_bytes + UINT64_C(2) * first);
        assert_int_equal(s->out, i / 4 * rig.plan.out_bytes);
    }
    free(rig.arena);
}

static void an_id_without_a_class_is_refused_by_its_number(void **state)
{
    (void)state;
    static const uint16_t           ids[] = {0, 999, 5, 1000};
    static struct fby_expansion     plan;
    const struct fby_field_content  field = label_of(1000);
    const struct fby_field_delivery to    = {.dtype = FBY_F32};
    const uint8_t                  *raw   = (const uint8_t *)ids;
    struct fby_error_detail         why   = {""};
    assert_ok(fby_expansion_init(&plan, &field, &to, NULL));
    assert_ok(fby_check_labels(&plan, raw, 3, &why));
    assert_int_equal(fby_check_labels(&plan, raw, 4, &why), FBY_PROTO);
    assert_non_null(
        strstr(why.text, "field label: label 1000 is not one of 0 to 999"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_scaled_array_know_their_first_channel),
        cmocka_unit_test(a_part_that_is_cut_goes_on_with_the_next_channel),
        cmocka_unit_test(
            ids_of_more_values_than_a_segment_takes_are_cut_by_rows),
        cmocka_unit_test(
            bits_of_more_values_than_a_segment_takes_are_cut_by_pixels),
        cmocka_unit_test(an_id_without_a_class_is_refused_by_its_number),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.segments_arrays", tests, NULL, NULL);
}
