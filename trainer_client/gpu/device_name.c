/* device_name.c - check the name of a device against the machine's GPUs. */
#include "trainer_client/gpu/device_name.h"

#include <stdlib.h>
#include <string.h>

static fby_err no_driver(
    const struct fby_cuda *cuda, int code, struct fby_error_detail *why)
{
    int driver  = 0;
    int runtime = 0;
    (void)cuda->driver_version(&driver);
    (void)cuda->runtime_version(&runtime);
    if (driver == 0) {
        return fby_error_set(why, FBY_USAGE,
            "device cuda: this machine has no NVIDIA driver; use host");
    }
    if (driver / 1000 < runtime / 1000) {
        return fby_error_set(why, FBY_USAGE,
            "device cuda: the driver is for CUDA %d.%d, this build needs one "
            "for %d.0 or newer: update the driver, or use host",
            driver / 1000, driver % 1000 / 10, runtime / 1000);
    }
    return fby_error_set(why, FBY_USAGE,
        "device cuda: the driver says %s; use host", cuda->error_name(code));
}

fby_err fby_gpu_device_number(const struct fby_cuda *cuda, const char *name,
    int *out, struct fby_error_detail *why)
{
    int   n      = 0;
    char *end    = NULL;
    long  number = 0;
    if (strncmp(name, "cuda:", 5) == 0) {
        number = strtol(name + 5, &end, 10);
    }
    if (strcmp(name, "cuda") != 0 &&
        (end == NULL || end == name + 5 || *end != '\0' || number < 0 ||
            name[5] < '0' || name[5] > '9')) {
        return fby_error_set(why, FBY_USAGE,
            "no device %.40s; there are: host, cuda, cuda:N, auto", name);
    }
    if (cuda == NULL) {
        return fby_error_set(why, FBY_USAGE,
            "device %.40s: this library was built without CUDA; use host",
            name);
    }
    int code = cuda->device_count(&n);
    if (code != 0) {
        return no_driver(cuda, code, why);
    }
    if (number >= n) {
        return fby_error_set(why, FBY_USAGE,
            "device %.40s: this machine has %d GPU%s", name, n,
            n == 1 ? "" : "s");
    }
    *out = (int)number;
    return FBY_OK;
}
