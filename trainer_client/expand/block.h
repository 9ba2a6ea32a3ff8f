/* SPDX-License-Identifier: Apache-2.0 */
/* block.h - the code of the GPU kernels: the work of one block of threads.
 *
 * The work for a batch is a list of segments, each of which is divided into
 * blocks (segment.h). Host code compiles the same lines, for tests. A step is a
 * loop over the threads of a block, followed by a barrier. On a GPU each thread
 * runs one iteration, on the host one thread runs all of them. */
#ifndef FBY_CLIENT_EXPAND_BLOCK_H
#define FBY_CLIENT_EXPAND_BLOCK_H

#include "trainer_client/expand/pair.h"
#include "trainer_client/expand/rows.h"
#include "trainer_client/expand/tile.h"

#ifdef __CUDACC__
#define FBY_EACH_THREAD(t) if (uint32_t t = threadIdx.x; true)
#define FBY_BARRIER()      __syncthreads()
#define FBY_WARP_BARRIER() __syncwarp()
#elif !defined(FBY_EACH_THREAD) /* tests have other ones */
/* NOLINTBEGIN(bugprone-macro-parentheses): the argument is declared */
#define FBY_EACH_THREAD(t) for (uint32_t t = 0; t < FBY_BLOCK_THREADS; t++)
/* NOLINTEND(bugprone-macro-parentheses) */
#endif
#ifndef FBY_BARRIER
#define FBY_BARRIER() __asm__ volatile("" : : : "memory")
#endif
#ifndef FBY_WARP_BARRIER
#define FBY_WARP_BARRIER() FBY_BARRIER()
#endif

/* Run `work`, a call that may use the variable `thread`, in all threads. For
 * the last step of a block, where a barrier would only cost registers. */
#define FBY_LAST_STEP(work)     \
    do {                        \
        FBY_EACH_THREAD(thread) \
        {                       \
            work;               \
        }                       \
    } while (0)

/* Run `work` in all threads, and wait until all threads are done. */
#define FBY_STEP(work)       \
    do {                     \
        FBY_LAST_STEP(work); \
        FBY_BARRIER();       \
    } while (0)

/* Run `work` in all threads, and wait until the 32 threads of the own warp are
 * done. Before the next FBY_BARRIER, no thread may read or overwrite what a
 * thread of another warp writes or reads. */
#define FBY_WARP_STEP(work)  \
    do {                     \
        FBY_LAST_STEP(work); \
        FBY_WARP_BARRIER();  \
    } while (0)

/* The part of shared memory that is the same for all kinds of segments. */
struct fby_block_shared {
    struct fby_segment segment; /* the segment of the block */
    struct fby_tile    tile;    /* TILES, PLANES */
};

/* The memory that a block reads and writes. */
struct fby_block_memory {
    uint8_t                 *arena; /* input of the batch, then the list */
    uint8_t                 *out;   /* start of the memory of all tensors */
    uint64_t                 list;  /* offset of the list in the arena */
    struct fby_block_shared *shared;
    uint8_t *scratch; /* more shared memory. TILES, PLANES: unpacked planes,
                         then the packed tile. GREYS, OPS: struct fby_pair.
                         Kinds with groups: struct fby_group */
};

/* ---- the work of a thread ------------------------------------------------ */

/* Expand the block's quads of PIXELS, from quad `first` on. A quad has four
 * pixels of an image from pixel `start`, or fewer at the end of the image. */
FBY_BLOCK_INLINE void fby_block_write_any_pixels(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t first, uint32_t thread)
{
    uint32_t quads = (s->pixels + 3) / 4; /* of an image */
    FBY_NO_UNROLL
    for (uint32_t i = first + thread;
         i < fby_min(s->n, first + FBY_BLOCK_QUADS); i += FBY_BLOCK_THREADS) {
        uint32_t        image  = i / quads;
        uint32_t        start  = i % quads * 4;
        uint32_t        n      = fby_min(s->pixels - start, 4);
        uint64_t        pixel  = (uint64_t)image * s->pixels + start;
        const uint8_t  *from   = m->arena + s->in + pixel * s->channels;
        uint32_t        mirror = fby_mirror_bits(s, m->arena, image);
        struct fby_quad quad =
            mirror == 0
                ? fby_load_quad(from, s->channels, n)
                : fby_load_mirrored(s, from - (uint64_t)start * s->channels,
                      mirror, start, n);
        fby_store_quad(s, &quad, fby_first_out_pixel(s, mirror) + start, n,
            m->out + s->out + image * s->image_bytes);
    }
}

/* The place of a quad of PIXELS in its image. */
struct fby_quad_place {
    uint32_t image, index; /* index: in the image, counted in quads */
};

/* Go on by the quads of a round of the block. */
FBY_BLOCK_INLINE struct fby_quad_place fby_next_place(
    struct fby_quad_place at, uint32_t quads)
{
    at.index += FBY_BLOCK_THREADS % quads;
    at.image += FBY_BLOCK_THREADS / quads + (at.index >= quads ? 1 : 0);
    at.index -= at.index >= quads ? quads : 0;
    return at;
}

/* Load the whole quads (fby_quads_are_whole) of a thread, from quad `begin` on.
 * All loads come before the first use of one, so that the thread waits for
 * memory once. Past the end of the segment it loads its last quad again. */
FBY_BLOCK_INLINE void fby_block_load_whole_quads(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t begin,
    struct fby_raw_quad raw[FBY_THREAD_QUADS])
{
    uint32_t              quads = s->pixels / 4; /* of an image */
    struct fby_quad_place at    = {begin / quads, begin % quads};
    FBY_UNROLL
    for (uint32_t k = 0; k < FBY_THREAD_QUADS; k++) {
        raw[k].image  = at.image;
        raw[k].start  = 4 * at.index;
        raw[k].mirror = fby_mirror_bits(s, m->arena, at.image);
        if (begin + (k + 1) * FBY_BLOCK_THREADS < s->n) {
            at = fby_next_place(at, quads);
        }
    }
    FBY_UNROLL
    for (uint32_t k = 0; k < FBY_THREAD_QUADS; k++) {
        fby_raw_quad_load(s, m->arena, &raw[k]);
    }
}

FBY_BLOCK_INLINE void fby_block_store_raw_quad(const struct fby_segment *s,
    const struct fby_block_memory *m, const struct fby_raw_quad *raw,
    uint32_t channels, uint32_t type)
{
    struct fby_quad quad = fby_raw_quad_levels(raw, channels);
    fby_store_whole_quad(s, channels, type, &quad,
        fby_first_out_pixel(s, raw->mirror) + raw->start,
        m->out + s->out + raw->image * s->image_bytes);
}

/* Store them. `channels` and `type` are s->channels and s->to: of constants the
 * compiler keeps only what they need. */
FBY_BLOCK_INLINE void fby_block_store_whole_quads(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t begin,
    const struct fby_raw_quad raw[FBY_THREAD_QUADS], uint32_t channels,
    uint32_t type)
{
    FBY_UNROLL
    for (uint32_t k = 0; k < FBY_THREAD_QUADS; k++) {
        if (begin + k * FBY_BLOCK_THREADS < s->n) {
            fby_block_store_raw_quad(s, m, &raw[k], channels, type);
        }
    }
}

/* The same for any channels and type: rare, so short. A loop that counted
 * through raw[] would put it into local memory. */
FBY_BLOCK_INLINE void fby_block_store_rare_quads(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t begin,
    struct fby_raw_quad raw[FBY_THREAD_QUADS])
{
    FBY_NO_UNROLL
    for (uint32_t k = 0; k < FBY_THREAD_QUADS; k++) {
        if (begin + k * FBY_BLOCK_THREADS < s->n) {
            fby_block_store_raw_quad(s, m, &raw[0], s->channels, s->to);
        }
        FBY_UNROLL
        for (uint32_t i = 0; i + 1 < FBY_THREAD_QUADS; i++) {
            raw[i] = raw[i + 1];
        }
    }
}

/* Expand the block's quads of PIXELS, from quad `first` on. */
FBY_BLOCK_INLINE void fby_block_write_pixels(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t first, uint32_t thread)
{
    struct fby_raw_quad raw[FBY_THREAD_QUADS];
    uint32_t            begin = first + thread;
    if (!fby_quads_are_whole(s, m->out + s->out)) {
        fby_block_write_any_pixels(s, m, first, thread);
        return;
    }
    if (begin >= s->n) {
        return;
    }
    fby_block_load_whole_quads(s, m, begin, raw);
    if (s->channels == 3 && s->to == FBY_BF16) {
        fby_block_store_whole_quads(s, m, begin, raw, 3, FBY_BF16);
    } else if (s->channels == 3 && s->to == FBY_F16) {
        fby_block_store_whole_quads(s, m, begin, raw, 3, FBY_F16);
    } else if (s->channels == 3 && s->to == FBY_F32) {
        fby_block_store_whole_quads(s, m, begin, raw, 3, FBY_F32);
    } else if (s->channels == 3 && s->to == FBY_U8) {
        fby_block_store_whole_quads(s, m, begin, raw, 3, FBY_U8);
    } else if (s->channels == 1 && s->to == FBY_BF16) {
        fby_block_store_whole_quads(s, m, begin, raw, 1, FBY_BF16);
    } else if (s->channels == 1 && s->to == FBY_F32) {
        fby_block_store_whole_quads(s, m, begin, raw, 1, FBY_F32);
    } else {
        fby_block_store_rare_quads(s, m, begin, raw);
    }
}

/* Returns the index of value `i` of VALUES in the output. */
FBY_BLOCK_INLINE uint64_t fby_block_value_index(
    const struct fby_segment *s, uint32_t i)
{
    if (s->planar == 0) {
        return i;
    }
    uint64_t value         = (uint64_t)s->first_pixel + i;
    uint64_t sample_values = (uint64_t)s->plane * s->classes;
    uint64_t sample        = value / sample_values;
    uint32_t in_sample     = (uint32_t)(value % sample_values);
    uint64_t channel       = in_sample % s->classes;
    return sample * sample_values + channel * s->plane + in_sample / s->classes;
}

/* Scale a value of channel `c`. If the segment has no room for the factors, the
 * arena has all scales, then all offsets. */
FBY_BLOCK_INLINE float fby_block_scale(const struct fby_segment *s,
    const struct fby_block_memory *m, float value, uint32_t c)
{
    if (s->channels <= FBY_SEGMENT_FACTORS) {
        return fby_affine_any(value, s->scale[c], s->offset[c]);
    }
    const float *factors = (const float *)(const void *)(m->arena + s->values);
    return fby_affine_any(value, factors[c], factors[c + s->channels]);
}

/* Write value `i` of VALUES. */
FBY_BLOCK_INLINE void fby_block_write_value(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    uint32_t          in  = fby_width_of(s->from);
    uint32_t          out = fby_width_of(s->to);
    struct fby_number x   = fby_number_from_bits(
          s->from, fby_load_value(m->arena + s->in + (uint64_t)i * in, in));
    if (s->channels > 0) {
        uint32_t c = (i + s->first_pixel) % s->channels;
        x.f        = fby_block_scale(s, m, fby_number_to_f32(x), c);
        x.is_float = true;
    }
    fby_store_value(fby_number_to_bits(x, s->to), out,
        m->out + s->out + fby_block_value_index(s, i) * out);
}

/* Write value `i` of ONE_HOT. The CPU has checked the labels. */
FBY_BLOCK_INLINE void fby_block_write_one_hot(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    uint32_t in  = fby_width_of(s->from);
    uint32_t out = fby_width_of(s->to);
    uint32_t row = i / s->classes;
    uint64_t id  = fby_load_value(m->arena + s->in + (uint64_t)row * in, in);
    bool     hot = id == i % s->classes;
    fby_store_value(
        hot ? s->on : s->off, out, m->out + s->out + (uint64_t)i * out);
}

/* Write value `i` of BITS, counted in the order of the output. */
FBY_BLOCK_INLINE void fby_block_write_bit(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    uint32_t       pixel_bytes = (s->classes + 7) / 8;
    uint32_t       image       = i / (s->pixels * s->classes);
    uint32_t       value       = i % (s->pixels * s->classes);
    bool           planar      = s->planar != 0;
    uint32_t       map   = planar ? value / s->pixels : value % s->classes;
    uint32_t       pixel = planar ? value % s->pixels : value / s->classes;
    const uint8_t *from =
        m->arena + s->in + ((uint64_t)image * s->pixels + pixel) * pixel_bytes;
    uint64_t index = planar ? (uint64_t)map * s->plane + s->first_pixel + pixel
                            : (uint64_t)s->first_pixel * s->classes + value;
    uint32_t width = fby_width_of(s->to);
    fby_store_value(fby_bit(from, map) != 0 ? s->on : s->off, width,
        m->out + s->out + image * s->image_bytes + index * width);
}

/* Write value `i` of MIX: the weighted sum of two one-hot rows. */
FBY_BLOCK_INLINE void fby_block_write_mixed(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    const struct fby_ops_row *rows =
        (const struct fby_ops_row *)(const void *)(m->arena + s->params);
    uint32_t          in      = fby_width_of(s->from);
    uint32_t          c       = i % s->classes;
    uint64_t          row     = s->first_row + i / s->classes;
    uint64_t          partner = rows[row].partner;
    const uint8_t    *ids     = m->arena + s->in;
    float             on      = fby_f32_from_bits(s->on);
    float             off     = fby_f32_from_bits(s->off);
    struct fby_number x       = {true, 0,
              fby_ops_mix(fby_load_value(ids + row * in, in) == c ? on : off,
            fby_load_value(ids + partner * in, in) == c ? on : off,
                  rows[row].label_share, rows[row].label_partner_share)};
    uint32_t          out     = fby_width_of(s->to);
    fby_store_value(
        fby_number_to_bits(x, s->to), out, m->out + s->out + (uint64_t)i * out);
}

/* Find the first document that ends after token `i`, by binary search. */
FBY_BLOCK_INLINE uint32_t fby_block_find_document(
    const struct fby_segment *s, const uint32_t *ends, uint32_t i)
{
    uint32_t from = 0;
    uint32_t end  = s->documents - 1;
    FBY_NO_UNROLL
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if ((ends[middle] & ~FBY_DOCUMENT_PADDING) <= i) {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    return from;
}

/* Write token `i` of POSITIONS or MASK. Tokens are counted over all rows. */
FBY_BLOCK_INLINE void fby_block_write_token(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    const uint32_t *ends  = (const uint32_t *)(const void *)(m->arena + s->in);
    uint32_t        doc   = fby_block_find_document(s, ends, i);
    uint64_t        value = 0;
    uint32_t        width = fby_width_of(s->to);
    if (s->kind == FBY_SEGMENT_POSITIONS) {
        uint32_t first = doc > 0 ? ends[doc - 1] & ~FBY_DOCUMENT_PADDING : 0;
        value          = i - first;
    } else {
        uint32_t end = ends[doc] & FBY_DOCUMENT_PADDING ? 0 : ends[doc];
        value        = fby_document_counts(i, end, s->shift) ? s->on : s->off;
    }
    fby_store_value(value, width, m->out + s->out + (uint64_t)i * width);
}

/* Write the block's share of VALUES, ONE_HOT, BITS, MIX, POSITIONS or MASK,
 * from value `first` on. */
FBY_BLOCK_INLINE void fby_block_write_values(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t first, uint32_t thread)
{
    FBY_NO_UNROLL
    for (uint32_t i = first + thread;
         i < fby_min(s->n, first + FBY_BLOCK_VALUES); i += FBY_BLOCK_THREADS) {
        if (s->kind == FBY_SEGMENT_VALUES) {
            fby_block_write_value(s, m, i);
        } else if (s->kind == FBY_SEGMENT_BITS) {
            fby_block_write_bit(s, m, i);
        } else if (s->kind == FBY_SEGMENT_MIX) {
            fby_block_write_mixed(s, m, i);
        } else if (s->kind == FBY_SEGMENT_ONE_HOT) {
            fby_block_write_one_hot(s, m, i);
        } else {
            fby_block_write_token(s, m, i);
        }
    }
}

/* Write the block's bytes of COPY, from byte `first` on. */
FBY_BLOCK_INLINE void fby_block_copy_bytes(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t first, uint32_t thread)
{
    const uint8_t *from    = m->arena + s->in;
    uint8_t       *to      = m->out + s->out;
    bool           aligned = ((uintptr_t)from | (uintptr_t)to) % 16 == 0;
    FBY_NO_UNROLL
    for (uint32_t i = first + 16 * thread;
         i < fby_min(s->n, first + FBY_BLOCK_BYTES);
         i += 16 * FBY_BLOCK_THREADS) {
        if (aligned && i + 16 <= s->n) {
            fby_copy_16(from + i, to + i);
        } else {
            FBY_NO_UNROLL
            for (uint32_t j = i; j < fby_min(s->n, i + 16); j++) {
                to[j] = from[j];
            }
        }
    }
}

/* ---- the work of a block ------------------------------------------------- */

/* Unpack the planes of a tile of photo format 1 to m->scratch. */
FBY_BLOCK_INLINE void fby_block_unpack_tile(const struct fby_block_memory *m)
{
    const struct fby_segment *s    = &m->shared->segment;
    struct fby_tile          *tile = &m->shared->tile;
    uint32_t                  unpacked_bytes =
        s->channels * FBY_TILE_ROWS * (uint32_t)FBY_TILE_STRIDE;
    uint32_t *packed = (uint32_t *)(void *)(m->scratch + unpacked_bytes);
    FBY_STEP(fby_tile_stage_packed(tile, m->arena, thread, packed));
    FBY_NO_UNROLL
    for (uint32_t p = 0; p < s->channels; p++) { /* in the first warp */
        FBY_WARP_STEP(fby_tile_sum_widths(tile, packed, p, thread));
        FBY_WARP_STEP(fby_tile_set_offsets(tile, p, thread));
    }
    FBY_BARRIER();
    FBY_STEP(fby_tile_unpack(tile, packed, s->channels, thread, m->scratch));
    /* The sums before runs replace the packed tile. */
    FBY_STEP(fby_tile_sum_rows(
        tile, s->channels, thread, m->scratch, (uint8_t *)packed));
    FBY_STEP(fby_tile_sum_columns(
        tile, s->channels, thread, m->scratch, (const uint8_t *)packed));
}

/* Expand tile `number` of a segment of TILES or PLANES. */
FBY_BLOCK_INLINE void fby_block_expand_tile(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s    = &m->shared->segment;
    struct fby_tile          *tile = &m->shared->tile;
    FBY_STEP(fby_tile_init(s, m->arena, number, thread, tile));
    if (s->kind == FBY_SEGMENT_TILES) {
        fby_block_unpack_tile(m);
    } else {
        FBY_STEP(fby_tile_stage_planes(s, tile, m->arena, thread, m->scratch));
    }
    FBY_LAST_STEP(fby_tile_store(s, tile, thread, m->scratch, m->out));
}

/* Expand block `number` of a segment with groups of ragged rows (rows.h). */
FBY_BLOCK_INLINE void fby_block_expand_rows(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s     = &m->shared->segment;
    struct fby_group         *group = (struct fby_group *)(void *)m->scratch;
    FBY_STEP(
        fby_group_load_length(s, m->arena, number / s->parts, thread, group));
    FBY_STEP(fby_group_sum_16(thread, group));
    FBY_STEP(fby_group_sum_before(thread, group));
    FBY_LAST_STEP(fby_group_expand(s, group, m->arena, m->out, number, thread));
}

/* Load the segment of block `number` of the list to shared memory. Returns the
 * index of the block in its segment. */
FBY_BLOCK_INLINE uint32_t fby_block_load_segment(
    const struct fby_block_memory *m, uint32_t number)
{
    const uint8_t  *list = m->arena + m->list;
    const uint32_t *table =
        (const uint32_t *)(const void *)(list +
                                         sizeof(struct fby_segment_list));
    struct fby_segment *s = &m->shared->segment;
    FBY_STEP(fby_copy_words(
        list + (uint64_t)8 * table[number], s, sizeof(*s), thread));
    return number - s->first_block;
}

/* Load the segment of block `number`, of kind GREYS or OPS, and the parameters
 * of the block's picture. Returns the index of the block in its segment. */
FBY_BLOCK_INLINE uint32_t fby_block_load_pair(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s     = &m->shared->segment;
    struct fby_pair          *pair  = (struct fby_pair *)(void *)m->scratch;
    uint32_t                  index = fby_block_load_segment(m, number);
    FBY_STEP(fby_pair_load(s, m->arena, index / s->parts, thread, pair));
    return index;
}

/* Run block `number` of the list, which is one of FBY_PASS_GREYS. */
FBY_BLOCK_INLINE void fby_block_run_greys(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s     = &m->shared->segment;
    struct fby_pair          *pair  = (struct fby_pair *)(void *)m->scratch;
    uint32_t                  index = fby_block_load_pair(m, number);
    uint32_t                  image = index / s->parts;
    uint32_t                  first = index % s->parts * FBY_BLOCK_PIXELS;
    const uint8_t *picture = m->arena + s->in + (uint64_t)image * s->pixels * 3;
    if (!fby_ops_needs_grey(&pair->row[0])) {
        return; /* all threads of the block return here */
    }
    FBY_STEP(fby_pair_sum_greys(s, picture, first, thread, pair));
    FBY_STEP(fby_pair_sum_16(thread, pair));
    FBY_LAST_STEP(fby_pair_add_to_picture(s, pair, image, thread, m->arena));
}

/* Run block `number` of the list, which is one of FBY_PASS_OPS. */
FBY_BLOCK_INLINE void fby_block_run_ops(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s     = &m->shared->segment;
    struct fby_pair          *pair  = (struct fby_pair *)(void *)m->scratch;
    uint32_t                  index = fby_block_load_pair(m, number);
    FBY_STEP(fby_pair_load_greys(s, m->arena, index / s->parts, thread, pair));
    FBY_LAST_STEP(fby_pair_expand(
        s, pair, m->arena + s->in, index, thread, m->out + s->out));
}

/* Run block `number` of the list, which is one of FBY_PASS_EXPAND. */
FBY_BLOCK_INLINE void fby_block_run_expand(
    const struct fby_block_memory *memory, uint32_t number)
{
    uint32_t                  index  = fby_block_load_segment(memory, number);
    const struct fby_segment *s      = &memory->shared->segment;
    struct fby_block_memory   target = *memory;
    const struct fby_block_memory *m = &target;
    if (s->out_in_arena != 0) {
        target.out = target.arena; /* a later pass reads the output */
    }
    if (s->kind == FBY_SEGMENT_TILES || s->kind == FBY_SEGMENT_PLANES) {
        fby_block_expand_tile(m, index);
        return;
    }
    if (fby_segment_has_groups(s)) {
        fby_block_expand_rows(m, index);
        return;
    }
    FBY_EACH_THREAD(t)
    {
        if (s->kind == FBY_SEGMENT_PIXELS) {
            fby_block_write_pixels(s, m, index * FBY_BLOCK_QUADS, t);
        } else if (s->kind == FBY_SEGMENT_COPY) {
            fby_block_copy_bytes(s, m, index * FBY_BLOCK_BYTES, t);
        } else {
            fby_block_write_values(s, m, index * FBY_BLOCK_VALUES, t);
        }
    }
}

#endif
