/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_error.c - the message of a failed CUDA call. */
#include "trainer_client/gpu/cuda.h"

fby_err fby_cuda_check(
    const struct fby_cuda *cuda, int code, struct fby_error_detail *why)
{
    return code == 0 ? FBY_OK
                     : fby_error_set(why, FBY_SYS, "%s failed with %d (%s: %s)",
                           cuda->failed_function(), code,
                           cuda->error_name(code), cuda->error_text(code));
}
