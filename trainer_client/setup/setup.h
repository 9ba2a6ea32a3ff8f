/* setup.h - everything that is settled before a stream begins.
 *
 * Options, pipeline and token become one constant struct: what to ask for, how
 * it is laid out on its way, and how it is expanded. Pure but for reading the
 * pipeline file and resolving the server's name. */
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
    struct fby_token    token; /* epoch and step: where to begin */
    uint64_t            steps; /* totals from epoch 0, step 0; 0: no end */
    uint64_t            epochs;

    uint64_t              selected; /* bit i: field i of the content; 0: all */
    uint32_t              n_fields; /* selected */
    uint32_t              field[FBY_MAX_FIELDS]; /* position in the content */
    struct fby_expansion *expansions;            /* one each */
    struct fby_raw_layout layout;                /* of a whole batch */
    uint64_t out_offset[FBY_MAX_FIELDS + 1];     /* the last: `valid` */
    uint64_t tensor_offset[FBY_MAX_FIELDS][FBY_TENSORS]; /* where rows vary: of
                                                          each tensor */
    uint32_t n_tensors; /* of a batch, without `valid` */
    uint64_t out_bytes; /* of a whole batch */
    uint32_t max_rows;  /* of this rank's batch */

    const struct fby_device *device;
    const struct fby_cuda   *cuda; /* NULL: batches stay on the host */
    int                      gpu;
    bool                     any_device; /* the GPU is not asked for by name */
    bool                     fixed_outputs;
    struct fby_gpu_upload_memory memory;
    uint64_t arena_bytes;                 /* of a batch on its way to a GPU */
    uint64_t work_bytes;                  /* behind it, there only */
    uint64_t work_offset[FBY_MAX_FIELDS]; /* from the arena's beginning, where
                                             rows are gathered */
    uint64_t window_bytes;
    uint32_t window_batches;
    uint64_t max_held_bytes;
    uint32_t decode_threads;
    int64_t  open_timeout_ns;
    bool     digests;
    bool     verify_decoded;
    uint64_t audit;
};

/* Errors: FBY_USAGE, FBY_CONFIG, FBY_NOT_FOUND, FBY_IO; `why` says. Pass a
 * zeroed `out`; fini copes with a half-made one. */
FBY_CHECKED fby_err fby_setup_init(struct fby_setup *out,
    const struct forebay_options *options, struct fby_why *why);
void                fby_setup_fini(struct fby_setup *self);

/* Batches stay on the host after all. */
void fby_setup_leave_gpu(struct fby_setup *self);

/* Requests under way at most. */
uint32_t fby_setup_window(const struct fby_setup *self);

/* Whether chunks of a field go to a GPU as they come, the host not having seen
 * the values. */
bool fby_setup_is_compact(const struct fby_setup *self, uint32_t field);

/* Bit i: rows of field i (its position among the selected) vary in length. */
uint64_t fby_setup_varying(const struct fby_setup *self);

/* Whether chunks of a field (its position among the selected) may go straight
 * to the tensor on the host, because it holds the raw bytes as they are. */
bool fby_setup_is_direct(const struct fby_setup *self, uint32_t field);

#endif
