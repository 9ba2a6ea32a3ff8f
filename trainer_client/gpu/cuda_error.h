/* cuda_error.h - the message of a failed CUDA call: the runtime's function, and
 * the error's number, name and text, so that it can be searched for. */
#ifndef FBY_CLIENT_GPU_CUDA_ERROR_H
#define FBY_CLIENT_GPU_CUDA_ERROR_H

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

/* FBY_OK if `code`, the result of the call that this thread has just made, is
 * 0.
 * Errors: FBY_SYS  with "cudaMalloc failed with 2
 *                  (cudaErrorMemoryAllocation: out of memory)" */
FBY_CHECKED fby_err fby_cuda_check(
    const struct fby_cuda *cuda, int code, struct fby_why *why);

#endif
