/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of ragged and of sparse rows: the space for their lengths, indices
 * and values. */
#include "tests/proto/layouts.h"

static struct fby_raw_field ragged_field(
    enum fby_type type, struct fby_shape shape)
{
    return (struct fby_raw_field){.type = type,
        .shape                          = shape,
        .form                           = FBY_FORM_RAGGED,
        .max_length                     = shape.dims[0]};
}

static struct fby_raw_layout ragged_rows(
    enum fby_type type, struct fby_shape shape, uint32_t rows)
{
    struct fby_raw_layout layout = {.rows = rows, .n_fields = 1};
    layout.fields[0]             = ragged_field(type, shape);
    assert_ok(fby_layout_compute(&layout, NULL));
    return layout;
}

static void ragged_rows_have_room_for_the_longest(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        ragged_rows(FBY_U8, (struct fby_shape){1, {300}}, 3);
    const struct fby_raw_field *field = &layout.fields[0];
    assert_int_equal(field->entry_bytes, 1);
    assert_int_equal(field->length_bytes, 2);
    assert_int_equal(field->rows_per_chunk, (8 << 20) / 300);
    assert_int_equal(field->n_chunks, 1);
    assert_int_equal(fby_ragged_lengths_end(field, 3), 16);
    assert_int_equal(field->raw_bytes, 16 + 912);
    assert_int_equal(chunk(&layout, 0).raw_bytes, 16 + 912);
}

static void lengths_have_the_smallest_type_that_holds_them(void **state)
{
    (void)state;
    static const uint32_t most[][2] = {
        {1, 1}, {255, 1}, {256, 2}, {65535, 2}, {65536, 4}, {33554368, 4}};
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
        struct fby_raw_layout layout =
            ragged_rows(FBY_U8, (struct fby_shape){1, {most[i][0]}}, 1);
        assert_int_equal(layout.fields[0].length_bytes, most[i][1]);
    }
}

static void long_ragged_rows_have_a_chunk_each(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        ragged_rows(FBY_F32, (struct fby_shape){2, {3000, 1000}}, 5);
    assert_int_equal(layout.fields[0].entry_bytes, 4000);
    assert_int_equal(layout.fields[0].rows_per_chunk, 1);
    assert_int_equal(layout.n_chunks, 5);
    assert_int_equal(chunk(&layout, 4).raw_offset, 4 * (16 + 12000000));
    assert_int_equal(chunk(&layout, 4).first_row, 4);
}

/* Check what every layout of ragged rows must satisfy. */
static void chunks_have_room_for_their_rows(const struct fby_raw_layout *layout)
{
    const struct fby_raw_field *field = &layout->fields[0];
    uint64_t                    end   = 0;
    uint32_t                    rows  = 0;
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        struct fby_raw_span span = chunk(layout, i);
        assert_true(span.raw_offset == end && end % 16 == 0);
        assert_int_equal(span.first_row, rows);
        assert_in_range(span.rows, 1, field->rows_per_chunk);
        assert_true(fby_ragged_lengths_end(field, span.rows) +
                        span.rows * field->row_bytes <=
                    span.raw_bytes);
        assert_in_range(span.raw_bytes, 1, field->chunk_bytes);
        assert_in_range(span.raw_bytes, 1, FBY_CHUNK_BYTES_MAX);
        for (uint32_t r = 0; r < span.rows; r++) {
            uint32_t first = 0;
            uint32_t n     = 0;
            fby_layout_row_chunks(field, rows + r, &first, &n);
            assert_int_equal(first, i);
            assert_int_equal(n, 1);
        }
        end += span.raw_bytes;
        rows += span.rows;
    }
    assert_int_equal(rows, layout->rows);
    assert_true(end == field->raw_bytes);
    assert_true(layout->slot_bytes >= end);
}

static void chunks_of_any_ragged_rows_have_room_for_them(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (int round = 0; round < 2000; round++) {
        struct fby_shape shape = {.n_dims = 1 + draw(&seed, 4)};
        for (uint32_t d = 0; d < shape.n_dims; d++) {
            shape.dims[d] = 1 + draw(&seed, draw(&seed, 2) == 0 ? 9 : 70);
        }
        if (draw(&seed, 4) == 0) {
            shape.dims[0] *= 1 + draw(&seed, 5000);
        }
        struct fby_raw_layout layout = {
            .rows = 1 + draw(&seed, 400), .n_fields = 1};
        layout.fields[0] =
            ragged_field((enum fby_type)(1 + draw(&seed, 8)), shape);
        if (fby_layout_compute(&layout, NULL) == FBY_OK) {
            chunks_have_room_for_their_rows(&layout);
        }
    }
}

static void wrong_lengths_are_named(void **state)
{
    (void)state;
    struct fby_raw_layout layout = {.rows = 1, .n_fields = 1};
    layout.fields[0] = ragged_field(FBY_U8, (struct fby_shape){1, {33554416}});
    takes(layout);
    layout.fields[0] = ragged_field(FBY_U8, (struct fby_shape){1, {33554417}});
    refuses(layout, "33554417 bytes in 33554417 entries");
    layout.fields[0] = ragged_field(FBY_F32, (struct fby_shape){2, {9, 8}});
    layout.fields[0].max_length = 8;
    refuses(layout, "288 bytes in 8 entries");
    layout.fields[0].max_length = 0;
    refuses(layout, "288 bytes in 0 entries");
    layout.fields[0] = ragged_field(FBY_U8, (struct fby_shape){0, {1}});
    refuses(layout, "1 bytes in 1 entries");
    layout.fields[0] =
        ragged_field(FBY_U8, (struct fby_shape){2, {1, 1 << 30}});
    refuses(layout, "1073741824 bytes in 1 entries");
}

static void a_field_starts_behind_the_room_of_ragged_rows(void **state)
{
    (void)state;
    struct fby_raw_layout layout = {.rows = 3, .n_fields = 2};
    layout.fields[0] = ragged_field(FBY_U16, (struct fby_shape){1, {5}});
    layout.fields[1] = (struct fby_raw_field){.type = FBY_I64};
    assert_ok(fby_layout_compute(&layout, NULL));
    assert_int_equal(layout.fields[0].raw_bytes, 16 + 32);
    assert_int_equal(layout.fields[1].slot_offset, 64);
    assert_int_equal(layout.raw_bytes, 48 + 24);
}

/* ---- sparse rows --------------------------------------------------------- */

static struct fby_raw_layout sparse_rows(
    struct fby_shape shape, uint32_t most, uint32_t rows)
{
    struct fby_raw_layout layout = {.rows = rows, .n_fields = 1};
    layout.fields[0]             = (struct fby_raw_field){
                    .type       = FBY_F32,
                    .shape      = shape,
                    .form       = FBY_FORM_SPARSE,
                    .max_length = most,
    };
    assert_ok(fby_layout_compute(&layout, NULL));
    return layout;
}

static void indices_have_the_smallest_type_that_holds_them(void **state)
{
    (void)state;
    static const uint32_t bytes[][3] = {{1, 1, 1}, {16, 16, 1}, {1, 257, 2},
        {256, 256, 2}, {1, 65537, 4}, {65536, 32768, 4}};
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        struct fby_raw_layout layout = sparse_rows(
            (struct fby_shape){2, {bytes[i][0], bytes[i][1]}}, 1, 1);
        assert_int_equal(layout.fields[0].index_bytes, bytes[i][2]);
        assert_int_equal(layout.fields[0].entry_bytes, 4);
    }
}

static void sparse_rows_have_room_for_indices_and_values(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        sparse_rows((struct fby_shape){1, {50000}}, 2000, 900);
    const struct fby_raw_field *field = &layout.fields[0];
    assert_int_equal(field->rows_per_chunk, (8 << 20) / (2000 * 6));
    assert_int_equal(field->n_chunks, 2);
    uint32_t last = 900 - field->rows_per_chunk;
    assert_int_equal(chunk(&layout, 1).rows, last);
    assert_int_equal(chunk(&layout, 1).raw_bytes,
        (last * 2 + 15) / 16 * 16 + last * 2000 * 6);
    assert_int_equal(chunk(&layout, 1).raw_offset % 16, 0);
    assert_int_equal(fby_sparse_values_offset(field, 3, 5), 16 + 16);
    assert_int_equal(fby_layout_codec_params(field).distance, 1);
}

static void wrong_sparse_rows_are_named(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        sparse_rows((struct fby_shape){2, {3, 4}}, 12, 1);
    layout.fields[0].max_length = 13;
    refuses(layout, "52 bytes in 13 entries");
    layout.fields[0].max_length = 0;
    refuses(layout, "must be an array");
    layout.fields[0].max_length = 12;
    layout.fields[0].shape      = (struct fby_shape){2, {65536, 32769}};
    refuses(layout, "48 bytes in 12 entries");
    layout.fields[0].shape = (struct fby_shape){0, {1}};
    refuses(layout, "48 bytes in 12 entries");
    layout.fields[0].shape      = (struct fby_shape){1, {1 << 30}};
    layout.fields[0].max_length = 5 << 20;
    refuses(layout, "at most 33554368 bytes can be sent");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ragged_rows_have_room_for_the_longest),
        cmocka_unit_test(lengths_have_the_smallest_type_that_holds_them),
        cmocka_unit_test(long_ragged_rows_have_a_chunk_each),
        cmocka_unit_test(chunks_of_any_ragged_rows_have_room_for_them),
        cmocka_unit_test(wrong_lengths_are_named),
        cmocka_unit_test(a_field_starts_behind_the_room_of_ragged_rows),
        cmocka_unit_test(indices_have_the_smallest_type_that_holds_them),
        cmocka_unit_test(sparse_rows_have_room_for_indices_and_values),
        cmocka_unit_test(wrong_sparse_rows_are_named),
    };
    return cmocka_run_group_tests_name("proto.layout_rows", tests, NULL, NULL);
}
