/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_other.c - the choice of a kernel on CPUs other than x86-64. */
#include "trainer_client/expand/host.h"

fby_yuv_line_fn *fby_yuv_line_kernel(enum fby_simd level)
{
    (void)level;
    return fby_yuv_line_portable;
}

fby_reverse_fn *fby_reverse_kernel(enum fby_simd level)
{
    (void)level;
    return fby_reverse_portable;
}

fby_expand_image_fn *fby_expand_image_kernel(enum fby_simd level)
{
    (void)level;
    return fby_expand_image_portable;
}
