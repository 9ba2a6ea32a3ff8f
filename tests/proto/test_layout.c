/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of dense rows: how fields are cut into chunks, and the limits. */
#include "tests/proto/layouts.h"

#include "common/bytes.h"
#include "proto/wire.h"

static struct fby_raw_layout one_field(
    enum fby_type type, struct fby_shape shape, uint32_t rows)
{
    struct fby_raw_layout layout = unfinished(type, shape, rows);
    assert_ok(fby_layout_compute(&layout, NULL));
    return layout;
}

static void small_rows_share_chunks_of_up_to_2_mib(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        one_field(FBY_U8, (struct fby_shape){3, {224, 224, 3}}, 64);
    assert_int_equal(layout.fields[0].rows_per_chunk, 13);
    assert_int_equal(layout.fields[0].chunks_per_row, 0);
    assert_int_equal(layout.fields[0].n_chunks, 5);
    assert_int_equal(chunk(&layout, 0).raw_bytes, 13 * 150528);
    assert_int_equal(chunk(&layout, 4).raw_offset, 4 * 13 * 150528);
    assert_int_equal(chunk(&layout, 4).first_row, 52);
    assert_int_equal(chunk(&layout, 4).rows, 12);
}

static void a_row_of_exactly_2_mib_is_a_chunk(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        one_field(FBY_U8, (struct fby_shape){1, {2 << 20}}, 3);
    assert_int_equal(layout.fields[0].rows_per_chunk, 1);
    assert_int_equal(layout.fields[0].n_chunks, 3);
}

static void larger_images_are_cut_at_multiples_of_32_lines(void **state)
{
    (void)state;
    /* a line has 3,000 bytes, a unit 96,000: 21 of them make a chunk */
    struct fby_raw_layout layout =
        one_field(FBY_U8, (struct fby_shape){3, {1000, 1000, 3}}, 2);
    assert_int_equal(layout.fields[0].rows_per_chunk, 0);
    assert_int_equal(layout.fields[0].chunks_per_row, 2);
    assert_int_equal(chunk(&layout, 0).raw_bytes, 21 * 96000);
    assert_int_equal(chunk(&layout, 1).raw_bytes, 3000000 - 21 * 96000);
    assert_int_equal(chunk(&layout, 2).raw_offset, 3000000);
    assert_int_equal(chunk(&layout, 2).first_row, 1);
    assert_int_equal(chunk(&layout, 2).rows, 1);
}

static void a_unit_larger_than_2_mib_is_a_chunk(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        one_field(FBY_U8, (struct fby_shape){3, {50, 40000, 3}}, 1);
    assert_int_equal(layout.n_chunks, 2);
    assert_int_equal(chunk(&layout, 0).raw_bytes, 32 * 120000);
    assert_int_equal(chunk(&layout, 1).raw_bytes, 18 * 120000);
}

static void other_arrays_are_cut_along_their_first_dimension(void **state)
{
    (void)state;
    struct fby_raw_layout table =
        one_field(FBY_F32, (struct fby_shape){2, {3000, 1000}}, 1);
    assert_int_equal(chunk(&table, 0).raw_bytes, 524 * 4000);
    struct fby_raw_layout list =
        one_field(FBY_I64, (struct fby_shape){1, {1 << 20}}, 1);
    assert_int_equal(list.n_chunks, 4);
    assert_int_equal(chunk(&list, 3).raw_bytes, 2 << 20);
}

static void fields_follow_each_other_aligned_in_the_slot(void **state)
{
    (void)state;
    struct fby_raw_layout layout = {.rows = 3, .n_fields = 3};
    layout.fields[0]             = (struct fby_raw_field){.type = FBY_U8};
    layout.fields[1] =
        (struct fby_raw_field){.type = FBY_F32, .shape = {1, {17}}};
    layout.fields[2] = (struct fby_raw_field){.type = FBY_I64};
    assert_ok(fby_layout_compute(&layout, NULL));
    assert_int_equal(layout.fields[1].slot_offset, 64);
    assert_int_equal(layout.fields[2].slot_offset, 64 + 256);
    assert_int_equal(layout.slot_bytes, 64 + 256 + 64);
    assert_int_equal(layout.raw_bytes, 3 + 204 + 24);
    assert_int_equal(fby_layout_chunk_index(&layout, 2, 0), 2);
}

/* Check what every layout must satisfy. */
static void chunks_tile_the_field(const struct fby_raw_layout *layout)
{
    const struct fby_raw_field *field = &layout->fields[0];
    uint64_t                    at    = 0;
    for (uint32_t i = 0; i < field->n_chunks; i++) {
        struct fby_raw_span span = chunk(layout, i);
        assert_true(span.raw_offset == at);
        assert_in_range(span.raw_bytes, 1, field->chunk_bytes);
        assert_true(span.rows > 1 || span.raw_bytes <= field->row_bytes);
        for (uint32_t r = 0; r < span.rows; r++) {
            uint32_t first = 0;
            uint32_t n     = 0;
            fby_layout_row_chunks(field, span.first_row + r, &first, &n);
            assert_true(first <= i && i < first + n);
        }
        at += span.raw_bytes;
    }
    assert_true(at == field->raw_bytes);
    assert_true(at == field->row_bytes * layout->rows);
}

static void chunks_of_any_array_tile_it_without_gap_or_overlap(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 3000; round++) {
        struct fby_shape shape = {.n_dims = draw(&seed, 5)};
        for (uint32_t d = 0; d < shape.n_dims; d++) {
            shape.dims[d] = 1 + draw(&seed, draw(&seed, 2) == 0 ? 9 : 120);
        }
        if (shape.n_dims > 0 && draw(&seed, 4) == 0) {
            shape.dims[0] *= 1 + draw(&seed, 50);
        }
        enum fby_type         type = (enum fby_type)(1 + draw(&seed, 8));
        struct fby_raw_layout layout =
            unfinished(type, shape, 1 + draw(&seed, 40));
        if (fby_layout_compute(&layout, NULL) == FBY_OK) {
            chunks_tile_the_field(&layout);
        }
    }
}

static void limits_are_named(void **state)
{
    (void)state;
    struct fby_raw_layout layout = {.rows = 0, .n_fields = 1};
    layout.fields[0].type        = FBY_U8;
    refuses(layout, "0 rows");
    layout.rows = FBY_ROWS_MAX + 1;
    refuses(layout, "65537 rows");
    layout.rows     = 1;
    layout.n_fields = 0;
    refuses(layout, "0 fields");
    layout.n_fields = FBY_MAX_FIELDS + 1;
    refuses(layout, "33 fields");
    layout.n_fields       = 1;
    layout.fields[0].type = (enum fby_type)99;
    refuses(layout, "known type");
    layout.fields[0].type  = FBY_U8;
    layout.fields[0].shape = (struct fby_shape){2, {5, 0}};
    refuses(layout, "1 to 1073741824 bytes");
    layout.fields[0].shape =
        (struct fby_shape){4, {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    refuses(layout, "1 to 1073741824 bytes");
    layout.fields[0].shape = (struct fby_shape){2, {2, 40 << 20}};
    refuses(layout, "41943040 bytes, more than 33554432");
    layout.fields[0].shape = (struct fby_shape){2, {1024, 1 << 20}};
    layout.rows            = FBY_ROWS_MAX;
    refuses(layout, "a batch of 70368744177664 bytes");
}

static struct fby_content *two_fields(void)
{
    static struct fby_content content;
    content.n_fields            = 2;
    content.fields[0].decode    = FBY_DECODE_RGB8;
    content.fields[1].decode    = FBY_DECODE_LABEL;
    content.fields[0].wire_type = FBY_U8;
    content.fields[0].shape     = (struct fby_shape){3, {8, 8, 3}};
    content.fields[1].wire_type = FBY_U16;
    return &content;
}

static void a_selection_lays_out_only_its_fields(void **state)
{
    (void)state;
    struct fby_raw_layout layout;
    assert_ok(fby_layout_of_content(two_fields(), 0, 4, &layout, NULL));
    assert_int_equal(layout.n_fields, 2);
    assert_ok(fby_layout_of_content(two_fields(), 2, 4, &layout, NULL));
    assert_int_equal(layout.n_fields, 1);
    assert_int_equal(layout.raw_bytes, 8);
    assert_int_equal(
        fby_layout_of_content(two_fields(), 4, 4, &layout, NULL), FBY_CONFIG);
}

static struct fby_raw_layout pictures_in_planes(
    uint32_t height, uint32_t width, uint32_t rows)
{
    struct fby_raw_layout layout =
        unfinished(FBY_U8, (struct fby_shape){3, {height, width, 3}}, rows);
    layout.fields[0].yuv420 = true;
    assert_ok(fby_layout_compute(&layout, NULL));
    return layout;
}

static void planes_take_half_the_bytes_and_are_cut_at_strips(void **state)
{
    (void)state;
    struct fby_raw_layout small = pictures_in_planes(224, 224, 64);
    assert_int_equal(small.fields[0].row_bytes, 224 * 224 * 3 / 2);
    assert_int_equal(small.fields[0].rows_per_chunk, 27);
    struct fby_raw_layout odd = pictures_in_planes(3, 5, 1);
    assert_int_equal(odd.raw_bytes, 15 + 2 * 6);

    /* A strip has 32 x 2001 + 2 x 16 x 1001 bytes; 21 of them fit. */
    struct fby_raw_layout large = pictures_in_planes(1001, 2001, 2);
    const uint32_t        strip = 32 * 2001 + 2 * 16 * 1001;
    assert_int_equal(large.fields[0].chunk_bytes, 21 * strip);
    assert_int_equal(large.fields[0].chunks_per_row, 2);
    struct fby_raw_span last = fby_layout_chunk_span(&large, 0, 3);
    assert_int_equal(last.raw_offset,
        large.fields[0].row_bytes + large.fields[0].chunk_bytes);
    assert_int_equal(last.raw_bytes, 329 * 2001 + 2 * 165 * 1001);
}

static void planes_are_of_pictures_of_u8(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        unfinished(FBY_U8, (struct fby_shape){3, {4, 4, 1}}, 1);
    layout.fields[0].yuv420 = true;
    assert_int_equal(fby_layout_compute(&layout, NULL), FBY_CONFIG);
    layout.fields[0].shape.dims[2] = 3;
    layout.fields[0].type          = FBY_U16;
    assert_int_equal(fby_layout_compute(&layout, NULL), FBY_CONFIG);
    layout.fields[0].type          = FBY_U8;
    layout.fields[0].shape.dims[1] = UINT32_MAX;
    assert_int_equal(fby_layout_compute(&layout, NULL), FBY_CONFIG);
}

static void limits_themselves_are_taken(void **state)
{
    (void)state;
    const struct fby_shape none = {0};
    takes(unfinished(FBY_U8, none, FBY_ROWS_MAX));
    takes(unfinished(FBY_U8, (struct fby_shape){4, {2, 3, 4, 5}}, 1));
    struct fby_raw_layout five =
        unfinished(FBY_U8, (struct fby_shape){5, {2, 3, 4, 5}}, 1);
    ((char *)(&five.fields[0].shape + 1))[1] = 1; /* a fifth: no 0 */
    refuses(five, "field 0: one row must be an array of a known type with 1 to "
                  "1073741824 bytes");
    takes(unfinished(FBY_U8, (struct fby_shape){2, {2, 32 << 20}}, 1));
    refuses(unfinished(FBY_U8, (struct fby_shape){2, {2, (32 << 20) + 1}}, 1),
        "field 0: the smallest part that can be sent has 33554433 bytes, more "
        "than 33554432");
    takes(unfinished(FBY_U8, (struct fby_shape){2, {1024, 1 << 20}}, 1024));
    refuses(unfinished(FBY_U8, (struct fby_shape){2, {1024, 1 << 20}}, 1025),
        "a batch of 1100585369600 bytes is more than 1099511627776");
    struct fby_raw_layout layout = {.rows = 1, .n_fields = FBY_MAX_FIELDS};
    for (uint32_t i = 0; i < FBY_MAX_FIELDS; i++) {
        layout.fields[i].type = FBY_U8;
    }
    takes(layout);
    layout.fields[FBY_MAX_FIELDS - 1].type = (enum fby_type)99;
    refuses(layout, "field 31: one row must be");
}

static void fields_add_up_to_the_batch(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        unfinished(FBY_U8, (struct fby_shape){2, {1024, 1 << 20}}, 1023);
    layout.n_fields  = 2;
    layout.fields[1] = layout.fields[0];
    refuses(layout, "a batch of 2196875771904 bytes is more");
}

static bool laid_out_alike(
    const struct fby_raw_field *a, const struct fby_raw_field *b)
{
    return a->row_bytes == b->row_bytes && a->entry_bytes == b->entry_bytes &&
           a->length_bytes == b->length_bytes &&
           a->index_bytes == b->index_bytes && a->raw_bytes == b->raw_bytes &&
           a->slot_offset == b->slot_offset &&
           a->first_chunk == b->first_chunk && a->n_chunks == b->n_chunks &&
           a->chunk_bytes == b->chunk_bytes &&
           a->rows_per_chunk == b->rows_per_chunk &&
           a->chunks_per_row == b->chunks_per_row;
}

static void a_layout_may_be_laid_out_again(void **state)
{
    (void)state;
    static const struct fby_shape shapes[] = {
        {3, {1000, 1000, 3}}, {3, {8, 8, 3}}, {2, {3000, 1000}}};
    struct fby_raw_layout again = one_field(FBY_U8, shapes[0], 7);
    for (int round = 0; round < 9; round++) {
        struct fby_shape      shape = shapes[round % 3];
        uint32_t              rows  = (uint32_t)(3 + round);
        struct fby_raw_layout fresh = one_field(FBY_U8, shape, rows);
        again.rows                  = rows;
        again.fields[0].shape       = shape;
        assert_ok(fby_layout_compute(&again, NULL));
        assert_int_equal(again.n_chunks, fresh.n_chunks);
        assert_int_equal(again.raw_bytes, fresh.raw_bytes);
        assert_int_equal(again.slot_bytes, fresh.slot_bytes);
        assert_true(laid_out_alike(&again.fields[0], &fresh.fields[0]));
    }
}

static void a_layout_that_was_cut_may_be_laid_out_as_ragged_rows(void **state)
{
    (void)state;
    struct fby_raw_layout again =
        one_field(FBY_U8, (struct fby_shape){3, {1000, 1000, 3}}, 7);
    struct fby_raw_layout fresh = {.rows = 7, .n_fields = 1};
    fresh.fields[0].type        = FBY_U8;
    fresh.fields[0].shape       = (struct fby_shape){1, {300}};
    fresh.fields[0].form        = FBY_FORM_RAGGED;
    fresh.fields[0].max_length  = 300;
    again.fields[0].shape       = fresh.fields[0].shape;
    again.fields[0].form        = FBY_FORM_RAGGED;
    again.fields[0].max_length  = 300;
    assert_ok(fby_layout_compute(&fresh, NULL));
    assert_ok(fby_layout_compute(&again, NULL));
    assert_true(laid_out_alike(&again.fields[0], &fresh.fields[0]));
}

static void planes_have_at_most_the_bytes_of_a_row(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        unfinished(FBY_U8, (struct fby_shape){3, {1 << 29, 1, 3}}, 1);
    layout.fields[0].yuv420 = true;
    takes(layout); /* 2^30 bytes */
    layout.fields[0].shape.dims[0]++;
    refuses(layout, "1 to 1073741824 bytes");
    layout.fields[0].shape = (struct fby_shape){3, {0, 4, 3}};
    refuses(layout, "1 to 1073741824 bytes");
    layout.fields[0].shape = (struct fby_shape){3, {4, 0, 3}};
    refuses(layout, "1 to 1073741824 bytes");
    layout.fields[0].shape = (struct fby_shape){3, {1, 1, 3}};
    takes(layout);
    /* In 64 bits these two would have 592895444. */
    layout.fields[0].shape = (struct fby_shape){3, {3768982046, 3262904740, 3}};
    refuses(layout, "1 to 1073741824 bytes");
    layout.fields[0].shape = (struct fby_shape){3, {3262904740, 3768982046, 3}};
    refuses(layout, "1 to 1073741824 bytes");
}

static struct fby_content *one_of_each(void)
{
    static struct fby_content content;
    struct fby_field_content *f = content.fields;
    content                     = (struct fby_content){.n_fields = 4};
    f[0] = (struct fby_field_content){.decode = FBY_DECODE_RGB8,
        .wire_type                            = FBY_U8,
        .shape                                = {3, {6, 8, 3}},
        .as.rgb8.yuv420                       = true};
    f[1] = (struct fby_field_content){.decode = FBY_DECODE_ARRAY,
        .wire_type                            = FBY_F16,
        .shape                                = {2, {40, 3}},
        .max_length                           = 40};
    f[2] = (struct fby_field_content){.wire_type = FBY_F32,
        .decode                                  = FBY_DECODE_SPARSE,
        .shape                                   = {1, {900}},
        .max_length                              = 30};
    f[3] = (struct fby_field_content){
        .decode = FBY_DECODE_ARRAY, .wire_type = FBY_I64, .shape = {1, {5}}};
    return &content;
}

static void each_kind_of_field_has_its_own_layout(void **state)
{
    (void)state;
    struct fby_raw_layout layout;
    assert_ok(fby_layout_of_content(one_of_each(), 0, 2, &layout, NULL));
    assert_int_equal(layout.n_fields, 4);
    assert_true(layout.fields[0].yuv420);
    assert_int_equal(layout.fields[0].row_bytes, 72);
    assert_int_equal(layout.fields[1].form, FBY_FORM_RAGGED);
    assert_int_equal(layout.fields[1].max_length, 40);
    assert_int_equal(layout.fields[1].entry_bytes, 6);
    assert_int_equal(layout.fields[2].form, FBY_FORM_SPARSE);
    assert_int_equal(layout.fields[2].index_bytes, 2);
    assert_int_equal(layout.fields[2].row_bytes, 120);
    assert_int_equal(layout.fields[3].form, FBY_FORM_DENSE);
    assert_false(layout.fields[3].yuv420);
    assert_int_equal(layout.fields[3].row_bytes, 40);
    assert_ok(fby_layout_of_content(one_of_each(), 10, 2, &layout, NULL));
    assert_int_equal(layout.n_fields, 2);
    assert_int_equal(layout.fields[0].row_bytes, 240);
    assert_int_equal(layout.fields[1].row_bytes, 40);
}

static void selecting_what_is_not_there_is_refused(void **state)
{
    (void)state;
    struct fby_raw_layout   layout = {.rows = 77};
    struct fby_error_detail why    = {{0}};
    assert_int_equal(
        fby_layout_of_content(one_of_each(), 16, 2, &layout, &why), FBY_CONFIG);
    assert_string_equal(why.text, "fields 0x10 are selected, but there are 4");
    assert_int_equal(fby_layout_of_content(
                         one_of_each(), UINT64_C(1) << 32, 2, &layout, NULL),
        FBY_CONFIG);
    assert_int_equal(
        fby_layout_of_content(one_of_each(), 1, 0, &layout, &why), FBY_CONFIG);
    assert_string_equal(why.text, "0 rows: expected 1 to 65536");
    struct fby_content *content = one_of_each();
    content->n_fields           = FBY_MAX_FIELDS + 1;
    assert_int_equal(
        fby_layout_of_content(content, 1, 2, &layout, NULL), FBY_CONFIG);
    assert_int_equal(layout.rows, 77); /* left as it was */
}

static void all_32_fields_may_be_selected(void **state)
{
    (void)state;
    struct fby_content   *content = one_of_each();
    struct fby_raw_layout layout;
    content->n_fields = FBY_MAX_FIELDS;
    for (uint32_t i = 0; i < FBY_MAX_FIELDS; i++) {
        content->fields[i] = content->fields[3];
    }
    assert_ok(fby_layout_of_content(content, UINT32_MAX, 1, &layout, NULL));
    assert_int_equal(layout.n_fields, FBY_MAX_FIELDS);
    assert_ok(
        fby_layout_of_content(content, UINT64_C(1) << 31, 1, &layout, NULL));
    assert_int_equal(layout.n_fields, 1);
}

static void chunks_are_numbered_over_all_fields(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        unfinished(FBY_U8, (struct fby_shape){1, {2 << 20}}, 5);
    layout.n_fields  = 3;
    layout.fields[1] = layout.fields[0];
    layout.fields[2] = layout.fields[0];
    assert_ok(fby_layout_compute(&layout, NULL));
    for (uint32_t i = 0; i < 15; i++) {
        assert_int_equal(fby_layout_chunk_index(&layout, i / 5, i % 5), i);
    }
    assert_int_equal(layout.n_chunks, 15);
}

static void only_rows_of_one_shape_are_pictures(void **state)
{
    (void)state;
    struct fby_raw_field f = {
        .type = FBY_U8, .shape = {3, {6, 8, 3}}, .max_length = 6};
    struct fby_codec_params params = fby_layout_codec_params(&f);
    assert_int_equal(params.channels, 3);
    assert_int_equal(params.height, 6);
    assert_int_equal(params.width, 8);
    assert_int_equal(params.distance, 3);
    f.yuv420 = true;
    params   = fby_layout_codec_params(&f);
    assert_true(params.yuv420);
    assert_int_equal(params.distance, 1);
    f.yuv420 = false;
    f.form   = FBY_FORM_RAGGED;
    params   = fby_layout_codec_params(&f);
    assert_int_equal(params.channels, 0);
    assert_int_equal(params.distance, 3);
    f.form = FBY_FORM_SPARSE;
    params = fby_layout_codec_params(&f);
    assert_int_equal(params.channels, 0);
    assert_int_equal(params.distance, 1);
    assert_int_equal(params.element_bytes, 1);
}

static void a_sum_is_over_offset_size_and_hash_of_each_chunk(void **state)
{
    (void)state;
    struct fby_raw_layout layout =
        one_field(FBY_U8, (struct fby_shape){1, {2 << 20}}, 2);
    struct fby_chunk_sent sent[] = {
        {UINT64_C(0x1111222233334444), 2 << 20}, {5, 2 << 20}};
    uint8_t bytes[40];
    for (size_t i = 0; i < 2; i++) {
        fby_store_le(bytes + 20 * i, i * (2 << 20), 8);
        fby_store_le(bytes + 20 * i + 8, 2 << 20, 4);
        fby_store_le(bytes + 20 * i + 12, sent[i].raw_hash, 8);
    }
    struct fby_checksum wanted = fby_checksum_of(bytes, sizeof(bytes));
    struct fby_checksum sum    = fby_field_checksum(&layout, 0, sent);
    assert_true(fby_checksum_equal(&sum, &wanted));
    sent[1].raw_hash++;
    sum = fby_field_checksum(&layout, 0, sent);
    assert_false(fby_checksum_equal(&sum, &wanted));
    sent[1] = (struct fby_chunk_sent){5, 1};
    sum     = fby_field_checksum(&layout, 0, sent);
    assert_false(fby_checksum_equal(&sum, &wanted));
    sent[1] = (struct fby_chunk_sent){UINT64_MAX - 1, UINT32_MAX - 1};
    fby_store_le(bytes + 28, UINT32_MAX - 1, 4);
    fby_store_le(bytes + 32, UINT64_MAX - 1, 8);
    wanted = fby_checksum_of(bytes, sizeof(bytes));
    sum    = fby_field_checksum(&layout, 0, sent);
    assert_true(fby_checksum_equal(&sum, &wanted));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_rows_share_chunks_of_up_to_2_mib),
        cmocka_unit_test(a_row_of_exactly_2_mib_is_a_chunk),
        cmocka_unit_test(larger_images_are_cut_at_multiples_of_32_lines),
        cmocka_unit_test(a_unit_larger_than_2_mib_is_a_chunk),
        cmocka_unit_test(other_arrays_are_cut_along_their_first_dimension),
        cmocka_unit_test(fields_follow_each_other_aligned_in_the_slot),
        cmocka_unit_test(chunks_of_any_array_tile_it_without_gap_or_overlap),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(a_selection_lays_out_only_its_fields),
        cmocka_unit_test(planes_take_half_the_bytes_and_are_cut_at_strips),
        cmocka_unit_test(planes_are_of_pictures_of_u8),
        cmocka_unit_test(limits_themselves_are_taken),
        cmocka_unit_test(fields_add_up_to_the_batch),
        cmocka_unit_test(a_layout_may_be_laid_out_again),
        cmocka_unit_test(a_layout_that_was_cut_may_be_laid_out_as_ragged_rows),
        cmocka_unit_test(planes_have_at_most_the_bytes_of_a_row),
        cmocka_unit_test(each_kind_of_field_has_its_own_layout),
        cmocka_unit_test(selecting_what_is_not_there_is_refused),
        cmocka_unit_test(all_32_fields_may_be_selected),
        cmocka_unit_test(chunks_are_numbered_over_all_fields),
        cmocka_unit_test(only_rows_of_one_shape_are_pictures),
        cmocka_unit_test(a_sum_is_over_offset_size_and_hash_of_each_chunk),
    };
    return cmocka_run_group_tests_name("proto.layout", tests, NULL, NULL);
}
