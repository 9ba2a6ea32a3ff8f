/* tensors.h - the tensors of a batch, once its values are there. */
#ifndef FBY_CLIENT_BATCH_TENSORS_H
#define FBY_CLIENT_BATCH_TENSORS_H

#include "trainer_client/batch/batch.h"
#include "trainer_client/setup/setup.h"

/* Where each lies, its type and shape; `valid` last. Any thread. */
void fby_batch_tensors(
    const struct fby_setup *setup, struct forebay_batch *batch);

#endif
