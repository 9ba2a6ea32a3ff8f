/* assembly.h - the checks of one answer while its messages arrive.
 *
 * The window decides which chunk is taken, and takes no chunk twice. This
 * module checks HEADER and END. Content and number of rows determine the layout
 * of the batch, so each message is compared with expected values and never
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
    uint32_t                  first_row; /* of this rank, in the global batch */
    uint32_t                  rows;
    const struct fby_content *content;
    uint64_t                  selected; /* bit i: field i of content; 0: all */
    uint64_t                  asked; /* fby_request_checksum of the REQUEST */
};

struct fby_assembly {
    struct fby_expected_batch expected;
    struct fby_raw_layout     layout;
    struct fby_chunk_sent    *sent;        /* hash and size of taken chunks */
    uint32_t                  capacity;    /* elements of `sent` */
    struct fby_substituted   *substituted; /* owned, with their texts */
    size_t                    n_substituted;
    uint64_t              *samples; /* owned; per row; NULL without buckets */
    bool                   ended;   /* a valid END was taken */
    struct fby_stage_times times;   /* the worker's times, from END */
};

/* Allocate room for `max_chunks`; all other members become zero. */
void fby_assembly_init(struct fby_assembly *self, uint32_t max_chunks);
/* Free the contents. A zeroed struct is allowed. */
void fby_assembly_fini(struct fby_assembly *self);

/* Start over with another request, of at most `max_chunks` chunks.
 * Errors: FBY_CONFIG as fby_layout_of_content. */
FBY_CHECKED fby_err fby_assembly_begin(struct fby_assembly *self,
    const struct fby_expected_batch *expected, struct fby_error_detail *why);

/* Check HEADER.
 * Errors: FBY_PROTO when epoch, step, rows, fields, shapes, layout or recipe
 *         differ from those of the requested batch. */
FBY_CHECKED fby_err fby_assembly_check_header(const struct fby_assembly *self,
    const struct fby_header *header, struct fby_error_detail *why);

/* Store hash and size of a chunk that fby_chunk_check_layout and the window accepted,
 * to compare them with END. */
void fby_assembly_add_chunk(
    struct fby_assembly *self, const struct fby_chunk *chunk);

/* Check END after all chunks, and store what it says. False: the checksums
 * differ from those of the chunks, or a substitution is invalid. A second END
 * is only checked. */
bool fby_assembly_take_end(struct fby_assembly *self, const struct fby_end *end,
    struct fby_error_detail *why);

/* A hash of all values in END that depend on the content. Two correct answers
 * to one request have equal hashes. */
struct fby_checksum fby_end_content(const struct fby_end *end);

#endif
