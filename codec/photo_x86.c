/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64 has a kernel for each SIMD level. */
#include "codec/photo_kernel.h"

const struct photo_kernel *photo_kernel_of(enum fby_simd level)
{
    if (level >= FBY_SIMD_AVX512) {
        return &photo_avx512;
    }
    return level >= FBY_SIMD_AVX2 ? &photo_avx2 : &photo_portable;
}
