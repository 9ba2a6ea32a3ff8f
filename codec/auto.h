/* SPDX-License-Identifier: Apache-2.0 */
/* auto.h - choose the coding of a field when the user leaves the choice open.
 *
 * A coding is a pair of filter and codec (coding.h). The codings that suit the
 * field and that both peers have are the candidates. Each candidate is tried on
 * a few chunks, in order of CPU cost. A later candidate replaces the best one
 * so far only if its output is smaller by a sixteenth. The best candidate is
 * used while it saves at least an eighth of the raw bytes. Savings are checked
 * after every FBY_AUTO_WINDOW chunks. When the best candidate saves less,
 * chunks are stored (sent as they are), and new trials follow after a pause.
 * The pause doubles each time, so that noise does not cause frequent changes.
 * If packing halves pictures, no other candidate is tried, because LZ4 takes
 * ten times the CPU time and does not compress photographs better.
 *
 * Pure: no clock, no thread. There is one state per field and session; the
 * caller serialises access to it. */
#ifndef FBY_CODEC_AUTO_H
#define FBY_CODEC_AUTO_H

#include "codec/codec.h"

enum {
    FBY_AUTO_TRIAL     = 4,   /* chunks in the trial of one candidate */
    FBY_AUTO_WINDOW    = 32,  /* chunks from one check of savings to the next */
    FBY_AUTO_PAUSE_MIN = 128, /* chunks stored in the first pause */
    FBY_AUTO_PAUSE_MAX = 8192, /* chunks stored in the longest pause */
    FBY_AUTO_USE_MAX   = 8192  /* chunks encoded with the best candidate until
                                  new trials begin */
};

struct fby_auto {
    /* In order of CPU cost, the cheapest first. */
    struct fby_coding candidates[FBY_N_FILTERS * FBY_N_CODECS];
    uint32_t          n_candidates;
    bool              may_store; /* the request allows stored chunks */
    uint32_t          state;     /* enum auto_state of auto.c */
    uint32_t          current;   /* index in candidates[]: in trial or use */
    uint32_t          best;      /* index in candidates[]: the best so far */
    uint32_t          n_seen;    /* chunks recorded in this state */
    uint32_t          n_used;    /* chunks in whole windows since the trials */
    uint32_t          pause;     /* chunks to store before the next trials */
    uint64_t          raw_bytes, wire_bytes; /* sums over n_seen chunks */
    uint64_t best_permille; /* wire bytes of `best` per 1000 raw bytes */
};

/* The coding that a client requests for a field, and those it can decode. */
struct fby_coding_request {
    uint8_t                 filter; /* enum fby_filter, or FBY_AUTO */
    uint8_t                 codec;  /* enum fby_codec, or FBY_AUTO */
    struct fby_codec_params params; /* for the field to encode */
    uint32_t filters, codecs;       /* bit n: the client can decode number n */
};

/* True if this filter and codec, each a number or FBY_AUTO, can be combined:
 * photo goes only with pack, and pack only with photo. */
bool fby_auto_is_possible(uint8_t filter, uint8_t codec);

/* True if the request is possible and suits its field: photo and pack are for
 * pictures only. */
bool fby_auto_suits(const struct fby_coding_request *request);

/* Begin the choice for a request that fby_auto_suits accepts. The coding is
 * fixed if neither filter nor codec is FBY_AUTO, if the codec is store, or if
 * there is no candidate. It is then the requested coding. If the client
 * cannot decode that one, or there is no candidate, chunks are stored. */
void fby_auto_init(
    struct fby_auto *self, const struct fby_coding_request *request);

/* The coding for the next chunk, or for all chunks of the next batch. */
struct fby_coding fby_auto_next(const struct fby_auto *self);

/* Report the sizes of a chunk that was encoded with `coding`. A report is
 * ignored when fby_auto_next no longer returns its coding. */
void fby_auto_record(struct fby_auto *self, struct fby_coding coding,
    uint32_t raw_bytes, uint32_t wire_bytes);

#endif
