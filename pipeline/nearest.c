#include "pipeline/nearest.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/text.h"

enum { LONGEST = 63 }; /* words and names that are longer are never near */

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distances (optimal string alignment): rows[i % 3][j] is the distance
 * from the first i letters of `a` to the first j letters of `b`. Three rows are
 * kept, because a swap of two letters needs the row before the previous one. */
struct table {
    const char *a;
    const char *b;
    unsigned    rows[3][LONGEST + 1];
};

static unsigned compute_cell(const struct table *t, size_t i, size_t j)
{
    const unsigned *now    = t->rows[i % 3];
    const unsigned *before = t->rows[(i - 1) % 3];
    unsigned        change = t->a[i - 1] != t->b[j - 1] ? 1 : 0;
    unsigned d = min(min(before[j], now[j - 1]) + 1, before[j - 1] + change);
    if (i > 1 && j > 1 && t->a[i - 1] == t->b[j - 2] &&
        t->a[i - 2] == t->b[j - 1]) {
        d = min(d, t->rows[(i - 2) % 3][j - 2] + 1);
    }
    return d;
}

static unsigned distance(const char *a, const char *b)
{
    struct table t   = {.a = a, .b = b};
    size_t       n_a = strlen(a);
    size_t       n_b = strlen(b);
    for (unsigned j = 0; j <= n_b; j++) {
        t.rows[0][j] = j;
    }
    for (size_t i = 1; i <= n_a; i++) {
        t.rows[i % 3][0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            t.rows[i % 3][j] = compute_cell(&t, i, j);
        }
    }
    return t.rows[n_a % 3][n_b];
}

void fby_nearest_offer(struct fby_nearest *self, const char *name)
{
    fby_text_append_name(self->known, sizeof(self->known), name);
    size_t n_word = strlen(self->word);
    size_t n_name = strlen(name);
    if (n_word > LONGEST || n_name > LONGEST) {
        return;
    }
    size_t   longer = n_word > n_name ? n_word : n_name;
    unsigned d      = distance(self->word, name);
    /* Not more than a third of the letters, rounded, may differ. */
    if (d <= (longer + 1) / 3 && d < longer &&
        (self->best == NULL || d < self->distance)) {
        self->best     = name;
        self->distance = d;
    }
}

const char *fby_nearest_of(const char *word, const char *const *names, size_t n)
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
