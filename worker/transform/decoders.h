/* decoders.h - the table of decoders, by kind of field.
 *
 * To add one, write a writer and a self check, and add a line for each to the
 * tables in decoders.c. */
#ifndef FBY_WORKER_TRANSFORM_DECODERS_H
#define FBY_WORKER_TRANSFORM_DECODERS_H

#include "common/hash.h"
#include "worker/transform/field.h"

/* A part of a decoder with its own self check. Picture fields use several. */
enum fby_decoder {
    FBY_DECODER_RGB8,     /* JPEG, whole */
    FBY_DECODER_FAITHFUL, /* parts of a JPEG, by dct_scale */
    FBY_DECODER_FAST,
    FBY_DECODER_LABEL,
    FBY_DECODER_NUMBER,
    FBY_DECODER_BYTES,
    FBY_DECODER_PNG, /* pictures */
    FBY_DECODER_MASK8,
    FBY_DECODER_ARRAY,
    FBY_DECODER_BITS,
    FBY_DECODER_PATH, /* JSON keys that are paths */
    FBY_DECODER_TOKENS,
    FBY_DECODER_YUV420, /* pictures to planes */
    FBY_DECODER_PACKED, /* documents in sequences, and their lengths */
    FBY_DECODER_RAGGED, /* rows of several lengths, of every decoder */
    FBY_DECODER_SPARSE,
    FBY_DECODER_JSON_TEXT,
    FBY_N_DECODERS
};

/* A row of the table: which fields use the part, and its self check. */
struct fby_decoder_entry {
    const char *name;  /* in the fingerprint */
    uint32_t    kinds; /* bits: fields of these kinds use it ... */
    bool (*when)(const struct fby_field_content *field); /* NULL: ... always */
    /* Hash the outcomes of the self check. NULL: there is none. */
    fby_err (*try)(
        struct fby_transform *transform, struct fby_digest_state *hash);
};
extern const struct fby_decoder_entry fby_decoders[FBY_N_DECODERS];

#endif
