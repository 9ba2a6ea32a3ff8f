/* SPDX-License-Identifier: Apache-2.0 */
/* layouts.h - layouts of one field, and the errors of wrong layouts. */
#ifndef FBY_TESTS_PROTO_LAYOUTS_H
#define FBY_TESTS_PROTO_LAYOUTS_H

#include "proto/layout.h"
#include "tests/says.h"

/* A layout before fby_layout_compute(). */
static inline struct fby_raw_layout unfinished(
    enum fby_type type, struct fby_shape shape, uint32_t rows)
{
    struct fby_raw_layout layout = {.rows = rows, .n_fields = 1};
    layout.fields[0].type        = type;
    layout.fields[0].shape       = shape;
    return layout;
}

static inline void takes(struct fby_raw_layout layout)
{
    assert_ok(fby_layout_compute(&layout, NULL));
}

static inline void refuses(struct fby_raw_layout layout, const char *words)
{
    struct fby_error_detail why = {{0}};
    assert_int_equal(fby_layout_compute(&layout, &why), FBY_CONFIG);
    assert_says(&why, words);
}

static inline struct fby_raw_span chunk(
    const struct fby_raw_layout *layout, uint32_t i)
{
    return fby_layout_chunk_span(layout, 0, i);
}

/* The next random number below `below`. */
static inline uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*seed >> 8) % below;
}

#endif
