/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - find the valid name that is nearest to a wrong word. */
#include "pipeline/nearest.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/text.h"

enum { MAX_LENGTH = 63 }; /* longer words and names are never near */

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distances (optimal string alignment): rows[i % 3][j] is the distance
 * from the first i letters of `a` to the first j letters of `b`. Three rows are
 * kept, because a swap of two letters needs the row before the previous one. */
struct distance_table {
    const char *a;
    const char *b;
    unsigned    rows[3][MAX_LENGTH + 1];
};

/* The distance rows[i % 3][j], from the distances of shorter prefixes. */
static unsigned compute_cell(const struct distance_table *t, size_t i, size_t j)
{
    const unsigned *row          = t->rows[i % 3];
    const unsigned *previous_row = t->rows[(i - 1) % 3];
    unsigned        substitution = t->a[i - 1] != t->b[j - 1] ? 1 : 0;
    unsigned        edits        = min(min(previous_row[j], row[j - 1]) + 1,
                      previous_row[j - 1] + substitution);
    bool            is_swap = i > 1 && j > 1 && t->a[i - 1] == t->b[j - 2] &&
                   t->a[i - 2] == t->b[j - 1];
    return is_swap ? min(edits, t->rows[(i - 2) % 3][j - 2] + 1) : edits;
}

static unsigned edit_distance(const char *a, const char *b)
{
    struct distance_table t        = {.a = a, .b = b};
    size_t                length_a = strlen(a);
    size_t                length_b = strlen(b);
    for (unsigned j = 0; j <= length_b; j++) {
        t.rows[0][j] = j;
    }
    for (size_t i = 1; i <= length_a; i++) {
        t.rows[i % 3][0] = (unsigned)i;
        for (size_t j = 1; j <= length_b; j++) {
            t.rows[i % 3][j] = compute_cell(&t, i, j);
        }
    }
    return t.rows[length_a % 3][length_b];
}

void fby_nearest_offer(struct fby_nearest *self, const char *name)
{
    fby_text_append_name(self->known, sizeof(self->known), name);
    size_t word_length = strlen(self->word);
    size_t name_length = strlen(name);
    if (word_length > MAX_LENGTH || name_length > MAX_LENGTH) {
        return;
    }
    size_t   longer = word_length > name_length ? word_length : name_length;
    unsigned edits  = edit_distance(self->word, name);
    /* About a third of the letters may differ, but not all of them. */
    bool is_near = edits <= (longer + 1) / 3 && edits < longer;
    if (is_near && (self->best == NULL || edits < self->distance)) {
        self->best     = name;
        self->distance = edits;
    }
}

const char *fby_nearest_find(
    const char *word, const char *const *names, size_t n)
{
    struct fby_nearest nearest = {.word = word};
    for (size_t i = 0; i < n; i++) {
        fby_nearest_offer(&nearest, names[i]);
    }
    return nearest.best;
}

struct fby_hint fby_nearest_hint(
    const struct fby_nearest *self, const char *otherwise)
{
    struct fby_hint hint = {{0}};
    if (self->best != NULL) {
        snprintf(
            hint.text, sizeof(hint.text), "; did you mean '%s'?", self->best);
    } else if (otherwise != NULL) {
        snprintf(
            hint.text, sizeof(hint.text), "; %s %s", otherwise, self->known);
    }
    return hint;
}
