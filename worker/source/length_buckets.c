/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/length_buckets.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "pipeline/fields/kind.h"
#include "pipeline/sources/traits.h"

static const struct fby_field_content *bucket_field(
    const struct fby_content *content)
{
    const struct fby_field_content *field = content->fields;
    while (strcmp(field->name, content->bucket_by.field) != 0) {
        field++; /* it exists: the content was checked */
    }
    return field;
}

const struct fby_field_content *fby_stored_length_field(
    const struct fby_content *content)
{
    if (content->bucket_by.n_bounds == 0) {
        return NULL;
    }
    const struct fby_field_content *field = bucket_field(content);
    bool                            counted =
        fby_field_kind(field)->header_has_length && field->max_length > 0;
    bool has_rows = fby_source_traits(content->source)->has_rows;
    return counted || has_rows ? field : NULL;
}

/* Returns the stored length if `is_stored`, else the size of the member. */
static uint64_t length_of(const struct fby_dataset *dataset, uint64_t sample,
    const struct fby_field_content *field, bool is_stored)
{
    if (is_stored) {
        return fby_dataset_sample_length(dataset, sample);
    }
    struct fby_member member;
    fby_err           err = fby_dataset_find_member(
                  dataset, sample, field->from, field->n_from, &member);
    return err == FBY_OK ? member.size : 0;
}

/* The first bucket with a bound >= length; the last bucket has no bound. */
static uint8_t bucket_of(const struct fby_bucket_by *by, uint64_t length)
{
    uint8_t b = 0;
    while (b < by->n_bounds && length > (uint64_t)by->bounds[b]) {
        b++;
    }
    return b;
}

fby_err fby_dataset_sort_into_buckets(const struct fby_dataset *dataset,
    const struct fby_content *content, struct fby_buckets **out,
    struct fby_error_detail *why)
{
    const struct fby_bucket_by *by      = &content->bucket_by;
    uint64_t                    samples = fby_dataset_sample_count(dataset);
    *out                                = NULL;
    if (by->n_bounds == 0) {
        return FBY_OK;
    }
    if (samples > UINT32_MAX) {
        return fby_error_set(why, FBY_CONFIG,
            "%llu samples; bucket_by sorts at most %u",
            (unsigned long long)samples, UINT32_MAX);
    }
    const struct fby_field_content *field = bucket_field(content);
    bool     is_stored = fby_stored_length_field(content) != NULL;
    uint8_t *bucket    = fby_zalloc((size_t)samples + 1); /* + 1: not 0 bytes */
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t length = length_of(dataset, i, field, is_stored);
        bucket[i]       = bucket_of(by, length);
    }
    *out = fby_buckets_create(bucket, (uint32_t)samples, by->n_bounds + 1);
    free(bucket);
    return FBY_OK;
}
