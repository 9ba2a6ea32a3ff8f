/* cuda_none.c - a build without nvcc. */
#include "trainer_client/gpu/cuda.h"

const struct fby_cuda *fby_cuda(void)
{
    return NULL;
}
