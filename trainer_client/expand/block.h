/* block.h - the work of one block of threads, and of each thread.
 *
 * The GPU's kernels and their emulation on the host (tests) compile the same
 * lines. A step is a loop over the threads of a block, on the GPU one iteration
 * in each thread. A barrier separates two steps. */
#ifndef FBY_CLIENT_EXPAND_BLOCK_H
#define FBY_CLIENT_EXPAND_BLOCK_H

#include "trainer_client/expand/pair.h"
#include "trainer_client/expand/rows.h"
#include "trainer_client/expand/tile.h"

#ifdef __CUDACC__
#define FBY_EACH_THREAD(t)                                \
    for (uint32_t t = threadIdx.x; t < FBY_BLOCK_THREADS; \
         t += FBY_BLOCK_THREADS)
#define FBY_BARRIER() __syncthreads()
#else
/* NOLINTBEGIN(bugprone-macro-parentheses): the argument is declared */
#define FBY_EACH_THREAD(t) for (uint32_t t = 0; t < FBY_BLOCK_THREADS; t++)
/* NOLINTEND(bugprone-macro-parentheses) */
#define FBY_BARRIER()      __asm__ volatile("" : : : "memory")
#endif

/* Shared by the threads of a block. */
struct fby_block_shared {
    struct fby_segment segment;
    struct fby_tile    tile;
};

/* The memory of a block. */
struct fby_block_memory {
    uint8_t                 *arena;
    uint8_t                 *out;
    uint64_t                 list; /* offset in the arena */
    struct fby_block_shared *block;
    uint8_t *pixels; /* shared memory. Tiles: planes, then the packed tile;
                        ragged rows: struct fby_group; device ops: struct
                        fby_pair */
};

/* ---- the work of a thread ------------------------------------------------ */

/* Write the quads of pixels from quad `first` on. */
FBY_BLOCK_INLINE void fby_block_pixels(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t first, uint32_t thread)
{
    uint32_t quads = (s->pixels + 3) / 4; /* of an image */
    FBY_NO_UNROLL
    for (uint32_t i = first + thread;
         i < fby_min(s->n, first + FBY_BLOCK_QUADS); i += FBY_BLOCK_THREADS) {
        uint32_t        image  = i / quads;
        uint32_t        at     = i % quads * 4;
        uint32_t        n      = fby_min(s->pixels - at, 4);
        uint64_t        pixel  = (uint64_t)image * s->pixels + at;
        const uint8_t  *from   = m->arena + s->in + pixel * s->channels;
        uint32_t        mirror = fby_mirror(s, m->arena, image);
        struct fby_quad quad =
            mirror == 0 ? fby_load_quad(from, s->channels, n)
                        : fby_load_mirrored(s,
                              from - (uint64_t)at * s->channels, mirror, at, n);
        fby_put_quad(s, &quad, fby_mirror_first(s, mirror) + at, n,
            m->out + s->out + image * s->image_bytes);
    }
}

/* The index of value `i` of a segment in the tensor. */
FBY_BLOCK_INLINE uint64_t fby_block_value_index(
    const struct fby_segment *s, uint32_t i)
{
    if (s->planar == 0) {
        return i;
    }
    uint64_t at      = (uint64_t)s->first_pixel + i;
    uint64_t values  = (uint64_t)s->plane * s->classes; /* of a sample */
    uint64_t sample  = at / values;
    uint32_t in_it   = (uint32_t)(at % values);
    uint64_t channel = in_it % s->classes;
    return sample * values + channel * s->plane + in_it / s->classes;
}

/* Scale a value of channel `c`. */
FBY_BLOCK_INLINE float fby_block_scaled(const struct fby_segment *s,
    const struct fby_block_memory *m, float value, uint32_t c)
{
    if (s->channels <= FBY_SEGMENT_FACTORS) {
        return fby_affine(value, s->scale[c], s->offset[c]);
    }
    const float *all = (const float *)(const void *)(m->arena + s->values);
    return fby_affine(value, all[c], all[c + s->channels]);
}

/* Write value `i` of VALUES. */
FBY_BLOCK_INLINE void fby_block_value(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    uint32_t          in  = fby_width_of(s->from);
    uint32_t          out = fby_width_of(s->to);
    struct fby_number x   = fby_number_of(
          s->from, fby_load_1(m->arena + s->in + (uint64_t)i * in, in));
    if (s->channels > 0) {
        uint32_t c = (i + s->first_pixel) % s->channels;
        x.f        = fby_block_scaled(s, m, fby_number_real(x), c);
        x.real     = true;
    }
    fby_store_1(fby_number_bits(x, s->to), out,
        m->out + s->out + fby_block_value_index(s, i) * out);
}

/* Write value `i` of ONE_HOT. The CPU has refused ids that are no class; such
 * an id would only leave its row `off`. */
FBY_BLOCK_INLINE void fby_block_one_hot(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    uint32_t in  = fby_width_of(s->from);
    uint32_t out = fby_width_of(s->to);
    uint32_t row = i / s->classes;
    uint64_t id  = fby_load_1(m->arena + s->in + (uint64_t)row * in, in);
    bool     hot = id == i % s->classes;
    fby_store_1(hot ? s->on : s->off, out, m->out + s->out + (uint64_t)i * out);
}

/* Write value `i` of BITS, counted in the order of the tensor. */
FBY_BLOCK_INLINE void fby_block_bit(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    uint32_t       bytes  = (s->classes + 7) / 8; /* of a pixel */
    uint32_t       image  = i / (s->pixels * s->classes);
    uint32_t       at     = i % (s->pixels * s->classes);
    bool           planar = s->planar != 0;
    uint32_t       map    = planar ? at / s->pixels : at % s->classes;
    uint32_t       pixel  = planar ? at % s->pixels : at / s->classes;
    const uint8_t *from =
        m->arena + s->in + ((uint64_t)image * s->pixels + pixel) * bytes;
    uint64_t to  = planar ? (uint64_t)map * s->plane + s->first_pixel + pixel
                          : (uint64_t)s->first_pixel * s->classes + at;
    uint32_t out = fby_width_of(s->to);
    fby_store_1(fby_bit(from, map) != 0 ? s->on : s->off, out,
        m->out + s->out + image * s->image_bytes + to * out);
}

/* Write value `i` of MIX. */
FBY_BLOCK_INLINE void fby_block_mixed(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    const struct fby_ops_row *rows =
        (const struct fby_ops_row *)(const void *)(m->arena + s->draws);
    uint32_t          in   = fby_width_of(s->from);
    uint32_t          c    = i % s->classes;
    uint64_t          row  = s->first_row + i / s->classes;
    uint64_t          with = rows[row].partner;
    const uint8_t    *ids  = m->arena + s->in;
    float             on   = fby_f32_from_bits(s->on);
    float             off  = fby_f32_from_bits(s->off);
    struct fby_number x    = {true, 0,
           fby_ops_mix(fby_load_1(ids + row * in, in) == c ? on : off,
            fby_load_1(ids + with * in, in) == c ? on : off,
               rows[row].label_share, rows[row].label_rest)};
    uint32_t          out  = fby_width_of(s->to);
    fby_store_1(
        fby_number_bits(x, s->to), out, m->out + s->out + (uint64_t)i * out);
}

/* The first document of the table that ends after token `i`. */
FBY_BLOCK_INLINE uint32_t fby_block_document(
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

/* Write token `i` of POSITIONS or MASK, counted over all rows. */
FBY_BLOCK_INLINE void fby_block_token(
    const struct fby_segment *s, const struct fby_block_memory *m, uint32_t i)
{
    const uint32_t *ends  = (const uint32_t *)(const void *)(m->arena + s->in);
    uint32_t        d     = fby_block_document(s, ends, i);
    uint64_t        value = 0;
    uint32_t        out   = fby_width_of(s->to);
    if (s->kind == FBY_SEGMENT_POSITIONS) {
        uint32_t first = d > 0 ? ends[d - 1] & ~FBY_DOCUMENT_PADDING : 0;
        value          = fby_document_position(i, first);
    } else {
        uint32_t end = ends[d] & FBY_DOCUMENT_PADDING ? 0 : ends[d];
        value        = fby_document_counts(i, end, s->shift) ? s->on : s->off;
    }
    fby_store_1(value, out, m->out + s->out + (uint64_t)i * out);
}

FBY_BLOCK_INLINE void fby_block_values(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t first, uint32_t thread)
{
    FBY_NO_UNROLL
    for (uint32_t i = first + thread;
         i < fby_min(s->n, first + FBY_BLOCK_VALUES); i += FBY_BLOCK_THREADS) {
        if (s->kind == FBY_SEGMENT_VALUES) {
            fby_block_value(s, m, i);
        } else if (s->kind == FBY_SEGMENT_BITS) {
            fby_block_bit(s, m, i);
        } else if (s->kind == FBY_SEGMENT_MIX) {
            fby_block_mixed(s, m, i);
        } else if (s->kind == FBY_SEGMENT_ONE_HOT) {
            fby_block_one_hot(s, m, i);
        } else {
            fby_block_token(s, m, i);
        }
    }
}

FBY_BLOCK_INLINE void fby_block_bytes(const struct fby_segment *s,
    const struct fby_block_memory *m, uint32_t first, uint32_t thread)
{
    const uint8_t *from = m->arena + s->in;
    uint8_t       *to   = m->out + s->out;
    bool           wide = ((uintptr_t)from | (uintptr_t)to) % 16 == 0;
    FBY_NO_UNROLL
    for (uint32_t i = first + 16 * thread;
         i < fby_min(s->n, first + FBY_BLOCK_BYTES);
         i += 16 * FBY_BLOCK_THREADS) {
        if (wide && i + 16 <= s->n) {
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

/* Unpack a tile of photo format 1 to m->pixels. */
FBY_BLOCK_INLINE void fby_block_unpack(const struct fby_block_memory *m)
{
    const struct fby_segment *s    = &m->block->segment;
    struct fby_tile          *tile = &m->block->tile;
    uint32_t  plane  = s->channels * FBY_TILE_ROWS * (uint32_t)FBY_TILE_STRIDE;
    uint32_t *packed = (uint32_t *)(void *)(m->pixels + plane);
    FBY_EACH_THREAD(t)
    {
        fby_tile_stage_packed(tile, m->arena, t, packed);
    }
    FBY_BARRIER();
    FBY_NO_UNROLL
    for (uint32_t p = 0; p < s->channels; p++) {
        FBY_EACH_THREAD(t)
        {
            fby_tile_sum(tile, packed, p, t);
        }
        FBY_BARRIER();
        FBY_EACH_THREAD(t)
        {
            fby_tile_unpack(tile, packed, p, t, m->pixels);
        }
        FBY_BARRIER();
    }
    FBY_EACH_THREAD(t)
    {
        fby_tile_rows(tile, s->channels, t, m->pixels);
    }
    FBY_BARRIER();
    FBY_EACH_THREAD(t)
    {
        fby_tile_columns(tile, s->channels, t, m->pixels);
    }
}

/* Copy the YUV planes of a tile to m->pixels. */
FBY_BLOCK_INLINE void fby_block_stage_planes(const struct fby_block_memory *m)
{
    const struct fby_segment *s = &m->block->segment;
    FBY_EACH_THREAD(t)
    {
        FBY_NO_UNROLL
        for (uint32_t p = 0; p < 3; p++) {
            fby_tile_stage_plane(s, &m->block->tile, m->arena, p, t, m->pixels);
        }
    }
}

/* Expand tile `number` of the segment. */
FBY_BLOCK_INLINE void fby_block_tile(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s      = &m->block->segment;
    struct fby_tile          *tile   = &m->block->tile;
    bool                      packed = s->kind == FBY_SEGMENT_TILES;
    FBY_EACH_THREAD(t)
    {
        if (t == 0) {
            fby_tile_find(s, m->arena, number, tile);
        }
        if (t == 0 && packed) {
            fby_tile_find_packed(s, m->arena, number, tile);
        }
    }
    FBY_BARRIER();
    if (packed) {
        fby_block_unpack(m);
    } else {
        fby_block_stage_planes(m);
    }
    FBY_BARRIER();
    FBY_EACH_THREAD(t)
    {
        fby_tile_store(s, tile, t, m->pixels, m->out);
    }
}

/* Expand block `number` of a segment of ragged rows. */
FBY_BLOCK_INLINE void fby_block_rows(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s     = &m->block->segment;
    struct fby_group         *group = (struct fby_group *)(void *)m->pixels;
    uint32_t                  g     = number / s->parts;
    FBY_EACH_THREAD(t)
    {
        fby_group_lengths(s, m->arena, g, t, group);
    }
    FBY_BARRIER();
    FBY_EACH_THREAD(t)
    {
        fby_group_sums(t, group);
    }
    FBY_BARRIER();
    FBY_EACH_THREAD(t)
    {
        fby_group_before(t, group);
    }
    FBY_BARRIER();
    FBY_EACH_THREAD(t)
    {
        if (s->kind == FBY_SEGMENT_PADDED) {
            fby_group_pad(s, group, m->arena, m->out, number, t);
        } else if (s->kind == FBY_SEGMENT_DENSE) {
            fby_group_dense(s, group, m->arena, m->out, number, t);
        } else if (s->kind == FBY_SEGMENT_COO) {
            fby_group_coo(s, group, m->arena, m->out, number, t);
        } else {
            fby_group_offset(s, group, m->arena, m->out, g, t);
        }
    }
}

FBY_BLOCK_INLINE bool fby_block_has_groups(uint32_t kind)
{
    return kind == FBY_SEGMENT_PADDED || kind == FBY_SEGMENT_OFFSETS ||
           kind == FBY_SEGMENT_DENSE || kind == FBY_SEGMENT_COO;
}

FBY_BLOCK_INLINE uint32_t fby_block_count(const struct fby_segment_list *list)
{
    return list->blocks[0] + list->blocks[1] + list->blocks[2];
}

/* Load the segment of block `number`; returns the block's number in it. */
FBY_BLOCK_INLINE uint32_t fby_block_find(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment_list *list =
        (const struct fby_segment_list *)(const void *)(m->arena + m->list);
    const struct fby_segment *all =
        (const struct fby_segment *)(const void *)(list + 1);
    const uint32_t *owners =
        (const uint32_t *)(const void *)(all + list->n_segments);
    const uint32_t *from =
        (const uint32_t *)(const void *)(all + owners[number]);
    const struct fby_segment *s = &m->block->segment;
    FBY_EACH_THREAD(t)
    {
        if (t < sizeof(*s) / 4) {
            ((uint32_t *)(void *)&m->block->segment)[t] = from[t];
        }
    }
    FBY_BARRIER();
    return number - s->first_block;
}

/* Sum the greys of block `number` of a GREYS segment. */
FBY_BLOCK_INLINE void fby_block_greys(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s     = &m->block->segment;
    struct fby_pair          *pair  = (struct fby_pair *)(void *)m->pixels;
    uint32_t                  image = number / s->parts;
    uint32_t                  first = number % s->parts * FBY_BLOCK_PIXELS;
    const uint8_t *picture = m->arena + s->in + (uint64_t)image * s->pixels * 3;
    if (!fby_pair_needs_grey(pair)) {
        return;
    }
    FBY_EACH_THREAD(t)
    {
        fby_pair_sum(s, picture, first, t, pair);
    }
    FBY_BARRIER();
    FBY_EACH_THREAD(t)
    {
        fby_pair_sums(t, pair);
    }
    FBY_BARRIER();
    FBY_EACH_THREAD(t)
    {
        if (t == 0) {
            fby_pair_add(s, pair, image, m->arena);
        }
    }
}

/* As fby_block_find; also loads the parameters of the block's picture. */
FBY_BLOCK_INLINE uint32_t fby_block_find_pair(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s    = &m->block->segment;
    struct fby_pair          *pair = (struct fby_pair *)(void *)m->pixels;
    uint32_t                  part = fby_block_find(m, number);
    FBY_EACH_THREAD(t)
    {
        fby_pair_load(s, m->arena, part / s->parts, t, pair);
    }
    FBY_BARRIER();
    return part;
}

/* Run block `number`, one of the second pass. */
FBY_BLOCK_INLINE void fby_block_run_greys(
    const struct fby_block_memory *m, uint32_t number)
{
    fby_block_greys(m, fby_block_find_pair(m, number));
}

/* Run block `number`, one of the third pass. */
FBY_BLOCK_INLINE void fby_block_run_ops(
    const struct fby_block_memory *m, uint32_t number)
{
    const struct fby_segment *s    = &m->block->segment;
    struct fby_pair          *pair = (struct fby_pair *)(void *)m->pixels;
    uint32_t                  part = fby_block_find_pair(m, number);
    FBY_EACH_THREAD(t)
    {
        fby_pair_load_greys(s, m->arena, part / s->parts, t, pair);
    }
    FBY_BARRIER();
    FBY_EACH_THREAD(t)
    {
        fby_pair_pixels(s, pair, m->arena + s->in, part, t, m->out + s->out);
    }
}

/* Run block `number`, one of the first pass. */
FBY_BLOCK_INLINE void fby_block_run(
    const struct fby_block_memory *whole, uint32_t number)
{
    uint32_t                       part = fby_block_find(whole, number);
    const struct fby_segment      *s    = &whole->block->segment;
    const struct fby_block_memory  here = {whole->arena,
        s->out_in_arena != 0 ? whole->arena : whole->out, whole->list,
         whole->block, whole->pixels};
    const struct fby_block_memory *m    = &here;
    if (s->kind == FBY_SEGMENT_TILES || s->kind == FBY_SEGMENT_PLANES) {
        fby_block_tile(m, part);
        return;
    }
    if (fby_block_has_groups(s->kind)) {
        fby_block_rows(m, part);
        return;
    }
    FBY_EACH_THREAD(t)
    {
        if (s->kind == FBY_SEGMENT_PIXELS) {
            fby_block_pixels(s, m, part * FBY_BLOCK_QUADS, t);
        } else if (s->kind == FBY_SEGMENT_COPY) {
            fby_block_bytes(s, m, part * FBY_BLOCK_BYTES, t);
        } else {
            fby_block_values(s, m, part * FBY_BLOCK_VALUES, t);
        }
    }
}

#endif
