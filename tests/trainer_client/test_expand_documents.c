/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of documents from their lengths, compared with loops over rows and
 * tokens; and invalid lengths. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/pipeline/plan/chance.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/expand/documents.h"

enum { LENGTH = 11, ROWS = 40 };

struct batch { /* rows of documents, as they lie in a slot */
    struct fby_ragged_offsets rows;
    uint8_t                   raw[ROWS * LENGTH * 2];
    size_t                    bytes;
};

static uint64_t state = 5;

static uint32_t any(uint32_t low, uint32_t high)
{
    return low + (uint32_t)(scramble(&state) % (high - low + 1));
}

static void add_row(struct batch *batch)
{
    batch->rows.lengths[batch->rows.n] = 0;
    batch->rows.values[batch->rows.n]  = batch->bytes;
    batch->rows.n++;
}

static void add_document(struct batch *batch, uint32_t tokens)
{
    batch->raw[batch->bytes++] = (uint8_t)tokens;
    batch->raw[batch->bytes++] = (uint8_t)(tokens >> 8);
    batch->rows.lengths[batch->rows.n - 1]++;
    batch->rows.total++;
}

static void begin(struct batch *batch)
{
    memset(batch, 0, sizeof(*batch));
    fby_ragged_offsets_init(&batch->rows, ROWS);
}

static void deal(struct batch *batch)
{
    begin(batch);
    for (uint32_t r = any(1, ROWS); r > 0; r--) {
        uint32_t left = LENGTH * any(0, 1) + any(0, LENGTH);
        left          = left < LENGTH ? left : LENGTH;
        add_row(batch);
        while (left > 0) {
            uint32_t tokens = any(1, left);
            add_document(batch, tokens);
            left -= tokens;
        }
    }
}

static fby_err plan_as(struct fby_expansion *plan, enum fby_as as,
    enum fby_type type, uint32_t shift)
{
    static struct fby_field_content field;
    struct fby_error_detail         why      = {""};
    const struct fby_field_delivery delivery = {
        .as = as, .dtype = type, .offsets = FBY_I32};
    field = (struct fby_field_content){.name = "docs",
        .decode                              = FBY_DECODE_DOCUMENTS,
        .wire_type                           = FBY_U16,
        .max_length                          = LENGTH,
        .as.documents.shift                  = shift,
        .shape                               = {.n_dims = 1, .dims = {LENGTH}}};
    return fby_expansion_init(plan, &field, &delivery, &why);
}

/* The tensor; checks that its shape is that of so many bytes. */
static void *expand(const struct fby_expansion *plan, struct batch *batch)
{
    int64_t                 shape[FBY_EXPAND_DIMS];
    int64_t                 strides[FBY_EXPAND_DIMS];
    struct fby_error_detail why = {""};
    assert_ok(fby_documents_check(plan, &batch->rows, batch->raw, &why));
    uint64_t bytes            = fby_documents_bytes(plan, &batch->rows);
    void    *out[FBY_TENSORS] = {malloc(bytes)};
    uint32_t n                = fby_expansion_compute_ragged_shape(
                       plan, 0, &batch->rows, shape, strides);
    int64_t elements = n == 2 ? shape[0] * shape[1] : shape[0];
    assert_int_equal(elements * fby_type_bytes(plan->to), bytes);
    assert_ok(
        fby_device_host.expand_rows(plan, &batch->rows, batch->raw, out, &why));
    return out[0];
}

/* Get the begin and end of the document of each token of a row; 0 for
 * padding. */
static void look(const struct batch *batch, uint32_t row,
    uint32_t begins[LENGTH], uint32_t ends[LENGTH])
{
    const uint8_t *raw = batch->raw + batch->rows.values[row];
    uint32_t       at  = 0;
    for (uint32_t i = 0; i < batch->rows.lengths[row]; i++) {
        uint32_t first = at;
        while (at < first + raw[(size_t)2 * i]) {
            begins[at] = first;
            ends[at++] = first + raw[(size_t)2 * i];
        }
    }
    for (uint32_t first = at; at < LENGTH; at++) {
        begins[at] = first;
        ends[at]   = 0;
    }
}

static void check(struct batch *batch, uint32_t shift)
{
    struct fby_expansion *plan = malloc(3 * sizeof(*plan));
    assert_ok(plan_as(&plan[0], FBY_AS_POSITIONS, FBY_I64, shift));
    assert_ok(plan_as(&plan[1], FBY_AS_MASK, FBY_F32, shift));
    assert_ok(plan_as(&plan[2], FBY_AS_CU_SEQLENS, FBY_I32, shift));
    int64_t *positions = expand(&plan[0], batch);
    float   *mask      = expand(&plan[1], batch);
    int32_t *starts    = expand(&plan[2], batch);
    uint64_t n         = 0;
    for (uint32_t i = 0; i < batch->rows.n * LENGTH; i++) {
        uint32_t begins[LENGTH];
        uint32_t ends[LENGTH];
        uint32_t at = i % LENGTH;
        look(batch, i / LENGTH, begins, ends);
        assert_int_equal(positions[i], at - begins[at]);
        assert_true(mask[i] == (at + shift < ends[at] ? 1.0F : 0.0F));
        if (begins[at] == at) {
            assert_int_equal(starts[n++], i);
        }
    }
    assert_int_equal(starts[n], batch->rows.n * LENGTH);
    assert_int_equal(n, batch->rows.documents);
    free(positions);
    free(mask);
    free(starts);
    free(plan);
}

static void tensors_are_what_the_lengths_say(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 500; i++) {
        struct batch batch;
        deal(&batch);
        check(&batch, i % 2);
        fby_ragged_offsets_fini(&batch.rows);
    }
}

static void all_types_hold_the_same_numbers(void **unused)
{
    (void)unused;
    static const enum fby_type types[] = {
        FBY_BOOL, FBY_U8, FBY_F16, FBY_BF16, FBY_F32};
    struct fby_expansion *plan = malloc(sizeof(*plan));
    struct batch          batch;
    begin(&batch);
    add_row(&batch);
    add_document(&batch, 3);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        uint32_t width = fby_type_bytes(types[i]);
        uint32_t one   = 0;
        assert_ok(plan_as(plan, FBY_AS_MASK, types[i], 1));
        uint8_t *mask = expand(plan, &batch);
        memcpy(&one, mask, width);
        assert_int_equal(one, plan->on);
        assert_memory_equal(mask, mask + width, width);
        memcpy(&one, mask + 2 * (size_t)width, width);
        assert_int_equal(one, 0);
        free(mask);
    }
    assert_ok(plan_as(plan, FBY_AS_POSITIONS, FBY_I32, 0));
    int32_t *positions = expand(plan, &batch);
    assert_int_equal(positions[2], 2);
    assert_int_equal(positions[LENGTH - 1], LENGTH - 4);
    free(positions);
    assert_ok(plan_as(plan, FBY_AS_CU_SEQLENS, FBY_I64, 0));
    int64_t *starts = expand(plan, &batch);
    assert_int_equal(starts[1], 3);
    assert_int_equal(starts[2], LENGTH);
    free(starts);
    fby_ragged_offsets_fini(&batch.rows);
    free(plan);
}

static void other_forms_are_refused(void **unused)
{
    (void)unused;
    struct fby_expansion *plan = malloc(sizeof(*plan));
    assert_int_equal(plan_as(plan, FBY_AS_MASK, FBY_I32, 0), FBY_CONFIG);
    assert_int_equal(plan_as(plan, FBY_AS_POSITIONS, FBY_U16, 0), FBY_CONFIG);
    assert_int_equal(plan_as(plan, FBY_AS_CU_SEQLENS, FBY_F32, 0), FBY_CONFIG);
    free(plan);
}

static void refuses(uint32_t first, uint32_t second, const char *text)
{
    struct fby_expansion   *plan = malloc(sizeof(*plan));
    struct fby_error_detail why  = {""};
    struct batch            batch;
    begin(&batch);
    add_row(&batch);
    add_document(&batch, LENGTH);
    add_row(&batch);
    add_document(&batch, first);
    add_document(&batch, second);
    assert_ok(plan_as(plan, FBY_AS_POSITIONS, FBY_I32, 0));
    assert_int_equal(
        fby_documents_check(plan, &batch.rows, batch.raw, &why), FBY_PROTO);
    assert_string_equal(why.text, text);
    fby_ragged_offsets_fini(&batch.rows);
    free(plan);
}

static void documents_that_do_not_fit_are_refused(void **unused)
{
    (void)unused;
    refuses(3, 9,
        "field docs: row 1 has a document of 9 tokens at token 3 of "
        "11");
    refuses(LENGTH, 65535,
        "field docs: row 1 has a document of 65535 tokens at "
        "token 11 of 11");
    refuses(0, 3,
        "field docs: row 1 has a document of 0 tokens at token 0 of "
        "11");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_what_the_lengths_say),
        cmocka_unit_test(all_types_hold_the_same_numbers),
        cmocka_unit_test(other_forms_are_refused),
        cmocka_unit_test(documents_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
