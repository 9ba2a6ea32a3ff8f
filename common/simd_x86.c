/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: the level comes from CPUID. */
#include <stdbool.h>

#include "common/simd.h"

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512vnni") &&
           __builtin_cpu_supports("gfni");
}

enum fby_simd fby_simd_of_cpu(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2")) {
        return FBY_SIMD_PORTABLE;
    }
    return has_avx512() ? FBY_SIMD_AVX512 : FBY_SIMD_AVX2;
}
