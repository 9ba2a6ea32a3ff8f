/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h - the constants of a stream, resolved before it begins.
 *
 * The application's options, the pipeline file and the token (from which a
 * stream resumes) become one struct. It says what to request, how the bytes are
 * laid out on the wire, and how they become tensors. */
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
#include "secure/key_file.h"
#include "trainer_client/expand/device.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/gpu/upload.h"

/* The name in error messages of a pipeline that is given as text. */
#define FBY_PIPELINE_TEXT_NAME "pipeline"

struct fby_setup {
    char server[FBY_ENDPOINT_SIZE]; /* endpoint with a numeric address */
    bool has_keys;
    struct fby_key_file key; /* of this trainer, if has_keys */
    char                job[256];
    uint32_t            rank;  /* of this trainer: 0 to world - 1 */
    uint32_t            world; /* number of trainers in the job */
    uint64_t            seed;

    struct fby_split   *split;   /* the chosen split of the pipeline */
    struct fby_buffer   content; /* canonical bytes of split->content */
    struct fby_digest   content_digest;
    struct fby_location location; /* of the split's data, below a named root */
    struct fby_location classes;  /* of the folders that number its classes;
                                     "": its own */
    bool                has_token;
    struct fby_token    token; /* the stream begins at its epoch and step */
    char                cache_dir[FBY_PATH_SIZE]; /* of the user; "": none */
    uint64_t            steps; /* steps from epoch 0 to the end; 0: no limit */
    uint64_t epochs;           /* epochs from epoch 0 to the end; 0: no limit */

    /* A selected field has two indices: `i` among the selected fields, which
     * indexes the arrays below, and content_index[i] in the content. */
    uint64_t selected; /* bit i: field i of the content; 0: all fields */
    uint32_t n_fields; /* number of selected fields */
    uint32_t content_index[FBY_MAX_FIELDS];
    struct fby_expansion *expansions; /* how values become tensors, by field */
    struct fby_raw_layout layout;     /* of a full batch on the wire */
    /* Offsets in an output slot, which holds the tensors of one batch: */
    uint64_t out_offset[FBY_MAX_FIELDS + 1]; /* by field; the last: `valid` */
    uint64_t tensor_offset[FBY_MAX_FIELDS][FBY_TENSORS]; /* of ragged fields */
    uint32_t n_tensors; /* number of tensors of a batch, without `valid` */
    uint64_t out_bytes; /* size of an output slot */
    uint32_t max_rows;  /* most rows of this rank in a batch */

    const struct fby_device *device; /* functions for work on the host */
    const struct fby_cuda   *cuda;   /* NULL: batches stay on the host */
    int                      gpu;    /* number of the GPU, if `cuda` is set */
    bool                     auto_device; /* device "auto": GPU if possible */
    bool fixed_outputs; /* tensors of all batches have the same address */
    bool caller_memory; /* the application gives each batch its memory */
    struct fby_gpu_upload_memory tensor_allocator; /* the application's */
    uint64_t arena_bytes; /* size of the memory that is copied to the GPU */
    uint64_t work_bytes;  /* size of the kernels' memory after that copy */
    uint64_t work_offset[FBY_MAX_FIELDS]; /* by field; from the arena's start */

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

/* Resolve options into a zeroed `out`. Reads the pipeline file, and looks up
 * the server's name and the GPU.
 * Errors: FBY_USAGE, FBY_CONFIG, FBY_NOT_FOUND, FBY_IO, FBY_SYS. */
FBY_CHECKED fby_err fby_setup_init(struct fby_setup *out,
    const struct forebay_options *options, struct fby_error_detail *why);
/* Free what the setup owns, also after a failed init. */
void fby_setup_fini(struct fby_setup *self);

/* Change the setup to deliver batches on the host instead of the GPU. */
void fby_setup_fall_back_to_host(struct fby_setup *self);

/* The most batches that the window may hold. */
uint32_t fby_setup_max_batches(const struct fby_setup *self);

/* True if the chunks of selected field `field` are copied to the GPU undecoded,
 * because the host does not need the values. */
bool fby_setup_uploads_as_received(
    const struct fby_setup *self, uint32_t field);

/* The location of the data as the pipeline has it, for error messages; of
 * "photos:", only the name, as the messages put a colon after it. */
struct fby_data_name {
    char text[FBY_PATH_SIZE];
};
struct fby_data_name fby_setup_data_name(const struct fby_setup *self);

/* Returns bits: bit i is set if the selected field i is ragged (its rows differ
 * in length). */
uint64_t fby_setup_ragged_bits(const struct fby_setup *self);

/* True if the chunks of selected field `field` may be decoded straight to the
 * tensor on the host, because the tensor holds the raw bytes. */
bool fby_setup_is_direct(const struct fby_setup *self, uint32_t field);

/* True if selected field `field` has pictures of which the host expands each
 * chunk right after decoding it, while the raw pixels are still in the cache. */
bool fby_setup_expands_by_chunk(const struct fby_setup *self, uint32_t field);

#endif
