/* setup.h - the constants of a stream, resolved before it begins.
 *
 * Options, pipeline and token become one struct, which says what to request,
 * how the bytes are laid out on the wire, and how they become tensors. The only
 * side effects are reading the pipeline file and looking up the server's name
 * and the GPU. */
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
    /* Endpoint with a numeric IP address (name already looked up). */
    char     server[FBY_ENDPOINT_SIZE];
    char     job[256];
    uint32_t rank;
    uint32_t world;
    uint64_t seed;

    struct fby_split   *split;
    struct fby_buffer   content; /* canonical bytes of split->content */
    struct fby_digest   content_digest;
    struct fby_location location; /* of the split's data: path below the root
                                     called NAME */
    bool                has_token;
    struct fby_token    token; /* the stream begins at its epoch and step */
    uint64_t            steps; /* counted from epoch 0, step 0; 0: no end */
    uint64_t            epochs;

    /* A selected field has two indices: `i` among the selected fields, which
     * indexes the arrays below, and content_index[i] in the content. */
    uint64_t              selected; /* bit: index in the content; 0: all */
    uint32_t              n_fields; /* selected fields */
    uint32_t              content_index[FBY_MAX_FIELDS];
    struct fby_expansion *expansions; /* n_fields */
    struct fby_raw_layout layout;     /* of a whole batch */
    /* Offsets in an output slot, which holds the tensors of one batch: */
    uint64_t out_offset[FBY_MAX_FIELDS + 1]; /* [n_fields]: that of `valid` */
    uint64_t tensor_offset[FBY_MAX_FIELDS][FBY_TENSORS]; /* ragged fields */
    uint32_t n_tensors; /* tensors of a batch, without `valid` */
    uint64_t out_bytes; /* bytes of an output slot */
    uint32_t max_rows;  /* in a batch of this rank */

    const struct fby_device *device;
    const struct fby_cuda   *cuda; /* NULL: batches stay on the host */
    int                      gpu;
    bool                     auto_device; /* device "auto": GPU if possible */
    bool                     fixed_outputs;
    struct fby_gpu_upload_memory tensor_allocator;
    uint64_t arena_bytes; /* of the memory that is copied to a GPU per batch */
    uint64_t work_bytes;  /* work memory after the arena, on the GPU only */
    uint64_t
        work_offset[FBY_MAX_FIELDS]; /* per field; from the arena's start */

    uint64_t window_bytes; /* forebay_options explains these limits */
    uint32_t window_batches;
    uint64_t max_held_bytes;
    uint32_t decode_threads;
    int64_t  open_timeout_ns;
    bool     digests;        /* compute digests of samples and steps */
    bool     verify_decoded; /* compare the hashes of decoded chunks */
    uint64_t audit; /* request every audit-th step from a second worker too, and
                       compare; 0: never */
};

/* Resolve options into a zeroed `out`. Errors: FBY_USAGE, FBY_CONFIG,
 * FBY_NOT_FOUND, FBY_IO or FBY_SYS, explained in `why`. */
FBY_CHECKED fby_err fby_setup_init(struct fby_setup *out,
    const struct forebay_options *options, struct fby_error_detail *why);
/* Free what the setup owns; init may have failed. */
void fby_setup_fini(struct fby_setup *self);

/* Fall back to the host: clear all that concerns the GPU. */
void fby_setup_fall_back_to_host(struct fby_setup *self);

/* The most batches that the window may hold. */
uint32_t fby_setup_max_batches(const struct fby_setup *self);

/* True if the chunks of selected field `field` go to the GPU as received,
 * because the host need not see the values. */
bool fby_setup_uploads_as_received(
    const struct fby_setup *self, uint32_t field);

/* Bit i: the selected field i is ragged. */
uint64_t fby_setup_ragged_bits(const struct fby_setup *self);

/* True if the chunks of selected field `field` may be decoded straight to the
 * tensor on the host, because the tensor holds the raw bytes. */
bool fby_setup_is_direct(const struct fby_setup *self, uint32_t field);

#endif
