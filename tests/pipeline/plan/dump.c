/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - random plans as lines of JSON, for the model to check.
 *
 *     dump SEED CASES | tests/model/check_plan.py
 *
 * Each line holds the arguments of one call and its results; the Python model
 * computes the results again from the arguments. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pipeline/plan/draw.h"
#include "pipeline/plan/geometry.h"
#include "pipeline/plan/order.h"
#include "pipeline/plan/permutation.h"
#include "tests/pipeline/plan/chance.h"

enum { MAX_SHARDS = 20, MAX_ROWS = 96, MAX_BUCKETED = 2000 };

static uint64_t random_state;

static uint64_t any(uint64_t low, uint64_t high)
{
    return low + scramble(&random_state) % (high - low + 1);
}

/* Of any magnitude up to `bits` bits. */
static uint64_t any_bits(uint64_t bits)
{
    return scramble(&random_state) >> (64 - any(1, bits));
}

static double any_real(double low, double high)
{
    double share = (double)(scramble(&random_state) >> 11) * 0x1p-53;
    return low + (high - low) * share;
}

static void dump_permutation(void)
{
    uint64_t               seed     = any_bits(64);
    uint64_t               epoch    = any_bits(64);
    uint64_t               index    = any_bits(64);
    uint64_t               n        = any_bits(63) + 1;
    uint64_t               position = any(0, n - 1);
    struct fby_permutation p        = fby_permutation_of(
               fby_permutation_key(seed, epoch, "samples"), index, n);
    printf("{\"kind\": \"permutation\", \"seed\": %" PRIu64
           ", \"epoch\": %" PRIu64 ", \"index\": %" PRIu64 ", \"n\": %" PRIu64
           ", \"position\": %" PRIu64 ", \"element\": %" PRIu64 "}\n",
        seed, epoch, index, n, position, fby_permutation_at(&p, position));
}

static struct fby_order_spec any_spec(uint32_t *shards)
{
    struct fby_order_spec spec = {
        .shard_samples = shards,
        .n_shards      = (uint32_t)any(1, MAX_SHARDS),
        .shuffle = (enum fby_shuffle)any(FBY_SHUFFLE_NONE, FBY_SHUFFLE_BLOCK),
        .block   = (uint32_t)any(1, 6),
        .lanes   = (uint32_t)any(0, 12),
        .last    = (enum fby_last)any(FBY_LAST_DROP, FBY_LAST_SHORT),
        .seed    = any_bits(64),
        .epoch   = any_bits(64),
    };
    for (uint32_t i = 0; i < spec.n_shards; i++) {
        shards[i] = (uint32_t)any_bits(any(1, 11)) - (i > 0);
        spec.samples += shards[i];
    }
    uint32_t pieces   = (uint32_t)any(1, 12);
    spec.slices       = any(0, 2) == 0 ? 0 : pieces;
    spec.global_batch = pieces * (uint32_t)any(1, 8);
    return spec;
}

static void dump_rows(const struct fby_order *order, uint64_t step)
{
    uint32_t world = (uint32_t)any(1, 4);
    uint32_t rank  = (uint32_t)any(0, world - 1);
    uint32_t first = 0;
    uint32_t n     = 0;
    uint64_t samples[MAX_ROWS];
    fby_order_rank_rows(order, step, rank, world, &first, &n);
    if (n > 0) {
        fby_order_fill_samples(order, step, first, n, samples);
    }
    printf("\"steps\": %" PRIu64 ", \"step\": %" PRIu64 ", \"own\": %" PRIu32
           ", \"rank\": %" PRIu32 ", \"world\": %" PRIu32
           ", \"first\": %" PRIu32 ", \"samples\": [",
        fby_order_steps(order), step, fby_order_rows(order, step), rank, world,
        first);
    for (uint32_t i = 0; i < n; i++) {
        printf("%s%" PRIu64, i == 0 ? "" : ", ", samples[i]);
    }
    printf("], \"localities\": [");
    for (uint32_t i = 0; i < n; i++) {
        printf("%s%" PRIu64, i == 0 ? "" : ", ",
            fby_order_affinity_key(order, step, first + i));
    }
    printf("]}\n");
}

/* As check_plan.py has them. */
static struct fby_buckets *any_buckets(const struct fby_order_spec *spec)
{
    uint8_t  bucket[MAX_BUCKETED];
    uint32_t n = (uint32_t)any(1, 7);
    if (spec->shuffle == FBY_SHUFFLE_BLOCK || spec->samples > MAX_BUCKETED ||
        any(0, 2) == 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < spec->samples; i++) {
        bucket[i] = (uint8_t)((i * i + 3 * i) % 7 % n);
    }
    return fby_buckets_create(bucket, (uint32_t)spec->samples, n);
}

static void dump_order(void)
{
    uint32_t              shards[MAX_SHARDS];
    struct fby_order_spec spec    = any_spec(shards);
    struct fby_buckets   *buckets = any_buckets(&spec);
    spec.buckets                  = buckets;
    struct fby_order       *order = NULL;
    struct fby_error_detail why;
    if (fby_order_create(&spec, &order, &why) != FBY_OK) {
        printf("{\"kind\": \"refused\", \"why\": \"%s\", ", why.text);
    } else {
        printf("{\"kind\": \"order\", ");
    }
    printf("\"shuffle\": %d, \"last\": %d, \"batch\": %" PRIu32
           ", \"block\": %" PRIu32 ", \"lanes\": %" PRIu32
           ", \"slices\": %" PRIu32 ", \"seed\": %" PRIu64
           ", \"epoch\": %" PRIu64 ", \"buckets\": %" PRIu32 ", \"shards\": [",
        (int)spec.shuffle, (int)spec.last, spec.global_batch, spec.block,
        spec.lanes, spec.slices, spec.seed, spec.epoch,
        buckets != NULL ? buckets->n : 0);
    for (uint32_t i = 0; i < spec.n_shards; i++) {
        printf("%s%" PRIu32, i == 0 ? "" : ", ", shards[i]);
    }
    printf(order == NULL ? "]}\n" : "], ");
    if (order != NULL) {
        dump_rows(order, any(0, fby_order_steps(order) - 1));
        fby_order_destroy(&order);
    }
    fby_buckets_destroy(&buckets);
}

static void dump_crop(void)
{
    uint64_t        seed    = any_bits(64);
    uint64_t        epoch   = any_bits(64);
    uint64_t        sample  = any_bits(63);
    uint32_t        nth     = (uint32_t)any_bits(32);
    struct fby_size picture = {
        (uint32_t)any_bits(15) + 1, (uint32_t)any_bits(15) + 1};
    double          scale[2] = {any_real(0, 0.5), any_real(0.5, 1)};
    double          ratio[2] = {any_real(0.01, 1.1), any_real(1.1, 4)};
    double          p        = any_real(0, 1);
    struct fby_draw draw =
        fby_draw_begin(seed, epoch, sample, "image", "some_op", nth);
    struct fby_box box = {0};
    if (!fby_plan_random_resized_crop(&draw, picture, scale, ratio, &box)) {
        abort();
    }
    printf("{\"kind\": \"crop\", \"seed\": %" PRIu64 ", \"epoch\": %" PRIu64
           ", \"sample\": %" PRIu64 ", \"occurrence\": %" PRIu32
           ", \"picture\": [%" PRIu32 ", %" PRIu32 "], ",
        seed, epoch, sample, nth, picture.w, picture.h);
    printf("\"scale\": [\"%a\", \"%a\"], \"ratio\": [\"%a\", \"%a\"], "
           "\"p\": \"%a\", ",
        scale[0], scale[1], ratio[0], ratio[1], p);
    printf("\"box\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "], ",
        box.x, box.y, box.w, box.h);
    printf("\"flip\": %d, ", fby_draw_bool(&draw, p));
    struct fby_size crop = {box.w, box.h};
    if (!fby_plan_random_crop(&draw, picture, crop, &box)) {
        abort();
    }
    printf("\"random\": [%" PRIu32 ", %" PRIu32 "], ", box.x, box.y);
    if (!fby_plan_center_crop(picture, crop, &box)) {
        abort();
    }
    printf("\"center\": [%" PRIu32 ", %" PRIu32 "], ", box.x, box.y);
    struct fby_size resized = {0, 0}; /* 0, 0: refused */
    (void)!fby_plan_resize_shorter(picture, crop.w, &resized);
    printf("\"resized\": [%" PRIu32 ", %" PRIu32 "]}\n", resized.w, resized.h);
}

static void dump_substitute(void)
{
    uint64_t seed   = any_bits(64);
    uint64_t epoch  = any_bits(64);
    uint64_t n      = any_bits(63) + 1;
    uint64_t sample = any(0, n - 1);
    uint32_t k      = (uint32_t)any(1, FBY_MAX_SUBSTITUTES);
    printf("{\"kind\": \"substitute\", \"seed\": %" PRIu64
           ", \"epoch\": %" PRIu64 ", \"n\": %" PRIu64 ", \"sample\": %" PRIu64
           ", \"k\": %" PRIu32 ", \"other\": %" PRIu64 "}\n",
        seed, epoch, n, sample, k,
        fby_plan_substitute(seed, epoch, sample, k, n));
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: dump SEED CASES\n");
        return 2;
    }
    random_state = strtoull(argv[1], NULL, 0);
    for (long left = strtol(argv[2], NULL, 10); left > 0; left--) {
        dump_permutation();
        dump_order();
        dump_crop();
        dump_substitute();
    }
    return 0;
}
