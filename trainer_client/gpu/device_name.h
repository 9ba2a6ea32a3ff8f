/* device_name.h - parse the name of a GPU device. */
#ifndef FBY_CLIENT_GPU_DEVICE_NAME_H
#define FBY_CLIENT_GPU_DEVICE_NAME_H

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

/* Set *out to 0 for "cuda" and to N for "cuda:N".
 * Errors: FBY_USAGE  no such name, a build without CUDA, no driver, too old a
 *                    driver, no such GPU; `why` says which and what to do */
FBY_CHECKED fby_err fby_gpu_device_number(const struct fby_cuda *cuda,
    const char *name, int *out, struct fby_why *why);

#endif
