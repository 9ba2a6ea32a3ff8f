/* auto.h - which coding a field travels in, when the user leaves it to us.
 *
 * Each possible coding is tried on a few chunks, in order of their CPU cost: a
 * later one must make a sixteenth less than the best before it. The best is
 * kept while it saves at least an eighth, else the bytes are stored. One is
 * dropped only after a whole window of chunks saved less, and tried again after
 * a pause that doubles each time, so that noise does not make it flap. Of
 * pictures that packing halves nothing else is tried: it takes ten times the
 * CPU time, and photographs never gain by it.
 * Pure: no clock, no thread; one a field and session, its owner locks. */
#ifndef FBY_CODEC_AUTO_H
#define FBY_CODEC_AUTO_H

#include "codec/codec.h"

enum {
    FBY_AUTO_TRIAL     = 4,   /* chunks a candidate is tried on */
    FBY_AUTO_WINDOW    = 32,  /* chunks over which one in use is judged */
    FBY_AUTO_PAUSE_MIN = 128, /* chunks stored before the next trial */
    FBY_AUTO_PAUSE_MAX = 8192,
    FBY_AUTO_TERM      = 8192 /* chunks in use before all are tried anew */
};

struct fby_auto {
    struct fby_coding candidates[5]; /* cheapest first */
    uint32_t          n_candidates;
    bool              may_store; /* storing is among the choices */
    uint32_t          state;     /* enum auto_state of auto.c */
    uint32_t          at;        /* candidate tried or in use */
    uint32_t          best;      /* of those tried so far */
    uint32_t          seen;      /* chunks fed in this state */
    uint32_t          used;      /* chunks since the trials ended */
    uint32_t          pause;     /* chunks to store before the next trial */
    uint64_t          raw_bytes, wire_bytes; /* of the chunks seen */
    uint64_t          best_permille;         /* wire / raw of `best` */
};

struct fby_wish {
    uint8_t                 filter; /* a number, or FBY_AUTO */
    uint8_t                 codec;  /* likewise */
    struct fby_codec_params params; /* of what is to be coded */
    uint32_t filters, codecs; /* bit n: the receiver understands number n */
};

/* Whether there is a coding of this filter and codec, each a number or
 * FBY_AUTO: photo and pack go only with each other. */
bool fby_auto_possible(uint8_t filter, uint8_t codec);

/* The same for such arrays: photo and pack are for pictures. */
bool fby_auto_suits(const struct fby_wish *wish);

/* For a wish that suits. With neither number AUTO the answer is always what was
 * asked for, or storing where the receiver does not understand that. */
void fby_auto_init(struct fby_auto *self, const struct fby_wish *wish);

/* The coding for the next chunk (or batch: ask once, feed each chunk). */
struct fby_coding fby_auto_ask(const struct fby_auto *self);

/* What became of a chunk that was encoded with `coding`. Chunks of a coding
 * that is no longer asked for count nothing. */
void fby_auto_feed(struct fby_auto *self, struct fby_coding coding,
    uint32_t raw_bytes, uint32_t wire_bytes);

#endif
