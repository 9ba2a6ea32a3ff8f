/* auto.h - choose the coding of a field, when the user leaves the choice open.
 *
 * The possible codings are tried on a few chunks each, in order of CPU cost. A
 * later one must produce a sixteenth less than the best before it. The best one
 * is kept while it saves at least an eighth, else the bytes are stored. It is
 * dropped only after a whole window of chunks saved less, and tried again after
 * a pause that doubles each time, so that noise causes no flapping. If packing
 * halves pictures, no other coding is tried: it takes ten times the CPU time,
 * and photographs never gain by it.
 * Pure: no clock, no thread. One state per field and session; its owner locks.
 */
#ifndef FBY_CODEC_AUTO_H
#define FBY_CODEC_AUTO_H

#include "codec/codec.h"

enum {
    FBY_AUTO_TRIAL     = 4,   /* chunks of the trial of one candidate */
    FBY_AUTO_WINDOW    = 32,  /* chunks between checks of the one in use */
    FBY_AUTO_PAUSE_MIN = 128, /* chunks stored before the next trials */
    FBY_AUTO_PAUSE_MAX = 8192,
    FBY_AUTO_TERM      = 8192 /* chunks in use before the next trials */
};

struct fby_auto {
    struct fby_coding candidates[5]; /* cheapest first */
    uint32_t          n_candidates;
    bool              may_store; /* storing is among the choices */
    uint32_t          state;     /* enum auto_state of auto.c */
    uint32_t          at;        /* index of the candidate tried or in use */
    uint32_t          best;      /* index of the best one tried so far */
    uint32_t          seen;      /* chunks fed in this state */
    uint32_t          used;      /* chunks since the trials ended */
    uint32_t          pause;     /* chunks to store before the next trials */
    uint64_t          raw_bytes, wire_bytes; /* of the chunks seen */
    uint64_t          best_permille;         /* wire / raw of `best` */
};

/* What a request asks for and what its receiver supports. */
struct fby_wish {
    uint8_t                 filter; /* enum fby_filter, or FBY_AUTO */
    uint8_t                 codec;  /* enum fby_codec, or FBY_AUTO */
    struct fby_codec_params params; /* of the array to encode */
    uint32_t filters, codecs;       /* bit n: the receiver supports number n */
};

/* Whether this filter and codec, each a number or FBY_AUTO, can be combined:
 * photo and pack go only with each other. */
bool fby_auto_possible(uint8_t filter, uint8_t codec);

/* The same, and the coding suits the array: photo and pack are for pictures. */
bool fby_auto_suits(const struct fby_wish *wish);

/* Start for a wish that fby_auto_suits accepts. When neither filter nor codec
 * is FBY_AUTO the coding is fixed: as asked for, or stored if the receiver does
 * not support that. */
void fby_auto_init(struct fby_auto *self, const struct fby_wish *wish);

/* The coding for the next chunk, or for all chunks of the next batch. */
struct fby_coding fby_auto_ask(const struct fby_auto *self);

/* Report the sizes of a chunk that was encoded with `coding`. Ignored when
 * fby_auto_ask no longer returns that coding. */
void fby_auto_feed(struct fby_auto *self, struct fby_coding coding,
    uint32_t raw_bytes, uint32_t wire_bytes);

#endif
