/* drawn.h - what was drawn for a sample's pictures, read off their headers.
 *
 * The same functions as the workers' decide; no pixel is decoded. */
#ifndef FBY_CLI_DRAWN_H
#define FBY_CLI_DRAWN_H

#include "cli/local.h"
#include "common/plan/geometry.h"
#include "worker/transform/field.h"

struct fby_drawn {
    struct fby_local *local; /* borrowed, open */
    uint64_t          seed;
    uint64_t          epoch;
    uint8_t          *bytes; /* owned; of the last member read */
    size_t            n_bytes;
};

/* The plans of one picture field of a sample.
 * Errors: those of reading it and of fby_field_plan, with the place. */
FBY_CHECKED fby_err fby_drawn_plan(struct fby_drawn *self, uint64_t sample,
    const struct fby_field_content *field, struct fby_field_plan *out,
    struct fby_why *why);
void                fby_drawn_fini(struct fby_drawn *self);

/* One op as a line: "resize 640x480 > 320x240", "horizontal_flip flipped", or
 * "horizontal_flip -" where nothing is done to a picture of this size. */
enum { FBY_DRAWN_TEXT = 256 };
struct fby_size fby_drawn_text(const struct fby_op_use *use,
    const struct fby_op_plan *plan, struct fby_size in,
    char out[FBY_DRAWN_TEXT]);

#endif
