/* layouts.h - layouts of one field, and the errors of wrong ones. */
#ifndef FBY_TESTS_PROTO_LAYOUTS_H
#define FBY_TESTS_PROTO_LAYOUTS_H

#include "proto/layout.h"
#include "tests/says.h"

/* Before fby_layout_finish(). */
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
    assert_ok(fby_layout_finish(&layout, NULL));
}

static inline void refuses(struct fby_raw_layout layout, const char *words)
{
    struct fby_why why = {{0}};
    assert_int_equal(fby_layout_finish(&layout, &why), FBY_CONFIG);
    assert_says(&why, words);
}

static inline struct fby_raw_span chunk(
    const struct fby_raw_layout *layout, uint32_t i)
{
    return fby_layout_chunk(layout, 0, i);
}

/* A number below `below` that depends on the seed alone. */
static inline uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * UINT32_C(1664525) + UINT32_C(1013904223);
    return (*seed >> 8) % below;
}

#endif
