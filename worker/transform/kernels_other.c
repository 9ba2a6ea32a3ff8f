/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_other.c - portable kernels only, on processors other than x86-64. */
#include "worker/transform/resize/kernel.h"
#include "worker/transform/yuv.h"

const struct resize_kernel *resize_kernel_for(enum fby_simd level)
{
    (void)level;
    return &resize_portable;
}

yuv_split_fn *yuv_split_for(enum fby_simd level)
{
    (void)level;
    return NULL; /* the caller uses its portable code */
}
