#include "trainer_client/expand/image.h"

fby_yuv_line_fn *fby_yuv_line_of(enum fby_simd level)
{
    (void)level;
    return fby_yuv_line_portable;
}

fby_turn_fn *fby_turn_of(enum fby_simd level)
{
    (void)level;
    return fby_turn_portable;
}

fby_expand_image_fn *fby_expand_image_of(enum fby_simd level)
{
    (void)level;
    return fby_expand_image_portable;
}
