/* Plans of fields: which there are, and the tensors that come of them. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/expansion.h"
#include "trainer_client/extents.h"

/* The parts of a plan; each is valid unless a test changes it. */
struct wish {
    struct fby_field_content  field;
    struct fby_field_delivery delivery;
};

static struct wish wish_of(enum fby_decode decode, enum fby_type from,
    enum fby_type to, struct fby_shape shape)
{
    return (struct wish){
        .field    = {.name = "f",
               .decode     = decode,
               .wire_type  = from,
               .shape      = shape},
        .delivery = {.dtype = to, .layout = FBY_LAYOUT_HWC},
    };
}

static struct wish picture(void)
{
    struct wish wish = wish_of(
        FBY_DECODE_RGB8, FBY_U8, FBY_F32, (struct fby_shape){3, {5, 7, 3}});
    return wish;
}

static struct wish array(void)
{
    struct wish wish = wish_of(
        FBY_DECODE_ARRAY, FBY_I32, FBY_F32, (struct fby_shape){3, {5, 7, 3}});
    return wish;
}

static struct wish one_hot(void)
{
    struct wish wish =
        wish_of(FBY_DECODE_LABEL, FBY_U8, FBY_F32, (struct fby_shape){0});
    wish.field.one_hot = true;
    wish.field.classes = 10;
    return wish;
}

static struct wish rows(enum fby_as as)
{
    struct wish wish = wish_of(
        FBY_DECODE_ARRAY, FBY_I32, FBY_F32, (struct fby_shape){2, {9, 4}});
    wish.field.max_length = 9;
    wish.delivery.as      = as;
    wish.delivery.offsets = FBY_I64;
    return wish;
}

static struct wish sparse(enum fby_as as)
{
    struct wish wish = wish_of(
        FBY_DECODE_SPARSE, FBY_F32, FBY_F32, (struct fby_shape){1, {40}});
    wish.field.max_length = 9;
    wish.delivery.as      = as;
    wish.delivery.offsets = FBY_I32;
    return wish;
}

static void refused(struct wish wish, const char *words)
{
    struct fby_expansion *plan = calloc(1, sizeof(*plan));
    struct fby_why        why  = {""};
    assert_int_equal(
        fby_expansion_init(plan, &wish.field, &wish.delivery, &why),
        FBY_CONFIG);
    assert_string_equal(why.text, words);
    free(plan);
}

/* Its kind. */
static enum fby_expand_kind planned(struct wish wish)
{
    struct fby_expansion *plan = calloc(1, sizeof(*plan));
    assert_ok(fby_expansion_init(plan, &wish.field, &wish.delivery, NULL));
    enum fby_expand_kind kind = plan->kind;
    free(plan);
    return kind;
}

/* ---- which there are ----------------------------------------------------- */

static void pictures_are_u8_of_one_to_four_channels(void **state)
{
    (void)state;
    static const char words[] =
        "field f: an image is u8 [h, w, 1 to 4] on the wire";
    for (uint32_t c = 0; c <= 5; c++) {
        struct wish wish         = picture();
        wish.field.shape.dims[2] = c;
        if (c >= 1 && c <= 4) {
            assert_int_equal(planned(wish), FBY_EXPAND_AFFINE);
        } else {
            refused(wish, words);
        }
    }
    struct wish flat        = picture();
    flat.field.shape.n_dims = 2;
    struct wish wide        = picture();
    wide.field.wire_type    = FBY_U16;
    refused(flat, words);
    refused(wide, words);
}

static void pictures_become_numbers_that_hold_them(void **state)
{
    (void)state;
    struct wish wish    = picture();
    wish.delivery.dtype = FBY_I32;
    assert_int_equal(planned(wish), FBY_EXPAND_AFFINE);
    wish.delivery.dtype = FBY_I64;
    refused(
        wish, "field f: an image cannot be i64 or bool; i32 holds its values");
    wish.delivery.dtype = FBY_BOOL;
    refused(
        wish, "field f: an image cannot be i64 or bool; i32 holds its values");
    wish.delivery.dtype = FBY_U8;
    assert_int_equal(planned(wish), FBY_EXPAND_COPY);
    wish.delivery.layout = FBY_LAYOUT_CHW;
    assert_int_equal(planned(wish), FBY_EXPAND_AFFINE);
    wish.field.shape.dims[2] = 1; /* whose planes lie as its pixels do */
    assert_int_equal(planned(wish), FBY_EXPAND_COPY);
    wish.field.yuv420 = true;
    assert_int_equal(planned(wish), FBY_EXPAND_AFFINE);
}

static void one_hot_needs_classes_and_a_dtype_that_holds_them(void **state)
{
    (void)state;
    struct wish wish    = one_hot();
    wish.delivery.dtype = FBY_U8;
    assert_int_equal(planned(wish), FBY_EXPAND_ONE_HOT);
    wish.field.smoothing = 0.1;
    refused(wish, "field f: smoothing needs dtype f32, f16 or bf16");
    wish               = one_hot();
    wish.field.classes = 0;
    refused(wish,
        "field f: one_hot needs its classes and dtype f32, f16, bf16 or u8");
}

static void only_rows_of_several_lengths_have_another_form(void **state)
{
    (void)state;
    static const char words[] =
        "field f: only rows of several lengths have another form";
    struct wish as           = array();
    struct wish longest      = array();
    struct wish offsets      = array();
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
    struct wish scaled       = rows(FBY_AS_PADDED);
    struct wish offsets      = rows(FBY_AS_RAGGED);
    struct wish pad          = rows(FBY_AS_PADDED);
    scaled.delivery.scaled   = true;
    offsets.delivery.offsets = FBY_U32;
    pad.delivery.dtype       = FBY_U8;
    pad.delivery.pad         = 256;
    refused(scaled, words);
    refused(offsets, words);
    refused(pad, "field f: pad 256 is no value of its dtype");
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
    for (uint32_t i = 0; i < 5; i++) {
        struct wish wish      = sparse(FBY_AS_COO);
        wish.delivery.scaled  = i == 0;
        wish.delivery.longest = i == 1;
        wish.delivery.pad     = i == 2 ? 1 : 0;
        wish.delivery.dtype   = i == 3 ? FBY_BOOL : FBY_F32;
        wish.delivery.offsets = i == 4 ? FBY_U16 : FBY_I64;
        refused(wish, words);
    }
    struct wish csr         = sparse(FBY_AS_CSR);
    csr.field.shape.n_dims  = 2;
    csr.field.shape.dims[1] = 3;
    refused(csr,
        "field f: csr goes with a shape of one dimension; use coo, or dense");
}

static void only_real_labels_are_mixed(void **state)
{
    (void)state;
    struct fby_expansion    *plan  = calloc(1, sizeof(*plan));
    struct fby_field_content image = {.name = "image"};
    struct fby_why           why   = {""};
    struct wish              wish  = one_hot();
    wish.field.smoothing           = 0.5;
    assert_ok(fby_expansion_init(plan, &wish.field, &wish.delivery, &why));
    assert_ok(fby_expansion_mix(plan, &wish.field, &image, &why));
    assert_int_equal(plan->kind, FBY_EXPAND_MIX);
    assert_ptr_equal(plan->drawn_by, &image);
    assert_true(plan->on_value == (float)(0.5 + 0.05));
    assert_true(plan->off_value == (float)0.05);
    plan->to = FBY_U8;
    assert_int_equal(
        fby_expansion_mix(plan, &wish.field, &image, &why), FBY_CONFIG);
    assert_string_equal(why.text,
        "field f: labels that image mixes need dtype f32, f16 or bf16");
    free(plan);
}

/* ---- their tensors ------------------------------------------------------- */

/* Shape, then strides, of six rows. */
static void check_tensor(struct wish wish, uint32_t n, const int64_t *want)
{
    struct fby_expansion *plan = calloc(1, sizeof(*plan));
    int64_t               shape[FBY_EXPAND_DIMS];
    int64_t               strides[FBY_EXPAND_DIMS];
    assert_ok(fby_expansion_init(plan, &wish.field, &wish.delivery, NULL));
    assert_int_equal(fby_expansion_tensor(plan, 6, shape, strides), n);
    assert_memory_equal(shape, want, n * sizeof(*want));
    assert_memory_equal(strides, want + n, n * sizeof(*want));
    free(plan);
}

static void tensors_have_the_shape_of_their_layout(void **state)
{
    (void)state;
    struct wish wish = picture();
    check_tensor(wish, 4, (const int64_t[]){6, 5, 7, 3, 105, 21, 3, 1});
    wish.delivery.layout = FBY_LAYOUT_CHW;
    check_tensor(wish, 4, (const int64_t[]){6, 3, 5, 7, 105, 35, 7, 1});
    wish.delivery.layout = FBY_LAYOUT_CHANNELS_LAST;
    check_tensor(wish, 4, (const int64_t[]){6, 3, 5, 7, 105, 1, 21, 3});
    check_tensor(one_hot(), 2, (const int64_t[]){6, 10, 10, 1});
    wish               = one_hot();
    wish.field.one_hot = false;
    check_tensor(wish, 1, (const int64_t[]){6, 1});
    wish                     = array();
    wish.field.wire_type     = FBY_U8;
    wish.field.shape.dims[2] = 2;
    wish.field.maps          = 11;
    check_tensor(wish, 4, (const int64_t[]){6, 5, 7, 11, 385, 77, 11, 1});
    wish.delivery.layout = FBY_LAYOUT_CHW;
    check_tensor(wish, 4, (const int64_t[]){6, 11, 5, 7, 385, 35, 7, 1});
}

/* The same of tensor `i` of six rows of 25 entries, of which one has 8. */
static void check_rows(
    struct wish wish, uint32_t i, uint32_t n, const int64_t *want)
{
    struct fby_expansion    *plan = calloc(1, sizeof(*plan));
    const struct fby_extents of   = {.n = 6, .longest = 8, .total = 25};
    int64_t                  shape[FBY_EXPAND_DIMS];
    int64_t                  strides[FBY_EXPAND_DIMS];
    assert_ok(fby_expansion_init(plan, &wish.field, &wish.delivery, NULL));
    assert_true(i < plan->n_tensors);
    assert_int_equal(
        fby_expansion_rows_tensor(plan, i, &of, shape, strides), n);
    assert_memory_equal(shape, want, n * sizeof(*want));
    assert_memory_equal(strides, want + n, n * sizeof(*want));
    free(plan);
}

static void rows_have_the_shape_of_their_form(void **state)
{
    (void)state;
    struct wish padded = rows(FBY_AS_PADDED);
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
        cmocka_unit_test(tensors_have_the_shape_of_their_layout),
        cmocka_unit_test(rows_have_the_shape_of_their_form),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.expansion", tests, NULL, NULL);
}
