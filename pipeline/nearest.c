#include "pipeline/nearest.h"

#include <string.h>

enum { LONGEST = 63 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The classic table of edit distances, row by row: row i is about the first i
 * letters of a word. Three rows are kept, so that a swap of neighbours can look
 * two rows back (optimal string alignment). */
struct table {
    const char *a;
    const char *b;
    unsigned    rows[3][LONGEST + 1];
};

static unsigned cell(const struct table *t, size_t i, size_t j)
{
    const unsigned *now    = t->rows[i % 3];
    const unsigned *before = t->rows[(i - 1) % 3];
    unsigned        differ = t->a[i - 1] != t->b[j - 1] ? 1 : 0;
    unsigned        d =
        least(least(before[j], now[j - 1]) + 1, before[j - 1] + differ);
    if (i > 1 && j > 1 && t->a[i - 1] == t->b[j - 2] &&
        t->a[i - 2] == t->b[j - 1]) {
        d = least(d, t->rows[(i - 2) % 3][j - 2] + 1);
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
            t.rows[i % 3][j] = cell(&t, i, j);
        }
    }
    return t.rows[n_a % 3][n_b];
}

void fby_nearest_offer(struct fby_nearest *self, const char *name)
{
    size_t n_word = strlen(self->word);
    size_t n_name = strlen(name);
    if (n_word > LONGEST || n_name > LONGEST) {
        return;
    }
    size_t   longer = n_word > n_name ? n_word : n_name;
    unsigned d      = distance(self->word, name);
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
