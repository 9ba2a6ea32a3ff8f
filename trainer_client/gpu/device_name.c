/* SPDX-License-Identifier: Apache-2.0 */
/* device_name.c - count the GPUs, and find the one that a device name
 * means. */
#include "trainer_client/gpu/device_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The error of device_count: the result was `code`, with `n_gpus` GPUs. */
static fby_err fail_without_gpus(const struct fby_cuda *cuda, int code,
    int n_gpus, struct fby_error_detail *why)
{
    int driver  = 0;
    int runtime = 0;
    (void)cuda->driver_version(&driver);
    (void)cuda->runtime_version(&runtime);
    if (driver == 0) {
        return fby_error_set(
            why, FBY_USAGE, "this machine has no NVIDIA driver; use host");
    }
    if (code == cuda->no_device || (code == 0 && n_gpus == 0)) {
        return fby_error_set(why, FBY_USAGE,
            "the driver finds no GPU (CUDA_VISIBLE_DEVICES can hide one); use "
            "host");
    }
    if (driver / 1000 < runtime / 1000) { /* compare major versions */
        return fby_error_set(why, FBY_SYS,
            "the driver is for CUDA %d.%d, this build needs one for %d.0 or "
            "newer: update the driver, or use host",
            driver / 1000, driver % 1000 / 10, runtime / 1000);
    }
    return fby_error_set(why, FBY_SYS,
        "the driver cannot use the GPUs: %s (%s); `nvidia-smi` may say more, "
        "or use host",
        cuda->error_name(code), cuda->error_text(code));
}

fby_err fby_gpu_count(
    const struct fby_cuda *cuda, int *out, struct fby_error_detail *why)
{
    int n_gpus = 0;
    if (cuda == NULL) {
        return fby_error_set(
            why, FBY_USAGE, "this library was built without CUDA; use host");
    }
    int code = cuda->device_count(&n_gpus);
    if (code != 0 || n_gpus == 0) {
        return fail_without_gpus(cuda, code, n_gpus, why);
    }
    *out = n_gpus;
    return FBY_OK;
}

/* Parse "cuda" or "cuda:N". (strtol alone would accept spaces and signs.) */
static bool parse_name(const char *name, long *out)
{
    *out = 0;
    if (strcmp(name, "cuda") == 0) {
        return true;
    }
    if (strncmp(name, "cuda:", 5) != 0 || name[5] < '0' || name[5] > '9') {
        return false;
    }
    char *end = NULL;
    *out      = strtol(name + 5, &end, 10);
    return *end == '\0';
}

fby_err fby_gpu_find_device(const struct fby_cuda *cuda, const char *name,
    int *out, struct fby_error_detail *why)
{
    int  n_gpus = 0;
    long number = 0;
    if (!parse_name(name, &number)) {
        return fby_error_set(why, FBY_USAGE,
            "no device %.40s; there are: host, cuda, cuda:N, auto", name);
    }
    struct fby_error_detail reason = {""};
    fby_err                 err    = fby_gpu_count(cuda, &n_gpus, &reason);
    if (err != FBY_OK) {
        return fby_error_set(why, err, "device %.40s: %s", name, reason.text);
    }
    if (number >= n_gpus) {
        return fby_error_set(why, FBY_USAGE,
            "device %.40s: this machine has %d GPU%s", name, n_gpus,
            n_gpus == 1 ? "" : "s");
    }
    *out = (int)number;
    return FBY_OK;
}
