/* decoders.h - the table of decoders, by kind of field. To add one: a writer,
 * a trial, and a line for each in decoders.c. */
#ifndef FBY_WORKER_TRANSFORM_DECODERS_H
#define FBY_WORKER_TRANSFORM_DECODERS_H

#include "common/hash.h"
#include "worker/transform/field.h"

/* What can be tried by itself. A picture field is made of several. */
enum fby_decoder {
    FBY_DECODER_RGB8,     /* JPEG, whole */
    FBY_DECODER_FAITHFUL, /* parts of it, by dct_scale */
    FBY_DECODER_FAST,
    FBY_DECODER_LABEL,
    FBY_DECODER_NUMBER,
    FBY_DECODER_BYTES,
    FBY_DECODER_PNG, /* pictures */
    FBY_DECODER_MASK8,
    FBY_DECODER_ARRAY,
    FBY_DECODER_BITS,
    FBY_DECODER_PATH, /* into JSON */
    FBY_DECODER_TOKENS,
    FBY_DECODER_YUV420, /* pictures to planes */
    FBY_DECODER_PACKED, /* documents in sequences, and their lengths */
    FBY_DECODER_RAGGED, /* rows of several lengths, of every decoder */
    FBY_DECODER_SPARSE,
    FBY_DECODER_JSON_TEXT,
    FBY_N_DECODERS
};

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
