/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/says.h"
#include "trainer_client/batch/digest.h"
#include "trainer_client/expand/device.h"

/* ---- Chunks, written as PROTOCOL.md says --------------------------------- */

enum { ROWS = 9, MOST = 40, ROOM = 1 << 16 };

struct row {
    uint32_t n;
    uint32_t at[MOST];
    float    values[MOST];
};

struct batch {
    struct fby_raw_layout     layout;
    struct fby_chunk_sent     sent[1];
    struct row                rows[ROWS];
    uint8_t                  *raw;
    struct fby_ragged_offsets ragged_offsets;
};

static struct batch *batch;

static uint8_t *put_le(uint8_t *to, uint32_t value, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++) {
        *to++ = (uint8_t)(value >> (8 * i));
    }
    return to;
}

static uint8_t *pad(uint8_t *to)
{
    while ((to - batch->raw) % 16 != 0) {
        *to++ = 0;
    }
    return to;
}

static void put_chunk(void)
{
    const struct fby_raw_field *field = &batch->layout.fields[0];
    uint8_t                    *to    = batch->raw;
    for (uint32_t i = 0; i < batch->layout.rows; i++) {
        to = put_le(to, batch->rows[i].n, field->length_bytes);
    }
    to = pad(to);
    for (uint32_t i = 0; i < batch->layout.rows; i++) {
        for (uint32_t k = 0; k < batch->rows[i].n; k++) {
            to = put_le(to, batch->rows[i].at[k], field->index_bytes);
        }
    }
    to = pad(to);
    for (uint32_t i = 0; i < batch->layout.rows; i++) {
        memcpy(to, batch->rows[i].values, batch->rows[i].n * sizeof(float));
        to += batch->rows[i].n * sizeof(float);
    }
    batch->sent[0].raw_bytes = (uint32_t)(to - batch->raw);
}

static void lay_out(struct fby_shape shape, uint32_t most, uint32_t rows)
{
    struct fby_raw_layout *layout = &batch->layout;
    *layout                       = (struct fby_raw_layout){0};
    layout->rows                  = rows;
    layout->n_fields              = 1;
    layout->fields[0]             = (struct fby_raw_field){
                    .type       = FBY_F32,
                    .shape      = shape,
                    .form       = FBY_FORM_SPARSE,
                    .max_length = most,
    };
    assert_ok(fby_layout_compute(layout, NULL));
    assert_int_equal(layout->n_chunks, 1);
}

static fby_err read_batch(struct fby_error_detail *why)
{
    const struct fby_ragged_offsets_in in = {.name = "words",
        .layout                                    = &batch->layout,
        .raw                                       = batch->raw,
        .sent                                      = batch->sent};
    return fby_ragged_offsets_read(&batch->ragged_offsets, &in, why);
}

static int open_batch(void **state)
{
    (void)state;
    batch      = calloc(1, sizeof(*batch));
    batch->raw = calloc(1, ROOM);
    fby_ragged_offsets_init(&batch->ragged_offsets, ROWS);
    return 0;
}

static int close_batch(void **state)
{
    (void)state;
    fby_ragged_offsets_fini(&batch->ragged_offsets);
    free(batch->raw);
    free(batch);
    return 0;
}

/* ---- Random rows --------------------------------------------------------- */

static uint32_t below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return n > 1 ? (uint32_t)((*seed >> 33) % n) : 0;
}

static struct fby_shape random_shape(uint64_t *seed)
{
    static const uint32_t most[] = {1, 3, 40, 300};
    struct fby_shape      shape  = {.n_dims = 1 + below(seed, 4)};
    for (uint32_t d = 0; d < shape.n_dims; d++) {
        shape.dims[d] = 1 + below(seed, most[below(seed, 4)]);
    }
    if (shape.n_dims == 1 && below(seed, 2) == 0) {
        shape.dims[0] = 100000;
    }
    while (fby_dense_values(&shape) > 100000) {
        shape.dims[below(seed, shape.n_dims)] = 1;
    }
    return shape;
}

/* Ascending, none twice: `n` of `dense`. */
static void fill_row(uint64_t *seed, struct row *row, uint32_t dense)
{
    uint32_t left = row->n;
    uint32_t k    = 0;
    for (uint32_t index = 0; left > 0; index++) {
        uint32_t skip = dense - index - left;
        index += skip > 0 ? below(seed, skip / left + 1) : 0;
        row->at[k]     = index;
        row->values[k] = (float)(int32_t)(below(seed, 2000)) - 1000;
        k++;
        left--;
    }
}

/* Empty rows, full ones and those between; all of one kind by turns. */
static void random_batch(uint64_t *seed, uint32_t turn)
{
    struct fby_shape shape = random_shape(seed);
    uint32_t         dense = (uint32_t)fby_dense_values(&shape);
    uint32_t         most  = 1 + below(seed, dense < MOST ? dense : MOST);
    lay_out(shape, most, turn % 3 == 0 ? 1 : 1 + below(seed, ROWS));
    for (uint32_t i = 0; i < batch->layout.rows; i++) {
        uint32_t kind    = turn % 4 < 2 ? turn % 4 : below(seed, 3);
        batch->rows[i].n = kind == 0   ? 0
                           : kind == 1 ? most
                                       : below(seed, most + 1);
        fill_row(seed, &batch->rows[i], dense);
    }
    put_chunk();
}

static struct fby_expansion plan_of(enum fby_as as, enum fby_type to)
{
    const struct fby_raw_field *raw = &batch->layout.fields[0];
    struct fby_expansion        plan;
    struct fby_error_detail     why          = {{0}};
    struct fby_field_content   *content      = calloc(1, sizeof(*content));
    content->decode                          = FBY_DECODE_SPARSE;
    content->wire_type                       = FBY_F32;
    content->shape                           = raw->shape;
    content->as.sparse.shape                 = raw->shape;
    content->max_length                      = raw->max_length;
    const struct fby_field_delivery delivery = {
        .dtype = to, .as = as, .offsets = FBY_I64};
    if (fby_expansion_init(&plan, content, &delivery, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    free(content);
    return plan;
}

struct tensors {
    struct fby_expansion plan;
    void                *out[FBY_TENSORS];
    int64_t              shape[FBY_TENSORS][FBY_EXPAND_DIMS];
};

/* Tensors of just the size that the plan asks for. */
static struct tensors expand(enum fby_as as, enum fby_type to)
{
    struct tensors t = {.plan = plan_of(as, to)};
    int64_t        strides[FBY_EXPAND_DIMS];
    for (uint32_t i = 0; i < t.plan.n_tensors; i++) {
        const struct fby_tensor_plan *plan = &t.plan.tensors[i];
        uint64_t bytes = plan->row_bytes * batch->layout.rows;
        t.out[i]       = malloc(bytes + plan->bytes_after_rows);
        memset(t.out[i], 0xee, bytes + plan->bytes_after_rows);
        (void)fby_expansion_compute_ragged_shape(
            &t.plan, i, &batch->ragged_offsets, t.shape[i], strides);
    }
    assert_ok(fby_device_host.expand_rows(
        &t.plan, &batch->ragged_offsets, batch->raw, t.out, NULL));
    return t;
}

static void free_tensors(struct tensors *t)
{
    for (uint32_t i = 0; i < t->plan.n_tensors; i++) {
        free(t->out[i]);
    }
}

static void check_dense(void)
{
    struct tensors t  = expand(FBY_AS_DENSE, FBY_F32);
    const float   *is = t.out[0];
    uint64_t       n  = fby_dense_values(&batch->layout.fields[0].shape);
    assert_int_equal(t.shape[0][0], batch->layout.rows);
    for (uint32_t i = 0; i < batch->layout.rows; i++) {
        const struct row *row = &batch->rows[i];
        uint32_t          k   = 0;
        for (uint64_t v = 0; v < n; v++) {
            bool here = k < row->n && row->at[k] == v;
            assert_true(is[i * n + v] == (here ? row->values[k] : 0));
            k += here ? 1 : 0;
        }
    }
    free_tensors(&t);
}

static void check_csr(void)
{
    struct tensors t       = expand(FBY_AS_CSR, FBY_BF16);
    const int64_t *offsets = t.out[1];
    const int64_t *indices = t.out[2];
    int64_t        first   = 0;
    assert_int_equal(t.shape[1][0], batch->layout.rows + 1);
    for (uint32_t i = 0; i < batch->layout.rows; i++) {
        assert_int_equal(offsets[i], first);
        for (uint32_t k = 0; k < batch->rows[i].n; k++) {
            assert_int_equal(indices[first + k], batch->rows[i].at[k]);
        }
        first += batch->rows[i].n;
    }
    assert_int_equal(offsets[batch->layout.rows], first);
    assert_int_equal(t.shape[0][0], first);
    assert_int_equal(t.shape[2][0], first);
    free_tensors(&t);
}

static void check_coo(void)
{
    struct tensors          t     = expand(FBY_AS_COO, FBY_F32);
    const struct fby_shape *shape = &batch->layout.fields[0].shape;
    const float            *is    = t.out[0];
    const int64_t          *at    = t.out[1];
    int64_t                 total = t.shape[0][0];
    int64_t                 j     = 0;
    assert_int_equal(t.shape[1][0], 1 + shape->n_dims);
    assert_int_equal(t.shape[1][1], total);
    for (uint32_t i = 0; i < batch->layout.rows; i++) {
        for (uint32_t k = 0; k < batch->rows[i].n; k++, j++) {
            int64_t flat = 0;
            for (uint32_t d = 0; d < shape->n_dims; d++) {
                flat = flat * shape->dims[d] + at[(d + 1) * total + j];
            }
            assert_int_equal(at[j], i);
            assert_int_equal(flat, batch->rows[i].at[k]);
            assert_true(is[j] == batch->rows[i].values[k]);
        }
    }
    assert_int_equal(j, total);
    free_tensors(&t);
}

static void rows_of_any_shape_become_the_same_dense_csr_and_coo(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (uint32_t turn = 0; turn < 300; turn++) {
        random_batch(&seed, turn);
        assert_ok(read_batch(NULL));
        check_dense();
        check_coo();
        if (batch->layout.fields[0].shape.n_dims == 1) {
            check_csr();
        }
    }
}

static void no_rows_are_tensors_without_values(void **state)
{
    (void)state;
    lay_out((struct fby_shape){1, {300}}, 5, 1);
    fby_ragged_offsets_clear(&batch->ragged_offsets);
    struct tensors t = expand(FBY_AS_CSR, FBY_F32);
    assert_int_equal(t.shape[0][0], 0);
    assert_int_equal(t.shape[1][0], 1);
    assert_int_equal(*(const int64_t *)t.out[1], 0);
    free_tensors(&t);
    t = expand(FBY_AS_COO, FBY_F32);
    assert_int_equal(t.shape[1][0], 2);
    assert_int_equal(t.shape[1][1], 0);
    free_tensors(&t);
}

/* ---- Hostile chunks ------------------------------------------------------ */

static void two_rows(void)
{
    lay_out((struct fby_shape){2, {10, 30}}, 5, 2);
    batch->rows[0] = (struct row){2, {0, 299}, {1, 2}};
    batch->rows[1] = (struct row){3, {4, 5, 6}, {3, 4, 5}};
    put_chunk();
}

static void assert_refused(const char *words)
{
    struct fby_error_detail why = {{0}};
    put_chunk();
    assert_int_equal(read_batch(&why), FBY_PROTO);
    assert_says(&why, words);
}

static void indices_beyond_the_shape_or_out_of_order_are_refused(void **state)
{
    (void)state;
    two_rows();
    assert_ok(read_batch(NULL));
    batch->rows[0].at[1] = 300;
    assert_refused(
        "field words: row 0 has index 300, but its shape has 300 values");
    two_rows();
    batch->rows[1].at[2] = 5;
    assert_refused("field words: row 1 has index 5 after 5; they must ascend");
    batch->rows[1].at[2] = 3;
    assert_refused("row 1 has index 3 after 5");
}

static void lengths_that_are_not_those_of_the_bytes_are_refused(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    two_rows();
    batch->rows[1].n = 6;
    assert_refused("field words: row 1 has 6 entries, max_length is 5");
    two_rows();
    batch->raw[0] = 1;
    assert_int_equal(read_batch(&why), FBY_PROTO);
    assert_non_null(
        strstr(why.text, "chunk 0 has 52 bytes, its lengths need 48"));
}

/* Whatever the bytes are: refused, or rows within the chunk and the shape. */
static void any_bytes_are_refused_or_rows(void **state)
{
    (void)state;
    uint64_t seed = 99;
    uint32_t good = 0;
    for (int turn = 0; turn < 20000; turn++) {
        two_rows();
        for (uint32_t n = 1 + below(&seed, 3); n > 0; n--) {
            batch->raw[below(&seed, 32)] = (uint8_t)below(&seed, 8);
        }
        if (read_batch(NULL) == FBY_OK) {
            for (uint32_t i = 0; i < 2; i++) {
                assert_true(
                    batch->ragged_offsets.values[i] +
                        batch->ragged_offsets.lengths[i] * sizeof(float) <=
                    batch->sent[0].raw_bytes);
            }
            struct tensors t = expand(FBY_AS_DENSE, FBY_F32);
            free_tensors(&t);
            good++;
        }
    }
    assert_true(good > 0 && good < 20000);
}

/* ---- Digest -------------------------------------------------------------- */

static void a_sparse_row_s_digest_is_that_of_the_documented_bytes(void **state)
{
    (void)state;
    two_rows();
    assert_ok(read_batch(NULL));
    const uint8_t bytes[] = {
        71, 0, 0, 0, 0, 0, 0, 0,             /* sample */
        5, 0, 'w', 'o', 'r', 'd', 's', 7, 2, /* name, f32, 2 dims */
        10, 0, 0, 0, 30, 0, 0, 0,            /* 10, 30 */
        2, 0, 0, 0, 0, 0, 0x2b, 1,           /* two: at 0 and 299 */
        0, 0, 0x80, 0x3f, 0, 0, 0, 0x40,     /* 1, 2 */
    };
    const struct fby_digest_field field = {.name = "words",
        .type                                    = FBY_F32,
        .shape                                   = {2, {10, 30}},
        .raw                                     = batch->raw,
        .sample_bytes                            = 20,
        .rows                                    = &batch->ragged_offsets};
    struct fby_checksum           want  = fby_checksum_of(bytes, sizeof(bytes));
    struct fby_checksum           is    = fby_sample_digest(71, &field, 1, 0);
    assert_memory_equal(is.bytes, want.bytes, sizeof(want.bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_any_shape_become_the_same_dense_csr_and_coo),
        cmocka_unit_test(no_rows_are_tensors_without_values),
        cmocka_unit_test(indices_beyond_the_shape_or_out_of_order_are_refused),
        cmocka_unit_test(lengths_that_are_not_those_of_the_bytes_are_refused),
        cmocka_unit_test(any_bytes_are_refused_or_rows),
        cmocka_unit_test(a_sparse_row_s_digest_is_that_of_the_documented_bytes),
    };
    return cmocka_run_group_tests(tests, open_batch, close_batch);
}
