/* SPDX-License-Identifier: Apache-2.0 */
/* mask_size.h - compare the sizes of masks with those of their pictures.
 *
 * A mask (mask8, maps) with the group of a picture follows it: random crops and
 * flips are the same. If the two files differ in size, the pixels of one are
 * not those of the other. Then the sample is bad, unless the field says
 * `fit: stretch`. Only fields that the request chose are compared. */
#ifndef FBY_WORKER_PLAN_MASK_SIZE_H
#define FBY_WORKER_PLAN_MASK_SIZE_H

#include "pipeline/plan/geometry.h"
#include "worker/source/dataset.h"

/* The index of the first mask whose size differs from that of its picture; -1:
 * there is none. sizes[i] is the size of the upright picture of fields[i],
 * before its ops; {0, 0}: no picture, or not decoded. Pure. */
int fby_mask_size_find_mismatch(const struct fby_field_content *fields,
    uint32_t n, const struct fby_size *sizes);

/* A sample whose fields were made. All pointers are borrowed. */
struct fby_mask_sample {
    const struct fby_content *content;
    const struct fby_dataset *dataset;
    uint64_t                  number;
    const struct fby_size    *sizes; /* as for fby_mask_size_find_mismatch */
};

struct fby_mask_mismatch {
    int               field;  /* index of the mask's field; -1: none */
    struct fby_member member; /* of the mask; set if `field` is */
};

/* Check the masks of a sample. `made` is the result of making its fields, whose
 * error, if any, is in `why`. An op may have refused a mask because of its
 * size, so a wrong size replaces FBY_BAD_SAMPLE in `made`. Then `why` names the
 * field, both members, both sizes and the remedy.
 * Errors: FBY_BAD_SAMPLE  a mask and its picture differ in size
 *         `made`          otherwise. */
FBY_CHECKED fby_err fby_mask_size_check(const struct fby_mask_sample *sample,
    fby_err made, struct fby_mask_mismatch *out, struct fby_error_detail *why);

#endif
