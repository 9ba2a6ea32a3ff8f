/* pinned_arenas.h - pinned memory that can be filled while it is being pinned.
 *
 * An arena is host memory for one batch on its way to a GPU. It has huge pages
 * where possible. Several threads on the GPU's NUMA node pin (register) the
 * arenas, and so touch their pages first. Pinning runs at one or two gigabytes
 * a second; a submit waits only for the arena that it uses. */
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

/* Allocate config->n arenas and start pinning them. fby_pinned_wait reports
 * errors of the pinning. Errors: FBY_SYS  no memory, or no thread. */
FBY_CHECKED fby_err fby_pinned_create(const struct fby_pin_config *config,
    struct fby_pinned **out, struct fby_why *why);
/* Unpin and free all arenas. None may be in use. */
void fby_pinned_destroy(struct fby_pinned **self_p);

/* The memory of arena `i`; borrowed. It may be filled before it is pinned. */
uint8_t *fby_pinned_memory(const struct fby_pinned *self, uint32_t i);

/* Wait until arena `i` is pinned. Errors: FBY_SYS  pinning failed, most often
 * because of the limit of locked memory. */
FBY_CHECKED fby_err fby_pinned_wait(
    struct fby_pinned *self, uint32_t i, struct fby_why *why);

#endif
