/* SPDX-License-Identifier: Apache-2.0 */
/* pinned_arenas.h - allocate arenas, and pin them in the background.
 *
 * An arena is host memory from which one batch is copied to a GPU. It has huge
 * pages where possible. Several threads pin the arenas (register them with
 * CUDA). These threads run on the GPU's NUMA node and touch the pages first, so
 * the memory is on that node, too. Pinning 1 or 2 GB takes a second. A caller
 * waits only for the arena that it uses. A forked child has no arenas. */
#ifndef FBY_CLIENT_GPU_PINNED_ARENAS_H
#define FBY_CLIENT_GPU_PINNED_ARENAS_H

#include <stdbool.h>

#include "common/err.h"
#include "trainer_client/gpu/cuda.h"

struct fby_pin_config {
    const struct fby_cuda *cuda;
    int                    device; /* number of the GPU */
    uint32_t               n;      /* number of arenas */
    uint64_t               bytes;  /* size of each arena */
};

struct fby_pinned; /* all arenas of an upload */

/* Allocate config->n arenas and start pinning them. fby_pinned_wait reports
 * errors of the pinning. Errors: FBY_SYS  no memory, or no thread. */
FBY_CHECKED fby_err fby_pinned_create(const struct fby_pin_config *config,
    struct fby_pinned **out, struct fby_error_detail *why);
/* Unpin and free all arenas. No copy may be using them. */
void fby_pinned_destroy(struct fby_pinned **self_p);

/* The memory of arena `i`, borrowed. It may be written before it is pinned. */
uint8_t *fby_pinned_memory(const struct fby_pinned *self, uint32_t i);

/* Wait until arena `i` is pinned.
 * Errors: FBY_SYS  pinning failed, most often because of the limit of locked
 *                  memory */
FBY_CHECKED fby_err fby_pinned_wait(
    struct fby_pinned *self, uint32_t i, struct fby_error_detail *why);

#endif
