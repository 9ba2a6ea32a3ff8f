#include "worker/stages/job.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "worker/stages/ragged_pack.h"

enum {
    SUBSTITUTED_BYTES = 64,     /* of an entry in END, without its text */
    RUN_BYTES         = 1 << 20 /* of the rows of a run */
};

/* ---- Layout -------------------------------------------------------------- */

static size_t rounded_up(size_t bytes)
{
    return (bytes + FBY_CHUNK_PREFIX - 1) / FBY_CHUNK_PREFIX * FBY_CHUNK_PREFIX;
}

/* Bytes of a chunk in the arena, with its head room. */
static size_t chunk_room(struct fby_raw_span span)
{
    return FBY_CHUNK_PREFIX + rounded_up(span.raw_bytes);
}

uint64_t fby_job_bytes(const struct fby_raw_layout *layout)
{
    uint64_t bytes = 0;
    for (uint32_t f = 0; f < layout->n_fields; f++) {
        for (uint32_t i = 0; i < layout->fields[f].n_chunks; i++) {
            bytes += chunk_room(fby_layout_chunk(layout, f, i));
        }
    }
    return bytes;
}

static fby_err check_rows(const struct fby_job_spec *spec,
    const struct fby_order *order, struct fby_why *why)
{
    uint64_t steps = fby_order_steps(order);
    if (spec->step >= steps) {
        return fby_because(why, FBY_USAGE,
            "step %llu does not exist: an epoch has %llu steps",
            (unsigned long long)spec->step, (unsigned long long)steps);
    }
    uint32_t rows = spec->dataset_plan->content.global_batch;
    if (spec->dataset_plan->content.last == FBY_LAST_SHORT) {
        rows = fby_order_rows(order, spec->step);
    }
    if (spec->first_row > rows || spec->rows > rows - spec->first_row) {
        return fby_because(why, FBY_USAGE,
            "rows %u to %llu of step %llu do not exist: the step has %u rows",
            spec->first_row, (unsigned long long)spec->first_row + spec->rows,
            (unsigned long long)spec->step, rows);
    }
    return FBY_OK;
}

fby_err fby_job_layout(const struct fby_job_spec *spec,
    struct fby_raw_layout *out, struct fby_why *why)
{
    const struct fby_order *order = NULL;
    fby_err                 err   = fby_dataset_plan_order(
                          spec->dataset_plan, spec->seed, spec->epoch, &order, why);
    if (err == FBY_OK) {
        err = check_rows(spec, order, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    return fby_layout_of_content(
        &spec->dataset_plan->content, spec->fields, spec->rows, out, why);
}

/* ---- Creation ------------------------------------------------------------ */

static void list_fields(struct fby_job *self)
{
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < self->spec.dataset_plan->content.n_fields; i++) {
        if (self->spec.fields == 0 || (self->spec.fields >> i & 1) != 0) {
            self->content_field[chosen++] = i;
        }
    }
}

static void init_chunks(struct fby_job *self)
{
    struct fby_job_chunk *chunk = self->chunks;
    for (uint32_t f = 0; f < self->layout.n_fields; f++) {
        for (uint32_t i = 0; i < self->layout.fields[f].n_chunks; i++) {
            chunk->job       = self;
            chunk->span      = fby_layout_chunk(&self->layout, f, i);
            chunk->field     = (uint16_t)f;
            chunk->number    = i;
            chunk->raw_bytes = chunk->span.raw_bytes;
            chunk->index     = (uint32_t)(chunk - self->chunks);
            atomic_init(&chunk->missing_rows, chunk->span.rows);
            chunk++;
        }
    }
}

static void allocate_lengths(struct fby_job *self)
{
    for (uint32_t f = 0; f < self->layout.n_fields; f++) {
        if (self->layout.fields[f].form != FBY_FORM_DENSE) {
            self->lengths[f] =
                fby_zalloc(self->spec.rows * sizeof(*self->lengths[f]));
        }
    }
}

static fby_err plan_rows(struct fby_job *self, struct fby_why *why)
{
    const struct fby_order *order = NULL;

    fby_err err = fby_dataset_plan_order(self->spec.dataset_plan,
        self->spec.seed, self->spec.epoch, &order, why);
    if (err != FBY_OK) {
        return err;
    }
    self->samples = fby_zalloc(self->spec.rows * sizeof(*self->samples));
    if (self->spec.rows > 0) {
        fby_order_fill(order, self->spec.step, self->spec.first_row,
            self->spec.rows, self->samples);
    }
    return FBY_OK;
}

/* A run has as many rows as make a task large enough. */
static void set_run_rows(struct fby_job *self)
{
    uint64_t bytes = 1;
    for (uint32_t f = 0; f < self->layout.n_fields; f++) {
        bytes += self->layout.fields[f].row_bytes;
    }
    uint64_t rows  = RUN_BYTES / bytes;
    rows           = rows < FBY_RUN_ROWS ? rows : FBY_RUN_ROWS;
    bool many      = self->spec.dataset_plan->rows != NULL && rows > 1;
    self->run_rows = many ? (uint32_t)rows : 1;
}

static fby_err build(struct fby_job *self, struct fby_arenas *arenas, void *tag,
    struct fby_why *why)
{
    fby_err err = fby_job_layout(&self->spec, &self->layout, why);
    if (err == FBY_OK) {
        err = plan_rows(self, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    const struct fby_arena_spec spec = {
        .size  = fby_job_bytes(&self->layout),
        .slots = self->layout.n_chunks,
        .tag   = tag,
    };
    err = fby_arena_take(arenas, &spec, &self->arena);
    if (err != FBY_OK) {
        return fby_because(
            why, err, "no room for a batch of %zu bytes now", spec.size);
    }
    self->chunks = fby_zalloc(self->layout.n_chunks * sizeof(*self->chunks));
    list_fields(self);
    init_chunks(self);
    set_run_rows(self);
    allocate_lengths(self);
    return FBY_OK;
}

fby_err fby_job_create(const struct fby_job_spec *spec,
    struct fby_arenas *arenas, void *tag, struct fby_job **out,
    struct fby_why *why)
{
    struct fby_job *self = fby_zalloc(sizeof(*self));
    self->spec           = *spec;
    self->begun_ns       = fby_now_ns();
    fby_dataset_plan_hold(spec->dataset_plan);
    atomic_init(&self->holds, 1);
    pthread_mutex_init(&self->lock, NULL);
    fby_err err = build(self, arenas, tag, why);
    if (err != FBY_OK) {
        fby_job_release(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

static fby_err commit(struct fby_job *self, struct fby_why *why)
{
    fby_err err = fby_arena_commit(self->arena);
    if (err != FBY_OK) {
        return fby_because(why, err,
            "the system has no memory for a batch of %llu bytes now",
            (unsigned long long)fby_job_bytes(&self->layout));
    }
    uint8_t *at = fby_arena_data(self->arena);
    for (uint32_t i = 0; i < self->layout.n_chunks; i++) {
        self->chunks[i].payload = at + FBY_CHUNK_PREFIX;
        at += chunk_room(self->chunks[i].span);
    }
    self->is_committed = true;
    return FBY_OK;
}

fby_err fby_job_commit(struct fby_job *self, struct fby_why *why)
{
    pthread_mutex_lock(&self->lock);
    fby_err err = self->is_committed ? FBY_OK : commit(self, why);
    pthread_mutex_unlock(&self->lock);
    return err;
}

struct fby_job *fby_job_hold(struct fby_job *self)
{
    atomic_fetch_add(&self->holds, 1);
    return self;
}

void fby_job_release(struct fby_job **self_p)
{
    struct fby_job *self = *self_p;
    *self_p              = NULL;
    if (self == NULL || atomic_fetch_sub(&self->holds, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < self->n_substituted; i++) {
        free(self->substituted[i].text);
    }
    free(self->substituted);
    for (uint32_t f = 0; f < self->layout.n_fields; f++) {
        free(self->lengths[f]);
    }
    free(self->samples);
    free(self->chunks);
    pthread_mutex_destroy(&self->lock);
    fby_dataset_plan_release(&self->spec.dataset_plan);
    fby_arena_release(&self->arena);
    free(self);
}

bool fby_job_is_same(
    const struct fby_job *self, const struct fby_job_spec *spec)
{
    const struct fby_job_spec *own = &self->spec;
    return own->dataset_plan == spec->dataset_plan && own->seed == spec->seed &&
           own->epoch == spec->epoch && own->step == spec->step &&
           own->first_row == spec->first_row && own->rows == spec->rows &&
           own->fields == spec->fields;
}

/* ---- Result -------------------------------------------------------------- */

bool fby_job_cancel(struct fby_job *self)
{
    return !atomic_exchange(&self->ended, true);
}

bool fby_job_fail(struct fby_job *self, const struct fby_job_failure *failure)
{
    pthread_mutex_lock(&self->lock);
    bool first = fby_job_cancel(self);
    if (first) {
        self->failure = *failure;
    }
    pthread_mutex_unlock(&self->lock);
    return first;
}

/* The largest number of bytes that a substituted row takes in END. */
static size_t substitute_text_bytes(
    const struct fby_job *self, uint32_t row, const struct fby_why *cause)
{
    const struct fby_dataset *dataset = self->spec.dataset_plan->dataset;
    uint64_t                  sample  = self->samples[row];
    uint32_t                  shard   = fby_dataset_shard_of(dataset, sample);
    struct fby_row_key        text;
    return strlen(fby_dataset_shard_name(dataset, shard)) +
           strlen(fby_dataset_key(dataset, sample, &text)) +
           strlen(cause->text) + SUBSTITUTED_BYTES;
}

/* Keep the list in the order of rows, as END has it. */
static void add_substituted(
    struct fby_job *self, const struct fby_job_substituted *one)
{
    size_t at         = self->n_substituted++;
    self->substituted = fby_regrow(
        self->substituted, self->n_substituted * sizeof(*self->substituted));
    for (; at > 0 && self->substituted[at - 1].row > one->row; at--) {
        self->substituted[at] = self->substituted[at - 1];
    }
    self->substituted[at] = *one;
}

fby_err fby_job_record_substitute(struct fby_job *self, uint32_t row,
    uint64_t substitute, const struct fby_why *cause, struct fby_why *why)
{
    fby_err err   = FBY_OK;
    size_t  bytes = substitute_text_bytes(self, row, cause);
    pthread_mutex_lock(&self->lock);
    self->substituted_bytes += bytes;
    if (self->n_substituted == FBY_SUBSTITUTED ||
        self->substituted_bytes > FBY_MESSAGE_MAX / 2) {
        err = fby_because(why, FBY_FULL,
            "more than %zu rows of this request need a substitute, the most "
            "that one request can report, whatever `limit` is: fix the data, "
            "or use a smaller global_batch or more ranks; one because %.200s",
            self->n_substituted, cause->text);
    } else {
        add_substituted(self, &(struct fby_job_substituted){.row = row,
                                  .original   = self->samples[row],
                                  .substitute = substitute,
                                  .text       = fby_strdup(cause->text)});
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

/* ---- Rows and chunks ----------------------------------------------------- */

static struct fby_job_chunk *chunk_of(
    struct fby_job *self, uint32_t field, uint32_t number)
{
    return &self->chunks[fby_layout_index(&self->layout, field, number)];
}

/* A row that is split into chunks is first written contiguously, to end where
 * its last chunk ends. So its parts only have to move to lower addresses. */
static uint8_t *split_row_start(
    struct fby_job *self, uint32_t field, uint32_t row)
{
    const struct fby_raw_field *raw   = &self->layout.fields[field];
    uint32_t                    first = 0;
    uint32_t                    n     = 0;
    fby_layout_row_chunks(raw, row, &first, &n);
    struct fby_job_chunk *last = chunk_of(self, field, first + n - 1);
    return last->payload + last->span.raw_bytes - raw->row_bytes;
}

uint8_t *fby_job_row(struct fby_job *self, uint32_t field, uint32_t row)
{
    const struct fby_raw_field *raw = &self->layout.fields[field];
    if (raw->rows_per_chunk == 0) {
        return split_row_start(self, field, row);
    }
    struct fby_job_chunk *chunk =
        chunk_of(self, field, row / raw->rows_per_chunk);
    uint64_t skip = 0;
    if (raw->form != FBY_FORM_DENSE) {
        uint32_t rows = chunk->span.rows;
        skip = fby_sparse_values(raw, rows, (uint64_t)rows * raw->max_length);
    }
    return chunk->payload + skip + (row % raw->rows_per_chunk) * raw->row_bytes;
}

uint8_t *fby_job_indices(struct fby_job *self, uint32_t field, uint32_t row)
{
    const struct fby_raw_field *raw = &self->layout.fields[field];
    if (raw->form != FBY_FORM_SPARSE) {
        return NULL;
    }
    struct fby_job_chunk *chunk =
        chunk_of(self, field, row / raw->rows_per_chunk);
    uint64_t before = (uint64_t)(row % raw->rows_per_chunk) * raw->max_length;
    return chunk->payload + fby_varying_values(raw, chunk->span.rows) +
           before * raw->index_bytes;
}

uint32_t *fby_job_length(struct fby_job *self, uint32_t field, uint32_t row)
{
    return self->lengths[field] != NULL ? &self->lengths[field][row] : NULL;
}

/* Move the parts of a split row apart, the first part first, to make their head
 * rooms. Each part moves down or stays, so it never overwrites the next one. */
static void spread_split_row(struct fby_job *self, uint32_t field, uint32_t row)
{
    const uint8_t *from  = split_row_start(self, field, row);
    uint32_t       first = 0;
    uint32_t       n     = 0;
    fby_layout_row_chunks(&self->layout.fields[field], row, &first, &n);
    for (uint32_t i = 0; i < n; i++) {
        struct fby_job_chunk *chunk = chunk_of(self, field, first + i);
        memmove(chunk->payload, from, chunk->span.raw_bytes);
        from += chunk->span.raw_bytes;
    }
}

/* The chunk has all its rows, so no other thread writes to it any more. */
static void finish_chunk(struct fby_job *self, struct fby_job_chunk *chunk)
{
    const uint32_t *lengths = self->lengths[chunk->field];
    if (lengths != NULL) {
        chunk->raw_bytes = fby_ragged_pack(&self->layout.fields[chunk->field],
            lengths + chunk->span.first_row, chunk->span.rows, chunk->payload);
    }
}

/* The number of rows [row, row + n) in a chunk; may be 0. */
static uint32_t rows_within(
    const struct fby_raw_span *span, uint32_t row, uint32_t n)
{
    uint32_t first = row > span->first_row ? row : span->first_row;
    uint32_t end   = span->first_row + span->rows;
    end            = row + n < end ? row + n : end;
    return end > first ? end - first : 0;
}

static void chunks_done(struct fby_job *self, uint32_t field, uint32_t row,
    uint32_t n, const struct fby_job_sink *sink)
{
    const struct fby_raw_field *raw   = &self->layout.fields[field];
    uint32_t                    first = 0;
    uint32_t                    last  = 0;
    uint32_t                    many  = 0;
    fby_layout_row_chunks(raw, row, &first, &many);
    fby_layout_row_chunks(raw, row + n - 1, &last, &many);
    for (uint32_t i = first; i < last + many; i++) {
        struct fby_job_chunk *chunk = chunk_of(self, field, i);
        uint32_t              done  = rows_within(&chunk->span, row, n);
        if (atomic_fetch_sub(&chunk->missing_rows, done) == done) {
            finish_chunk(self, chunk);
            sink->complete(sink->context, chunk);
        }
    }
}

void fby_job_rows_done(struct fby_job *self, uint32_t row, uint32_t n,
    const struct fby_job_sink *sink)
{
    for (uint32_t f = 0; f < self->layout.n_fields; f++) {
        bool cut = self->layout.fields[f].rows_per_chunk == 0;
        for (uint32_t i = 0; cut && i < n; i++) {
            spread_split_row(self, f, row + i);
        }
        chunks_done(self, f, row, n, sink);
    }
}
