/* pinned_arenas.h - arenas of pinned memory, filled while they are being pinned.
 *
 * Huge pages where they can be had, registered by several threads on the
 * GPU's NUMA node, which is also what touches them first: registering runs
 * at a gigabyte or two a second, and nobody needs to wait for more than the
 * arena he submits. */
#ifndef FBY_CLIENT_GPU_PINNED_ARENAS_H
#define FBY_CLIENT_GPU_PINNED_ARENAS_H

#include <stdbool.h>

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

struct fby_pin_config {
    const struct fby_cuda *cuda;
    int                    device;
    uint32_t               n;
    uint64_t               bytes; /* of each */
};

struct fby_pinned;

/* Errors: FBY_SYS  no memory, no thread; what fails later, wait tells. */
FBY_CHECKED fby_err fby_pinned_create(const struct fby_pin_config *config,
    struct fby_pinned **out, struct fby_why *why);
/* Nothing of it is in use any more. */
void fby_pinned_destroy(struct fby_pinned **self_p);

uint8_t *fby_pinned_memory(const struct fby_pinned *self, uint32_t i);

/* Until arena `i` is pinned. Errors: FBY_SYS  it cannot be: the limit of
 * locked memory, most often. */
FBY_CHECKED fby_err fby_pinned_wait(
    struct fby_pinned *self, uint32_t i, struct fby_why *why);

#endif
