#include "trainer_client/gpu/cuda_error.h"

fby_err fby_cuda_check(
    const struct fby_cuda *cuda, int code, struct fby_why *why)
{
    return code == 0
               ? FBY_OK
               : fby_because(why, FBY_SYS, "%s failed with %d (%s: %s)",
                     cuda->failed(), code, cuda->name(code), cuda->text(code));
}
