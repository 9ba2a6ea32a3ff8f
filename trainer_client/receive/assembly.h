/* assembly.h - one answer being put together in its slot.
 *
 * The window decides which chunk is taken, and takes none twice; this part
 * knows what the batch must look like. Content and rows alone give the layout,
 * so HEADER, chunks and END are compared with what we expect and believed in
 * nothing. One thread: the receiver's. */
#ifndef FBY_CLIENT_RECEIVE_ASSEMBLY_H
#define FBY_CLIENT_RECEIVE_ASSEMBLY_H

#include "common/err.h"
#include "proto/frame.h"
#include "proto/layout.h"
#include "proto/wire.h"

/* What was asked for. */
struct fby_wanted {
    struct fby_request_id     id;
    uint64_t                  epoch, step;
    uint32_t                  first_row, rows;
    const struct fby_content *content;
    uint64_t                  selected; /* bit i: field i of the content */
    uint64_t                  asked;    /* fby_request_sum of the REQUEST */
};

struct fby_assembly {
    struct fby_wanted       wanted;
    struct fby_raw_layout   layout;
    struct fby_chunk_sent  *sent;        /* of each chunk taken, by index */
    uint32_t                room;        /* of them allocated */
    struct fby_substituted *substituted; /* owned, with their texts */
    size_t                  n_substituted;
    uint64_t               *samples; /* owned; of each row, with buckets */
    bool                    ended;   /* a good END was taken */
    struct fby_stage_times  times;
};

/* Room for `max_chunks`; zeroed otherwise. fini copes with a zeroed one. */
void fby_assembly_init(struct fby_assembly *self, uint32_t max_chunks);
void fby_assembly_fini(struct fby_assembly *self);

/* Begin anew with another request. `wanted` fits the room.
 * Errors: FBY_CONFIG as fby_layout_of_content. */
FBY_CHECKED fby_err fby_assembly_begin(struct fby_assembly *self,
    const struct fby_wanted *wanted, struct fby_why *why);

/* Errors: FBY_PROTO when HEADER is not that of the batch asked for: place,
 * fields, shapes, layout or recipe. */
FBY_CHECKED fby_err fby_assembly_header(const struct fby_assembly *self,
    const struct fby_header *header, struct fby_why *why);

/* Keep hash and size of a chunk that fby_chunk_check and the window took. */
void fby_assembly_chunk(
    struct fby_assembly *self, const struct fby_chunk *chunk);

/* Take END once all chunks are there: true when its sums are those of the
 * prefixes and its substitutions make sense. A second one changes nothing. */
bool fby_assembly_end(
    struct fby_assembly *self, const struct fby_end *end, struct fby_why *why);

/* A hash of all that END says about the content: equal for two true answers
 * to one question. */
struct fby_sum fby_end_content(const struct fby_end *end);

#endif
