/* SPDX-License-Identifier: Apache-2.0 */
/* device_name.h - count the GPUs, and find the one that a device name means. */
#ifndef FBY_CLIENT_GPU_DEVICE_NAME_H
#define FBY_CLIENT_GPU_DEVICE_NAME_H

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

/* Set *out to the number of GPUs, at least 1. `cuda` may be NULL.
 * Errors: FBY_USAGE  there is none: the build has no CUDA, or the machine has no
 *                    driver, or the driver finds no GPU
 *         FBY_SYS    there is a driver that cannot use a GPU: it is too old, has
 *                    no permission, or reports another error */
FBY_CHECKED fby_err fby_gpu_count(
    const struct fby_cuda *cuda, int *out, struct fby_error_detail *why);

/* Set *out to 0 for "cuda" and to N for "cuda:N". `cuda` may be NULL.
 * Errors: FBY_USAGE  the name is invalid, or there is no such GPU
 *         as fby_gpu_count */
FBY_CHECKED fby_err fby_gpu_find_device(const struct fby_cuda *cuda,
    const char *name, int *out, struct fby_error_detail *why);

#endif
