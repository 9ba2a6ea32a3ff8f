/* tensors.h - describe the tensors of a batch. */
#ifndef FBY_CLIENT_BATCH_TENSORS_H
#define FBY_CLIENT_BATCH_TENSORS_H

#include "trainer_client/batch/batch.h"
#include "trainer_client/setup/setup.h"

/* Set address, type and shape of each tensor; `valid` comes last. Ragged fields
 * must have been read, since their shapes depend on the lengths. Any thread. */
void fby_batch_tensors(
    const struct fby_setup *setup, struct forebay_batch *batch);

#endif
