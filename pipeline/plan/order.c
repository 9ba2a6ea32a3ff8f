/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - see order.h.
 *
 * The linear order is the sequence of all samples after shuffling. A block is a
 * group of consecutive shards; a bucket has the samples of similar length. Each
 * row is mapped to its sample in three stages: from (step, row) to a position
 * in the linear order, from there to an offset in a block or bucket, and from
 * the offset to a sample, by the permutation of the block or bucket.
 *
 * Without block shuffle the rows of a batch are consecutive in the linear
 * order. With block shuffle the linear order, up to its last full batch, is cut
 * into G = `slices` parts, and each part into S = `full_steps` equal pieces. A
 * full batch has one piece of each part, called a slice. Each part is divided
 * into L = `lanes` lanes (ranges of pieces). Consecutive steps take turns among
 * the lanes, so that successive batches have samples of different blocks.
 *
 * A span is a number of rows that are contiguous in the linear order. Rows are
 * mapped span by span, so that a permutation is set up once for each span. */
#include "pipeline/plan/order.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/plan/permutation.h"

enum { MAX_DEFAULT_SLICES = 8, DEFAULT_LANES_TIMES_SLICES = 64 };

enum { MAX_BUCKETS = FBY_MAX_BOUNDS + 1 };

struct fby_order {
    uint64_t         samples;    /* N */
    uint64_t         full_steps; /* S: steps that have all rows */
    uint64_t         steps;      /* full and partial */
    uint32_t         batch;      /* rows of a full step */
    enum fby_shuffle shuffle;
    enum fby_last    last;
    /* Block shuffle permutes the blocks. Full shuffle permutes the samples or,
     * with buckets, the full batches. */
    struct fby_permutation permutation;
    /* The key of the permutations within each block or bucket. */
    struct fby_permutation_key within_key;
    /* For block shuffle. The arrays have n_blocks + 1 entries. */
    uint32_t  slices; /* G */
    uint32_t  lanes;  /* L, at most S */
    uint32_t  n_blocks;
    uint64_t *block_sample;   /* [b]: first sample of block b */
    uint64_t *block_position; /* [i]: position of block permutation(i) */
    /* For buckets, else NULL. The arrays have buckets->n + 1 entries. */
    const struct fby_buckets *buckets;
    uint64_t *full_position; /* [b]: position of the full batches of bucket b */
    uint64_t *leftover_position; /* [b]: position of its leftovers */
};

struct span {
    uint64_t position; /* of its first row in the linear order */
    uint64_t rows;     /* number of rows */
};

uint32_t fby_default_slices(uint32_t global_batch)
{
    uint32_t slices = MAX_DEFAULT_SLICES;
    while (global_batch % slices != 0) {
        slices--;
    }
    return slices;
}

uint32_t fby_default_lanes(uint32_t slices)
{
    return slices < DEFAULT_LANES_TIMES_SLICES
               ? DEFAULT_LANES_TIMES_SLICES / slices
               : 1;
}

static uint64_t count_steps(const struct fby_order_spec *spec)
{
    bool has_partial =
        spec->samples % spec->global_batch != 0 && spec->last != FBY_LAST_DROP;
    return spec->samples / spec->global_batch + (has_partial ? 1 : 0);
}

fby_err fby_order_check_world(
    uint32_t global_batch, uint32_t world, struct fby_error_detail *why)
{
    if (world == 0) {
        return fby_error_set(
            why, FBY_CONFIG, "a world of 0 ranks: there must be at least 1");
    }
    if (global_batch % world != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "a global batch of %u cannot be shared by %u ranks: the world size "
            "must divide it",
            global_batch, world);
    }
    return FBY_OK;
}

/* ---- buckets ---- */

struct fby_buckets *fby_buckets_create(
    const uint8_t *bucket_of, uint32_t samples, uint32_t n)
{
    struct fby_buckets *self = fby_zalloc(sizeof(*self));
    uint32_t           *next = fby_zalloc(((size_t)n + 1) * sizeof(*next));
    self->n                  = n;
    self->samples            = samples;
    self->begins = fby_zalloc(((size_t)n + 1) * sizeof(*self->begins));
    self->sorted = fby_zalloc(((size_t)samples + 1) * sizeof(*self->sorted));
    for (uint32_t i = 0; i < samples; i++) {
        self->begins[bucket_of[i] + 1]++; /* [b + 1]: the size of bucket b */
    }
    for (uint32_t b = 0; b < n; b++) {
        self->begins[b + 1] += self->begins[b];
        next[b] = self->begins[b]; /* the offset of the next sample of b */
    }
    for (uint32_t i = 0; i < samples; i++) {
        self->sorted[next[bucket_of[i]]++] = i;
    }
    free(next);
    return self;
}

void fby_buckets_destroy(struct fby_buckets **self_p)
{
    struct fby_buckets *self = *self_p;
    if (self != NULL) {
        *self_p = NULL;
        free(self->begins);
        free(self->sorted);
        free(self);
    }
}

/* ---- create ---- */

static fby_err check_batches(
    const struct fby_order_spec *spec, struct fby_error_detail *why)
{
    if (spec->samples == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "the dataset holds no sample: an epoch needs at least 1");
    }
    if (spec->samples > FBY_PERMUTATION_MAX) {
        return fby_error_set(why, FBY_CONFIG,
            "%" PRIu64 " samples are more than the 2^63 an order can hold",
            spec->samples);
    }
    if (count_steps(spec) == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "last: drop leaves no batch of %u from %s; use last: pad or short, "
            "or a smaller global_batch",
            spec->global_batch, fby_plural(spec->samples, "sample").text);
    }
    return FBY_OK;
}

static fby_err check_shards(
    const struct fby_order_spec *spec, struct fby_error_detail *why)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < spec->n_shards; i++) {
        sum += spec->shard_samples[i];
    }
    if (sum != spec->samples) {
        return fby_error_set(why, FBY_CONFIG,
            "%s in %s, but %" PRIu64
            " in the dataset: the numbers must be equal",
            fby_plural(sum, "sample").text,
            fby_plural(spec->n_shards, "shard").text, spec->samples);
    }
    return FBY_OK;
}

static fby_err check_buckets(
    const struct fby_order_spec *spec, struct fby_error_detail *why)
{
    const struct fby_buckets *buckets = spec->buckets;
    assert(spec->shuffle != FBY_SHUFFLE_BLOCK);
    if (buckets->n > MAX_BUCKETS) {
        return fby_error_set(why, FBY_CONFIG,
            "%u buckets: there may be at most %d", buckets->n, MAX_BUCKETS);
    }
    if (buckets->samples != spec->samples) {
        return fby_error_set(why, FBY_CONFIG,
            "%s in the buckets, but %" PRIu64
            " in the dataset: the numbers must be equal",
            fby_plural(buckets->samples, "sample").text, spec->samples);
    }
    return FBY_OK;
}

static fby_err check_spec(
    const struct fby_order_spec *spec, struct fby_error_detail *why)
{
    assert(spec->global_batch > 0);
    FBY_TRY(check_batches(spec, why));
    if (spec->shuffle == FBY_SHUFFLE_BLOCK) {
        assert(spec->block > 0 &&
               (spec->slices == 0 || spec->global_batch % spec->slices == 0));
        FBY_TRY(check_shards(spec, why));
    }
    return spec->buckets != NULL ? check_buckets(spec, why) : FBY_OK;
}

/* Set the first sample of each block, and N after the last block. */
static void set_block_samples(
    struct fby_order *self, const struct fby_order_spec *spec)
{
    uint64_t sample = 0;
    for (uint32_t i = 0; i < spec->n_shards; i++) {
        if (i % spec->block == 0) {
            self->block_sample[i / spec->block] = sample;
        }
        sample += spec->shard_samples[i];
    }
    self->block_sample[self->n_blocks] = sample;
}

static uint64_t block_size(const struct fby_order *self, uint64_t block)
{
    return self->block_sample[block + 1] - self->block_sample[block];
}

static struct fby_permutation permutation_of(
    const struct fby_order_spec *spec, const char *purpose, uint64_t n)
{
    return fby_permutation_of(
        fby_permutation_key(spec->seed, spec->epoch, purpose), /*index=*/0, n);
}

static void init_blocks(
    struct fby_order *self, const struct fby_order_spec *spec)
{
    self->n_blocks     = (spec->n_shards - 1) / spec->block + 1;
    size_t n_entries   = (size_t)self->n_blocks + 1;
    self->block_sample = fby_zalloc(n_entries * sizeof(*self->block_sample));
    self->block_position =
        fby_zalloc(n_entries * sizeof(*self->block_position));
    self->within_key  = fby_permutation_key(spec->seed, spec->epoch, "block");
    self->permutation = permutation_of(spec, "blocks", self->n_blocks);
    set_block_samples(self, spec);
    for (uint32_t i = 0; i < self->n_blocks; i++) {
        self->block_position[i + 1] =
            self->block_position[i] +
            block_size(self, fby_permutation_at(&self->permutation, i));
    }
    self->slices =
        spec->slices != 0 ? spec->slices : fby_default_slices(self->batch);
    uint32_t lanes =
        spec->lanes != 0 ? spec->lanes : fby_default_lanes(self->slices);
    self->lanes =
        lanes <= self->full_steps ? lanes : (uint32_t)self->full_steps;
}

static uint64_t bucket_size(const struct fby_order *self, uint32_t b)
{
    return self->buckets->begins[b + 1] - self->buckets->begins[b];
}

/* In the linear order the full batches of all buckets come first. The samples
 * that do not fill a batch (leftovers) follow, again bucket by bucket. */
static void init_buckets(
    struct fby_order *self, const struct fby_order_spec *spec)
{
    uint32_t n    = spec->buckets->n;
    self->buckets = spec->buckets;
    self->full_position =
        fby_zalloc(((size_t)n + 1) * sizeof(*self->full_position));
    self->leftover_position =
        fby_zalloc(((size_t)n + 1) * sizeof(*self->leftover_position));
    for (uint32_t b = 0; b < n; b++) {
        uint64_t size = bucket_size(self, b);
        self->full_position[b + 1] =
            self->full_position[b] + size - size % self->batch;
    }
    self->leftover_position[0] = self->full_position[n];
    for (uint32_t b = 0; b < n; b++) {
        self->leftover_position[b + 1] =
            self->leftover_position[b] + bucket_size(self, b) % self->batch;
    }
    self->within_key = fby_permutation_key(spec->seed, spec->epoch, "bucket");
    if (self->full_steps > 0) {
        self->permutation = permutation_of(spec, "batches", self->full_steps);
    }
}

struct fby_order_spec fby_order_spec_of(
    const struct fby_content *content, uint64_t seed, uint64_t epoch)
{
    return (struct fby_order_spec){
        .shuffle      = content->shuffle,
        .block        = content->block,
        .lanes        = content->lanes,
        .slices       = content->slices,
        .last         = content->last,
        .global_batch = content->global_batch,
        .seed         = seed,
        .epoch        = epoch,
    };
}

fby_err fby_order_create(const struct fby_order_spec *spec,
    struct fby_order **out, struct fby_error_detail *why)
{
    FBY_TRY(check_spec(spec, why));
    struct fby_order *self = fby_zalloc(sizeof(*self));
    self->samples          = spec->samples;
    self->batch            = spec->global_batch;
    self->shuffle          = spec->shuffle;
    self->last             = spec->last;
    self->full_steps       = spec->samples / spec->global_batch;
    self->steps            = count_steps(spec);
    if (spec->buckets != NULL) {
        init_buckets(self, spec);
    } else if (self->shuffle == FBY_SHUFFLE_FULL) {
        self->permutation = permutation_of(spec, "samples", self->samples);
    } else if (self->shuffle == FBY_SHUFFLE_BLOCK) {
        init_blocks(self, spec);
    }
    *out = self;
    return FBY_OK;
}

void fby_order_destroy(struct fby_order **self_p)
{
    struct fby_order *self = *self_p;
    if (self == NULL) {
        return;
    }
    free(self->block_sample);
    free(self->block_position);
    free(self->full_position);
    free(self->leftover_position);
    free(self);
    *self_p = NULL;
}

/* ---- steps and rows ---- */

uint64_t fby_order_steps(const struct fby_order *self)
{
    return self->steps;
}

uint32_t fby_order_rows(const struct fby_order *self, uint64_t step)
{
    return step < self->full_steps ? self->batch
                                   : (uint32_t)(self->samples % self->batch);
}

/* The number of rows of a step, padding included. */
static uint32_t rows_with_padding(const struct fby_order *self, uint64_t step)
{
    return self->last == FBY_LAST_PAD ? self->batch
                                      : fby_order_rows(self, step);
}

bool fby_order_has_rows(
    const struct fby_order *self, uint64_t step, uint32_t first, uint32_t n)
{
    if (step >= self->steps || n == 0) {
        return false;
    }
    uint32_t rows = rows_with_padding(self, step);
    return first < rows && n <= rows - first;
}

/* NOLINTNEXTLINE(readability-function-size): two parameters are results */
void fby_order_rank_rows(const struct fby_order *self, uint64_t step,
    uint32_t rank, uint32_t world, uint32_t *first, uint32_t *n)
{
    uint64_t rows  = rows_with_padding(self, step);
    uint64_t begin = (uint64_t)rank * self->batch / world;
    uint64_t end   = ((uint64_t)rank + 1) * self->batch / world;
    begin          = begin < rows ? begin : rows; /* clip to `last: short` */
    end            = end < rows ? end : rows;
    *first         = (uint32_t)begin;
    *n             = (uint32_t)(end - begin);
}

/* ---- (step, row) -> position ---- */

/* Which piece of each part of the linear order belongs to `step`. The pieces of
 * a lane are contiguous; the first S % L lanes have one piece more. */
static uint64_t piece_of_step(const struct fby_order *self, uint64_t step)
{
    uint64_t pieces_per_lane = self->full_steps / self->lanes;
    uint64_t n_longer_lanes  = self->full_steps % self->lanes;
    uint64_t lane            = step % self->lanes;
    uint64_t longer_before   = lane < n_longer_lanes ? lane : n_longer_lanes;
    return lane * pieces_per_lane + longer_before + step / self->lanes;
}

/* The rows of a full step from `row` to the end of its slice (one piece). */
static struct span span_in_slice(
    const struct fby_order *self, uint64_t step, uint32_t row)
{
    uint32_t slice_rows = self->batch / self->slices;
    uint64_t part       = row / slice_rows; /* slice g is from part g */
    uint64_t offset     = row % slice_rows;
    uint64_t piece      = part * self->full_steps + piece_of_step(self, step);
    return (struct span){piece * slice_rows + offset, slice_rows - offset};
}

/* The index, in the linear order, of the batch that `step` delivers. It differs
 * from `step` only with shuffled buckets, which permute the full batches. */
static uint64_t batch_of_step(const struct fby_order *self, uint64_t step)
{
    bool permuted = self->buckets != NULL &&
                    self->shuffle == FBY_SHUFFLE_FULL &&
                    step < self->full_steps;
    return permuted ? fby_permutation_at(&self->permutation, step) : step;
}

/* The longest span of rows of `step` that begins at `row`. */
static struct span span_from(
    const struct fby_order *self, uint64_t step, uint32_t row)
{
    uint32_t rows = fby_order_rows(self, step);
    if (row >= rows) { /* padding repeats the linear order from its start */
        uint64_t position = (row - rows) % self->samples;
        return (struct span){position, self->samples - position};
    }
    if (self->shuffle == FBY_SHUFFLE_BLOCK && step < self->full_steps) {
        return span_in_slice(self, step, row);
    }
    return (struct span){
        batch_of_step(self, step) * self->batch + row, rows - row};
}

/* ---- position -> sample ---- */

/* The index i < n for which begins[i] <= position < begins[i + 1]. The loop
 * keeps begins[low] <= position < begins[high]. */
static uint32_t range_of_position(
    const uint64_t *begins, uint32_t n, uint64_t position)
{
    uint32_t low  = 0;
    uint32_t high = n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (begins[middle] <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Write the samples of the first rows of `span`, up to the end of the block
 * that `span` begins in. Return the number of these rows. */
static uint64_t fill_from_block(
    const struct fby_order *self, struct span span, uint64_t *samples)
{
    uint32_t i =
        range_of_position(self->block_position, self->n_blocks, span.position);
    uint64_t offset    = span.position - self->block_position[i];
    uint64_t rows_left = self->block_position[i + 1] - span.position;
    uint64_t block     = fby_permutation_at(&self->permutation, i);
    uint64_t n         = span.rows < rows_left ? span.rows : rows_left;
    struct fby_permutation within =
        fby_permutation_of(self->within_key, block, block_size(self, block));
    fby_permutation_range(&within, offset, n, samples);
    for (uint64_t k = 0; k < n; k++) {
        samples[k] += self->block_sample[block];
    }
    return n;
}

/* Write the samples of the first rows of `span`, up to the end of the full
 * batches or leftovers that `span` begins in. Return the number of rows. */
static uint64_t fill_from_bucket(
    const struct fby_order *self, struct span span, uint64_t *samples)
{
    const struct fby_buckets *buckets = self->buckets;
    bool are_leftovers = span.position >= self->full_position[buckets->n];
    const uint64_t *positions =
        are_leftovers ? self->leftover_position : self->full_position;
    uint32_t b      = range_of_position(positions, buckets->n, span.position);
    uint64_t size   = bucket_size(self, b);
    uint64_t offset = span.position - positions[b]; /* in the bucket */
    uint64_t rows_left = positions[b + 1] - span.position;
    uint64_t n         = span.rows < rows_left ? span.rows : rows_left;
    /* In the bucket, the leftovers follow the full batches. */
    offset += are_leftovers ? size - size % self->batch : 0;
    for (uint64_t k = 0; k < n; k++) {
        samples[k] = offset + k; /* offset in the bucket; replaced below */
    }
    if (self->shuffle == FBY_SHUFFLE_FULL) {
        struct fby_permutation within =
            fby_permutation_of(self->within_key, b, size);
        fby_permutation_range(&within, offset, n, samples);
    }
    for (uint64_t k = 0; k < n; k++) {
        samples[k] = buckets->sorted[buckets->begins[b] + samples[k]];
    }
    return n;
}

/* Write the samples of one or more rows at the start of `span`. Return the
 * number of these rows. */
static uint64_t fill_first_rows(
    const struct fby_order *self, struct span span, uint64_t *samples)
{
    if (self->buckets != NULL) {
        return fill_from_bucket(self, span, samples);
    }
    if (self->shuffle == FBY_SHUFFLE_BLOCK) {
        return fill_from_block(self, span, samples);
    }
    if (self->shuffle == FBY_SHUFFLE_FULL) {
        fby_permutation_range(
            &self->permutation, span.position, span.rows, samples);
        return span.rows;
    }
    for (uint64_t i = 0; i < span.rows; i++) {
        samples[i] = span.position + i;
    }
    return span.rows;
}

void fby_order_fill_samples(const struct fby_order *self, uint64_t step,
    uint32_t first, uint32_t n, uint64_t *samples)
{
    assert(fby_order_has_rows(self, step, first, n));
    for (uint32_t done = 0; done < n;) {
        struct span span = span_from(self, step, first + done);
        span.rows        = span.rows < n - done ? span.rows : n - done;
        done += (uint32_t)fill_first_rows(self, span, samples + done);
    }
}

uint64_t fby_order_affinity_key(
    const struct fby_order *self, uint64_t step, uint32_t row)
{
    assert(fby_order_has_rows(self, step, row, 1));
    if (self->shuffle != FBY_SHUFFLE_BLOCK) {
        return step * self->batch + row;
    }
    uint64_t position = span_from(self, step, row).position;
    return fby_permutation_at(&self->permutation,
        range_of_position(self->block_position, self->n_blocks, position));
}
