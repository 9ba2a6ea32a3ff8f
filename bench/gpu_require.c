/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/gpu_require.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer_client/gpu/device_name.h"

int fby_gpu_require(const char *program)
{
    const char             *required = getenv("FOREBAY_REQUIRE_GPU");
    int                     n_gpus   = 0;
    struct fby_error_detail why      = {""};
    fby_err                 err      = fby_gpu_count(fby_cuda(), &n_gpus, &why);
    if (err == FBY_OK) {
        return 0;
    }
    if (err == FBY_USAGE && (required == NULL || strcmp(required, "1") != 0)) {
        printf("%s: skipped, no device: %s\n", program, why.text);
        return FBY_GPU_SKIPPED;
    }
    (void)fprintf(stderr, "%s: a GPU is required: %s\n", program, why.text);
    return 1;
}
