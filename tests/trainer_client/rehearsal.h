/* rehearsal.h - a launch of the CUDA kernel, on the host: every block after the
 * other, every thread of a step after the other. tests/gpu has the same on a
 * GPU, so that tests of the one are tests of the other. */
#ifndef FBY_TEST_REHEARSAL_H
#define FBY_TEST_REHEARSAL_H

#include <stdint.h>

struct rehearsal {
    uint8_t *arena;
    uint64_t list; /* where in it */
    uint8_t *out;
    uint64_t arena_bytes; /* of both, for a caller that copies them */
    uint64_t out_bytes;
};

#ifdef __cplusplus
extern "C"
#endif
    void
    rehearse(const struct rehearsal *rehearsal);

#endif
