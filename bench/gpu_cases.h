/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_cases.h - the batches that GPU benches measure.
 *
 * A case is a batch of one field, as a pipeline describes it. docs/performance.md
 * has a row for each. */
#ifndef FBY_BENCH_GPU_CASES_H
#define FBY_BENCH_GPU_CASES_H

#include <stdbool.h>
#include <stdint.h>

enum gpu_case_number {
    GPU_U8_F32,
    GPU_U8_BF16,
    GPU_PACKED_F32,
    GPU_PACKED_BF16,
    GPU_FLIP_BF16,
    GPU_ODD_BF16,
    GPU_ODD_PACKED_BF16,
    GPU_YUV420_BF16,
    GPU_OPS_BF16,
    GPU_RAGGED,
    GPU_SPARSE,
    GPU_ONE_HOT,
    GPU_CASES /* number of cases */
};

struct gpu_case {
    const char *name;   /* of its row in the results */
    const char *field;  /* its keys in a pipeline */
    uint32_t    rows;   /* of a batch */
    bool        packed; /* chunks travel in photo format 1, else raw */
    double      goal;   /* least speed, relative to copies; 0: none */
};

extern const struct gpu_case gpu_cases[GPU_CASES];

/* Write `n` bytes of synthetic pictures: a slope with noise of one bit. They
 * have about 0.4 of this size when packed. */
void gpu_fill_pixels(uint8_t *raw, uint64_t n);

#endif
