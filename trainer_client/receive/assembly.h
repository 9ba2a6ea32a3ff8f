/* assembly.h - one answer while its chunks arrive.
 *
 * The window decides which chunk is taken, and takes none twice. This module
 * checks the form of the batch. Content and rows alone give the layout, so
 * HEADER, chunks and END are compared with the expected values and never
 * trusted.
 * Thread: the receiver's. */
#ifndef FBY_CLIENT_RECEIVE_ASSEMBLY_H
#define FBY_CLIENT_RECEIVE_ASSEMBLY_H

#include "common/err.h"
#include "proto/frame.h"
#include "proto/layout.h"
#include "proto/wire.h"

/* The batch that was requested. */
struct fby_expected_batch {
    struct fby_request_id     id;
    uint64_t                  epoch, step;
    uint32_t                  first_row, rows;
    const struct fby_content *content;
    uint64_t                  selected; /* bit i: field i of content; 0: all */
    uint64_t                  asked;    /* fby_request_sum of the REQUEST */
};

struct fby_assembly {
    struct fby_expected_batch expected;
    struct fby_raw_layout     layout;
    struct fby_chunk_sent    *sent;        /* for each chunk taken, by index */
    uint32_t                  capacity;    /* elements of `sent` */
    struct fby_substituted   *substituted; /* owned, with their texts */
    size_t                    n_substituted;
    uint64_t                 *samples; /* owned; per row, with buckets only */
    bool                      ended;   /* a valid END was taken */
    struct fby_stage_times    times;
};

/* Allocate room for `max_chunks`; all other members become zero. */
void fby_assembly_init(struct fby_assembly *self, uint32_t max_chunks);
/* Free the contents. A zeroed struct is allowed. */
void fby_assembly_fini(struct fby_assembly *self);

/* Start over with another request. `expected` must fit `max_chunks`.
 * Errors: FBY_CONFIG as fby_layout_of_content. */
FBY_CHECKED fby_err fby_assembly_begin(struct fby_assembly *self,
    const struct fby_expected_batch *expected, struct fby_why *why);

/* Check HEADER.
 * Errors: FBY_PROTO when it is not that of the requested batch: epoch, step,
 *         rows, fields, shapes, layout or recipe. */
FBY_CHECKED fby_err fby_assembly_header(const struct fby_assembly *self,
    const struct fby_header *header, struct fby_why *why);

/* Keep hash and size of a chunk accepted by fby_chunk_check and the window. */
void fby_assembly_chunk(
    struct fby_assembly *self, const struct fby_chunk *chunk);

/* Check END after all chunks: true when its sums match the prefixes of the
 * chunks and its substitutions are valid. A second END changes nothing. */
bool fby_assembly_end(
    struct fby_assembly *self, const struct fby_end *end, struct fby_why *why);

/* A hash of all that END says about the content: equal for two correct answers
 * to one request. */
struct fby_sum fby_end_content(const struct fby_end *end);

#endif
