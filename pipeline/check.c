/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - the rules of a content: its source, order, buckets and fields. The
 * rules of one field are in fields/. */
#include "pipeline/check.h"

#include <string.h>

#include "pipeline/derived.h"
#include "pipeline/device_ops.h"
#include "pipeline/exclude.h"
#include "pipeline/fields/check.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

static fby_err check_block_shuffle(
    const struct fby_content *content, struct fby_error_detail *why)
{
    if (content->shuffle != FBY_SHUFFLE_BLOCK) {
        bool are_unset =
            content->block == 0 && content->lanes == 0 && content->slices == 0;
        return are_unset ? FBY_OK
                         : fby_error_set(why, FBY_CONFIG,
                               "block, lanes and slices belong to shuffle: "
                               "{block: K}");
    }
    if (content->block == 0 || content->block > FBY_MAX_BLOCK) {
        return fby_error_set(
            why, FBY_CONFIG, "block is not within 1 to %d", FBY_MAX_BLOCK);
    }
    if (content->lanes == 0 || content->lanes > FBY_MAX_LANES) {
        return fby_error_set(
            why, FBY_CONFIG, "lanes is not within 1 to %d", FBY_MAX_LANES);
    }
    if (content->slices == 0 || content->global_batch % content->slices != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "slices (%u) does not divide global_batch (%u)", content->slices,
            content->global_batch);
    }
    return FBY_OK;
}

static fby_err check_source(
    const struct fby_content *content, struct fby_error_detail *why)
{
    const struct fby_source_traits *source =
        fby_source_traits_by_id(content->source);
    if (source == NULL) {
        return fby_error_set(
            why, FBY_CONFIG, "the kind of the source is not known");
    }
    if (content->n_files > 0 && !source->has_paths) {
        return fby_error_set(why, FBY_CONFIG, "files are columns of a list");
    }
    if (content->excluded.n > 0 &&
        (source->has_rows || source->has_sequences)) {
        return fby_error_set(why, FBY_CONFIG,
            "exclude is for samples with names; this source has none");
    }
    if (!fby_excluded_is_valid(&content->excluded)) {
        return fby_error_set(
            why, FBY_CONFIG, "the excluded samples are not in order");
    }
    return source->check == NULL ? FBY_OK : source->check(content, why);
}

static fby_err check_bounds(
    const struct fby_bucket_by *by, struct fby_error_detail *why)
{
    int64_t previous = 0;
    for (uint32_t i = 0; i < by->n_bounds; i++) {
        if (by->bounds[i] <= previous || by->bounds[i] > FBY_MAX_BOUND) {
            return fby_error_set(why, FBY_CONFIG,
                "bucket_by: bounds are within 1 to 2^40, and ascend");
        }
        previous = by->bounds[i];
    }
    return FBY_OK;
}

static const struct fby_field_content *find_field(
    const struct fby_content *content, const char *name)
{
    for (uint32_t i = 0; i < content->n_fields; i++) {
        if (strcmp(content->fields[i].name, name) == 0) {
            return &content->fields[i];
        }
    }
    return NULL;
}

static fby_err check_buckets(
    const struct fby_content *content, struct fby_error_detail *why)
{
    const struct fby_bucket_by *by = &content->bucket_by;
    if (by->n_bounds == 0) {
        return FBY_OK;
    }
    const struct fby_field_content *field = find_field(content, by->field);
    if (field == NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "bucket_by: there is no field '%s'", fby_text_show(by->field).text);
    }
    const struct fby_source_traits *source = fby_source_traits(content->source);
    /* Rows of columns differ in length only if the field has max_length. */
    bool has_equal_rows = source->has_rows && field->max_length == 0;
    if (has_equal_rows || source->has_sequences) {
        return fby_error_set(why, FBY_CONFIG,
            "bucket_by: the rows of field '%s' are all of one length",
            field->name);
    }
    if (fby_field_is_folder_id(field)) {
        return fby_error_set(why, FBY_CONFIG,
            "bucket_by: field '%s' has no members of different lengths",
            field->name);
    }
    if (content->shuffle == FBY_SHUFFLE_BLOCK) {
        return fby_error_set(why, FBY_CONFIG,
            "bucket_by needs shuffle: full or none; buckets are not cut "
            "into blocks");
    }
    return check_bounds(by, why);
}

static fby_err check_field(
    const struct fby_content *content, uint32_t i, struct fby_error_detail *why)
{
    struct fby_field_fault       fault = {0};
    const struct fby_field_check check = {.field = &content->fields[i],
        .source                                  = content->source,
        .tokens                                  = &content->tokens,
        .fault                                   = &fault};
    if (fby_field_check(&check) == FBY_OK &&
        fby_device_ops_check(content, i, &fault.index, &fault.why) == FBY_OK) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG, "field '%s': %s",
        fby_text_show(check.field->name).text, fault.why.text);
}

fby_err fby_content_check(
    const struct fby_content *content, struct fby_error_detail *why)
{
    FBY_TRY(check_source(content, why));
    if (content->global_batch == 0 || content->global_batch > FBY_MAX_BATCH) {
        return fby_error_set(why, FBY_CONFIG,
            "global_batch is not within 1 to %d", FBY_MAX_BATCH);
    }
    FBY_TRY(check_block_shuffle(content, why));
    if (content->n_fields == 0) {
        return fby_error_set(why, FBY_CONFIG, "there is no field");
    }
    for (size_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *field = &content->fields[i];
        if (i > 0 && strcmp(content->fields[i - 1].name, field->name) >= 0) {
            return fby_error_set(
                why, FBY_CONFIG, "fields are not in byte order of their names");
        }
        FBY_TRY(check_field(content, (uint32_t)i, why));
    }
    return check_buckets(content, why);
}
