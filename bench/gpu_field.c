/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/gpu_field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "common/mem.h"
#include "trainer_client/expand/ops_draw.h"

void gpu_field_require(const struct gpu_field *self, fby_err err,
    const struct fby_error_detail *why)
{
    if (err != FBY_OK) {
        bench_die("%s: %s", self->gpu_case->name, why->text);
    }
}

static void fill_labels(struct gpu_field *self)
{
    uint64_t state = 1;
    for (uint32_t i = 0; i < self->layout.rows; i++) {
        uint64_t label = bench_random(&state) % self->plan.classes;
        memcpy(self->raw + i * self->plan.raw_bytes, &label,
            self->plan.raw_bytes); /* little-endian */
    }
}

/* Write `n` ascending indices, spread over the `dense` values of a row. */
static void fill_indices(
    const struct fby_raw_field *raw, uint32_t n, uint64_t dense, uint8_t *to)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t index = i * dense / n;
        memcpy(to + i * raw->index_bytes, &index, raw->index_bytes);
    }
}

/* Write the lengths, indices and values of a chunk. Returns its size. */
static uint32_t paint_ragged_chunk(
    struct gpu_field *self, const struct fby_raw_span *span, uint64_t *state)
{
    const struct fby_raw_field *raw     = &self->layout.fields[0];
    uint8_t                    *chunk   = self->raw + span->raw_offset;
    uint8_t                    *indices = chunk;
    uint64_t                    total   = 0; /* entries of the chunk */
    indices += fby_ragged_lengths_end(raw, span->rows);
    for (uint32_t i = 0; i < span->rows; i++) {
        uint32_t length =
            (uint32_t)(bench_random(state) % (raw->max_length + 1));
        memcpy(
            chunk + (size_t)i * raw->length_bytes, &length, raw->length_bytes);
        if (raw->index_bytes > 0) {
            fill_indices(raw, length, fby_dense_values(&raw->shape),
                indices + total * raw->index_bytes);
        }
        total += length;
    }
    uint64_t values = fby_sparse_values_offset(raw, span->rows, total);
    uint64_t bytes  = total * raw->entry_bytes;
    gpu_fill_pixels(chunk + values, bytes);
    return (uint32_t)(values + bytes);
}

static void paint_chunks(struct gpu_field *self)
{
    const struct fby_raw_field *raw   = &self->layout.fields[0];
    uint64_t                    state = 1;
    for (uint32_t i = 0; i < raw->n_chunks; i++) {
        struct fby_raw_span span = fby_layout_chunk_span(&self->layout, 0, i);
        self->sent[i].raw_bytes  = fby_expansion_is_ragged(&self->plan)
                                       ? paint_ragged_chunk(self, &span, &state)
                                       : span.raw_bytes;
    }
}

/* Draw the parameters of the ops, as for step 0 of epoch 0. */
static void draw_params(struct gpu_field *self)
{
    uint64_t *samples = fby_zalloc(self->layout.rows * sizeof(*samples));
    struct fby_ops_batch batch = {.seed = 1,
        .rows                           = self->layout.rows,
        .own                            = self->layout.rows,
        .samples                        = samples};
    for (uint32_t i = 0; i < batch.rows; i++) {
        samples[i] = i;
    }
    self->params = fby_zalloc(batch.rows * sizeof(*self->params));
    fby_ops_draw(self->plan.ops_field, &batch, self->params);
    free(samples);
}

/* Parse a pipeline with the case's field, which stands for any data. */
static void parse_field(struct gpu_field *self, uint32_t rows)
{
    char                     yaml[1024];
    struct fby_error_detail  why      = {""};
    struct fby_pipeline     *pipeline = NULL;
    int                      n        = snprintf(yaml, sizeof(yaml),
                                    "forebay: 1\n"
                                                                "splits: {train: {folder: data}}\n"
                                                                "global_batch: 64\n"
                                                                "fields: {field: %s}\n",
                                    self->gpu_case->field);
    struct fby_pipeline_text text     = {
            yaml, (size_t)n, self->gpu_case->name, "/"};
    gpu_field_require(self, fby_pipeline_parse(&text, &pipeline, &why), &why);
    gpu_field_require(self,
        fby_pipeline_make_split(pipeline, NULL, &self->split, &why), &why);
    fby_pipeline_destroy(&pipeline);
    const struct fby_split *split = self->split;
    gpu_field_require(self,
        fby_layout_of_content(&split->content, 0, rows, &self->layout, &why),
        &why);
    gpu_field_require(self,
        fby_expansion_init(&self->plan, &split->content.fields[0],
            &split->delivery.fields[0], &why),
        &why);
}

static void make_raw_bytes(struct gpu_field *self)
{
    const struct fby_raw_field *raw = &self->layout.fields[0];
    uint32_t                    n   = self->layout.n_chunks;
    self->raw                       = fby_zalloc(raw->raw_bytes);
    self->sent                      = fby_zalloc(n * sizeof(*self->sent));
    if (self->plan.kind == FBY_EXPAND_ONE_HOT) {
        fill_labels(self);
    } else if (!fby_expansion_is_ragged(&self->plan)) {
        gpu_fill_pixels(self->raw, raw->raw_bytes);
    }
    paint_chunks(self);
    if (self->plan.ops_field != NULL) {
        draw_params(self);
    }
}

void gpu_field_init(
    struct gpu_field *self, enum gpu_case_number number, uint32_t rows)
{
    *self = (struct gpu_field){.gpu_case = &gpu_cases[number]};
    parse_field(self, rows);
    make_raw_bytes(self);
}

void gpu_field_fini(struct gpu_field *self)
{
    fby_split_destroy(&self->split);
    free(self->raw);
    free(self->sent);
    free(self->params);
}
