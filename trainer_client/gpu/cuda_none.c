/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_none.c - a build without nvcc has no table of CUDA functions. */
#include "trainer_client/gpu/cuda.h"

const struct fby_cuda *fby_cuda(void)
{
    return NULL;
}
