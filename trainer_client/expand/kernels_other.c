/* kernels_other.c - the choice of kernels without x86 vector instructions. */
#include "trainer_client/expand/image.h"

fby_yuv_line_fn *fby_yuv_line_of(enum fby_simd level)
{
    (void)level;
    return fby_yuv_line_portable;
}

fby_reverse_fn *fby_reverse_of(enum fby_simd level)
{
    (void)level;
    return fby_reverse_portable;
}

fby_expand_image_fn *fby_expand_image_of(enum fby_simd level)
{
    (void)level;
    return fby_expand_image_portable;
}
