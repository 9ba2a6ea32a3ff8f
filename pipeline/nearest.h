/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - "did you mean ...?" by edit distance. */
#ifndef FBY_PIPELINE_NEAREST_H
#define FBY_PIPELINE_NEAREST_H

#include <stddef.h>

/* A search for the valid name nearest to a wrong word. Start with
 * {.word = "..."}, offer every valid name, then read `best`. */
struct fby_nearest {
    const char *word;     /* borrowed */
    const char *best;     /* nearest name, borrowed; NULL: all differ in more
                             than a third of the letters */
    unsigned    distance; /* edits from `word` to `best`; swaps count as one */
    char        known[512]; /* the names offered, "a, b, c"; cut if too long */
};

/* Add `name` to `known`, and make it `best` if it is nearer than the best. */
void fby_nearest_offer(struct fby_nearest *self, const char *name);

/* The nearest of `n` names; NULL if none is near. */
const char *fby_nearest_find(
    const char *word, const char *const *names, size_t n);

struct fby_hint {
    char text[640];
};

/* The end of an error message about an unknown word: "; did you mean 'BEST'?".
 * If no name is near, "; OTHERWISE a, b, c"; "" if `otherwise` is NULL. */
struct fby_hint fby_nearest_hint(
    const struct fby_nearest *self, const char *otherwise);

#endif
