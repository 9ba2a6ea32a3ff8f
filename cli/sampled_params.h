/* sampled_params.h - what was drawn for a sample's pictures, read off their headers.
 *
 * The same functions as the workers' decide; no pixel is decoded. */
#ifndef FBY_CLI_SAMPLED_PARAMS_H
#define FBY_CLI_SAMPLED_PARAMS_H

#include "cli/local.h"
#include "pipeline/plan/geometry.h"
#include "worker/transform/field.h"

struct fby_sampled_params {
    struct fby_local *local; /* borrowed, open */
    uint64_t          seed;
    uint64_t          epoch;
    uint64_t          step;
    uint32_t          rows;  /* of the global batch, */
    uint32_t          own;   /* and of those, with samples of their own */
    uint8_t          *bytes; /* owned; of the last member read */
    size_t            n_bytes;
};

/* The plans of one picture field of a sample.
 * Errors: those of reading it and of fby_field_plan, with the place. */
FBY_CHECKED fby_err fby_sampled_params_plan(struct fby_sampled_params *self,
    uint64_t sample, const struct fby_field_content *field,
    struct fby_field_plan *out, struct fby_why *why);
void                fby_sampled_params_fini(struct fby_sampled_params *self);

/* Op `i` of a field as a line, for a picture of size `in`: "resize 640x480 >
 * 320x240", "colour_jitter brightness 0.91 hue -0.02", or "horizontal_flip -"
 * where it leaves the picture alone. Returns the picture's size after it. */
enum { FBY_SAMPLED_PARAMS_TEXT = 512 };
struct fby_size fby_sampled_params_text(const struct fby_field_content *field,
    uint32_t i, const struct fby_op_plan *plan, struct fby_size in,
    char out[FBY_SAMPLED_PARAMS_TEXT]);

/* A row of the batch, and the sample that it holds. */
struct fby_sampled_params_row {
    uint32_t row;
    uint64_t sample;
};

/* What op `i` of the device draws for a row, and as a line: "mixup lambda 0.3
 * with row 6". */
struct fby_op_plan fby_sampled_params_device(
    const struct fby_sampled_params *self,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row);

void fby_sampled_params_device_text(const struct fby_sampled_params *self,
    const struct fby_field_content *field, uint32_t i,
    struct fby_sampled_params_row row, char out[FBY_SAMPLED_PARAMS_TEXT]);

#endif
