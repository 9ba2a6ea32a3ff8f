#include "common/simd_cpu.h"

enum fby_simd fby_simd_of_cpu(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? FBY_SIMD_AVX2 : FBY_SIMD_PORTABLE;
}
