/* SPDX-License-Identifier: Apache-2.0 */
/* Documents packed into sequences: equal to the model, and no document is lost.
 */
#include "worker/source/tokens/packed.h"

#include "tests/pipeline/plan/chance.h"
#include "tests/pipeline/plan/golden.h"
#include "tests/test.h"

static uint64_t state = 3;

static uint64_t any(uint64_t low, uint64_t high)
{
    return low + scramble(&state) % (high - low + 1);
}

static void add(struct fby_packed *self, uint64_t tokens)
{
    struct fby_error_detail why = {""};
    assert_ok(fby_packed_add(self, tokens, &why));
}

static uint32_t sequence_of(const struct fby_packed *self, uint64_t token)
{
    for (uint32_t s = 0; s < self->sequences; s++) {
        for (uint32_t i = self->first_piece[s]; i < self->first_piece[s + 1];
             i++) {
            if (self->piece_begin[i] == token) {
                return s;
            }
        }
    }
    fail_msg("token %llu is in no sequence", (unsigned long long)token);
    return 0;
}

static void sequences_are_those_of_the_model(void **unused)
{
    (void)unused;
    struct golden g = golden_open("packing.txt");
    while (golden_next(&g)) {
        struct fby_packed *all = fby_packed_create(golden_u32(&g));
        uint32_t           n   = golden_u32(&g);
        uint64_t           tokens[512];
        for (uint32_t i = 0; i < n; i++) {
            tokens[i] = golden_u64(&g);
            add(all, tokens[i]);
        }
        fby_packed_finish(all);
        assert_int_equal(all->sequences, golden_u32(&g));
        uint64_t at = 0;
        for (uint32_t i = 0; i < n; i++) {
            for (uint64_t k = 0; k < tokens[i]; k += all->length) {
                assert_int_equal(sequence_of(all, at + k), golden_u32(&g));
            }
            at += tokens[i];
        }
        fby_packed_free(&all);
        assert_null(all);
    }
}

/* The pieces, by their first tokens, are the documents, cut where they are
 * longer than a sequence. */
static void check_pieces(const struct fby_packed *all, const uint64_t *tokens,
    uint32_t n, uint32_t *size_at)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t end = at + tokens[i];
        while (at < end) {
            uint64_t left = end - at;
            assert_int_equal(
                size_at[at], left < all->length ? left : all->length);
            at += size_at[at];
        }
    }
    assert_int_equal(at, all->tokens);
}

static void check_sequences(
    const struct fby_packed *all, const uint64_t *tokens, uint32_t n)
{
    uint32_t *size_at = calloc(all->tokens + 1, sizeof(*size_at));
    for (uint32_t s = 0; s < all->sequences; s++) {
        assert_in_range(fby_packed_count_tokens(all, s), 1, all->length);
        for (uint32_t i = all->first_piece[s]; i < all->first_piece[s + 1];
             i++) {
            assert_true(i == all->first_piece[s] ||
                        all->piece_begin[i - 1] < all->piece_begin[i]);
            assert_int_equal(size_at[all->piece_begin[i]], 0);
            size_at[all->piece_begin[i]] = all->piece_size[i];
        }
    }
    check_pieces(all, tokens, n, size_at);
    free(size_at);
}

static void every_token_is_in_one_sequence(void **unused)
{
    (void)unused;
    for (int round = 0; round < 400; round++) {
        uint64_t           tokens[600];
        uint32_t           n    = (uint32_t)any(0, 600);
        uint64_t           most = any(1, 300);
        struct fby_packed *all  = fby_packed_create((uint32_t)any(1, 200));
        for (uint32_t i = 0; i < n; i++) {
            tokens[i] = any(0, most);
            add(all, tokens[i]);
        }
        fby_packed_finish(all);
        assert_int_equal(all->first_piece[all->sequences], all->pieces);
        check_sequences(all, tokens, n);
        fby_packed_free(&all);
    }
}

/* Two sequences that are both at most half full would have been one, unless
 * there were too many open ones in between. */
static void sequences_are_filled(void **unused)
{
    (void)unused;
    struct fby_packed *all = fby_packed_create(2048);
    for (int i = 0; i < 20000; i++) { /* half of the bits: many short ones */
        add(all, any(1, UINT64_C(1) << any(4, 12)));
    }
    fby_packed_finish(all);
    double room = (double)all->sequences * all->length;
    assert_true((double)all->tokens > 0.99 * room);
    fby_packed_free(&all);
}

static void lengths_are_read_as_they_were_written(void **unused)
{
    (void)unused;
    struct fby_error_detail why       = {""};
    struct fby_packed      *all       = fby_packed_create(1000);
    struct fby_packed      *read      = fby_packed_create(1000);
    static const uint64_t   lengths[] = {
          1, 127, 128, 16383, 16384, 2097151, 2097152, 268435455};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        add(all, lengths[i]);
    }
    assert_int_equal(all->lengths.size, 1 + 1 + 2 + 2 + 3 + 3 + 4 + 4);
    assert_ok(fby_packed_read(
        read, all->lengths.data, all->lengths.size, all->tokens, &why));
    assert_int_equal(read->documents, all->documents);
    assert_int_equal(read->pieces, all->pieces);
    fby_packed_free(&all);
    fby_packed_free(&read);
}

static void other_lengths_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        uint8_t  bytes[10];
        size_t   size;
        uint64_t tokens;
    } cases[] = {
        {{0}, 1, 0},       /* a document without tokens */
        {{5}, 1, 6},       /* fewer than there are */
        {{5}, 1, 4},       /* more */
        {{3, 3}, 2, 5},    /* more, with the second */
        {{0x85, 0}, 2, 5}, /* not the shortest form */
        {{0x81, 0}, 2, 1}, /* nor this */
        {{0x80, 0}, 2, 1}, /* of none */
        {{0x85}, 1, 5},    /* cut short */
        {{0x81}, 1, 1},    /* likewise */
        {{0}, 1, 1},       /* none, as if it were one */
        {{}, 0, 1},        /* none */
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 10,
            UINT64_MAX},                                 /* too many bytes */
        {{0xff, 0xff, 0xff, 0xff, 0x0f}, 5, UINT32_MAX}, /* many pieces */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_error_detail why = {""};
        struct fby_packed      *all = fby_packed_create(2);
        assert_int_equal(fby_packed_read(all, cases[i].bytes, cases[i].size,
                             cases[i].tokens, &why),
            FBY_PROTO);
        assert_true(why.text[0] != 0);
        fby_packed_free(&all);
    }
}

static void too_many_parts_are_refused(void **unused)
{
    (void)unused;
    struct fby_error_detail why = {""};
    struct fby_packed      *all = fby_packed_create(1);
    add(all, FBY_PACKED_MAX_PIECES);
    assert_int_equal(fby_packed_add(all, 1, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "cut it into smaller files"));
    fby_packed_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_those_of_the_model),
        cmocka_unit_test(every_token_is_in_one_sequence),
        cmocka_unit_test(sequences_are_filled),
        cmocka_unit_test(lengths_are_read_as_they_were_written),
        cmocka_unit_test(other_lengths_are_refused),
        cmocka_unit_test(too_many_parts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
