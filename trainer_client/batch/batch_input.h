/* batch_input.h - what one batch is made from: the raw bytes of its slot, and
 * how they are laid out. All pointers are borrowed. */
#ifndef FBY_CLIENT_BATCH_BATCH_INPUT_H
#define FBY_CLIENT_BATCH_BATCH_INPUT_H

#include "proto/layout.h"
#include "trainer_client/batch/batch.h"
#include "trainer_client/batch/request_slot.h"

struct fby_batch_input {
    struct forebay_batch        *batch; /* to be filled */
    struct fby_request_slot     *from;
    uint32_t                     slot;   /* its number, also of its arena */
    const struct fby_raw_layout *layout; /* of the slot */
    const struct fby_chunk_sent *sent;   /* per chunk, sizes as sent */
};

#endif
