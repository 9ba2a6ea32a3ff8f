/* cuda_none.c - a build without nvcc. */
#include "trainer_client/cuda.h"

const struct fby_cuda *fby_cuda(void)
{
    return NULL;
}
