/* decoders.h - the table of decoders, by kind of field. To add one: a writer,
 * a trial, and a line for each in decoders.c. */
#ifndef FBY_WORKER_TRANSFORM_DECODERS_H
#define FBY_WORKER_TRANSFORM_DECODERS_H

#include "common/hash.h"
#include "worker/transform/field.h"
#include "worker/transform/self_check/decoder_hash.h"

/* Write one sample's values, as fby_field_write does. */
typedef fby_err fby_field_writer(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* By number of the kind, 1 to fby_n_field_kinds - 1. */
extern fby_field_writer *const fby_field_writers[];

/* One part of what decoders do, by itself. */
struct fby_decoder_entry {
    const char *name;  /* in the fingerprint */
    uint32_t    kinds; /* bits: fields of these kinds use it, */
    bool (*when)(const struct fby_field_content *field); /* NULL: all, if so */
    /* Hash what it does. NULL: there is nothing to try. */
    fby_err (*try)(
        struct fby_transform *transform, struct fby_digest_state *hash);
};
extern const struct fby_decoder_entry fby_decoders[FBY_N_DECODERS];

#endif
