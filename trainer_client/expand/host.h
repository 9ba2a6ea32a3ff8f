/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - expand rows of a field on the host.
 *
 * Each function executes plans (expansion.h) of one or several kinds. The
 * arithmetic is that of value.h, ops.h and yuv.h, so a GPU computes the same
 * bytes. Raw bytes and tensors need no alignment unless a contract says so.
 * Thread: any.
 *
 * Files: host_values.c   casts, scales, planar arrays, labels
 *        host_bits.c     bits
 *        host_rows.c     ragged and sparse rows
 *        host_image_*.c  u8 images; one file for each vector instruction set
 *        host_yuv*.c     pictures in yuv420 planes
 *        host_flips.c    pictures whose only random ops are flips
 *        host_ops.c      pictures with other ops of the device
 *        host_picture.h  reading the pixels of a flipped picture
 *        kernels_*.c     the choice of a kernel */
#ifndef FBY_CLIENT_EXPAND_HOST_H
#define FBY_CLIENT_EXPAND_HOST_H

#include "common/simd.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"

/* All rows of one field of a batch. They are pictures with ops of the device
 * (which run in the trainer, see ops.h), or labels that these ops mix. */
struct fby_expand_job {
    const struct fby_expansion *plan;
    const void                 *raw;
    uint32_t                    rows;
    struct fby_ops_row         *params; /* random parameters of each row; only
                                           the member `grey` is written */
    void                       *out;
};

/* Store element `i` of an array of type i32 or i64. */
static inline void fby_store_integer(
    enum fby_type type, void *array, uint64_t i, uint64_t value)
{
    if (type == FBY_I64) {
        ((int64_t *)array)[i] = (int64_t)value;
    } else {
        ((int32_t *)array)[i] = (int32_t)value;
    }
}

/* ---- values and labels --------------------------------------------------- */

/* Convert `n` values from type plan->from to type plan->to, and scale them if
 * plan->scaled is set. The first value belongs to the first channel. */
void fby_expand_values(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out);

/* Convert one sample of a plan of kind FBY_EXPAND_PLANAR. */
void fby_expand_planar(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out);

/* Load label `i` of a field of labels.
 * Errors: FBY_PROTO  the label is not one of 0 to plan->classes - 1; `why` has
 *                    the field, the label and that range */
FBY_CHECKED fby_err fby_load_label(const struct fby_expansion *plan,
    const uint8_t *raw, uint64_t i, uint32_t *out,
    struct fby_error_detail *why);

/* Check the `n` labels at `raw`. Fields without a number of classes pass.
 * Errors: as fby_load_label. */
FBY_CHECKED fby_err fby_check_labels(const struct fby_expansion *plan,
    const uint8_t *raw, uint64_t n, struct fby_error_detail *why);

/* Expand the label at `raw` to its one-hot row.
 * Errors: as fby_load_label. */
FBY_CHECKED fby_err fby_expand_one_hot(const struct fby_expansion *plan,
    const uint8_t *raw, uint8_t *out, struct fby_error_detail *why);

/* Expand each label of a job of kind FBY_EXPAND_MIX to its one-hot row, mixed
 * with that of its partner.
 * Errors: as fby_load_label. */
FBY_CHECKED fby_err fby_expand_mix(
    const struct fby_expand_job *job, struct fby_error_detail *why);

/* ---- bits ---------------------------------------------------------------- */

/* Expand one sample of a plan of kind FBY_EXPAND_BITS. A pixel has one bit for
 * each map. The first map is the lowest bit of the pixel's first byte. Bits
 * beyond the last map are ignored. */
typedef void fby_expand_bits_fn(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out);

fby_expand_bits_fn fby_expand_bits_plain; /* bit by bit, for tests */
fby_expand_bits_fn fby_expand_bits;       /* a byte at a time */

/* ---- ragged and sparse rows ---------------------------------------------- */

/* Expand all rows of a batch to the tensors out[] of the field. The kind of the
 * plan is one of FBY_EXPAND_PADDED to FBY_EXPAND_COO. `rows` has the checked
 * lengths, and offsets from `raw`. Tensors are aligned to their type. */
void fby_expand_rows(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS]);

/* ---- pictures ------------------------------------------------------------ */

/* Expand one interleaved picture. All kernels write the values of plan->table.
 * `out` is aligned to the width of a value. With `non_temporal`, stores
 * bypass the cache where the kernel can do so. */
typedef void fby_expand_image_fn(const struct fby_expansion *plan,
    const uint8_t *raw, bool non_temporal, uint8_t *out);

fby_expand_image_fn fby_expand_image_portable;
fby_expand_image_fn fby_expand_image_avx2;   /* x86-64 only */
fby_expand_image_fn fby_expand_image_avx512; /* x86-64 only */
/* The fastest kernel of this build that needs at most `level`. The functions
 * fby_yuv_line_kernel and fby_reverse_kernel return theirs in the same way. */
fby_expand_image_fn *fby_expand_image_kernel(enum fby_simd level);

/* True if scale is 1 and offset 0 for each of the three channels. */
bool fby_levels_are_unchanged(const struct fby_expansion *plan);

/* Expand the pixels from number `first` to the end with plan->table. `raw` and
 * `out` point to the first pixel of the picture. */
void fby_expand_pixels(const struct fby_expansion *plan, const uint8_t *raw,
    size_t first, uint8_t *out);

/* Expand the line at `raw` with plan->table. It becomes the pixels from number
 * `first` on of the picture at `out`. `mirrored` reverses the line. */
void fby_expand_line(const struct fby_expansion *plan, const uint8_t *raw,
    bool mirrored, size_t first, uint8_t *out);

/* Expand one picture in yuv420 planes. `non_temporal` and `out` are as in
 * fby_expand_image_fn. */
void fby_expand_yuv(const struct fby_expansion *plan, const uint8_t *raw,
    bool non_temporal, uint8_t *out);

struct fby_yuv_line; /* yuv.h */

/* Convert one line of a tile to interleaved RGB. */
typedef void     fby_yuv_line_fn(const struct fby_yuv_line *line, uint8_t *rgb);
fby_yuv_line_fn  fby_yuv_line_portable;
fby_yuv_line_fn  fby_yuv_line_avx2; /* x86-64 only */
fby_yuv_line_fn *fby_yuv_line_kernel(enum fby_simd level);

/* Write `n` RGB pixels to `out` in reverse order. */
typedef void    fby_reverse_fn(const uint8_t *raw, uint32_t n, uint8_t *out);
fby_reverse_fn  fby_reverse_portable;
fby_reverse_fn  fby_reverse_avx2; /* x86-64 only */
fby_reverse_fn *fby_reverse_kernel(enum fby_simd level);

/* Expand the pictures of a job of kind FBY_EXPAND_OPS with ops.plain set. */
void fby_expand_flips(const struct fby_expand_job *job);
/* Expand the pictures of a job of kind FBY_EXPAND_OPS without ops.plain. */
void fby_expand_level_ops(const struct fby_expand_job *job);

#endif
