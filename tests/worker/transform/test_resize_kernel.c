/* SPDX-License-Identifier: Apache-2.0 */
/* All kernels that this machine has make the same bytes as the portable one,
 * for any axis. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "worker/transform/image.h"
#include "worker/transform/resize/kernel.h"

enum {
    CASES     = 2000,
    MOST      = 100, /* result pixels */
    ROW_BYTES = MOST * FBY_RGB
};

static uint32_t state;

/* Any number of [low, high]. */
static uint32_t between(uint32_t low, uint32_t high)
{
    state = state * UINT32_C(1664525) + UINT32_C(1013904223);
    return low + (state >> 12) % (high - low + 1);
}

static uint32_t rarely_one(uint32_t otherwise)
{
    return between(0, 9) == 0 ? 1 : otherwise;
}

/* From ten times larger to twenty times smaller, all or a part of it. */
static struct fby_axis_spec any_axis(void)
{
    struct fby_axis_spec spec = {
        .to   = rarely_one(between(1, MOST)),
        .unit = 1U << between(0, 3),
    };
    spec.offset = between(0, spec.unit - 1);
    spec.from   = rarely_one(between(1 + spec.to / 10, 20 * spec.to));
    spec.first  = between(0, spec.to - 1);
    spec.n      = between(1, spec.to - spec.first);
    spec.mirror = between(0, 1) == 1;
    return spec;
}

/* Exactly `size` bytes, so that a sanitizer detects reads after the end. */
static uint8_t *new_bytes(size_t size)
{
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(between(0, 3) == 0 ? 255 : between(0, 255));
    }
    return bytes;
}

static void scale_row(const struct resize_kernel *kernel, struct fby_axis *axis,
    const uint8_t *row, uint8_t *out)
{
    axis->kernel_plan =
        aligned_alloc(32, (kernel->x_plan_bytes(&axis->spec) + 31) / 32 * 32);
    kernel->x_write_plan(axis);
    kernel->scale_x(axis, row, out);
    free(axis->kernel_plan);
}

static void a_row_is_scaled_alike(void **unused)
{
    (void)unused;
    uint8_t expected[ROW_BYTES + RESIZE_SLACK];
    uint8_t out[ROW_BYTES + RESIZE_SLACK];
    state = 1;
    for (int i = 0; i < CASES; i++) {
        struct fby_axis_spec spec   = any_axis();
        void                *memory = malloc(fby_axis_memory_bytes(&spec));
        struct fby_axis      axis   = fby_axis_plan(&spec, memory);

        size_t   size = (size_t)axis.used.n * FBY_RGB;
        uint8_t *row  = new_bytes(size + RESIZE_SLACK);
        scale_row(&resize_portable, &axis, row, expected);
        for (unsigned level = 0; level <= fby_simd_level(); level++) {
            scale_row(resize_kernel_for(level), &axis, row, out);
            assert_memory_equal(out, expected, (size_t)spec.n * FBY_RGB);
        }
        free(row);
        free(memory);
    }
}

/* Rows for all pixels of an axis, and three more, each with its slack. */
struct rows {
    uint8_t        *bytes;
    const uint8_t **at;
};

static struct rows new_rows(const struct fby_axis *axis, size_t size)
{
    size_t      n    = axis->used.n + 3;
    size_t      step = size + RESIZE_SLACK;
    struct rows rows = {new_bytes(n * step), calloc(n, sizeof(*rows.at))};
    for (size_t i = 0; i < n; i++) {
        rows.at[i] = rows.bytes + i * step;
    }
    return rows;
}

/* All result rows, one after the other, `size` bytes each. */
static void blend_rows(const struct resize_kernel *kernel,
    struct fby_axis *axis, const uint8_t *const *rows, size_t size,
    uint8_t *out)
{
    axis->kernel_plan =
        aligned_alloc(32, (kernel->y_plan_bytes(&axis->spec) + 31) / 32 * 32);
    kernel->y_write_plan(axis);
    for (uint32_t o = 0; o < axis->spec.n; o++) {
        kernel->scale_y(
            axis, o, rows + axis->reaches[o].first, size, out + o * size);
    }
    free(axis->kernel_plan);
}

static void rows_are_blended_alike(void **unused)
{
    (void)unused;
    state = 2;
    for (int i = 0; i < CASES / 10; i++) {
        struct fby_axis_spec spec   = any_axis();
        void                *memory = malloc(fby_axis_memory_bytes(&spec));
        struct fby_axis      axis   = fby_axis_plan(&spec, memory);
        size_t               size   = between(1, 200);
        struct rows          rows   = new_rows(&axis, size);

        uint8_t *expected = malloc(spec.n * size);
        uint8_t *out      = malloc(spec.n * size);
        blend_rows(&resize_portable, &axis, rows.at, size, expected);
        for (unsigned level = 0; level <= fby_simd_level(); level++) {
            blend_rows(resize_kernel_for(level), &axis, rows.at, size, out);
            assert_memory_equal(out, expected, spec.n * size);
        }
        free(out);
        free(expected);
        free(rows.at);
        free(rows.bytes);
        free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_scaled_alike),
        cmocka_unit_test(rows_are_blended_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
