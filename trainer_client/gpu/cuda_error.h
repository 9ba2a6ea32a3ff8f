/* cuda_error.h - a CUDA call that failed, in words to search for: the runtime's
 * own name of the function, its number, its name and its text. */
#ifndef FBY_CLIENT_GPU_CUDA_ERROR_H
#define FBY_CLIENT_GPU_CUDA_ERROR_H

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

/* FBY_OK for 0, else FBY_SYS and "cudaMalloc failed with 2
 * (cudaErrorMemoryAllocation: out of memory)" of the answer `code` of a call
 * that this thread has just made. */
FBY_CHECKED fby_err fby_cuda_check(
    const struct fby_cuda *cuda, int code, struct fby_why *why);

#endif
