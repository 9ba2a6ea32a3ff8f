/* SPDX-License-Identifier: Apache-2.0 */
/* device_name.h - find the GPU that a device name means. */
#ifndef FBY_CLIENT_GPU_DEVICE_NAME_H
#define FBY_CLIENT_GPU_DEVICE_NAME_H

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

/* Set *out to 0 for "cuda" and to N for "cuda:N". `cuda` may be NULL.
 * Errors: FBY_USAGE  the name is invalid, the build has no CUDA, there is no
 *                    driver, the driver is too old, or there is no such GPU */
FBY_CHECKED fby_err fby_gpu_find_device(const struct fby_cuda *cuda,
    const char *name, int *out, struct fby_error_detail *why);

#endif
