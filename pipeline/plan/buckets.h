/* buckets.h - the samples of a dataset, sorted into buckets of like length.
 *
 * Within a bucket samples stand in their own order. Made once for a dataset
 * and a content, and shared by the orders of all epochs: 4 bytes a sample. */
#ifndef FBY_PIPELINE_PLAN_BUCKETS_H
#define FBY_PIPELINE_PLAN_BUCKETS_H

#include <stdint.h>

struct fby_buckets {
    uint32_t  n;       /* buckets; some may be empty */
    uint32_t  samples; /* in all of them */
    uint32_t *begins;  /* a bucket, and one more: its first in `sorted` */
    uint32_t *sorted;  /* sample numbers, bucket by bucket */
};

/* `bucket` says of each of `samples` which of the n it is in. */
struct fby_buckets *fby_buckets_create(
    const uint8_t *bucket, uint32_t samples, uint32_t n);
void fby_buckets_destroy(struct fby_buckets **self_p);

#endif
