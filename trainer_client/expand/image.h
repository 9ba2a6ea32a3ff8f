/* image.h - images of u8 to any dtype and layout, on the host.
 *
 * A kernel is a function for one image; there is one for each vector
 * instruction set, and all make the same bits: those of the plan's table. */
#ifndef FBY_CLIENT_EXPAND_IMAGE_H
#define FBY_CLIENT_EXPAND_IMAGE_H

#include <stdbool.h>

#include "common/simd.h"
#include "trainer_client/expand/expansion.h"

/* `raw` is one interleaved sample, `out` aligned to the width of a value. With
 * `non_temporal` the result is not meant to be found in the cache: it is large,
 * and is written past it where that can be. */
typedef void fby_expand_image_fn(const struct fby_expansion *plan,
    const uint8_t *raw, bool non_temporal, uint8_t *out);

fby_expand_image_fn fby_expand_image_portable;
fby_expand_image_fn fby_expand_image_avx2; /* where the build has them */
fby_expand_image_fn fby_expand_image_avx512;

/* The pixels from `first` on, through the plan's table. */
void fby_expand_pixels(const struct fby_expansion *plan, const uint8_t *raw,
    size_t first, uint8_t *out);

/* One line of the picture's width through the table, mirrored or not, to the
 * pixels of `out` from `first` on. */
void fby_expand_line(const struct fby_expansion *plan, const uint8_t *raw,
    bool mirrored, size_t first, uint8_t *out);

/* The kernel of a level: the best that this build has and is not above it. */
fby_expand_image_fn *fby_expand_image_of(enum fby_simd level);

/* The same for a sample in planes of yuv420 (yuv.h). */
void fby_expand_yuv(const struct fby_expansion *plan, const uint8_t *raw,
    bool non_temporal, uint8_t *out);

struct fby_yuv_line;

/* The pixels of a line of a tile, red, green and blue. */
typedef void     fby_yuv_line_fn(const struct fby_yuv_line *line, uint8_t *rgb);
fby_yuv_line_fn  fby_yuv_line_portable;
fby_yuv_line_fn  fby_yuv_line_avx2; /* where the build has it */
fby_yuv_line_fn *fby_yuv_line_of(enum fby_simd level);

/* Pixels of red, green and blue, `n` of them, the last one first. */
typedef void    fby_reverse_fn(const uint8_t *raw, uint32_t n, uint8_t *out);
fby_reverse_fn  fby_reverse_portable;
fby_reverse_fn  fby_reverse_avx2; /* where the build has it */
fby_reverse_fn *fby_reverse_of(enum fby_simd level);

/* The rows of a job whose plan has flips and nothing else. */
struct fby_expand_job;
void fby_expand_flips(const struct fby_expand_job *job);

#endif
