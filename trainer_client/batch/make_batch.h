/* make_batch.h - the values of one batch, from the raw bytes of its slot.
 *
 * Each field is expanded to its tensors by the host, or the whole batch goes to
 * a GPU (gpu_batch.h). A decode thread does this; see unpack.h. */
#ifndef FBY_CLIENT_BATCH_MAKE_BATCH_H
#define FBY_CLIENT_BATCH_MAKE_BATCH_H

#include "trainer_client/batch/batch_input.h"

/* The resources of one decode thread; borrowed. */
struct fby_batch_maker {
    const struct fby_setup   *setup;
    struct fby_gpu_upload    *upload;  /* NULL: the host expands */
    struct fby_codec_scratch *scratch; /* this thread's */
    struct fby_ops_row
        *draws; /* this thread's, max_rows; NULL: no device ops */
};

/* Make the values of input->batch and describe its tensors. With an upload
 * they are under way on return, else they are complete.
 *
 * Thread: any, with a maker of its own.
 * Errors: FBY_PROTO  the raw bytes hold a value that is not allowed
 *         FBY_SYS    a CUDA call failed */
FBY_CHECKED fby_err fby_make_batch(const struct fby_batch_maker *maker,
    const struct fby_batch_input *input, struct fby_why *why);

#endif
