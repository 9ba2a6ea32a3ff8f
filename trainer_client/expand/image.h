/* image.h - expand u8 images to any dtype and layout, on the host.
 *
 * A kernel is a function for one image. There is one for each vector
 * instruction set, and all make the same bits: those of the plan's table. */
#ifndef FBY_CLIENT_EXPAND_IMAGE_H
#define FBY_CLIENT_EXPAND_IMAGE_H

#include <stdbool.h>

#include "common/simd.h"
#include "trainer_client/expand/expansion.h"

/* Expand one interleaved sample; `out` is aligned to the width of a value. With
 * `non_temporal` the result is large, and stores bypass the cache if they can.
 */
typedef void fby_expand_image_fn(const struct fby_expansion *plan,
    const uint8_t *raw, bool non_temporal, uint8_t *out);

fby_expand_image_fn fby_expand_image_portable;
fby_expand_image_fn fby_expand_image_avx2; /* where the build has them */
fby_expand_image_fn fby_expand_image_avx512;

/* Expand the pixels from `first` on through the plan's table. */
void fby_expand_pixels(const struct fby_expansion *plan, const uint8_t *raw,
    size_t first, uint8_t *out);

/* Expand one line of the picture through the table, mirrored or not, to the
 * pixels of `out` from `first` on. */
void fby_expand_line(const struct fby_expansion *plan, const uint8_t *raw,
    bool mirrored, size_t first, uint8_t *out);

/* The best kernel of this build that is not above `level`. */
fby_expand_image_fn *fby_expand_image_of(enum fby_simd level);

/* Expand one sample in yuv420 planes (yuv.h). */
void fby_expand_yuv(const struct fby_expansion *plan, const uint8_t *raw,
    bool non_temporal, uint8_t *out);

struct fby_yuv_line;

/* Convert one line of a tile to interleaved RGB. */
typedef void    fby_yuv_line_fn(const struct fby_yuv_line *line, uint8_t *rgb);
fby_yuv_line_fn fby_yuv_line_portable;
fby_yuv_line_fn fby_yuv_line_avx2; /* where the build has it */
/* The best of this build that is not above `level`. */
fby_yuv_line_fn *fby_yuv_line_of(enum fby_simd level);

/* Reverse the order of `n` RGB pixels. */
typedef void   fby_reverse_fn(const uint8_t *raw, uint32_t n, uint8_t *out);
fby_reverse_fn fby_reverse_portable;
fby_reverse_fn fby_reverse_avx2; /* where the build has it */
/* The best of this build that is not above `level`. */
fby_reverse_fn *fby_reverse_of(enum fby_simd level);

/* Expand the rows of a job whose only ops are flips and normalize. */
struct fby_expand_job;
void fby_expand_flips(const struct fby_expand_job *job);

#endif
