/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion plans: which deliveries are possible, and their tensors. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* The input of a plan; valid unless a test changes it. */
struct spec {
    struct fby_field_content  field;
    struct fby_field_delivery delivery;
};

static struct spec spec_of(enum fby_decode decode, enum fby_type from,
    enum fby_type to, struct fby_shape shape)
{
    return (struct spec){
        .field    = {.name = "f",
               .decode     = decode,
               .wire_type  = from,
               .shape      = shape},
        .delivery = {.dtype = to, .layout = FBY_LAYOUT_HWC},
    };
}

static struct spec picture(void)
{
    struct spec spec = spec_of(
        FBY_DECODE_RGB8, FBY_U8, FBY_F32, (struct fby_shape){3, {5, 7, 3}});
    return spec;
}

static struct spec array(void)
{
    struct spec spec = spec_of(
        FBY_DECODE_ARRAY, FBY_I32, FBY_F32, (struct fby_shape){3, {5, 7, 3}});
    return spec;
}

static struct spec one_hot(void)
{
    struct spec spec =
        spec_of(FBY_DECODE_LABEL, FBY_U8, FBY_F32, (struct fby_shape){0});
    spec.field.as.label.one_hot = true;
    spec.field.as.label.classes = 10;
    return spec;
}

static struct spec rows(enum fby_as as)
{
    struct spec spec = spec_of(
        FBY_DECODE_ARRAY, FBY_I32, FBY_F32, (struct fby_shape){2, {9, 4}});
    spec.field.max_length = 9;
    spec.delivery.as      = as;
    spec.delivery.offsets = FBY_I64;
    return spec;
}

static struct spec sparse(enum fby_as as)
{
    struct spec spec = spec_of(
        FBY_DECODE_SPARSE, FBY_F32, FBY_F32, (struct fby_shape){1, {40}});
    spec.field.max_length = 9;
    spec.delivery.as      = as;
    spec.delivery.offsets = FBY_I32;
    return spec;
}

static void refused(struct spec spec, const char *words)
{
    struct fby_expansion   *plan = calloc(1, sizeof(*plan));
    struct fby_error_detail why  = {""};
    assert_int_equal(
        fby_expansion_init(plan, &spec.field, &spec.delivery, &why),
        FBY_CONFIG);
    assert_string_equal(why.text, words);
    free(plan);
}

/* The kind of its plan. */
static enum fby_expand_kind planned(struct spec spec)
{
    struct fby_expansion *plan = calloc(1, sizeof(*plan));
    assert_ok(fby_expansion_init(plan, &spec.field, &spec.delivery, NULL));
    enum fby_expand_kind kind = plan->kind;
    free(plan);
    return kind;
}

/* ---- Kinds of plans ------------------------------------------------------ */

static void pictures_are_u8_of_one_to_four_channels(void **state)
{
    (void)state;
    static const char words[] =
        "field f: an image is u8 [h, w, 1 to 4] on the wire";
    for (uint32_t c = 0; c <= 5; c++) {
        struct spec spec         = picture();
        spec.field.shape.dims[2] = c;
        if (c >= 1 && c <= 4) {
            assert_int_equal(planned(spec), FBY_EXPAND_AFFINE);
        } else {
            refused(spec, words);
        }
    }
    struct spec flat        = picture();
    flat.field.shape.n_dims = 2;
    struct spec wide        = picture();
    wide.field.wire_type    = FBY_U16;
    refused(flat, words);
    refused(wide, words);
}

static void pictures_become_numbers_that_hold_them(void **state)
{
    (void)state;
    struct spec spec    = picture();
    spec.delivery.dtype = FBY_I32;
    assert_int_equal(planned(spec), FBY_EXPAND_AFFINE);
    spec.delivery.dtype = FBY_I64;
    refused(
        spec, "field f: an image cannot be i64 or bool; i32 holds its values");
    spec.delivery.dtype = FBY_BOOL;
    refused(
        spec, "field f: an image cannot be i64 or bool; i32 holds its values");
    spec.delivery.dtype = FBY_U8;
    assert_int_equal(planned(spec), FBY_EXPAND_COPY);
    spec.delivery.layout = FBY_LAYOUT_CHW;
    assert_int_equal(planned(spec), FBY_EXPAND_AFFINE);
    spec.field.shape.dims[2] = 1; /* whose planes lie as its pixels do */
    assert_int_equal(planned(spec), FBY_EXPAND_COPY);
    spec.field.as.rgb8.yuv420 = true;
    assert_int_equal(planned(spec), FBY_EXPAND_AFFINE);
}

static void one_hot_needs_classes_and_a_dtype_that_holds_them(void **state)
{
    (void)state;
    static const char words[] =
        "field f: one_hot needs its classes and dtype f32, f16, bf16 or u8";
    struct spec spec    = one_hot();
    spec.delivery.dtype = FBY_U8;
    assert_int_equal(planned(spec), FBY_EXPAND_ONE_HOT);
    spec.field.as.label.smoothing = 0.1;
    refused(spec, "field f: smoothing needs dtype f32, f16 or bf16");
    spec                        = one_hot();
    spec.field.as.label.classes = 0;
    refused(spec, words);
    spec                          = one_hot();
    spec.field.as.label.smoothing = 0.1;
    spec.delivery.dtype           = FBY_I64;
    refused(spec, words);
}

static void only_rows_of_several_lengths_have_another_form(void **state)
{
    (void)state;
    static const char words[] =
        "field f: only rows of several lengths have another form";
    struct spec as           = array();
    struct spec longest      = array();
    struct spec offsets      = array();
    as.delivery.as           = FBY_AS_PADDED;
    longest.delivery.longest = true;
    offsets.delivery.offsets = FBY_I32;
    assert_int_equal(planned(array()), FBY_EXPAND_CAST);
    refused(as, words);
    refused(longest, words);
    refused(offsets, words);
}

static void rows_of_several_lengths_become_padded_or_ragged(void **state)
{
    (void)state;
    static const char words[] =
        "field f: rows of several lengths become padded or ragged ones, with "
        "offsets i32 or i64";
    assert_int_equal(planned(rows(FBY_AS_PADDED)), FBY_EXPAND_PADDED);
    assert_int_equal(planned(rows(FBY_AS_RAGGED)), FBY_EXPAND_RAGGED);
    refused(rows(FBY_AS_DENSE), words);
    refused(rows(FBY_AS_COO), words);
    struct spec scaled       = rows(FBY_AS_PADDED);
    struct spec offsets      = rows(FBY_AS_RAGGED);
    struct spec pad          = rows(FBY_AS_PADDED);
    scaled.delivery.scaled   = true;
    offsets.delivery.offsets = FBY_U32;
    pad.delivery.dtype       = FBY_U8;
    pad.delivery.pad         = 256;
    refused(scaled, words);
    refused(offsets, words);
    refused(pad, "field f: pad 256 is not a value of its dtype");
    for (enum fby_as as = FBY_AS_CU_SEQLENS; as <= FBY_AS_MASK; as++) {
        refused(rows(as), /* which are no documents */
            "field f: cu_seqlens and positions are made of documents, as i32 "
            "or i64, and a mask, as bool, u8, f32, f16 or bf16");
    }
}

static void sparse_rows_become_dense_csr_or_coo(void **state)
{
    (void)state;
    static const char words[] =
        "field f: sparse rows become dense, csr or coo, without padding; "
        "offsets are i32 or i64";
    assert_int_equal(planned(sparse(FBY_AS_DENSE)), FBY_EXPAND_DENSE);
    assert_int_equal(planned(sparse(FBY_AS_CSR)), FBY_EXPAND_CSR);
    assert_int_equal(planned(sparse(FBY_AS_COO)), FBY_EXPAND_COO);
    refused(sparse(FBY_AS_RAGGED), words);
    refused(sparse(FBY_AS_PADDED), words);
    for (uint32_t i = 0; i < 6; i++) {
        struct spec spec      = sparse(i == 5 ? FBY_AS_DENSE : FBY_AS_COO);
        spec.delivery.scaled  = i == 0;
        spec.delivery.longest = i == 1;
        spec.delivery.pad     = i == 2 || i == 5 ? 1 : 0;
        spec.delivery.dtype   = i == 3 ? FBY_BOOL : FBY_F32;
        spec.delivery.offsets = i == 4 ? FBY_U16 : FBY_I64;
        refused(spec, words);
    }
    struct spec csr         = sparse(FBY_AS_CSR);
    csr.field.shape.n_dims  = 2;
    csr.field.shape.dims[1] = 3;
    refused(
        csr, "field f: csr needs a shape of one dimension; use coo, or dense");
}

static void only_real_labels_are_mixed(void **state)
{
    (void)state;
    struct fby_expansion    *plan  = calloc(1, sizeof(*plan));
    struct fby_field_content image = {.name = "image"};
    struct fby_error_detail  why   = {""};
    struct spec              spec  = one_hot();
    spec.field.as.label.smoothing  = 0.5;
    assert_ok(fby_expansion_init(plan, &spec.field, &spec.delivery, &why));
    assert_ok(fby_expansion_set_mix(plan, &spec.field, &image, &why));
    assert_int_equal(plan->kind, FBY_EXPAND_MIX);
    assert_ptr_equal(plan->ops_field, &image);
    assert_true(plan->on_value == (float)(0.5 + 0.05));
    assert_true(plan->off_value == (float)0.05);
    plan->to = FBY_U8;
    assert_int_equal(
        fby_expansion_set_mix(plan, &spec.field, &image, &why), FBY_CONFIG);
    assert_string_equal(why.text,
        "field f: labels that image mixes need dtype f32, f16 or bf16");
    free(plan);
}

static void scales_are_of_float_and_one_or_one_for_each_channel(void **state)
{
    (void)state;
    struct spec spec = spec_of(
        FBY_DECODE_ARRAY, FBY_U16, FBY_I32, (struct fby_shape){2, {5, 3}});
    spec.delivery.scaled   = true;
    spec.delivery.channels = 1;
    refused(spec, "field f: scaled values need dtype f32, f16 or bf16");
    spec.delivery.dtype = FBY_F32;
    for (uint32_t channels = 0; channels <= 5; channels++) {
        spec.delivery.channels = channels;
        if (channels == 1 || channels == 3) {
            assert_int_equal(planned(spec), FBY_EXPAND_SCALE);
        } else {
            refused(spec, "field f: scale and offset are one number, or one "
                          "for each channel");
        }
    }
}

static void bits_become_no_other_numbers(void **state)
{
    (void)state;
    static const char numbers[] =
        "field f: bits need dtype u8, bool, f16, bf16 or f32";
    static const char layout[] =
        "field f: only images, and arrays of three dimensions, have a layout";
    struct spec spec = spec_of(
        FBY_DECODE_ARRAY, FBY_U8, FBY_I64, (struct fby_shape){3, {2, 3, 2}});
    spec.field.as.array.n_bits = 12;
    spec.field.as.array.shape  = (struct fby_shape){3, {2, 3, 12}};
    refused(spec, numbers);
    spec.delivery.dtype = FBY_U16;
    refused(spec, numbers);
    spec.delivery.dtype      = FBY_U8;
    spec.field.shape.dims[2] = 3;
    refused(spec, "field f: 12 maps are u8 with 2 bytes in the last dimension");
    spec.field.as.array.n_bits = 0;
    spec.delivery.dtype        = FBY_BOOL;
    refused(spec, "field f: only bits become bool");
    spec.field.shape.n_dims = 2;
    spec.delivery.dtype     = FBY_U8;
    spec.delivery.layout    = FBY_LAYOUT_CHW;
    refused(spec, layout);
}

static void deliveries_no_plan_makes_are_refused_by_name(void **state)
{
    (void)state;
    static const char layout[] =
        "field f: only images, and arrays of three dimensions, have a layout";
    struct spec spec             = picture();
    spec.field.as.rgb8.normalize = true;
    spec.delivery.dtype          = FBY_U8;
    spec.delivery.layout         = FBY_LAYOUT_CHW;
    refused(spec, "field f: a normalised image needs dtype f32, f16 or bf16");
    spec.delivery.dtype = 99;
    refused(spec, "field f: no such dtype");
    spec = spec_of(FBY_DECODE_LABEL, FBY_U16, FBY_I64, (struct fby_shape){0});
    spec.field.as.label.classes = 300;
    spec.delivery.layout        = FBY_LAYOUT_CHW;
    refused(spec, layout);
}

/* ---- Their tensors ------------------------------------------------------- */

/* Shape, then strides, of six rows. */
static void check_tensor(struct spec spec, uint32_t n, const int64_t *want)
{
    struct fby_expansion *plan = calloc(1, sizeof(*plan));
    int64_t               shape[FBY_EXPAND_DIMS];
    int64_t               strides[FBY_EXPAND_DIMS];
    assert_ok(fby_expansion_init(plan, &spec.field, &spec.delivery, NULL));
    assert_int_equal(fby_expansion_compute_shape(plan, 6, shape, strides), n);
    assert_memory_equal(shape, want, n * sizeof(*want));
    assert_memory_equal(strides, want + n, n * sizeof(*want));
    free(plan);
}

static void masks_can_have_no_channel_and_only_masks(void **state)
{
    (void)state;
    struct spec             spec = picture();
    struct fby_expansion    plan = {0};
    struct fby_error_detail why  = {{0}};
    spec.delivery.layout         = FBY_LAYOUT_HW;
    assert_int_equal(
        fby_expansion_init(&plan, &spec.field, &spec.delivery, &why),
        FBY_CONFIG);
    assert_non_null(strstr(why.text, "only masks (mask8) have the layout hw"));
    spec.field.decode        = FBY_DECODE_MASK8;
    spec.field.shape.dims[2] = 1;
    check_tensor(spec, 3, (const int64_t[]){6, 5, 7, 35, 7, 1});
    spec.delivery.layout = FBY_LAYOUT_HWC;
    check_tensor(spec, 4, (const int64_t[]){6, 5, 7, 1, 35, 7, 1, 1});
    spec.delivery.layout = FBY_LAYOUT_HW;
    spec.delivery.dtype  = FBY_I64;
    check_tensor(spec, 3, (const int64_t[]){6, 5, 7, 35, 7, 1});
}

static void tensors_have_the_shape_of_their_layout(void **state)
{
    (void)state;
    struct spec spec = picture();
    check_tensor(spec, 4, (const int64_t[]){6, 5, 7, 3, 105, 21, 3, 1});
    spec.delivery.layout = FBY_LAYOUT_CHW;
    check_tensor(spec, 4, (const int64_t[]){6, 3, 5, 7, 105, 35, 7, 1});
    spec.delivery.layout = FBY_LAYOUT_CHANNELS_LAST;
    check_tensor(spec, 4, (const int64_t[]){6, 3, 5, 7, 105, 1, 21, 3});
    check_tensor(one_hot(), 2, (const int64_t[]){6, 10, 10, 1});
    spec                        = one_hot();
    spec.field.as.label.one_hot = false;
    check_tensor(spec, 1, (const int64_t[]){6, 1});
    spec                       = array();
    spec.field.wire_type       = FBY_U8;
    spec.field.shape.dims[2]   = 2;
    spec.field.as.array.n_bits = 11;
    check_tensor(spec, 4, (const int64_t[]){6, 5, 7, 11, 385, 77, 11, 1});
    spec.delivery.layout = FBY_LAYOUT_CHW;
    check_tensor(spec, 4, (const int64_t[]){6, 11, 5, 7, 385, 35, 7, 1});
}

/* The same of tensor `i` of six rows of 25 entries, of which one has 8. */
static void check_rows(
    struct spec spec, uint32_t i, uint32_t n, const int64_t *want)
{
    struct fby_expansion           *plan = calloc(1, sizeof(*plan));
    const struct fby_ragged_offsets of   = {.n = 6, .longest = 8, .total = 25};
    int64_t                         shape[FBY_EXPAND_DIMS];
    int64_t                         strides[FBY_EXPAND_DIMS];
    assert_ok(fby_expansion_init(plan, &spec.field, &spec.delivery, NULL));
    assert_true(i < plan->n_tensors);
    assert_int_equal(
        fby_expansion_compute_ragged_shape(plan, i, &of, shape, strides), n);
    assert_memory_equal(shape, want, n * sizeof(*want));
    assert_memory_equal(strides, want + n, n * sizeof(*want));
    free(plan);
}

static void rows_have_the_shape_of_their_form(void **state)
{
    (void)state;
    struct spec padded = rows(FBY_AS_PADDED);
    check_rows(padded, 0, 3, (const int64_t[]){6, 9, 4, 36, 4, 1});
    check_rows(padded, 1, 1, (const int64_t[]){6, 1});
    padded.delivery.longest = true;
    check_rows(padded, 0, 3, (const int64_t[]){6, 8, 4, 32, 4, 1});
    check_rows(rows(FBY_AS_RAGGED), 0, 2, (const int64_t[]){25, 4, 4, 1});
    check_rows(rows(FBY_AS_RAGGED), 1, 1, (const int64_t[]){7, 1});
    check_rows(sparse(FBY_AS_DENSE), 0, 2, (const int64_t[]){6, 40, 40, 1});
    check_rows(sparse(FBY_AS_CSR), 0, 1, (const int64_t[]){25, 1});
    check_rows(sparse(FBY_AS_CSR), 1, 1, (const int64_t[]){7, 1});
    check_rows(sparse(FBY_AS_CSR), 2, 1, (const int64_t[]){25, 1});
    check_rows(sparse(FBY_AS_COO), 0, 1, (const int64_t[]){25, 1});
    check_rows(sparse(FBY_AS_COO), 1, 2, (const int64_t[]){2, 25, 25, 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_u8_of_one_to_four_channels),
        cmocka_unit_test(pictures_become_numbers_that_hold_them),
        cmocka_unit_test(one_hot_needs_classes_and_a_dtype_that_holds_them),
        cmocka_unit_test(only_rows_of_several_lengths_have_another_form),
        cmocka_unit_test(rows_of_several_lengths_become_padded_or_ragged),
        cmocka_unit_test(sparse_rows_become_dense_csr_or_coo),
        cmocka_unit_test(only_real_labels_are_mixed),
        cmocka_unit_test(scales_are_of_float_and_one_or_one_for_each_channel),
        cmocka_unit_test(bits_become_no_other_numbers),
        cmocka_unit_test(deliveries_no_plan_makes_are_refused_by_name),
        cmocka_unit_test(tensors_have_the_shape_of_their_layout),
        cmocka_unit_test(masks_can_have_no_channel_and_only_masks),
        cmocka_unit_test(rows_have_the_shape_of_their_form),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.expansion", tests, NULL, NULL);
}
