/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of buckets: like lengths together, each sample once. */
#include "pipeline/plan/order.h"
#include "tests/pipeline/plan/chance.h"
#include "tests/pipeline/plan/golden.h"
#include "tests/test.h"

enum { MOST = 400 };

static uint64_t state = 1;

static uint32_t any(uint32_t low, uint32_t high)
{
    return low + (uint32_t)(scramble(&state) % (high - low + 1));
}

struct deal { /* who is in which bucket, and the order of it */
    uint8_t               bucket[MOST];
    struct fby_order_spec spec;
    struct fby_buckets   *buckets;
    struct fby_order     *order;
};

static void begin(struct deal *d, uint32_t n)
{
    struct fby_error_detail why = {""};
    d->buckets = fby_buckets_create(d->bucket, (uint32_t)d->spec.samples, n);
    d->spec.buckets = d->buckets;
    d->order        = NULL;
    assert_ok(fby_order_create(&d->spec, &d->order, &why));
}

static void end(struct deal *d)
{
    fby_order_destroy(&d->order);
    fby_buckets_destroy(&d->buckets);
}

/* Some of the buckets are empty, large or small, with any rests. */
static void deal_any(struct deal *d)
{
    uint32_t n = any(1, 9);
    d->spec    = (struct fby_order_spec){
           .samples      = any(1, MOST),
           .shuffle      = (enum fby_shuffle)any(1, 2),
           .last         = (enum fby_last)any(2, 3),
           .global_batch = any(1, 60),
           .seed         = any(0, 9),
           .epoch        = any(0, 3),
    };
    for (uint32_t i = 0; i < d->spec.samples; i++) {
        d->bucket[i] = (uint8_t)(any(0, n - 1) * any(0, 1));
    }
    begin(d, n);
}

static void each_sample_comes_once_an_epoch(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3000; i++) {
        struct deal d          = {0};
        uint8_t     seen[MOST] = {0};
        deal_any(&d);
        for (uint64_t s = 0; s < fby_order_steps(d.order); s++) {
            uint64_t samples[MOST];
            uint32_t rows = fby_order_rows(d.order, s);
            fby_order_fill_samples(d.order, s, 0, rows, samples);
            for (uint32_t row = 0; row < rows; row++) {
                assert_true(samples[row] < d.spec.samples);
                seen[samples[row]]++;
            }
        }
        for (uint64_t s = 0; s < d.spec.samples; s++) {
            assert_int_equal(seen[s], 1);
        }
        end(&d);
    }
}

static bool is_of_one_bucket(const struct deal *d, uint64_t step)
{
    uint64_t samples[MOST];
    uint32_t rows = fby_order_rows(d->order, step);
    fby_order_fill_samples(d->order, step, 0, rows, samples);
    for (uint32_t row = 1; row < rows; row++) {
        if (d->bucket[samples[row]] != d->bucket[samples[0]]) {
            return false;
        }
    }
    return true;
}

/* As many batches are of one bucket as its samples fill. */
static void only_the_rests_are_mixed(void **unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        struct deal d    = {0};
        uint64_t    pure = 0;
        uint64_t    full = 0;
        deal_any(&d);
        for (uint64_t s = 0; s < fby_order_steps(d.order); s++) {
            pure += is_of_one_bucket(&d, s) ? 1 : 0;
        }
        for (uint32_t b = 0; b < d.buckets->n; b++) {
            full += (d.buckets->begins[b + 1] - d.buckets->begins[b]) /
                    d.spec.global_batch;
        }
        assert_true(pure >= full);
        end(&d);
    }
}

static void rows_do_not_depend_on_who_asks_for_how_many(void **unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        struct deal d = {0};
        uint64_t    whole[MOST];
        uint64_t    parts[MOST];
        deal_any(&d);
        uint64_t step = scramble(&state) % fby_order_steps(d.order);
        uint32_t rows = fby_order_rows(d.order, step);
        uint32_t cut  = any(0, rows);
        fby_order_fill_samples(d.order, step, 0, rows, whole);
        if (cut > 0) {
            fby_order_fill_samples(d.order, step, 0, cut, parts);
        }
        if (cut < rows) {
            fby_order_fill_samples(d.order, step, cut, rows - cut, parts + cut);
        }
        assert_memory_equal(whole, parts, rows * sizeof(*whole));
        end(&d);
    }
}

static void steps_and_rows_are_those_without_buckets(void **unused)
{
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        struct deal             d     = {0};
        struct fby_order       *plain = NULL;
        struct fby_error_detail why   = {""};
        deal_any(&d);
        struct fby_order_spec spec = d.spec;
        spec.buckets               = NULL;
        assert_ok(fby_order_create(&spec, &plain, &why));
        uint64_t last = fby_order_steps(plain) - 1;
        assert_int_equal(fby_order_steps(d.order), last + 1);
        assert_int_equal(
            fby_order_rows(d.order, last), fby_order_rows(plain, last));
        fby_order_destroy(&plain);
        end(&d);
    }
}

static void another_epoch_has_other_batches(void **unused)
{
    (void)unused;
    struct deal d = {.spec = {.samples = MOST,
                         .shuffle      = FBY_SHUFFLE_FULL,
                         .last         = FBY_LAST_DROP,
                         .global_batch = 10}};
    uint64_t    one[10];
    uint64_t    two[10];
    begin(&d, 1);
    fby_order_fill_samples(d.order, 0, 0, 10, one);
    end(&d);
    d.spec.epoch = 1;
    begin(&d, 1);
    fby_order_fill_samples(d.order, 0, 0, 10, two);
    end(&d);
    assert_memory_not_equal(one, two, sizeof(one));
}

static void buckets_of_other_samples_are_refused(void **unused)
{
    (void)unused;
    struct fby_order       *order  = NULL;
    struct fby_error_detail why    = {""};
    const uint8_t           all[7] = {0};
    struct fby_buckets     *seven  = fby_buckets_create(all, 7, 1);
    struct fby_order_spec   spec   = {.samples = 8,
            .buckets                           = seven,
            .shuffle                           = FBY_SHUFFLE_FULL,
            .last                              = FBY_LAST_SHORT,
            .global_batch                      = 2};
    assert_int_equal(fby_order_create(&spec, &order, &why), FBY_CONFIG);
    assert_string_equal(why.text, "7 samples in the buckets, but 8 in the "
                                  "dataset: the numbers must be equal");
    fby_buckets_destroy(&seven);
}

static void there_are_64_buckets_at_most(void **unused)
{
    (void)unused;
    const uint8_t all[65] = {0};
    for (uint32_t n = 63; n <= 65; n++) {
        struct fby_order       *order   = NULL;
        struct fby_error_detail why     = {""};
        struct fby_buckets     *buckets = fby_buckets_create(all, 9, n);
        struct fby_order_spec   spec    = {.samples = 9,
                 .buckets                           = buckets,
                 .shuffle                           = FBY_SHUFFLE_NONE,
                 .last                              = FBY_LAST_SHORT,
                 .global_batch                      = 2};
        assert_int_equal(fby_order_create(&spec, &order, &why),
            n <= 64 ? FBY_OK : FBY_CONFIG);
        fby_order_destroy(&order);
        fby_buckets_destroy(&buckets);
        assert_null(buckets);
    }
}

static void golden_deal(struct golden *g, struct deal *d)
{
    d->spec              = (struct fby_order_spec){0};
    d->spec.shuffle      = (enum fby_shuffle)golden_u32(g);
    d->spec.last         = (enum fby_last)golden_u32(g);
    d->spec.global_batch = golden_u32(g);
    d->spec.seed         = golden_u64(g);
    d->spec.epoch        = golden_u64(g);
    const char *digits   = golden_word(g);
    uint32_t    n        = 0;
    for (; *digits != '\0'; digits++) {
        uint8_t b                    = (uint8_t)(*digits - '0');
        d->bucket[d->spec.samples++] = b;
        n                            = b + 1U > n ? b + 1U : n;
    }
    begin(d, n);
}

static void orders_are_those_of_the_model(void **unused)
{
    (void)unused;
    struct golden g = golden_open("buckets.txt");
    while (golden_next(&g)) {
        struct deal d = {0};
        golden_deal(&g, &d);
        assert_int_equal(fby_order_steps(d.order), golden_u64(&g));
        uint64_t step = golden_u64(&g);
        uint32_t rows = golden_u32(&g);
        assert_true(fby_order_has_rows(d.order, step, 0, rows));
        for (uint32_t row = 0; row < rows; row++) {
            uint64_t sample = 0;
            fby_order_fill_samples(d.order, step, row, 1, &sample);
            assert_int_equal(sample, golden_u64(&g));
        }
        end(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_comes_once_an_epoch),
        cmocka_unit_test(only_the_rests_are_mixed),
        cmocka_unit_test(rows_do_not_depend_on_who_asks_for_how_many),
        cmocka_unit_test(steps_and_rows_are_those_without_buckets),
        cmocka_unit_test(another_epoch_has_other_batches),
        cmocka_unit_test(buckets_of_other_samples_are_refused),
        cmocka_unit_test(there_are_64_buckets_at_most),
        cmocka_unit_test(orders_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
