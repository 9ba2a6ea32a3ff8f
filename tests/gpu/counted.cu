/* SPDX-License-Identifier: Apache-2.0 */
/* counted.cu - the inner work of the kernels, each in kernels of its own, of
 * which tools/count-instructions counts the instructions. NAME_1 does the work
 * once and NAME_2 twice, so the difference is what one more costs. It is
 * compiled and never run. */
#include "trainer_client/expand/block.h"

/* Define the kernels NAME_1 and NAME_2. `work` is one unit of the work, number
 * `k`; it can use the variables s, tile, packed, unpacked, arena and out. */
#define COUNTED(name, work)                                                \
    template <uint32_t n>                                                  \
    __device__ static __forceinline__ void name(                           \
        const struct fby_segment *given, uint8_t *arena, uint8_t *out)     \
    {                                                                      \
        __shared__ struct fby_segment s_shared;                            \
        __shared__ struct fby_tile    tile_shared;                         \
        __shared__ uint4              packed_shared[FBY_TILE_PACKED / 16]; \
        extern __shared__ uint4       pixels[];                            \
        struct fby_segment           *s        = &s_shared;                \
        struct fby_tile              *tile     = &tile_shared;             \
        uint32_t *packed   = reinterpret_cast<uint32_t *>(packed_shared);  \
        uint8_t  *unpacked = reinterpret_cast<uint8_t *>(pixels);          \
        uint32_t  thread   = threadIdx.x;                                  \
        s_shared           = *given;                                       \
        fby_tile_init(s, arena, blockIdx.x, thread, tile);                 \
        fby_tile_stage_packed(tile, arena, thread, packed);                \
        FBY_BARRIER();                                                     \
        FBY_UNROLL                                                         \
        for (uint32_t k = 0; k < n; k++) {                                 \
            work;                                                          \
        }                                                                  \
        FBY_BARRIER();                                                     \
        out[thread] = unpacked[thread] + (uint8_t)packed[thread];          \
    }                                                                      \
    extern "C" __global__ void name##_1(                                   \
        const struct fby_segment *given, uint8_t *arena, uint8_t *out)     \
    {                                                                      \
        name<1>(given, arena, out);                                        \
    }                                                                      \
    extern "C" __global__ void name##_2(                                   \
        const struct fby_segment *given, uint8_t *arena, uint8_t *out)     \
    {                                                                      \
        name<2>(given, arena, out);                                        \
    }

/* Store four pixels to planes, at an aligned address. */
template <uint32_t type>
__device__ static __forceinline__ void store(const struct fby_segment *s,
    const struct fby_quad *quad, uint32_t first, uint8_t *out)
{
    FBY_UNROLL
    for (uint32_t c = 0; c < 3; c++) {
        uint32_t bits[4];
        FBY_UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            bits[i] = fby_byte_level_bits(type,
                quad->channel[c] >> (8 * i) & 0xff, s->scale[c], s->offset[c]);
        }
        fby_store_4_values(bits, type == FBY_F32 ? 4 : 2,
            out + (static_cast<uint64_t>(c) * s->plane + first) *
                      (type == FBY_F32 ? 4 : 2));
    }
}

__device__ static __forceinline__ struct fby_quad load(
    const uint8_t *arena, uint32_t i)
{
    const uint32_t *words = reinterpret_cast<const uint32_t *>(arena) + 3 * i;
    return fby_deinterleave_3(words[0], words[1], words[2]);
}

/* 16 values of a plane of a packed tile. */
COUNTED(group,
    fby_tile_unpack_group(
        tile, packed, 1, thread + k * FBY_BLOCK_THREADS, unpacked))

/* Four pixels of unpacked planes. */
COUNTED(tile_quad_bf16, const struct fby_quad quad = fby_tile_quad(
                            3, unpacked, 4 * thread, k);
        store<FBY_BF16>(s, &quad, 4 * (thread + k * FBY_BLOCK_THREADS), out))

/* Four raw pixels. */
COUNTED(raw_quad_bf16,
    const struct fby_quad quad = load(arena, thread + k * FBY_BLOCK_THREADS);
    store<FBY_BF16>(s, &quad, 4 * (thread + k * FBY_BLOCK_THREADS), out))
COUNTED(raw_quad_f32,
    const struct fby_quad quad = load(arena, thread + k * FBY_BLOCK_THREADS);
    store<FBY_F32>(s, &quad, 4 * (thread + k * FBY_BLOCK_THREADS), out))
