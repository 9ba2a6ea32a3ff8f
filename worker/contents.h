/* contents.h - what has been opened here, and what is being opened.
 *
 * Opening scans a dataset, which may take minutes, so it is done by threads of
 * its own while the loop goes on; those who ask for the same meanwhile share
 * one opening. A dataset is looked at anew for each opening (the manifest's
 * cache makes that cheap), so data that changed is seen by whoever opens it
 * next. A bounded number of contents stays known; a client that asks for a
 * forgotten one is told to send it again. All calls from the loop. */
#ifndef FBY_WORKER_CONTENTS_H
#define FBY_WORKER_CONTENTS_H

#include <stdbool.h>

#include "common/err.h"
#include "proto/wire.h"
#include "worker/prepared.h"

struct fby_contents_config {
    const struct fby_roots *roots; /* borrowed until destroy */
    const char             *cache_dir;
    uint32_t                threads; /* openings at a time */
    uint32_t                waiting; /* openings that may wait for a thread */
    uint32_t                known;   /* contents to remember */
};

struct fby_contents;

FBY_CHECKED fby_err fby_contents_create(
    const struct fby_contents_config *config, struct fby_contents **out);
/* Gives up what is being opened and waits until the threads noticed. */
void fby_contents_destroy(struct fby_contents **self_p);

/* Readable when an opening ended; fby_contents_clear makes it wait again. */
int  fby_contents_fd(const struct fby_contents *self);
void fby_contents_clear(struct fby_contents *self);

struct fby_opening; /* one that ended or goes on; shared by who asked */

/* Open `content` (canonical bytes) at `location`, or join who does.
 *
 * Ownership: the caller lets go of *out with fby_opening_release.
 * Errors:    FBY_PROTO  not a content; FBY_FULL too many at once. */
FBY_CHECKED fby_err fby_contents_open(struct fby_contents *self,
    const struct fby_blob *content, const char *location,
    struct fby_opening **out, struct fby_why *why);

struct fby_opening_state {
    bool                 ended;
    uint64_t             done, total; /* shards, while it goes on */
    fby_err              err;         /* once ended */
    struct fby_why       why;         /* once ended, not FBY_OK */
    struct fby_prepared *prepared;    /* once ended, FBY_OK; borrowed */
};
struct fby_opening_state fby_opening_state(const struct fby_opening *self);

/* Let go; one that nobody waits for any more is given up. NULL is fine. */
void fby_opening_release(struct fby_opening **self_p);

/* What is known of a content by its digests.
 *
 * *nearest is what is here when not all three agree, borrowed: NULL when the
 * content is unknown, else the newest of it, preferably with `data`.
 * Errors: FBY_NOT_FOUND  see *nearest. */
FBY_CHECKED fby_err fby_contents_find(struct fby_contents *self,
    const struct fby_digest *content, const struct fby_digest *data,
    const struct fby_digest *fingerprint, struct fby_prepared **nearest);

#endif
