#include "worker/transform/resize_kernel.h"

const struct resize_kernel *resize_kernel_of(enum fby_simd level)
{
    return level >= FBY_SIMD_AVX2 ? &resize_avx2 : &resize_portable;
}
