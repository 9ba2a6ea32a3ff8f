/* rehearsal.h - a launch of the CUDA kernel, on the host: every block after the
 * other, every thread of a step after the other. */
#ifndef FBY_TEST_REHEARSAL_H
#define FBY_TEST_REHEARSAL_H

#include <stdint.h>

/* What the list at `list` of the arena says, into `out`. */
void rehearse(const uint8_t *arena, uint64_t list, uint8_t *out);

#endif
