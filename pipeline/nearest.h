/* nearest.h - "did you mean ...?" by edit distance. */
#ifndef FBY_PIPELINE_NEAREST_H
#define FBY_PIPELINE_NEAREST_H

#include <stddef.h>

/* Start with {.word = "..."}, offer every right name, read `best`: the nearest
 * one, or NULL when none is near (more than a third of the letters differ).
 * A swap of two neighbours counts as one step. */
struct fby_nearest {
    const char *word;     /* borrowed */
    const char *best;     /* borrowed from the offers */
    unsigned    distance; /* of best */
};

void fby_nearest_offer(struct fby_nearest *self, const char *name);

/* The same over an array. */
const char *fby_nearest_of(
    const char *word, const char *const *names, size_t n);

#endif
