/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_x86.c - the choice of kernels for a SIMD level on x86-64. */
#include "worker/transform/resize/kernel.h"
#include "worker/transform/yuv.h"

const struct resize_kernel *resize_kernel_for(enum fby_simd level)
{
    static const struct resize_kernel *const kernels[] = {
        [FBY_SIMD_PORTABLE] = &resize_portable,
        [FBY_SIMD_AVX2]     = &resize_avx2,
        [FBY_SIMD_AVX512]   = &resize_avx512,
    };
    return kernels[level];
}

yuv_split_fn *yuv_split_for(enum fby_simd level)
{
    return level >= FBY_SIMD_AVX2 ? yuv_split_avx2 : NULL; /* NULL: no kernel */
}
