/* SPDX-License-Identifier: Apache-2.0 */
/* assembly.h - checks the HEADER and END messages of one answer.
 *
 * Between HEADER and END come chunks, and the window decides which of them are
 * taken. A worker is not trusted: the pipeline's content and the number of rows
 * determine the layout of the batch, and each message must match this layout.
 * Thread: the receiver's. */
#ifndef FBY_CLIENT_RECEIVE_ASSEMBLY_H
#define FBY_CLIENT_RECEIVE_ASSEMBLY_H

#include "common/err.h"
#include "proto/frame.h"
#include "proto/layout.h"
#include "proto/wire.h"

/* The batch that was requested. */
struct fby_expected_batch {
    struct fby_request_id id;
    uint64_t              epoch, step;
    uint32_t first_row; /* index of this rank's first row in the global batch */
    uint32_t rows;      /* number of this rank's rows */
    const struct fby_content *content; /* borrowed */
    uint64_t selected; /* bit i: field i of content is requested; 0: all */
    uint64_t request_checksum; /* fby_request_checksum of the REQUEST */
};

struct fby_assembly {
    struct fby_expected_batch expected;
    struct fby_raw_layout     layout;      /* of the expected batch */
    struct fby_chunk_sent    *chunks_sent; /* hash and size of each chunk */
    uint32_t                  capacity;    /* elements of chunks_sent */
    struct fby_substituted   *substituted; /* replaced bad samples, from END;
                                              owned, with their texts */
    size_t                    n_substituted;
    uint64_t *samples; /* sample number of each row, from END; or NULL */
    bool      ended;   /* a valid END was stored */
    struct fby_stage_times times; /* the worker's times, from END */
};

/* Initialize for answers of at most `max_chunks` chunks. */
void fby_assembly_init(struct fby_assembly *self, uint32_t max_chunks);
/* Free the contents. A zeroed struct is allowed. */
void fby_assembly_fini(struct fby_assembly *self);

/* Expect the answer to another request, and drop what is stored.
 * Errors: FBY_CONFIG  more than max_chunks chunks, or as
 *                     fby_layout_of_content */
FBY_CHECKED fby_err fby_assembly_begin(struct fby_assembly *self,
    const struct fby_expected_batch *expected, struct fby_error_detail *why);

/* Check HEADER.
 * Errors: FBY_PROTO when epoch, step, rows, fields, shapes, layout or recipe
 *         differ from those of the requested batch. */
FBY_CHECKED fby_err fby_assembly_check_header(const struct fby_assembly *self,
    const struct fby_header *header, struct fby_error_detail *why);

/* Store the hash and size of a chunk, to compare them with END.
 * fby_chunk_check_layout and the window have accepted the chunk. */
void fby_assembly_add_chunk(
    struct fby_assembly *self, const struct fby_chunk *chunk);

/* Check END, once all chunks were added. Store its values, unless an earlier
 * END was stored. Returns false if a checksum differs from that of the chunks,
 * or if a substitution or the number of samples is invalid. */
bool fby_assembly_accept_end(struct fby_assembly *self,
    const struct fby_end *end, struct fby_error_detail *why);

/* A hash of all values in END that depend on the content. Two correct answers
 * to one request have equal hashes. */
struct fby_checksum fby_end_content_hash(const struct fby_end *end);

#endif
