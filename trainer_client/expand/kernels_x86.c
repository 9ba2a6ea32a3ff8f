/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_x86.c - the choice of a kernel by the CPU's vector instructions. */
#include "trainer_client/expand/host.h"

fby_yuv_line_fn *fby_yuv_line_kernel(enum fby_simd level)
{
    return level >= FBY_SIMD_AVX2 ? fby_yuv_line_avx2 : fby_yuv_line_portable;
}

fby_reverse_fn *fby_reverse_kernel(enum fby_simd level)
{
    return level >= FBY_SIMD_AVX2 ? fby_reverse_avx2 : fby_reverse_portable;
}

fby_expand_image_fn *fby_expand_image_kernel(enum fby_simd level)
{
    if (level >= FBY_SIMD_AVX512) {
        return fby_expand_image_avx512;
    }
    return level >= FBY_SIMD_AVX2 ? fby_expand_image_avx2
                                  : fby_expand_image_portable;
}
