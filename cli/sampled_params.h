/* SPDX-License-Identifier: Apache-2.0 */
/* sampled_params.h - the random parameters of the ops on a sample's pictures.
 *
 * They are computed from the header of each picture, by the functions that the
 * workers use; no pixel is decoded. The trainer applies the ops of the device,
 * on its GPU or host. */
#ifndef FBY_CLI_SAMPLED_PARAMS_H
#define FBY_CLI_SAMPLED_PARAMS_H

#include "cli/local.h"
#include "pipeline/plan/geometry.h"
#include "worker/transform/field.h"

/* A batch, and a buffer for the pictures of its samples. */
struct fby_sampled_params {
    struct fby_local *local; /* borrowed, open */
    uint64_t          seed;
    uint64_t          epoch;
    uint64_t          step;       /* step of the batch, within the epoch */
    uint32_t          rows;       /* of the global batch, with padding */
    uint32_t          valid_rows; /* rows that are not padding */
    uint8_t          *bytes;      /* owned; the last picture file read */
    size_t            capacity;   /* size of `bytes` */
};

/* Compute the plans of the ops on one picture field of a sample.
 * Errors: those of reading the picture and of fby_field_plan, with the location
 *         of the sample. */
FBY_CHECKED fby_err fby_sampled_params_plan(struct fby_sampled_params *self,
    uint64_t sample, const struct fby_field_content *field,
    struct fby_field_plan *out, struct fby_error_detail *why);

/* Free the buffer. `self` is {0} afterwards. */
void fby_sampled_params_fini(struct fby_sampled_params *self);

enum { FBY_SAMPLED_PARAMS_TEXT = 512 }; /* bytes of the text of an op */
/* Describe op `i` of a field in one line, for a picture of size `in`: "resize
 * 640x480 > 320x240", "colour_jitter brightness 0.91 hue -0.02", or
 * "horizontal_flip -" if the op changes nothing. Returns the picture's size
 * after the op. */
struct fby_size fby_sampled_params_describe_op(
    const struct fby_field_content *field, uint32_t i,
    const struct fby_op_plan *plan, struct fby_size in,
    char out[FBY_SAMPLED_PARAMS_TEXT]);

/* A row of the batch and its sample. */
struct fby_sampled_params_row {
    uint32_t row; /* index in the global batch */
    uint64_t sample;
};

/* Returns the drawn parameters of op `i` of the device for a row. */
struct fby_op_plan fby_sampled_params_draw(
    const struct fby_sampled_params *self,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row);

/* Append the lines of a picture field: "image 640x480", then each op with two
 * spaces before it, then "  device: mixup lambda 0.3 with row 6" for each op of
 * the device. `plan` is from fby_sampled_params_plan. */
void fby_sampled_params_append_lines(const struct fby_sampled_params *self,
    const struct fby_field_content *field, const struct fby_field_plan *plan,
    struct fby_sampled_params_row row, struct fby_words *out);

#endif
