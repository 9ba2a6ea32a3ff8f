/* SPDX-License-Identifier: Apache-2.0 */
/* Decode sequences of token files: plain ones and packed documents. Guard pages
 * follow the input and the output. */
#include "tests/guard.h"
#include "tests/says.h"
#include "tests/test.h"
#include "tests/worker/transform/transform.h"

#include <stdio.h>

#include "common/bytes.h"
#include "worker/transform/field.h"

enum { LENGTH = 5 /* tokens of a sequence */ };

static struct fby_field_content field_of(const char *from, enum fby_type type)
{
    struct fby_field_content field = {.name = "f",
        .decode                             = FBY_DECODE_TOKENS,
        .wire_type                          = type,
        .n_from                             = 1,
        .as.tokens.length                   = LENGTH,
        .shape                              = {1, {LENGTH}}};
    snprintf(field.from[0], sizeof(field.from[0]), "%s", from);
    return field;
}

/* `n` tokens of `width` bytes each. */
static struct fby_buffer bytes_of(
    const uint64_t *tokens, size_t n, uint32_t width)
{
    struct fby_buffer out = {0};
    for (size_t i = 0; i < n; i++) {
        uint8_t token[8];
        fby_store_le(token, tokens[i], 8);
        fby_put_bytes(&out, token, width);
    }
    return out;
}

static fby_err write_field(const struct fby_field_job *job,
    const struct fby_buffer *bytes, struct fby_guarded *out,
    struct fby_error_detail *why)
{
    struct fby_field_job own   = *job;
    struct fby_guarded   input = fby_guarded_copy(bytes->data, bytes->size);

    own.bytes = input.bytes;
    own.size  = input.size;
    memset(out->bytes, 0xee, out->size);
    fby_err err = fby_field_write(transform, &own, out->bytes, why);
    fby_guarded_free(&input);
    return err;
}

static void writes(const struct fby_field_job *job,
    const struct fby_buffer *bytes, const uint64_t *right, size_t n)
{
    uint32_t                width = fby_type_bytes(job->field->wire_type);
    struct fby_guarded      out   = fby_guarded_copy(NULL, n * width);
    struct fby_error_detail why   = {{0}};
    if (write_field(job, bytes, &out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    for (size_t i = 0; i < n; i++) {
        struct fby_reader r = fby_reader(out.bytes + i * width, width);
        assert_int_equal(fby_read_le(&r, width), right[i]);
    }
    fby_guarded_free(&out);
}

static void refuses(const struct fby_field_job *job,
    const struct fby_buffer *bytes, fby_err err, const char *words)
{
    struct fby_guarded      out = fby_guarded_copy(NULL, (size_t)64 * LENGTH);
    struct fby_error_detail why = {{0}};
    assert_int_equal(write_field(job, bytes, &out, &why), err);
    assert_says(&why, words);
    fby_guarded_free(&out);
}

static const uint64_t small[LENGTH + 1] = {7, 0, 255, 1, 200, 9};

static void inputs_come_before_the_last_and_targets_behind_the_first(
    void **state)
{
    (void)state;
    static const enum fby_type types[] = {FBY_U16, FBY_U32};
    for (size_t i = 0; i < 8; i++) {
        uint32_t                 width = 1U << i / 2;
        struct fby_buffer        bytes = bytes_of(small, LENGTH + 1, width);
        struct fby_field_content input = field_of("input", types[i % 2]);
        struct fby_field_content next  = field_of("target", types[i % 2]);
        struct fby_field_job     job = {.field = &input, .token_bytes = width};
        writes(&job, &bytes, small, LENGTH);
        job.field = &next;
        writes(&job, &bytes, small + 1, LENGTH);
        bytes.size -= width; /* there may be no last target */
        job.field = &input;
        writes(&job, &bytes, small, LENGTH);
        job.field = &next;
        refuses(&job, &bytes, FBY_USAGE, "are not a sequence of 5 tokens of");
        fby_buffer_fini(&bytes);
    }
}

static void a_sequence_has_its_one_length(void **state)
{
    (void)state;
    struct fby_field_content input = field_of("input", FBY_U32);
    struct fby_field_content next  = field_of("target", FBY_U32);
    struct fby_buffer        bytes = {0};
    for (size_t size = 0; size <= 40; size++) {
        bool                 fits = size >= 20 && size <= 24;
        struct fby_guarded   out  = fby_guarded_copy(NULL, 20);
        struct fby_field_job job  = {.field = &input, .token_bytes = 4};
        assert_int_equal(
            write_field(&job, &bytes, &out, NULL), fits ? FBY_OK : FBY_USAGE);
        job.field = &next;
        assert_int_equal(write_field(&job, &bytes, &out, NULL),
            size == 24 ? FBY_OK : FBY_USAGE);
        fby_guarded_free(&out);
        fby_put_u8(&bytes, 0);
    }
    fby_buffer_fini(&bytes);
}

static void other_widths_and_wire_types_are_no_tokens(void **state)
{
    (void)state;
    struct fby_buffer        bytes = bytes_of(small, LENGTH, 8);
    struct fby_field_content field = field_of("input", FBY_U32);
    for (uint32_t width = 0; width <= 9; width++) {
        bool                 is  = width == 1 || width == 2 || width == 4;
        struct fby_field_job job = {.field = &field, .token_bytes = width};
        struct fby_buffer    cut = {bytes.data, (size_t)LENGTH * width, 0};
        struct fby_guarded   out = fby_guarded_copy(NULL, 20);
        if (width <= 8) {
            fby_err err = write_field(&job, &cut, &out, NULL);
            assert_int_equal(err == FBY_USAGE, !is && width != 8);
        }
        fby_guarded_free(&out);
    }
    static const enum fby_type types[] = {
        FBY_U8, FBY_I32, FBY_I64, FBY_F32, FBY_BOOL};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        struct fby_field_job job = {.field = &field, .token_bytes = 8};
        field.wire_type          = types[i];
        refuses(&job, &bytes, FBY_USAGE, "40 bytes are not a sequence of 5");
    }
    fby_buffer_fini(&bytes);
}

/* One token, at each place, too large by one or just not. */
static void refuses_token(
    uint32_t width, enum fby_type type, uint64_t most, const char *words)
{
    struct fby_field_content field = field_of("input", type);
    struct fby_field_job     job   = {.field = &field, .token_bytes = width};
    for (size_t i = 0; i < LENGTH; i++) {
        uint64_t tokens[LENGTH] = {1, 2, 3, 4, 5};
        char     text[160];
        tokens[i]              = most;
        struct fby_buffer good = bytes_of(tokens, LENGTH, width);
        writes(&job, &good, tokens, LENGTH);
        tokens[i]             = most + 1;
        tokens[LENGTH - 1]    = most + 1; /* the first one counts */
        struct fby_buffer bad = bytes_of(tokens, LENGTH, width);
        snprintf(text, sizeof(text), "token %zu is %s", i, words);
        refuses(&job, &bad, FBY_BAD_SAMPLE, text);
        fby_buffer_fini(&good);
        fby_buffer_fini(&bad);
    }
}

static void a_token_that_does_not_fit_is_named(void **state)
{
    (void)state;
    refuses_token(
        4, FBY_U16, UINT16_MAX, "65536, which its wire type u16 cannot hold");
    refuses_token(
        8, FBY_U16, UINT16_MAX, "65536, which its wire type u16 cannot hold");
    refuses_token(4, FBY_U32, INT32_MAX,
        "2147483648 (-2147483648 as i32), which a token (0 to "
        "2147483647) cannot hold");
    refuses_token(8, FBY_U32, INT32_MAX,
        "2147483648, which a token (0 to 2147483647) cannot hold");
    struct fby_field_content field = field_of("target", FBY_U16);
    struct fby_field_job     job   = {.field = &field, .token_bytes = 4};
    const uint64_t           minus[LENGTH + 1] = {0, 1, UINT32_MAX, 3, 4, 5};
    struct fby_buffer        bytes             = bytes_of(minus, LENGTH + 1, 4);
    refuses(&job, &bytes, FBY_BAD_SAMPLE,
        "token 1 is 4294967295 (-1 as i32), which its wire type u16");
    fby_buffer_fini(&bytes);
}

/* ---- packed documents ---------------------------------------------------- */

struct pack {
    uint32_t width;
    uint32_t lengths[4];
    uint32_t n;
};

/* The lengths, then the tokens 10, 11, ... */
static struct fby_buffer packed(const struct pack *pack)
{
    struct fby_buffer out   = {0};
    uint32_t          total = 0;
    for (uint32_t i = 0; i < pack->n; i++) {
        fby_put_u32(&out, pack->lengths[i]);
        total += pack->lengths[i];
    }
    for (uint32_t i = 0; i < total && i < 99; i++) {
        uint8_t token[8];
        fby_store_le(token, 10 + i, 8);
        fby_put_bytes(&out, token, pack->width);
    }
    return out;
}

static struct fby_field_content packed_field(
    const char *from, enum fby_type type)
{
    struct fby_field_content field = field_of(from, type);
    field.as.tokens.packed         = true;
    field.as.tokens.pad            = 99;
    return field;
}

static void writes_packed(const char *from, enum fby_type type,
    const struct pack *pack, const uint64_t *right)
{
    struct fby_field_content field = packed_field(from, type);
    struct fby_buffer        bytes = packed(pack);
    struct fby_field_job     job   = {
              .field = &field, .token_bytes = pack->width, .n_documents = pack->n};
    writes(&job, &bytes, right, LENGTH);
    fby_buffer_fini(&bytes);
}

static void documents_are_filled_up_and_their_last_tokens_have_no_target(
    void **state)
{
    (void)state;
    static const struct {
        struct pack pack;
        uint64_t    inputs[LENGTH], targets[LENGTH];
    } cases[] = {
        {{2, {3, 1}, 2}, {10, 11, 12, 13, 99}, {11, 12, 99, 99, 99}},
        {{4, {5}, 1}, {10, 11, 12, 13, 14}, {11, 12, 13, 14, 99}},
        {{1, {1}, 1}, {10, 99, 99, 99, 99}, {99, 99, 99, 99, 99}},
        {{8, {2, 1, 2}, 3}, {10, 11, 12, 13, 14}, {11, 99, 99, 14, 99}},
        {{2, {1, 1, 1, 1}, 4}, {10, 11, 12, 13, 99}, {99, 99, 99, 99, 99}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        writes_packed("input", FBY_U16, &cases[i].pack, cases[i].inputs);
        writes_packed("input", FBY_U32, &cases[i].pack, cases[i].inputs);
        writes_packed("target", FBY_U16, &cases[i].pack, cases[i].targets);
        writes_packed("target", FBY_U32, &cases[i].pack, cases[i].targets);
    }
}

static void wrong_packs_are_refused(void **state)
{
    (void)state;
    static const struct pack wrong[] = {
        {2, {6}, 1},
        {2, {3, 3}, 2},
        {2, {5, 1}, 2}, /* too long */
        {2, {3, 0}, 2},
        {2, {0}, 1}, /* an empty document */
        {2, {0}, 0},
        {3, {2}, 1},
        {0, {2}, 1}, /* none; no width */
        {2, {2, UINT32_MAX}, 2},
        {2, {UINT32_MAX, 2}, 2},
    };
    struct fby_field_content field = packed_field("input", FBY_U16);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct fby_buffer    bytes = packed(&wrong[i]);
        struct fby_field_job job   = {.field = &field,
              .token_bytes                   = wrong[i].width,
              .n_documents                   = wrong[i].n};
        refuses(&job, &bytes, FBY_USAGE, "documents with tokens of");
        fby_buffer_fini(&bytes);
    }
}

static void a_pack_ends_with_its_last_token(void **state)
{
    (void)state;
    const struct pack        pack  = {4, {2, 2}, 2};
    struct fby_field_content field = packed_field("input", FBY_U32);
    struct fby_buffer        bytes = packed(&pack);
    size_t                   right = bytes.size;
    fby_put_bytes(&bytes, "12345678", 8);
    for (size_t size = 0; size <= bytes.size; size++) {
        struct fby_buffer    cut = {bytes.data, size, 0};
        struct fby_guarded   out = fby_guarded_copy(NULL, 20);
        struct fby_field_job job = {
            .field = &field, .token_bytes = 4, .n_documents = 2};
        assert_int_equal(write_field(&job, &cut, &out, NULL),
            size == right ? FBY_OK : FBY_USAGE);
        fby_guarded_free(&out);
    }
    fby_store_le(bytes.data + 8 + 8, 0x80000000, 4); /* the third token */
    struct fby_field_job job = {
        .field = &field, .token_bytes = 4, .n_documents = 2};
    bytes.size = right;
    refuses(&job, &bytes, FBY_BAD_SAMPLE, "token 2 is 2147483648");
    fby_buffer_fini(&bytes);
}

static void lengths_of_documents_are_a_field_too(void **state)
{
    (void)state;
    const struct pack        pack    = {2, {3, 1, 4}, 3};
    const uint64_t           right[] = {3, 1, 4};
    struct fby_field_content field   = {.name = "f",
          .decode                             = FBY_DECODE_DOCUMENTS,
          .wire_type                          = FBY_I32,
          .max_length                         = 8};
    struct fby_buffer        bytes   = packed(&pack);
    uint32_t                 length  = 77;
    struct fby_field_job     job     = {
                .field = &field, .token_bytes = 2, .n_documents = 3, .length = &length};
    writes(&job, &bytes, right, 3);
    assert_int_equal(length, 3);
    field.max_length = 7; /* tokens that a sequence has */
    refuses(&job, &bytes, FBY_USAGE, "not a sequence of 3 documents");
    fby_buffer_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            inputs_come_before_the_last_and_targets_behind_the_first),
        cmocka_unit_test(a_sequence_has_its_one_length),
        cmocka_unit_test(other_widths_and_wire_types_are_no_tokens),
        cmocka_unit_test(a_token_that_does_not_fit_is_named),
        cmocka_unit_test(
            documents_are_filled_up_and_their_last_tokens_have_no_target),
        cmocka_unit_test(wrong_packs_are_refused),
        cmocka_unit_test(a_pack_ends_with_its_last_token),
        cmocka_unit_test(lengths_of_documents_are_a_field_too),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.tokens", tests, open_transform, close_transform);
}
