/* order.c - see order.h.
 *
 * Three maps, one after another: (step, row) -> place in the linear order
 * (slices and lanes act here), place -> (block, offset), and the permutation
 * of that block (or bucket). Rows are taken in spans that lie one after another
 * in the linear order, so that a block's permutation is set up once a span. */
#include "pipeline/plan/order.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/mem.h"
#include "pipeline/plan/permutation.h"

enum { DEFAULT_SLICES_MAX = 8, DEFAULT_LANES_AND_SLICES = 64 };

enum { MOST_BUCKETS = FBY_MAX_BOUNDS + 1 };

struct fby_order {
    uint64_t                   samples; /* N */
    uint64_t                   full;    /* S: steps without a missing row */
    uint64_t                   steps;
    uint32_t                   batch; /* n */
    enum fby_shuffle           shuffle;
    enum fby_last              last;
    struct fby_permutation     permutation; /* of samples, or of blocks */
    struct fby_permutation_key within;      /* block: of a block's samples */
    uint32_t                   slices;      /* G */
    uint32_t                   lanes;       /* L, at most S */
    uint32_t                   n_blocks;
    uint64_t                  *begins; /* of block b: its first sample */
    uint64_t                  *places; /* of the block that comes i-th */
    const struct fby_buckets  *buckets;
    /* Of bucket b: the places of its full batches, and those of its rest. */
    uint64_t *wholes;
    uint64_t *rests;
};

struct span { /* rows that follow each other in the linear order */
    uint64_t place;
    uint64_t rows;
};

uint32_t fby_default_slices(uint32_t global_batch)
{
    uint32_t slices = DEFAULT_SLICES_MAX;
    while (global_batch % slices != 0) {
        slices--;
    }
    return slices;
}

uint32_t fby_default_lanes(uint32_t slices)
{
    return slices < DEFAULT_LANES_AND_SLICES ? DEFAULT_LANES_AND_SLICES / slices
                                             : 1;
}

static uint64_t count_steps(const struct fby_order_spec *spec)
{
    bool rest = spec->samples % spec->global_batch != 0;
    return spec->samples / spec->global_batch +
           (rest && spec->last != FBY_LAST_DROP);
}

fby_err fby_order_check_world(
    uint32_t global_batch, uint32_t world, struct fby_why *why)
{
    if (world == 0) {
        return fby_because(
            why, FBY_CONFIG, "a world of 0 ranks: there must be at least 1");
    }
    if (global_batch % world != 0) {
        return fby_because(why, FBY_CONFIG,
            "a global batch of %" PRIu32 " cannot be shared by %" PRIu32
            " ranks: the world size must divide it",
            global_batch, world);
    }
    return FBY_OK;
}

/* ---- create ---- */

static fby_err check_batches(
    const struct fby_order_spec *spec, struct fby_why *why)
{
    if (spec->samples == 0) {
        return fby_because(why, FBY_CONFIG,
            "the dataset holds no sample: an epoch needs at least 1");
    }
    if (spec->samples > FBY_PERMUTATION_MAX) {
        return fby_because(why, FBY_CONFIG,
            "%" PRIu64 " samples are more than the 2^63 an order can hold",
            spec->samples);
    }
    if (spec->global_batch == 0) {
        return fby_because(
            why, FBY_CONFIG, "global_batch is 0: it must be at least 1");
    }
    if (count_steps(spec) == 0) {
        return fby_because(why, FBY_CONFIG,
            "last: drop leaves no batch of %" PRIu32 " from %" PRIu64
            " samples; use last: pad or short, or a smaller global_batch",
            spec->global_batch, spec->samples);
    }
    return FBY_OK;
}

static fby_err check_choices(
    const struct fby_order_spec *spec, struct fby_why *why)
{
    if (spec->shuffle < FBY_SHUFFLE_NONE || spec->shuffle > FBY_SHUFFLE_BLOCK) {
        return fby_because(why, FBY_CONFIG,
            "shuffle %d is unknown: 1 (none), 2 (full) or 3 (block)",
            (int)spec->shuffle);
    }
    if (spec->last < FBY_LAST_DROP || spec->last > FBY_LAST_SHORT) {
        return fby_because(why, FBY_CONFIG,
            "last %d is unknown: 1 (drop), 2 (pad) or 3 (short)",
            (int)spec->last);
    }
    return FBY_OK;
}

static fby_err check_shards(
    const struct fby_order_spec *spec, struct fby_why *why)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < spec->n_shards; i++) {
        sum += spec->shard_samples[i];
    }
    if (sum != spec->samples) {
        return fby_because(why, FBY_CONFIG,
            "the %" PRIu32 " shards hold %" PRIu64
            " samples together, the dataset %" PRIu64 ": they must be equal",
            spec->n_shards, sum, spec->samples);
    }
    return FBY_OK;
}

static fby_err check_blocks(
    const struct fby_order_spec *spec, struct fby_why *why)
{
    if (spec->block == 0) {
        return fby_because(why, FBY_CONFIG,
            "shuffle: {block: 0}: a block is at least 1 shard");
    }
    if (spec->slices != 0 && spec->global_batch % spec->slices != 0) {
        return fby_because(why, FBY_CONFIG,
            "slices: %" PRIu32 " do not divide the global batch of %" PRIu32
            "; use a divisor, such as %" PRIu32,
            spec->slices, spec->global_batch,
            fby_default_slices(spec->global_batch));
    }
    return check_shards(spec, why);
}

static fby_err check_buckets(
    const struct fby_order_spec *spec, struct fby_why *why)
{
    const struct fby_buckets *buckets = spec->buckets;
    if (spec->shuffle == FBY_SHUFFLE_BLOCK) {
        return fby_because(why, FBY_CONFIG,
            "buckets go with shuffle: full or none, not with blocks");
    }
    if (buckets->n > MOST_BUCKETS || buckets->samples != spec->samples) {
        return fby_because(why, FBY_CONFIG,
            "%" PRIu32 " buckets of %" PRIu32
            " samples; at most %d, and all %" PRIu64 " samples",
            buckets->n, buckets->samples, MOST_BUCKETS, spec->samples);
    }
    return FBY_OK;
}

static fby_err check(const struct fby_order_spec *spec, struct fby_why *why)
{
    fby_err err = check_choices(spec, why);
    if (err == FBY_OK) {
        err = check_batches(spec, why);
    }
    if (err == FBY_OK && spec->shuffle == FBY_SHUFFLE_BLOCK) {
        err = check_blocks(spec, why);
    }
    if (err == FBY_OK && spec->buckets != NULL) {
        err = check_buckets(spec, why);
    }
    return err;
}

/* begins[b], and begins[n_blocks] = N. */
static void sum_blocks(
    struct fby_order *self, const struct fby_order_spec *spec)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < spec->n_shards; i++) {
        if (i % spec->block == 0) {
            self->begins[i / spec->block] = sum;
        }
        sum += spec->shard_samples[i];
    }
    self->begins[self->n_blocks] = sum;
}

static uint64_t block_size(const struct fby_order *self, uint64_t block)
{
    return self->begins[block + 1] - self->begins[block];
}

static void sum_places(struct fby_order *self)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < self->n_blocks; i++) {
        self->places[i] = sum;
        sum += block_size(self, fby_permutation_at(&self->permutation, i));
    }
    self->places[self->n_blocks] = sum;
}

static void set_lanes(struct fby_order *self, const struct fby_order_spec *spec)
{
    self->slices =
        spec->slices != 0 ? spec->slices : fby_default_slices(self->batch);
    uint32_t lanes =
        spec->lanes != 0 ? spec->lanes : fby_default_lanes(self->slices);
    self->lanes = lanes <= self->full ? lanes : (uint32_t)self->full;
}

static void set_blocks(
    struct fby_order *self, const struct fby_order_spec *spec)
{
    self->n_blocks    = (spec->n_shards - 1) / spec->block + 1;
    size_t sums       = (size_t)self->n_blocks + 1;
    self->begins      = fby_zalloc(sums * sizeof(*self->begins));
    self->places      = fby_zalloc(sums * sizeof(*self->places));
    self->within      = fby_permutation_key(spec->seed, spec->epoch, "block");
    self->permutation = fby_permutation_of(
        fby_permutation_key(spec->seed, spec->epoch, "blocks"), 0,
        self->n_blocks);
    sum_blocks(self, spec);
    sum_places(self);
    set_lanes(self, spec);
}

static uint64_t bucket_size(const struct fby_order *self, uint32_t b)
{
    return self->buckets->begins[b + 1] - self->buckets->begins[b];
}

/* First the full batches of all buckets, then their rests. */
static void set_buckets(
    struct fby_order *self, const struct fby_order_spec *spec)
{
    uint32_t n    = spec->buckets->n;
    self->buckets = spec->buckets;
    self->wholes  = fby_zalloc(((size_t)n + 1) * sizeof(*self->wholes));
    self->rests   = fby_zalloc(((size_t)n + 1) * sizeof(*self->rests));
    for (uint32_t b = 0; b < n; b++) {
        uint64_t size       = bucket_size(self, b);
        self->wholes[b + 1] = self->wholes[b] + size - size % self->batch;
    }
    self->rests[0] = self->wholes[n];
    for (uint32_t b = 0; b < n; b++) {
        self->rests[b + 1] =
            self->rests[b] + bucket_size(self, b) % self->batch;
    }
    self->within = fby_permutation_key(spec->seed, spec->epoch, "bucket");
    if (self->full > 0) {
        self->permutation = fby_permutation_of(
            fby_permutation_key(spec->seed, spec->epoch, "batches"), 0,
            self->full);
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
    struct fby_order **out, struct fby_why *why)
{
    fby_err err = check(spec, why);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_order *self = fby_zalloc(sizeof(*self));
    self->samples          = spec->samples;
    self->batch            = spec->global_batch;
    self->shuffle          = spec->shuffle;
    self->last             = spec->last;
    self->full             = spec->samples / spec->global_batch;
    self->steps            = count_steps(spec);
    if (spec->buckets != NULL) {
        set_buckets(self, spec);
    } else if (self->shuffle == FBY_SHUFFLE_FULL) {
        self->permutation = fby_permutation_of(
            fby_permutation_key(spec->seed, spec->epoch, "samples"), 0,
            self->samples);
    } else if (self->shuffle == FBY_SHUFFLE_BLOCK) {
        set_blocks(self, spec);
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
    free(self->begins);
    free(self->places);
    free(self->wholes);
    free(self->rests);
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
    return step < self->full ? self->batch
                             : (uint32_t)(self->samples % self->batch);
}

/* Rows of a step, padding included. */
static uint32_t nominal_rows(const struct fby_order *self, uint64_t step)
{
    return self->last == FBY_LAST_PAD ? self->batch
                                      : fby_order_rows(self, step);
}

bool fby_order_has(
    const struct fby_order *self, uint64_t step, uint32_t first, uint32_t n)
{
    if (step >= self->steps || n == 0) {
        return false;
    }
    uint32_t rows = nominal_rows(self, step);
    return first < rows && n <= rows - first;
}

/* NOLINTNEXTLINE(readability-function-size): two of them are results */
void fby_order_rank_rows(const struct fby_order *self, uint64_t step,
    uint32_t rank, uint32_t world, uint32_t *first, uint32_t *n)
{
    uint64_t rows  = nominal_rows(self, step);
    uint64_t begin = (uint64_t)rank * self->batch / world;
    uint64_t end   = ((uint64_t)rank + 1) * self->batch / world;
    begin          = begin < rows ? begin : rows;
    end            = end < rows ? end : rows;
    *first         = (uint32_t)begin;
    *n             = (uint32_t)(end - begin);
}

/* ---- (step, row) -> place ---- */

/* The piece of every run that `step` takes: S steps are dealt to L lanes like
 * cards, and each lane walks along pieces that lie side by side. */
static uint64_t piece_of(const struct fby_order *self, uint64_t step)
{
    uint64_t each  = self->full / self->lanes;
    uint64_t extra = self->full % self->lanes;
    uint64_t lane  = step % self->lanes;
    return lane * each + (lane < extra ? lane : extra) + step / self->lanes;
}

static struct span sliced_span(
    const struct fby_order *self, uint64_t step, uint32_t row)
{
    uint32_t width  = self->batch / self->slices;
    uint64_t slice  = row / width;
    uint64_t offset = row % width;
    uint64_t piece  = slice * self->full + piece_of(self, step);
    return (struct span){piece * width + offset, width - offset};
}

/* Which batch of the linear order a step is: with buckets they are permuted,
 * but for the last one where it is not full. */
static uint64_t batch_of(const struct fby_order *self, uint64_t step)
{
    bool permuted = self->buckets != NULL &&
                    self->shuffle == FBY_SHUFFLE_FULL && step < self->full;
    return permuted ? fby_permutation_at(&self->permutation, step) : step;
}

static struct span span_at(
    const struct fby_order *self, uint64_t step, uint32_t row)
{
    uint32_t rows = fby_order_rows(self, step);
    if (row >= rows) { /* padding */
        uint64_t place = (row - rows) % self->samples;
        return (struct span){place, self->samples - place};
    }
    if (self->shuffle == FBY_SHUFFLE_BLOCK && step < self->full) {
        return sliced_span(self, step, row);
    }
    return (struct span){batch_of(self, step) * self->batch + row, rows - row};
}

/* ---- place -> sample ---- */

/* The last i < n with places[i] <= place: empty ones before it are passed. */
static uint32_t find_place(const uint64_t *places, uint32_t n, uint64_t place)
{
    uint32_t low  = 0;
    uint32_t high = n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (places[middle] <= place) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t find_block(const struct fby_order *self, uint64_t place)
{
    return find_place(self->places, self->n_blocks, place);
}

/* As many of n places from `place` on as lie in one block; returns how many. */
static uint64_t fill_in_block(
    const struct fby_order *self, uint64_t place, uint64_t n, uint64_t *samples)
{
    uint32_t i      = find_block(self, place);
    uint64_t offset = place - self->places[i];
    uint64_t left   = self->places[i + 1] - place;
    uint64_t block  = fby_permutation_at(&self->permutation, i);
    n               = n < left ? n : left;
    struct fby_permutation within =
        fby_permutation_of(self->within, block, block_size(self, block));
    fby_permutation_run(&within, offset, n, samples);
    for (uint64_t k = 0; k < n; k++) {
        samples[k] += self->begins[block];
    }
    return n;
}

static void fill_blocks(
    const struct fby_order *self, struct span span, uint64_t *samples)
{
    while (span.rows > 0) {
        uint64_t done = fill_in_block(self, span.place, span.rows, samples);
        span.place += done;
        span.rows -= done;
        samples += done;
    }
}

/* As many of the span's places as lie in one bucket; returns how many. */
static uint64_t fill_in_bucket(
    const struct fby_order *self, struct span span, uint64_t *samples)
{
    const struct fby_buckets *buckets = self->buckets;
    bool                      rest    = span.place >= self->wholes[buckets->n];
    const uint64_t           *places  = rest ? self->rests : self->wholes;
    uint32_t                  b    = find_place(places, buckets->n, span.place);
    uint64_t                  size = bucket_size(self, b);
    uint64_t                  offset = span.place - places[b];
    uint64_t                  left   = places[b + 1] - span.place;
    uint64_t                  n      = span.rows < left ? span.rows : left;
    offset += rest ? size - size % self->batch : 0;
    for (uint64_t k = 0; k < n; k++) {
        samples[k] = offset + k;
    }
    if (self->shuffle == FBY_SHUFFLE_FULL) {
        struct fby_permutation within =
            fby_permutation_of(self->within, b, size);
        fby_permutation_run(&within, offset, n, samples);
    }
    for (uint64_t k = 0; k < n; k++) {
        samples[k] = buckets->sorted[buckets->begins[b] + samples[k]];
    }
    return n;
}

static void fill_buckets(
    const struct fby_order *self, struct span span, uint64_t *samples)
{
    while (span.rows > 0) {
        uint64_t done = fill_in_bucket(self, span, samples);
        span.place += done;
        span.rows -= done;
        samples += done;
    }
}

static void fill_span(
    const struct fby_order *self, struct span span, uint64_t *samples)
{
    if (self->buckets != NULL) {
        fill_buckets(self, span, samples);
        return;
    }
    if (self->shuffle == FBY_SHUFFLE_BLOCK) {
        fill_blocks(self, span, samples);
        return;
    }
    if (self->shuffle == FBY_SHUFFLE_FULL) {
        fby_permutation_run(&self->permutation, span.place, span.rows, samples);
        return;
    }
    for (uint64_t i = 0; i < span.rows; i++) {
        samples[i] = span.place + i;
    }
}

void fby_order_fill(const struct fby_order *self, uint64_t step, uint32_t first,
    uint32_t n, uint64_t *samples)
{
    assert(fby_order_has(self, step, first, n));
    for (uint32_t done = 0; done < n;) {
        struct span span = span_at(self, step, first + done);
        span.rows        = span.rows < n - done ? span.rows : n - done;
        fill_span(self, span, samples + done);
        done += (uint32_t)span.rows;
    }
}

uint64_t fby_order_locality(
    const struct fby_order *self, uint64_t step, uint32_t row)
{
    assert(fby_order_has(self, step, row, 1));
    if (self->shuffle != FBY_SHUFFLE_BLOCK) {
        return step * self->batch + row;
    }
    uint64_t place = span_at(self, step, row).place;
    return fby_permutation_at(&self->permutation, find_block(self, place));
}
