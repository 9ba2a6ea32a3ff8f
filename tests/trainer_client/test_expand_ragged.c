/* SPDX-License-Identifier: Apache-2.0 */
/* Padded and ragged tensors against loops over rows, entries and values. */
#include "tests/trainer_client/rows.h"

#include <math.h>

#include "trainer_client/expand/device.h"
#include "trainer_client/expand/value.h"

/* ---- One value ----------------------------------------------------------- */

/* Numbers that all types of their kind hold: the way they are cast is the
 * business of test_expand. */
static double value_of(enum fby_type type, const uint8_t *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, fby_type_bytes(type));
    switch (type) {
    case FBY_F32:
        return (double)fby_f32_from_bits((uint32_t)bits);
    case FBY_F16:
        return (double)fby_f16_to_f32((uint16_t)bits);
    case FBY_BF16:
        return (double)fby_bf16_to_f32((uint16_t)bits);
    case FBY_I32:
        return (double)(int32_t)bits;
    case FBY_I64:
        return (double)(int64_t)bits;
    case FBY_U8:
    case FBY_U16:
    case FBY_U32:
    case FBY_BOOL:
        break;
    }
    return (double)bits;
}

static uint64_t bits_of(enum fby_type type, double value)
{
    switch (type) {
    case FBY_F32:
        return fby_f32_bits((float)value);
    case FBY_F16:
        return fby_f32_to_f16((float)value);
    case FBY_BF16:
        return fby_f32_to_bf16((float)value);
    case FBY_I32:
    case FBY_I64:
        return (uint64_t)(int64_t)value;
    case FBY_U8:
    case FBY_U16:
    case FBY_U32:
    case FBY_BOOL:
        break;
    }
    return (uint64_t)value;
}

static bool is_signed(enum fby_type type)
{
    return type == FBY_I32 || type == FBY_I64;
}

/* ---- A trial ------------------------------------------------------------- */

struct trial {
    enum fby_type             from, to;
    struct fby_shape          shape;
    uint32_t                  n;
    struct fby_field_delivery delivery;
    struct rows               rows;
    struct fby_expansion     *plan;
    struct fby_ragged_offsets ragged_offsets;
    void                     *out[FBY_TENSORS];
};

static void draw_values(struct trial *t, uint32_t row, uint32_t *seed)
{
    uint32_t width = fby_type_bytes(t->from);
    uint64_t n     = (uint64_t)t->rows.lengths[row] *
                 rows_field(&t->rows)->entry_bytes / width;
    for (uint64_t i = 0; i < n; i++) {
        double   value = draw(seed, 128) - (is_signed(t->from) ? 64.0 : 0);
        uint64_t bits  = bits_of(t->from, value);
        memcpy(t->rows.entries[row] + i * width, &bits, width);
    }
}

static void plan_it(struct trial *t)
{
    struct fby_error_detail  why   = {""};
    struct fby_field_content field = {.name = "words",
        .decode                             = FBY_DECODE_ARRAY,
        .wire_type                          = t->from,
        .shape                              = t->shape,
        .max_length                         = t->shape.dims[0]};
    t->delivery.dtype              = t->to;
    t->plan                        = calloc(1, sizeof(*t->plan));
    if (fby_expansion_init(t->plan, &field, &t->delivery, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
}

static size_t tensor_bytes(const struct trial *t, uint32_t i)
{
    int64_t  shape[FBY_EXPAND_DIMS];
    int64_t  strides[FBY_EXPAND_DIMS];
    size_t   n      = fby_type_bytes(t->plan->tensors[i].type);
    uint32_t n_dims = fby_expansion_compute_ragged_shape(
        t->plan, i, &t->ragged_offsets, shape, strides);
    for (uint32_t d = 0; d < n_dims; d++) {
        n *= (size_t)shape[d];
    }
    return n;
}

/* The tensors end where their memory ends. */
static void expand(struct trial *t)
{
    for (uint32_t i = 0; i < t->plan->n_tensors; i++) {
        size_t bytes = tensor_bytes(t, i);
        assert_in_range(bytes, 0,
            t->plan->tensors[i].row_bytes * t->n +
                t->plan->tensors[i].bytes_after_rows);
        t->out[i] = malloc(bytes);
        memset(t->out[i], 0xa5, bytes);
    }
    assert_ok(fby_device_host.expand_rows(
        t->plan, &t->ragged_offsets, t->rows.raw, t->out, NULL));
}

enum lengths { NONE, WHOLE, ANY };

static uint32_t draw_length(enum lengths which, uint32_t most, uint32_t *seed)
{
    uint32_t kind = which == ANY ? draw(seed, 4) : (uint32_t)which;
    return kind == NONE ? 0 : kind == WHOLE ? most : draw(seed, most + 1);
}

static void run_trial(struct trial *t, enum lengths lengths, uint32_t *seed)
{
    plan_it(t);
    fby_ragged_offsets_init(&t->ragged_offsets, t->n + 1);
    if (t->n > 0) {
        t->rows = rows_begin(t->from, t->shape, t->n);
        for (uint32_t i = 0; i < t->n; i++) {
            rows_draw(&t->rows, i, draw_length(lengths, t->shape.dims[0], seed),
                seed);
            draw_values(t, i, seed);
        }
        rows_write(&t->rows);
        assert_ok(rows_read(&t->rows, &t->ragged_offsets, NULL));
    }
    expand(t);
}

static void end_trial(struct trial *t)
{
    if (t->n > 0) {
        rows_end(&t->rows);
    }
    fby_ragged_offsets_fini(&t->ragged_offsets);
    for (uint32_t i = 0; i < t->plan->n_tensors; i++) {
        free(t->out[i]);
    }
    free(t->plan);
}

/* ---- Expected tensors ---------------------------------------------------- */

static void is_value(const struct trial *t, uint64_t at, double value)
{
    uint32_t width = fby_type_bytes(t->to);
    uint64_t want  = bits_of(t->to, value);
    uint64_t got   = 0;
    memcpy(&got, (uint8_t *)t->out[0] + at * width, width);
    want &= width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;
    assert_true(got == want);
}

static uint64_t values_of_entry(const struct trial *t)
{
    uint64_t n = 1;
    for (uint32_t d = 1; d < t->shape.n_dims; d++) {
        n *= t->shape.dims[d];
    }
    return n;
}

/* Value k of row i, entries one after another; of none of its entries: pad. */
static double wanted(const struct trial *t, uint32_t i, uint64_t k)
{
    return k < t->rows.lengths[i] * values_of_entry(t)
               ? value_of(
                     t->from, t->rows.entries[i] + k * fby_type_bytes(t->from))
               : t->delivery.pad;
}

static void is_padded(const struct trial *t)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t length = t->rows.lengths[i];
        longest         = length > longest ? length : longest;
        assert_int_equal(((const int32_t *)t->out[1])[i], length);
    }
    uint64_t to  = t->delivery.longest ? longest : t->shape.dims[0];
    uint64_t row = to * values_of_entry(t);
    assert_int_equal(tensor_bytes(t, 0), t->n * row * fby_type_bytes(t->to));
    for (uint32_t i = 0; i < t->n; i++) {
        for (uint64_t k = 0; k < row; k++) {
            is_value(t, i * row + k, wanted(t, i, k));
        }
    }
}

static int64_t offset_of(const struct trial *t, uint32_t i)
{
    return t->delivery.offsets == FBY_I64 ? ((const int64_t *)t->out[1])[i]
                                          : ((const int32_t *)t->out[1])[i];
}

static void is_ragged(const struct trial *t)
{
    int64_t  first = 0;
    uint64_t entry = values_of_entry(t);
    assert_int_equal(
        tensor_bytes(t, 1), (t->n + 1) * fby_type_bytes(t->delivery.offsets));
    for (uint32_t i = 0; i < t->n; i++) {
        assert_true(offset_of(t, i) == first);
        for (uint64_t k = 0; k < t->rows.lengths[i] * entry; k++) {
            is_value(t, (uint64_t)first * entry + k, wanted(t, i, k));
        }
        first += t->rows.lengths[i];
    }
    assert_true(offset_of(t, t->n) == first);
    assert_int_equal(
        tensor_bytes(t, 0), (uint64_t)first * entry * fby_type_bytes(t->to));
}

/* ---- All forms ----------------------------------------------------------- */

/* In all types, padded to both lengths, and ragged with both offsets. */
static void each_form(struct trial like, enum lengths lengths, uint32_t *seed)
{
    for (uint32_t form = 0; form < 4; form++) {
        struct trial t = like;
        t.delivery = form < 2 ? (struct fby_field_delivery){.as = FBY_AS_PADDED,
                                    .longest                    = form == 1,
                                    .offsets                    = FBY_I32,
                                    .pad = is_signed(t.to) ? -7 : 9}
                              : (struct fby_field_delivery){.as = FBY_AS_RAGGED,
                                    .offsets = form == 2 ? FBY_I32 : FBY_I64};
        run_trial(&t, lengths, seed);
        if (form < 2) {
            is_padded(&t);
        } else {
            is_ragged(&t);
        }
        end_trial(&t);
    }
}

static struct fby_shape drawn_shape(uint32_t *seed)
{
    struct fby_shape shape = {1 + draw(seed, 4), {1 + draw(seed, 60)}};
    for (uint32_t d = 1; d < shape.n_dims; d++) {
        shape.dims[d] = 1 + draw(seed, 5);
    }
    return shape;
}

static void any_rows_become_what_loops_make_of_them(void **state)
{
    (void)state;
    uint32_t seed = 21;
    for (uint32_t round = 0; round < 6 * 64; round++) {
        struct trial like = {.from = (enum fby_type)(1 + round % 8),
            .to                    = (enum fby_type)(1 + round / 8 % 8),
            .shape                 = drawn_shape(&seed),
            .n                     = 1 + draw(&seed, 20)};
        if (!is_signed(like.from) || is_signed(like.to) ||
            fby_type_is_float(like.to)) {
            each_form(like, ANY, &seed);
        }
    }
}

static void empty_batches_rows_and_whole_rows_hold(void **state)
{
    (void)state;
    uint32_t seed = 22;
    for (uint32_t n = 0; n <= 3; n++) {
        struct trial like = {
            .from = FBY_U16, .to = FBY_F32, .shape = {2, {9, 4}}, .n = n};
        each_form(like, NONE, &seed);
        each_form(like, WHOLE, &seed);
        like.to = FBY_U16;
        each_form(like, NONE, &seed);
        each_form(like, WHOLE, &seed);
        each_form(like, ANY, &seed);
    }
}

/* Long enough for the wide kernels that casts to reals take. */
static void rows_that_begin_anywhere_are_cast_alike(void **state)
{
    (void)state;
    static const enum fby_type types[][2] = {{FBY_U8, FBY_BF16},
        {FBY_U8, FBY_F32}, {FBY_F16, FBY_F32}, {FBY_I32, FBY_F16},
        {FBY_I64, FBY_F32}, {FBY_U8, FBY_I64}};
    uint32_t                   seed       = 23;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct trial like = {.from = types[i][0],
            .to                    = types[i][1],
            .shape                 = {1, {700}},
            .n                     = 9};
        each_form(like, ANY, &seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_rows_become_what_loops_make_of_them),
        cmocka_unit_test(empty_batches_rows_and_whole_rows_hold),
        cmocka_unit_test(rows_that_begin_anywhere_are_cast_alike),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.expand_ragged", tests, NULL, NULL);
}
