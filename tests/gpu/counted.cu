/* SPDX-License-Identifier: Apache-2.0 */
/* counted.cu - the inner work of the kernels, each in kernels of its own, of
 * which tools/count-instructions counts the instructions. NAME_1 does the work
 * once and NAME_2 twice, so the difference is what one more costs. It is
 * compiled and never run. */
#include "trainer_client/expand/block.h"

/* Define the kernels NAME_1 and NAME_2. `work` is one unit of the work, number
 * `k`; it can use the variables s, tile, packed, unpacked, sum, sums,
 * arena and out. */
#define COUNTED(name, work)                                                    \
    template <uint32_t n>                                                      \
    __device__ static __forceinline__ void name(                               \
        const struct fby_segment *given, uint8_t *arena, uint8_t *out)         \
    {                                                                          \
        __shared__ struct fby_segment s_shared;                                \
        __shared__ struct fby_tile    tile_shared;                             \
        __shared__ uint4              packed_shared[FBY_TILE_PACKED / 16];     \
        extern __shared__ uint4       pixels[];                                \
        struct fby_segment           *s    = &s_shared;                        \
        struct fby_tile              *tile = &tile_shared;                     \
        uint32_t *packed   = reinterpret_cast<uint32_t *>(packed_shared);      \
        uint8_t  *unpacked = reinterpret_cast<uint8_t *>(pixels);              \
        uint32_t  thread   = threadIdx.x;                                      \
        uint32_t  sum      = 0;                                                \
        struct fby_byte_sums sums[2] = {{0, 0}, {0, 0}};                       \
        s_shared                     = *given;                                 \
        fby_tile_init(s, arena, blockIdx.x, thread, tile);                     \
        fby_tile_stage_packed(tile, arena, thread, packed);                    \
        FBY_BARRIER();                                                         \
        FBY_UNROLL                                                             \
        for (uint32_t k = 0; k < n; k++) {                                     \
            work;                                                              \
        }                                                                      \
        FBY_BARRIER();                                                         \
        out[thread] =                                                          \
            unpacked[thread] + (uint8_t)(packed[thread] + sum + sums[0].even); \
    }                                                                          \
    extern "C" __global__ void name##_1(                                       \
        const struct fby_segment *given, uint8_t *arena, uint8_t *out)         \
    {                                                                          \
        name<1>(given, arena, out);                                            \
    }                                                                          \
    extern "C" __global__ void name##_2(                                       \
        const struct fby_segment *given, uint8_t *arena, uint8_t *out)         \
    {                                                                          \
        name<2>(given, arena, out);                                            \
    }

__device__ static __forceinline__ struct fby_quad load(
    const uint8_t *arena, uint32_t i)
{
    const uint32_t *words = reinterpret_cast<const uint32_t *>(arena) + 3 * i;
    return fby_deinterleave_3(words[0], words[1], words[2]);
}

/* Twice 16 values of a plane of a packed tile. */
COUNTED(two_groups, const struct fby_tile_groups of = fby_tile_groups_of(
                        tile, packed, 1, unpacked);
        fby_tile_unpack_two_groups(&of, 2 * (thread + k * FBY_BLOCK_THREADS)))

/* Four runs of 8 values along a row, and four down a column. */
COUNTED(row_runs,
    fby_tile_sum_row_runs(unpacked + FBY_TILE_STRIDE * thread + 32 * k,
        reinterpret_cast<uint8_t *>(packed) + thread +
            4 * FBY_TILE_BEFORE_STRIDE * k,
        &sum))
COUNTED(column_runs,
    fby_tile_sum_column_runs(unpacked + 8 * thread + 4 * FBY_TILE_STRIDE * k,
        packed[FBY_TILE_BEFORE_STRIDE / 4 * thread + k], sums))

/* Four pixels of unpacked planes. */
COUNTED(tile_quad_bf16,
        const struct fby_quad quad = fby_tile_quad(3, unpacked, 4 * thread, k);
        fby_store_planar(
            s, 3, FBY_BF16, &quad, out + 8 * (thread + k * FBY_BLOCK_THREADS)))

/* The same at its place in the picture, with the case of another alignment. */
__device__ static __forceinline__ void store_bf16(
    const struct fby_segment *s, const struct fby_tile *tile,
    const struct fby_quad *quad, uint32_t y, uint8_t *out)
{
    struct fby_segment known = *s;
    uint32_t           x     = 4 * threadIdx.x;
    known.to                 = FBY_BF16;
    known.planar             = 1;
    known.channels           = 3;
    fby_store_quad(&known, quad, fby_tile_out_index(s, tile, x, y, 4), 4, out);
}
COUNTED(tile_store_bf16,
    const struct fby_quad quad = fby_tile_quad(3, unpacked, 4 * thread, k);
    store_bf16(s, tile, &quad, k, out))

/* Four raw pixels. */
COUNTED(raw_quad_bf16, const struct fby_quad quad = load(
                           arena, thread + k * FBY_BLOCK_THREADS);
        fby_store_planar(
            s, 3, FBY_BF16, &quad, out + 8 * (thread + k * FBY_BLOCK_THREADS)))
COUNTED(raw_quad_f32, const struct fby_quad quad = load(
                          arena, thread + k * FBY_BLOCK_THREADS);
        fby_store_planar(
            s, 3, FBY_F32, &quad, out + 16 * (thread + k * FBY_BLOCK_THREADS)))
