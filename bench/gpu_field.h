/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_field.h - the raw bytes of a batch of one field, as a worker sends them,
 * with synthetic values. An error ends the bench. */
#ifndef FBY_BENCH_GPU_FIELD_H
#define FBY_BENCH_GPU_FIELD_H

#include "bench/gpu_cases.h"
#include "pipeline/parse.h"
#include "proto/layout.h"
#include "trainer_client/expand/expansion.h"

struct gpu_field {
    const struct gpu_case *gpu_case;
    struct fby_split      *split;  /* of a pipeline with this field only */
    struct fby_raw_layout  layout; /* of the batch */
    struct fby_expansion   plan;
    uint8_t               *raw;    /* laid out as `layout` says */
    struct fby_chunk_sent *sent;   /* [chunk]: size of the raw bytes */
    struct fby_ops_row    *params; /* [row]: of ops of the device; else NULL */
};

/* Make the bytes of `rows` rows. */
void gpu_field_init(
    struct gpu_field *self, enum gpu_case_number number, uint32_t rows);
void gpu_field_fini(struct gpu_field *self);

/* End the bench with the text of `why` unless `err` is FBY_OK. */
void gpu_field_require(const struct gpu_field *self, fby_err err,
    const struct fby_error_detail *why);

#endif
