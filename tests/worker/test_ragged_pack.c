/* SPDX-License-Identifier: Apache-2.0 */
/* Packing of ragged rows, compared with rows written one after another as
 * PROTOCOL.md defines them. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "worker/stages/ragged_pack.h"

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*seed >> 8) % below;
}

static struct fby_raw_layout layout_of(
    enum fby_type type, struct fby_shape shape, uint32_t rows)
{
    struct fby_raw_layout layout = {.rows = rows, .n_fields = 1};
    layout.fields[0]             = (struct fby_raw_field){
                    .type       = type,
                    .shape      = shape,
                    .form       = FBY_FORM_RAGGED,
                    .max_length = shape.dims[0],
    };
    assert_ok(fby_layout_compute(&layout, NULL));
    return layout;
}

static void the_worked_example_of_the_protocol_holds(void **state)
{
    (void)state;
    static const uint8_t  want[] = {2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
         0, /* lengths; zeros */ 1, 2, 3};
    const uint32_t        lengths[3] = {2, 0, 1};
    struct fby_raw_layout layout =
        layout_of(FBY_U8, (struct fby_shape){1, {300}}, 3);
    uint8_t *memory = malloc(layout.raw_bytes);
    memset(memory, 0xa5, layout.raw_bytes);
    memory[16]       = 1;
    memory[17]       = 2;
    memory[16 + 600] = 3;
    assert_int_equal(
        fby_ragged_pack(&layout.fields[0], lengths, 3, memory), sizeof(want));
    assert_memory_equal(memory, want, sizeof(want));
    free(memory);
}

/* ---- Any rows ------------------------------------------------------------ */

struct chunk {
    struct fby_raw_layout layout;
    struct fby_raw_span   span;
    uint32_t             *lengths;
    uint8_t              *memory; /* laid out as in a batch in work */
    uint8_t              *want;
    uint32_t              n_want;
};

/* 0, the longest possible, or a length between. */
static uint32_t draw_length(uint32_t *seed, uint32_t most)
{
    uint32_t kind = draw(seed, 4);
    return kind == 0 ? 0 : kind == 1 ? most : draw(seed, most + 1);
}

static void put(struct chunk *c, uint8_t byte)
{
    c->want[c->n_want++] = byte;
}

static void write_lengths(struct chunk *c)
{
    for (uint32_t i = 0; i < c->span.rows; i++) {
        for (uint32_t b = 0; b < c->layout.fields[0].length_bytes; b++) {
            put(c, (uint8_t)(c->lengths[i] >> (8 * b)));
        }
    }
    while (c->n_want % 16 != 0) {
        put(c, 0);
    }
}

/* Write the rows at their fixed offsets in work, and packed as expected. */
static struct chunk drawn_chunk(uint32_t *seed)
{
    struct fby_shape shape = {1 + draw(seed, 3), {1 + draw(seed, 600), 0, 0}};
    shape.dims[1]          = 1 + draw(seed, 5);
    shape.dims[2]          = 1 + draw(seed, 5);
    struct chunk c = {.layout = layout_of((enum fby_type)(1 + draw(seed, 8)),
                          shape, 1 + draw(seed, 50))};
    const struct fby_raw_field *field = &c.layout.fields[0];
    c.span                            = fby_layout_chunk_span(&c.layout, 0, 0);
    c.lengths                         = calloc(c.span.rows, sizeof(uint32_t));
    c.memory                          = malloc(c.span.raw_bytes);
    c.want                            = malloc(c.span.raw_bytes);
    memset(c.memory, 0xa5, c.span.raw_bytes);
    for (uint32_t i = 0; i < c.span.rows; i++) {
        c.lengths[i] = draw_length(seed, field->max_length);
    }
    write_lengths(&c);
    for (uint32_t i = 0; i < c.span.rows; i++) {
        uint8_t *row = c.memory + fby_ragged_lengths_end(field, c.span.rows) +
                       i * field->row_bytes;
        for (uint32_t b = 0; b < c.lengths[i] * field->entry_bytes; b++) {
            row[b] = (uint8_t)draw(seed, 256);
            put(&c, row[b]);
        }
    }
    return c;
}

static void any_rows_are_moved_together_behind_their_lengths(void **state)
{
    (void)state;
    uint32_t seed = 3;
    for (int round = 0; round < 300; round++) {
        struct chunk c = drawn_chunk(&seed);
        assert_int_equal(fby_ragged_pack(&c.layout.fields[0], c.lengths,
                             c.span.rows, c.memory),
            c.n_want);
        assert_memory_equal(c.memory, c.want, c.n_want);
        free(c.lengths);
        free(c.memory);
        free(c.want);
    }
}

static void rows_without_entries_are_their_lengths_alone(void **state)
{
    (void)state;
    uint32_t              lengths[40] = {0};
    struct fby_raw_layout layout =
        layout_of(FBY_F32, (struct fby_shape){2, {7, 4}}, 40);
    uint8_t *memory = malloc(layout.raw_bytes);
    memset(memory, 0xa5, layout.raw_bytes);
    assert_int_equal(
        fby_ragged_pack(&layout.fields[0], lengths, 40, memory), 48);
    for (uint32_t i = 0; i < 48; i++) {
        assert_int_equal(memory[i], 0);
    }
    free(memory);
}

/* ---- Sparse rows --------------------------------------------------------- */

static struct fby_raw_layout sparse_layout(
    enum fby_type type, struct fby_shape shape)
{
    struct fby_raw_layout layout = {.rows = 3, .n_fields = 1};
    layout.fields[0]             = (struct fby_raw_field){
                    .type       = type,
                    .shape      = shape,
                    .form       = FBY_FORM_SPARSE,
                    .max_length = 4,
    };
    assert_ok(fby_layout_compute(&layout, NULL));
    return layout;
}

static void the_worked_example_of_sparse_rows_holds(void **state)
{
    (void)state;
    static const uint8_t  want[] = {2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
         0, /* lengths; zeros */ 7, 0, 0x2b, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
         0, /* indices; zeros */ 1, 2, 3};
    const uint32_t        lengths[3] = {2, 0, 1};
    struct fby_raw_layout layout =
        sparse_layout(FBY_U8, (struct fby_shape){1, {300}});
    uint8_t memory[16 + 32 + 16];
    assert_int_equal(layout.raw_bytes, sizeof(memory));
    memset(memory, 0xa5, sizeof(memory));
    memcpy(memory + 16, want + 16, 4);
    memcpy(memory + 16 + 16, want + 20, 2);
    memcpy(memory + 48, want + 32, 2);
    memory[48 + 8] = 3;
    assert_int_equal(
        fby_ragged_pack(&layout.fields[0], lengths, 3, memory), sizeof(want));
    assert_memory_equal(memory, want, sizeof(want));
}

static void full_sparse_rows_stay_and_empty_ones_take_no_bytes(void **state)
{
    (void)state;
    static const uint32_t full[3] = {4, 4, 4};
    static const uint32_t none[3] = {0, 0, 0};
    struct fby_raw_layout layout =
        sparse_layout(FBY_F32, (struct fby_shape){2, {50, 60}});
    uint8_t memory[16 + 32 + 48];
    for (uint32_t i = 0; i < sizeof(memory); i++) {
        memory[i] = (uint8_t)(i * 7);
    }
    assert_int_equal(
        fby_ragged_pack(&layout.fields[0], full, 3, memory), sizeof(memory));
    for (uint32_t i = 48; i < sizeof(memory); i++) {
        assert_int_equal(memory[i], (uint8_t)(i * 7));
    }
    assert_int_equal(fby_ragged_pack(&layout.fields[0], none, 3, memory), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_example_of_the_protocol_holds),
        cmocka_unit_test(any_rows_are_moved_together_behind_their_lengths),
        cmocka_unit_test(rows_without_entries_are_their_lengths_alone),
        cmocka_unit_test(the_worked_example_of_sparse_rows_holds),
        cmocka_unit_test(full_sparse_rows_stay_and_empty_ones_take_no_bytes),
    };
    return cmocka_run_group_tests_name("worker.ragged_pack", tests, NULL, NULL);
}
