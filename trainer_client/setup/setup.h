/* setup.h - the constants of a stream, resolved before it begins.
 *
 * Options, pipeline and token become one constant struct: what to request, how
 * its bytes are laid out on the wire, and how they are expanded. It reads the
 * pipeline file and resolves the server's name; the rest is pure. */
#ifndef FBY_CLIENT_SETUP_H
#define FBY_CLIENT_SETUP_H

#include "common/bytes.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/socket.h"
#include "forebay/forebay.h"
#include "pipeline/parse.h"
#include "pipeline/token.h"
#include "proto/layout.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/gpu/upload.h"

struct fby_setup {
    char     server[FBY_ENDPOINT_SIZE]; /* numeric */
    char     job[256];
    uint32_t rank;
    uint32_t world;
    uint64_t seed;

    struct fby_split   *split;
    struct fby_buffer   content; /* canonical bytes */
    struct fby_digest   content_digest;
    struct fby_location location; /* NAME:path */
    bool                has_token;
    struct fby_token    token; /* the stream begins at its epoch and step */
    uint64_t            steps; /* counted from epoch 0, step 0; 0: no end */
    uint64_t            epochs;

    uint64_t              selected; /* bit i: field i of the content; 0: all */
    uint32_t              n_fields; /* selected */
    uint32_t              field[FBY_MAX_FIELDS]; /* position in the content */
    struct fby_expansion *expansions;            /* one per field */
    struct fby_raw_layout layout;                /* of a whole batch */
    uint64_t out_offset[FBY_MAX_FIELDS + 1];     /* the last: `valid` */
    uint64_t tensor_offset[FBY_MAX_FIELDS][FBY_TENSORS]; /* ragged: of
                                                            each tensor */
    uint32_t n_tensors; /* of a batch, without `valid` */
    uint64_t out_bytes; /* of a whole batch */
    uint32_t max_rows;  /* in a batch of this rank */

    const struct fby_device *device;
    const struct fby_cuda   *cuda; /* NULL: batches stay on the host */
    int                      gpu;
    bool                     any_device; /* device "auto": GPU if possible */
    bool                     fixed_outputs;
    struct fby_gpu_upload_memory memory;
    uint64_t arena_bytes;                 /* of a batch on its way to a GPU */
    uint64_t work_bytes;                  /* after the arena, on the GPU only */
    uint64_t work_offset[FBY_MAX_FIELDS]; /* where a field's rows are gathered,
                                             from the arena's start */
    uint64_t window_bytes;
    uint32_t window_batches;
    uint64_t max_held_bytes;
    uint32_t decode_threads;
    int64_t  open_timeout_ns;
    bool     digests;
    bool     verify_decoded;
    uint64_t audit;
};

/* Resolve options into a zeroed `out`. Errors: FBY_USAGE, FBY_CONFIG,
 * FBY_NOT_FOUND, FBY_IO or FBY_SYS, explained in `why`. */
FBY_CHECKED fby_err fby_setup_init(struct fby_setup *out,
    const struct forebay_options *options, struct fby_why *why);
/* Free what the setup owns; copes with a half-made one. */
void fby_setup_fini(struct fby_setup *self);

/* Fall back to the host: clear all that concerns the GPU. */
void fby_setup_leave_gpu(struct fby_setup *self);

/* The most requests that may be outstanding. */
uint32_t fby_setup_window(const struct fby_setup *self);

/* True if chunks of a field (its position among the selected) go to the GPU as
 * they come: the host need not see the values. */
bool fby_setup_is_compact(const struct fby_setup *self, uint32_t field);

/* Bit i: field i (its position among the selected) is ragged. */
uint64_t fby_setup_varying(const struct fby_setup *self);

/* True if chunks of a field (its position among the selected) may be decoded
 * straight to the tensor on the host: it holds the raw bytes unchanged. */
bool fby_setup_is_direct(const struct fby_setup *self, uint32_t field);

#endif
