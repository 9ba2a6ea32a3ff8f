/* device_name.h - which GPU a name of a device means. */
#ifndef FBY_CLIENT_GPU_DEVICE_NAME_H
#define FBY_CLIENT_GPU_DEVICE_NAME_H

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

/* "cuda", "cuda:N" -> N. Errors: FBY_USAGE  no such name, no build with CUDA,
 *                                           no driver, too old a one, no GPU:
 *                                           `why` says which and what to do. */
FBY_CHECKED fby_err fby_gpu_device_number(const struct fby_cuda *cuda,
    const char *name, int *out, struct fby_why *why);

#endif
