/* SPDX-License-Identifier: Apache-2.0 */
/* Entitlements, charges and refunds of the budget. */
#include "tests/test.h"

#include "worker/session/budget.h"

static struct fby_budget budget_of(uint64_t total)
{
    struct fby_budget b;
    fby_budget_init(&b, total);
    return b;
}

static void entitlements_never_exceed_the_budget(void **state)
{
    (void)state;
    struct fby_budget       b     = budget_of(100);
    struct fby_budget_share first = {0};
    struct fby_budget_share next  = {0};
    assert_ok(fby_budget_join(&b, &first, 60));
    assert_int_equal(fby_budget_join(&b, &next, 41), FBY_FULL);
    assert_ok(fby_budget_join(&b, &next, 40));
    fby_budget_leave(&b, &first);
    assert_int_equal(b.entitled, 40);
}

static void unused_entitlements_are_kept_for_their_session(void **state)
{
    (void)state;
    struct fby_budget       b      = budget_of(100);
    struct fby_budget_share greedy = {0};
    struct fby_budget_share quiet  = {0};
    assert_ok(fby_budget_join(&b, &greedy, 30));
    assert_ok(fby_budget_join(&b, &quiet, 30));
    assert_ok(fby_budget_charge(&b, &greedy, 30));
    assert_ok(fby_budget_charge(&b, &greedy, 40));
    assert_int_equal(fby_budget_charge(&b, &greedy, 1), FBY_AGAIN);
    assert_ok(fby_budget_charge(&b, &quiet, 30));
    assert_int_equal(b.charged, 100);
    assert_int_equal(fby_budget_surplus(&greedy), 40);
}

static void a_new_share_gets_refunded_bytes_first(void **state)
{
    (void)state;
    struct fby_budget       b    = budget_of(100);
    struct fby_budget_share old  = {0};
    struct fby_budget_share late = {0};
    assert_ok(fby_budget_join(&b, &old, 50));
    assert_ok(fby_budget_charge(&b, &old, 100));
    assert_ok(fby_budget_join(&b, &late, 50));
    assert_int_equal(fby_budget_charge(&b, &late, 50), FBY_AGAIN);
    fby_budget_refund(&b, &old, 50);
    assert_int_equal(fby_budget_charge(&b, &old, 1), FBY_AGAIN);
    assert_ok(fby_budget_charge(&b, &late, 50));
}

static void charges_of_a_share_that_left_remain(void **state)
{
    (void)state;
    struct fby_budget       b     = budget_of(100);
    struct fby_budget_share share = {0};
    assert_ok(fby_budget_join(&b, &share, 50));
    assert_ok(fby_budget_charge(&b, &share, 20));
    fby_budget_leave(&b, &share);
    assert_int_equal(b.charged, 20);
    assert_int_equal(b.unused, 0);
    fby_budget_refund(&b, &share, 20);
    assert_int_equal(b.charged, 0);
}

/* ---- At the edges -------------------------------------------------------- */

enum { SHARES = 3, TOTAL = 100, STEPS = 3000 };

static uint64_t left_of(const struct fby_budget_share *share)
{
    return share->entitled > share->charged ? share->entitled - share->charged
                                            : 0;
}

/* The budget's sums are those of its shares. */
static void check_sums(
    const struct fby_budget *b, const struct fby_budget_share *shares)
{
    uint64_t entitled = 0;
    uint64_t charged  = 0;
    uint64_t unused   = 0;
    for (int i = 0; i < SHARES; i++) {
        entitled += shares[i].entitled;
        charged += shares[i].charged;
        unused += left_of(&shares[i]);
        assert_int_equal(fby_budget_surplus(&shares[i]),
            shares[i].charged + left_of(&shares[i]) - shares[i].entitled);
    }
    assert_int_equal(b->total, TOTAL);
    assert_int_equal(b->entitled, entitled);
    assert_int_equal(b->charged, charged);
    assert_int_equal(b->unused, unused);
    assert_true(entitled <= TOTAL);
    assert_true(charged <= TOTAL);
}

/* A session gets its share while there is room, and beyond its share the bytes
 * that no other session is entitled to. */
static fby_err right_answer(const struct fby_budget *b,
    const struct fby_budget_share *share, uint64_t bytes)
{
    uint64_t room = b->total - b->charged;
    if (bytes > b->total) {
        return FBY_FULL;
    }
    if (bytes > left_of(share)) {
        bytes += b->unused - left_of(share);
    }
    return bytes <= room ? FBY_OK : FBY_AGAIN;
}

static uint32_t draw(uint64_t *seed, uint32_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)((*seed >> 33) % n);
}

static void a_budget_is_the_sum_of_its_shares(void **state)
{
    (void)state;
    struct fby_budget       b              = budget_of(TOTAL);
    struct fby_budget_share shares[SHARES] = {{0}};
    uint64_t                seed           = 1;
    uint32_t                answers[2]     = {0};
    for (int i = 0; i < STEPS; i++) {
        struct fby_budget_share *share = &shares[draw(&seed, SHARES)];
        uint64_t                 bytes = draw(&seed, 50);
        switch (draw(&seed, 8)) {
        case 0: {
            fby_budget_leave(&b, share);
            assert_int_equal(share->entitled, 0);
            fby_err right = bytes <= TOTAL - b.entitled ? FBY_OK : FBY_FULL;
            assert_int_equal(fby_budget_join(&b, share, bytes), right);
            assert_true(right == FBY_OK || share->entitled == 0);
            break;
        }
        case 1:
        case 2:
            bytes = bytes < share->charged ? bytes : share->charged;
            fby_budget_refund(&b, share, bytes);
            break;
        default: {
            uint64_t before = share->charged;
            fby_err  right  = right_answer(&b, share, bytes);
            assert_int_equal(fby_budget_charge(&b, share, bytes), right);
            assert_int_equal(
                share->charged, before + (right == FBY_OK ? bytes : 0));
            answers[right == FBY_OK ? 0 : 1]++;
            break;
        }
        }
        check_sums(&b, shares);
    }
    assert_true(answers[0] > STEPS / 10 && answers[1] > STEPS / 10);
}

static void the_last_byte_can_be_charged(void **state)
{
    (void)state;
    struct fby_budget       b     = budget_of(TOTAL);
    struct fby_budget_share share = {0};
    assert_int_equal(fby_budget_join(&b, &share, TOTAL + 1), FBY_FULL);
    assert_ok(fby_budget_join(&b, &share, TOTAL));
    assert_int_equal(fby_budget_charge(&b, &share, TOTAL + 1), FBY_FULL);
    assert_int_equal(fby_budget_charge(&b, &share, UINT64_MAX), FBY_FULL);
    assert_ok(fby_budget_charge(&b, &share, TOTAL));
    assert_int_equal(fby_budget_charge(&b, &share, 1), FBY_AGAIN);
    assert_ok(fby_budget_charge(&b, &share, 0));
    fby_budget_refund(&b, &share, TOTAL);
    assert_int_equal(b.charged, 0);
    assert_int_equal(b.unused, TOTAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entitlements_never_exceed_the_budget),
        cmocka_unit_test(unused_entitlements_are_kept_for_their_session),
        cmocka_unit_test(a_new_share_gets_refunded_bytes_first),
        cmocka_unit_test(charges_of_a_share_that_left_remain),
        cmocka_unit_test(a_budget_is_the_sum_of_its_shares),
        cmocka_unit_test(the_last_byte_can_be_charged),
    };
    return cmocka_run_group_tests_name("worker.budget", tests, NULL, NULL);
}
