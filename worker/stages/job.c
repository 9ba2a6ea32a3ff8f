/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - create a job, find the bytes of its rows in the arena, and detect
 * when a chunk has all its rows. */
#include "worker/stages/job.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/plural.h"
#include "worker/stages/ragged_pack.h"

enum {
    /* Upper bounds in bytes, of one substituted row in the message END, without
     * its texts, and of all substituted rows there. */
    SUBSTITUTED_BYTES     = 64,
    MAX_SUBSTITUTED_BYTES = FBY_MESSAGE_MAX / 2,
    MAX_RUN_BYTES         = 1 << 20 /* bytes of all rows of a run */
};

/* ---- Layout -------------------------------------------------------------- */

/* Round up to a multiple of the prefix's size, 64 bytes, to which all payloads
 * are aligned. */
static size_t round_up_to_prefix(size_t bytes)
{
    return (bytes + FBY_CHUNK_PREFIX - 1) / FBY_CHUNK_PREFIX * FBY_CHUNK_PREFIX;
}

/* Bytes of a chunk in the arena, with its head room. */
static size_t chunk_arena_bytes(struct fby_raw_span span)
{
    return FBY_CHUNK_PREFIX + round_up_to_prefix(span.raw_bytes);
}

uint64_t fby_job_arena_bytes(const struct fby_raw_layout *layout)
{
    uint64_t bytes = 0;
    for (uint32_t f = 0; f < layout->n_fields; f++) {
        for (uint32_t i = 0; i < layout->fields[f].n_chunks; i++) {
            bytes += chunk_arena_bytes(fby_layout_chunk_span(layout, f, i));
        }
    }
    return bytes;
}

static fby_err check_rows(const struct fby_job_spec *spec,
    const struct fby_order *order, struct fby_error_detail *why)
{
    uint64_t steps = fby_order_steps(order);
    if (spec->step >= steps) {
        return fby_error_set(why, FBY_USAGE,
            "step %llu does not exist: an epoch has %s",
            (unsigned long long)spec->step, fby_plural(steps, "step").text);
    }
    /* With FBY_LAST_SHORT the last step may have fewer rows than the others. */
    uint32_t step_rows = spec->dataset_plan->content.global_batch;
    if (spec->dataset_plan->content.last == FBY_LAST_SHORT) {
        step_rows = fby_order_rows(order, spec->step);
    }
    if (spec->first_row > step_rows ||
        spec->rows > step_rows - spec->first_row) {
        return fby_error_set(why, FBY_USAGE,
            "rows %u to %llu of step %llu do not exist: the step has %s",
            spec->first_row,
            (unsigned long long)spec->first_row + spec->rows - 1,
            (unsigned long long)spec->step, fby_plural(step_rows, "row").text);
    }
    return FBY_OK;
}

/* Compute *layout, and set *order to the order of the epoch's samples, which
 * the dataset plan owns. */
static fby_err compute_layout(const struct fby_job_spec *spec,
    struct fby_raw_layout *layout, const struct fby_order **order,
    struct fby_error_detail *why)
{
    fby_err err = fby_dataset_plan_order(
        spec->dataset_plan, spec->seed, spec->epoch, order, why);
    if (err == FBY_OK) {
        err = check_rows(spec, *order, why);
    }
    if (err == FBY_OK) {
        err = fby_layout_of_content(&spec->dataset_plan->content, spec->fields,
            spec->rows, layout, why);
    }
    return err;
}

fby_err fby_job_layout(const struct fby_job_spec *spec,
    struct fby_raw_layout *out, struct fby_error_detail *why)
{
    const struct fby_order *order = NULL;
    return compute_layout(spec, out, &order, why);
}

/* ---- Creation ------------------------------------------------------------ */

static bool is_chosen(const struct fby_job_spec *spec, uint32_t field)
{
    return spec->fields == 0 || (spec->fields >> field & 1) != 0;
}

static void set_content_fields(struct fby_job *self)
{
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < self->spec.dataset_plan->content.n_fields; i++) {
        if (is_chosen(&self->spec, i)) {
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
            chunk->span      = fby_layout_chunk_span(&self->layout, f, i);
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

/* Only a plan with `rows` (the reader of columns and tokens) makes runs. A run
 * has up to MAX_RUN_BYTES, so that its work outweighs the cost of a task. */
static void set_run_rows(struct fby_job *self)
{
    uint64_t bytes_per_row = 1; /* not 0, because it is a divisor */
    for (uint32_t f = 0; f < self->layout.n_fields; f++) {
        bytes_per_row += self->layout.fields[f].row_bytes;
    }
    uint64_t rows  = MAX_RUN_BYTES / bytes_per_row;
    rows           = rows < FBY_RUN_ROWS ? rows : FBY_RUN_ROWS;
    bool has_runs  = self->spec.dataset_plan->rows != NULL && rows > 1;
    self->run_rows = has_runs ? (uint32_t)rows : 1;
}

static fby_err init_job(struct fby_job *self, struct fby_arenas *arenas,
    void *tag, struct fby_error_detail *why)
{
    const struct fby_order *order = NULL;
    fby_err err = compute_layout(&self->spec, &self->layout, &order, why);
    if (err != FBY_OK) {
        return err;
    }
    self->samples = fby_zalloc(self->spec.rows * sizeof(*self->samples));
    fby_order_fill_samples(order, self->spec.step, self->spec.first_row,
        self->spec.rows, self->samples);
    const struct fby_arena_spec spec = {
        .size  = fby_job_arena_bytes(&self->layout),
        .slots = self->layout.n_chunks,
        .tag   = tag,
    };
    err = fby_arena_create(arenas, &spec, &self->arena);
    if (err != FBY_OK) {
        return fby_error_set(
            why, err, "no room for a batch of %zu bytes now", spec.size);
    }
    self->chunks = fby_zalloc(self->layout.n_chunks * sizeof(*self->chunks));
    set_content_fields(self);
    init_chunks(self);
    set_run_rows(self);
    allocate_lengths(self);
    return FBY_OK;
}

fby_err fby_job_create(const struct fby_job_spec *spec,
    struct fby_arenas *arenas, void *tag, struct fby_job **out,
    struct fby_error_detail *why)
{
    struct fby_job *self = fby_zalloc(sizeof(*self));
    self->spec           = *spec;
    self->begun_ns       = fby_now_ns();
    fby_dataset_plan_hold(spec->dataset_plan);
    atomic_init(&self->references, 1);
    pthread_mutex_init(&self->lock, NULL);
    fby_err err = init_job(self, arenas, tag, why);
    if (err != FBY_OK) {
        fby_job_release(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

static fby_err commit_arena(struct fby_job *self, struct fby_error_detail *why)
{
    fby_err err = fby_arena_commit(self->arena);
    if (err != FBY_OK) {
        return fby_error_set(why, err,
            "the system has no memory for a batch of %llu bytes now",
            (unsigned long long)fby_job_arena_bytes(&self->layout));
    }
    uint8_t *chunk_begin = fby_arena_data(self->arena);
    for (uint32_t i = 0; i < self->layout.n_chunks; i++) {
        self->chunks[i].payload = chunk_begin + FBY_CHUNK_PREFIX;
        chunk_begin += chunk_arena_bytes(self->chunks[i].span);
    }
    self->is_committed = true;
    return FBY_OK;
}

fby_err fby_job_commit(struct fby_job *self, struct fby_error_detail *why)
{
    pthread_mutex_lock(&self->lock);
    fby_err err = self->is_committed ? FBY_OK : commit_arena(self, why);
    pthread_mutex_unlock(&self->lock);
    return err;
}

struct fby_job *fby_job_hold(struct fby_job *self)
{
    atomic_fetch_add(&self->references, 1);
    return self;
}

void fby_job_release(struct fby_job **self_p)
{
    struct fby_job *self = *self_p;
    *self_p              = NULL;
    if (self == NULL || atomic_fetch_sub(&self->references, 1) != 1) {
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

bool fby_job_matches(
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
    return !atomic_exchange(&self->aborted, true);
}

bool fby_job_fail(struct fby_job *self, const struct fby_job_failure *failure)
{
    pthread_mutex_lock(&self->lock);
    bool is_first = fby_job_cancel(self);
    if (is_first) {
        self->failure = *failure;
    }
    pthread_mutex_unlock(&self->lock);
    return is_first;
}

/* An upper bound of the bytes of a substituted row in the message END. */
static size_t max_bytes_in_end(const struct fby_job *self, uint32_t row,
    const struct fby_error_detail *cause)
{
    const struct fby_dataset *dataset = self->spec.dataset_plan->dataset;
    uint64_t                  sample  = self->samples[row];
    uint32_t                  shard   = fby_dataset_shard_of(dataset, sample);
    struct fby_row_key        key;
    return strlen(fby_dataset_shard_name(dataset, shard)) +
           strlen(fby_dataset_key(dataset, sample, &key)) +
           strlen(cause->text) + SUBSTITUTED_BYTES;
}

/* Insert `added` into the list, whose order is that of rows. */
static void insert_substituted(
    struct fby_job *self, const struct fby_job_substituted *added)
{
    size_t i          = self->n_substituted++;
    self->substituted = fby_realloc(
        self->substituted, self->n_substituted * sizeof(*self->substituted));
    for (; i > 0 && self->substituted[i - 1].row > added->row; i--) {
        self->substituted[i] = self->substituted[i - 1];
    }
    self->substituted[i] = *added;
}

fby_err fby_job_record_substitute(struct fby_job *self, uint32_t row,
    uint64_t substitute, const struct fby_error_detail *cause,
    struct fby_error_detail *why)
{
    fby_err err   = FBY_OK;
    size_t  bytes = max_bytes_in_end(self, row, cause);
    pthread_mutex_lock(&self->lock);
    self->substituted_bytes += bytes;
    if (self->n_substituted == FBY_SUBSTITUTED_MAX ||
        self->substituted_bytes > MAX_SUBSTITUTED_BYTES) {
        err = fby_error_set(why, FBY_FULL,
            "more than %zu rows of this request need a substitute, and one "
            "request cannot report more, whatever `limit` is: fix the data, "
            "or use a smaller global_batch or more ranks; the last cause: "
            "%.200s",
            self->n_substituted, cause->text);
    } else {
        insert_substituted(self, &(struct fby_job_substituted){.row = row,
                                     .original   = self->samples[row],
                                     .substitute = substitute,
                                     .text       = fby_strdup(cause->text)});
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

/* ---- Rows and chunks ----------------------------------------------------- */

static struct fby_job_chunk *find_chunk(
    struct fby_job *self, uint32_t field, uint32_t number)
{
    return &self->chunks[fby_layout_chunk_index(&self->layout, field, number)];
}

/* A large row is split into several chunks, which have head room between them.
 * The row is first written contiguously, so that it ends where its last chunk
 * ends. Returns where it starts. spread_split_row then only has to move bytes
 * to lower addresses, to make the head room. */
static uint8_t *split_row_start(
    struct fby_job *self, uint32_t field, uint32_t row)
{
    const struct fby_raw_field *raw      = &self->layout.fields[field];
    uint32_t                    first    = 0;
    uint32_t                    n_chunks = 0;
    fby_layout_row_chunks(raw, row, &first, &n_chunks);
    struct fby_job_chunk *last = find_chunk(self, field, first + n_chunks - 1);
    return last->payload + last->span.raw_bytes - raw->row_bytes;
}

uint8_t *fby_job_row_dst(struct fby_job *self, uint32_t field, uint32_t row)
{
    const struct fby_raw_field *raw = &self->layout.fields[field];
    if (raw->rows_per_chunk == 0) {
        return split_row_start(self, field, row);
    }
    struct fby_job_chunk *chunk =
        find_chunk(self, field, row / raw->rows_per_chunk);
    uint64_t values_offset = 0; /* in the chunk; a dense one has only values */
    if (raw->form != FBY_FORM_DENSE) {
        uint32_t rows = chunk->span.rows;
        /* The indices before the values have 0 bytes in a ragged field. */
        values_offset = fby_sparse_values_offset(
            raw, rows, (uint64_t)rows * raw->max_length);
    }
    return chunk->payload + values_offset +
           (row % raw->rows_per_chunk) * raw->row_bytes;
}

uint8_t *fby_job_indices_dst(struct fby_job *self, uint32_t field, uint32_t row)
{
    const struct fby_raw_field *raw = &self->layout.fields[field];
    if (raw->form != FBY_FORM_SPARSE) {
        return NULL;
    }
    struct fby_job_chunk *chunk =
        find_chunk(self, field, row / raw->rows_per_chunk);
    uint64_t indices_before =
        (uint64_t)(row % raw->rows_per_chunk) * raw->max_length;
    return chunk->payload + fby_ragged_lengths_end(raw, chunk->span.rows) +
           indices_before * raw->index_bytes;
}

uint32_t *fby_job_length_dst(struct fby_job *self, uint32_t field, uint32_t row)
{
    return self->lengths[field] != NULL ? &self->lengths[field][row] : NULL;
}

/* Move the bytes of a split row to their chunks, the first chunk first. Bytes
 * move to lower addresses, so all are moved before they are overwritten. */
static void spread_split_row(struct fby_job *self, uint32_t field, uint32_t row)
{
    const uint8_t *from     = split_row_start(self, field, row);
    uint32_t       first    = 0;
    uint32_t       n_chunks = 0;
    fby_layout_row_chunks(&self->layout.fields[field], row, &first, &n_chunks);
    for (uint32_t i = 0; i < n_chunks; i++) {
        struct fby_job_chunk *chunk = find_chunk(self, field, first + i);
        memmove(chunk->payload, from, chunk->span.raw_bytes);
        from += chunk->span.raw_bytes;
    }
}

/* Close the gaps between the rows of a complete ragged or sparse chunk. */
static void pack_chunk(struct fby_job *self, struct fby_job_chunk *chunk)
{
    const uint32_t *lengths = self->lengths[chunk->field];
    if (lengths != NULL) {
        chunk->raw_bytes = fby_ragged_pack(&self->layout.fields[chunk->field],
            lengths + chunk->span.first_row, chunk->span.rows, chunk->payload);
    }
}

/* Return how many of the rows [row, row + n) are in the chunk of `span`. */
static uint32_t rows_in_span(
    const struct fby_raw_span *span, uint32_t row, uint32_t n)
{
    uint32_t first = row > span->first_row ? row : span->first_row;
    uint32_t end   = span->first_row + span->rows;
    end            = row + n < end ? row + n : end;
    return end > first ? end - first : 0;
}

/* Count rows [row, row + n) of a field as written, and pass the chunks that are
 * then complete to `sink`. */
static void count_written_rows(struct fby_job *self, uint32_t field,
    uint32_t row, uint32_t n, const struct fby_job_sink *sink)
{
    const struct fby_raw_field *raw = &self->layout.fields[field];
    uint32_t first_chunk            = 0; /* first chunk of the first row */
    uint32_t last_start             = 0; /* first chunk of the last row */
    uint32_t row_chunks = 0; /* number of chunks that hold one row */
    fby_layout_row_chunks(raw, row, &first_chunk, &row_chunks);
    fby_layout_row_chunks(raw, row + n - 1, &last_start, &row_chunks);
    for (uint32_t i = first_chunk; i < last_start + row_chunks; i++) {
        struct fby_job_chunk *chunk   = find_chunk(self, field, i);
        uint32_t              written = rows_in_span(&chunk->span, row, n);
        uint32_t              missing_before =
            atomic_fetch_sub(&chunk->missing_rows, written);
        if (missing_before == written) { /* the chunk is complete */
            pack_chunk(self, chunk);
            sink->complete(sink->context, chunk);
        }
    }
}

void fby_job_record_written(struct fby_job *self, uint32_t row, uint32_t n,
    const struct fby_job_sink *sink)
{
    for (uint32_t f = 0; f < self->layout.n_fields; f++) {
        if (self->layout.fields[f].rows_per_chunk == 0) { /* rows are split */
            for (uint32_t i = 0; i < n; i++) {
                spread_split_row(self, f, row + i);
            }
        }
        count_written_rows(self, f, row, n, sink);
    }
}

struct fby_chunk fby_job_chunk_head(const struct fby_job_chunk *chunk,
    struct fby_session_id session, struct fby_request_id request)
{
    return (struct fby_chunk){
        .session    = session,
        .request    = request,
        .filter     = chunk->coding.filter,
        .codec      = chunk->coding.codec,
        .field      = chunk->field,
        .number     = chunk->number,
        .raw_offset = chunk->span.raw_offset,
        .raw_bytes  = chunk->raw_bytes,
        .wire_bytes = chunk->wire_bytes,
        .raw_hash   = chunk->raw_hash,
    };
}

void fby_job_chunk_write_prefix(struct fby_job_chunk *chunk,
    struct fby_session_id session, struct fby_request_id request)
{
    const struct fby_chunk head = fby_job_chunk_head(chunk, session, request);
    fby_chunk_write_prefix(
        &head, chunk->payload, chunk->payload - FBY_CHUNK_PREFIX);
    chunk->session = session;
    chunk->request = request;
}
