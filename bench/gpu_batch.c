/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/gpu_batch.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/gpu_field.h"
#include "common/mem.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/expand/ops.h"
#include "trainer_client/expand/segments.h"

enum { ALIGN = 64 };

struct packer { /* a batch while its arena is made */
    struct gpu_field          field;
    struct fby_arena_chunk   *chunks;               /* [chunk]: in the arena */
    struct fby_ragged_offsets offsets;              /* ragged fields only */
    uint64_t                  tensors[FBY_TENSORS]; /* offsets in the output */
    uint64_t                  used;                 /* bytes of the arena */
    struct gpu_batch          batch;
};

/* ---- the arena ----------------------------------------------------------- */

/* Reserve `bytes` of the arena. Returns their offset. */
static uint64_t reserve(struct packer *self, uint64_t bytes)
{
    uint64_t offset = (self->used + 15) / 16 * 16;
    self->used      = offset + bytes;
    return offset;
}

static uint64_t append(struct packer *self, const void *from, uint64_t bytes)
{
    uint64_t offset = reserve(self, bytes);
    memcpy(self->batch.arena + offset, from, bytes);
    return offset;
}

static struct fby_codec_job codec_job(const struct packer *self)
{
    static struct fby_codec_scratch scratch; /* used by one thread only */
    struct fby_codec_job            job = {
                   .params = fby_layout_codec_params(&self->field.layout.fields[0]),
                   .scratch = &scratch,
    };
    if (self->field.gpu_case->packed) {
        job.coding = (struct fby_coding){FBY_FILTER_PHOTO, FBY_CODEC_PACK};
    }
    return job;
}

/* Allocate the arena: memory for all that is copied to a GPU, and then the
 * kernels' own memory, whose offset is returned. */
static uint64_t allocate_arena(struct packer *self)
{
    enum { REST = 4096 }; /* plan of the ops, gaps */
    const struct fby_raw_field *raw = &self->field.layout.fields[0];
    const struct fby_codec_job  job = codec_job(self);
    uint64_t                    work =
        raw->n_chunks *
            (fby_codec_encode_capacity(&job, raw->chunk_bytes) + ALIGN) +
        self->field.layout.rows *
            (sizeof(*self->field.params) + sizeof(uint64_t)) +
        fby_segments_max_bytes(&self->field.layout, &self->field.plan, 0) +
        REST;
    work                    = (work + ALIGN - 1) / ALIGN * ALIGN;
    self->batch.arena_bytes = work;
    if (fby_segments_needs_gather(&self->field.plan)) {
        self->batch.arena_bytes +=
            self->field.layout.rows *
            fby_segments_gathered_bytes(&self->field.plan);
    }
    self->batch.arena =
        aligned_alloc(ALIGN, (self->batch.arena_bytes / ALIGN + 1) * ALIGN);
    return work;
}

static void append_chunks(struct packer *self)
{
    const struct fby_codec_job job = codec_job(self);
    for (uint32_t i = 0; i < self->field.layout.n_chunks; i++) {
        struct fby_raw_span span =
            fby_layout_chunk_span(&self->field.layout, 0, i);
        struct fby_bytes_in raw = {
            self->field.raw + span.raw_offset, self->field.sent[i].raw_bytes};
        struct fby_arena_chunk *chunk   = &self->chunks[i];
        chunk->packed                   = self->field.gpu_case->packed;
        chunk->offset                   = reserve(self, 0);
        size_t                     size = 0;
        const struct fby_bytes_out out  = {self->batch.arena + chunk->offset,
             fby_codec_encode_capacity(&job, raw.size)};
        if (fby_codec_encode(&job, raw, out, &size) != FBY_OK) {
            bench_die(
                "%s: a chunk cannot be encoded", self->field.gpu_case->name);
        }
        chunk->bytes = (uint32_t)size;
        (void)reserve(self, size);
    }
}

/* Append one byte per row, which says how the picture is flipped. */
static uint64_t append_flips(struct packer *self)
{
    uint64_t offset = reserve(self, self->field.layout.rows);
    for (uint32_t i = 0; i < self->field.layout.rows; i++) {
        self->batch.arena[offset + i] =
            (uint8_t)((self->field.params[i].mirror_x != 0 ? FBY_MIRROR_X : 0) |
                      (self->field.params[i].mirror_y != 0 ? FBY_MIRROR_Y : 0));
    }
    return offset;
}

/* ---- the list of segments ------------------------------------------------ */

static void list_equal_rows(struct packer *self, struct fby_segments *list,
    uint64_t params, uint64_t out)
{
    fby_segments_add_fn *add = fby_segments_needs_gather(&self->field.plan)
                                   ? fby_segments_add_gathered
                                   : fby_segments_add;
    for (uint32_t i = 0; i < self->field.layout.n_chunks; i++) {
        struct fby_raw_span span =
            fby_layout_chunk_span(&self->field.layout, 0, i);
        const struct fby_piece piece = {
            .at         = self->chunks[i].offset,
            .bytes      = self->chunks[i].bytes,
            .packed     = self->chunks[i].packed,
            .raw_offset = span.raw_offset,
            .raw_bytes  = span.raw_bytes,
            .params     = params,
            .out        = out,
        };
        add(list, &self->field.plan, &piece);
    }
}

static void list_pictures(
    struct packer *self, struct fby_segments *list, uint64_t work)
{
    uint32_t rows   = self->field.layout.rows;
    bool     gather = fby_segments_needs_gather(&self->field.plan);
    if (!gather) {
        uint64_t flips = self->field.params != NULL ? append_flips(self) : 0;
        fby_segments_begin(list, self->batch.arena, self->used);
        list_equal_rows(self, list, flips, 0);
        return;
    }
    uint64_t            *sums = fby_zalloc(rows * sizeof(*sums));
    struct fby_ops_piece ops  = {
         .at     = work,
         .rows   = rows,
         .params = append(
             self, self->field.params, rows * sizeof(*self->field.params)),
         .plan =
             append(self, &self->field.plan.ops, sizeof(self->field.plan.ops)),
         .sums = append(self, sums, rows * sizeof(*sums)),
    };
    free(sums);
    fby_segments_begin(list, self->batch.arena, self->used);
    list_equal_rows(self, list, 0, work);
    for (int pass = FBY_PASS_GREYS; pass < FBY_PASSES; pass++) {
        fby_segments_begin_pass(list, (enum fby_pass)pass);
        fby_segments_add_ops(list, &self->field.plan, &ops);
    }
}

/* The piece of a chunk, whose table of groups is at offset `groups`. */
static struct fby_ragged_piece count_chunk(
    struct packer *self, uint32_t chunk, uint64_t first, uint64_t groups)
{
    struct fby_raw_span span =
        fby_layout_chunk_span(&self->field.layout, 0, chunk);
    struct fby_ragged_piece piece = {
        .at        = self->chunks[chunk].offset,
        .groups    = groups,
        .first_row = span.first_row,
        .rows      = span.rows,
        .first     = first,
        .total     = self->offsets.total,
    };
    memcpy(piece.out, self->tensors, sizeof(piece.out));
    fby_segments_count_entries(&self->offsets, &piece,
        (uint64_t *)(void *)(self->batch.arena + groups));
    return piece;
}

static void list_ragged_rows(struct packer *self, struct fby_segments *list)
{
    uint32_t                 n      = self->field.layout.n_chunks;
    struct fby_ragged_piece *pieces = fby_zalloc(n * sizeof(*pieces));
    uint64_t                 first  = 0; /* entries of earlier chunks */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rows = fby_layout_chunk_span(&self->field.layout, 0, i).rows;
        uint64_t groups =
            reserve(self, sizeof(uint64_t) * fby_segments_n_groups(rows));
        pieces[i] = count_chunk(self, i, first, groups);
        first += pieces[i].entries;
    }
    fby_segments_begin(list, self->batch.arena, self->used);
    for (uint32_t i = 0; i < n; i++) {
        fby_segments_add_rows(list, &self->field.plan,
            &self->field.layout.fields[0],
            fby_expansion_padded_entries(&self->field.plan, &self->offsets),
            &pieces[i]);
    }
    free(pieces);
}

static void finish_arena(struct packer *self, uint64_t work)
{
    struct fby_segments list;
    struct gpu_batch   *batch = &self->batch;
    if (fby_expansion_is_ragged(&self->field.plan)) {
        list_ragged_rows(self, &list);
    } else {
        list_pictures(self, &list, work);
    }
    batch->bytes        = fby_segments_finish(&list);
    batch->list_offset  = list.list;
    batch->shared_bytes = list.shared;
    memcpy(batch->blocks, list.blocks, sizeof(batch->blocks));
}

/* ---- the tensors, as the host makes them --------------------------------- */

/* The bytes that a tensor of the batch has. */
static uint64_t tensor_bytes(const struct packer *self, uint32_t tensor)
{
    int64_t  shape[FBY_EXPAND_DIMS];
    int64_t  strides[FBY_EXPAND_DIMS];
    uint64_t bytes = fby_type_bytes(self->field.plan.tensors[tensor].type);
    uint32_t n     = fby_expansion_compute_ragged_shape(
            &self->field.plan, tensor, &self->offsets, shape, strides);
    for (uint32_t i = 0; i < n; i++) {
        bytes *= (uint64_t)shape[i];
    }
    return bytes;
}

static void read_ragged_rows(struct packer *self)
{
    struct fby_error_detail            why = {""};
    const struct fby_ragged_offsets_in in  = {
         .name         = self->field.gpu_case->name,
         .layout       = &self->field.layout,
         .raw          = self->batch.arena,
         .arena_chunks = self->chunks,
         .sent         = self->field.sent,
    };
    fby_ragged_offsets_init(&self->offsets, self->field.layout.rows);
    gpu_field_require(
        &self->field, fby_ragged_offsets_read(&self->offsets, &in, &why), &why);
}

/* Set offsets and size of the tensors, and the bytes that a GPU moves. */
static void lay_out_tensors(struct packer *self)
{
    struct gpu_batch *batch = &self->batch;
    uint32_t          n     = self->field.plan.n_tensors;
    if (!fby_expansion_is_ragged(&self->field.plan)) {
        batch->out_bytes = self->field.layout.rows * self->field.plan.out_bytes;
        batch->moved_bytes = batch->out_bytes;
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bytes   = tensor_bytes(self, i);
        self->tensors[i] = batch->out_bytes;
        batch->moved_bytes += bytes;
        batch->out_bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    }
}

static void expand_on_host(struct packer *self)
{
    struct fby_error_detail  why  = {""};
    const struct fby_device *host = &fby_device_host;
    uint8_t                 *out =
        aligned_alloc(ALIGN, (self->batch.out_bytes / ALIGN + 1) * ALIGN);
    void *const tensors[FBY_TENSORS] = {
        out + self->tensors[0], out + self->tensors[1], out + self->tensors[2]};
    struct fby_expand_job job = {&self->field.plan, self->field.raw,
        self->field.layout.rows, self->field.params, out};
    fby_err               err = FBY_OK;
    memset(out, GPU_UNTOUCHED, self->batch.out_bytes);
    if (fby_expansion_is_ragged(&self->field.plan)) {
        err = host->expand_rows(&self->field.plan, &self->offsets,
            self->batch.arena, tensors, &why);
    } else if (self->field.params != NULL) {
        err = host->expand_ops(&job, &why);
    } else {
        err = host->expand(
            &self->field.plan, self->field.raw, job.rows, out, &why);
    }
    gpu_field_require(&self->field, err, &why);
    self->batch.expected = out;
}

/* ---- a batch ------------------------------------------------------------- */

struct gpu_batch gpu_batch_make(enum gpu_case_number number, uint32_t rows)
{
    struct packer *self = fby_zalloc(sizeof(*self));
    gpu_field_init(&self->field, number, rows);
    self->chunks =
        fby_zalloc(self->field.layout.n_chunks * sizeof(*self->chunks));
    uint64_t work = allocate_arena(self);
    append_chunks(self);
    if (fby_expansion_is_ragged(&self->field.plan)) {
        read_ragged_rows(self);
    }
    lay_out_tensors(self);
    finish_arena(self, work);
    expand_on_host(self);
    struct gpu_batch batch = self->batch;
    batch.moved_bytes += batch.bytes;
    fby_ragged_offsets_fini(&self->offsets);
    gpu_field_fini(&self->field);
    free(self->chunks);
    free(self);
    return batch;
}

void gpu_batch_free(struct gpu_batch *self)
{
    free(self->arena);
    free(self->expected);
    *self = (struct gpu_batch){0};
}
