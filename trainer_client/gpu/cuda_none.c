/* cuda_none.c - the table of CUDA functions in a build without nvcc: none. */
#include "trainer_client/gpu/cuda.h"

const struct fby_cuda *fby_cuda(void)
{
    return NULL;
}
