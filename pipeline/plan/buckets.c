#include "pipeline/plan/buckets.h"

#include <stdlib.h>

#include "common/mem.h"

struct fby_buckets *fby_buckets_create(
    const uint8_t *bucket, uint32_t samples, uint32_t n)
{
    struct fby_buckets *self = fby_zalloc(sizeof(*self));
    uint32_t           *next = fby_zalloc(((size_t)n + 1) * sizeof(*next));
    self->n                  = n;
    self->samples            = samples;
    self->begins = fby_zalloc(((size_t)n + 1) * sizeof(*self->begins));
    self->sorted = fby_zalloc(((size_t)samples + 1) * sizeof(*self->sorted));
    for (uint32_t i = 0; i < samples; i++) {
        self->begins[bucket[i] + 1]++;
    }
    for (uint32_t b = 0; b < n; b++) {
        self->begins[b + 1] += self->begins[b];
        next[b] = self->begins[b];
    }
    for (uint32_t i = 0; i < samples; i++) {
        self->sorted[next[bucket[i]]++] = i;
    }
    free(next);
    return self;
}

void fby_buckets_destroy(struct fby_buckets **self_p)
{
    struct fby_buckets *self = *self_p;
    if (self != NULL) {
        *self_p = NULL;
        free(self->begins);
        free(self->sorted);
        free(self);
    }
}
