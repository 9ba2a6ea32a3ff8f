/* SPDX-License-Identifier: Apache-2.0 */
/* apply.h - run the ops of a field on a picture.
 *
 * An op first makes a plan for a picture (fby_op_plan, pipeline/op.h): crop,
 * scale and mirror, then steps, such as a blur. A chain is the list of links
 * that carries out the plans of all ops. A link is a step, or a pass: crops,
 * mirrors and at most one scaling, combined (passes.h). The input of a chain is
 * a picture in memory, or rows from a decoder. */
#ifndef FBY_WORKER_TRANSFORM_APPLY_H
#define FBY_WORKER_TRANSFORM_APPLY_H

#include <stdbool.h>

#include "worker/transform/passes.h"
#include "worker/transform/transform.h"

/* Run the ops on `in` and write the result to `out`, without gaps between
 * rows. `out` must have the size that the last plan makes (the size of `in` if
 * there are no ops). The pixels of `in` are overwritten.
 *
 * Thread: one at a time for a transform.
 * Errors: FBY_USAGE when an op or step is unknown, a plan does not fit its
 *         input picture, or `out` has another size; FBY_FULL when memory is
 *         short. */
FBY_CHECKED fby_err fby_transform_run_ops(struct fby_transform *self,
    const struct fby_planned_ops *ops, struct fby_image in,
    struct fby_image out, struct fby_error_detail *why);

/* True if this worker can run the op. */
bool fby_transform_knows_op(uint32_t op_id);

/* ---- chains, for pictures that arrive row by row ------------------------- */

/* The most links of a chain: all passes of a field and all steps of its ops. */
enum { FBY_MAX_LINKS = (FBY_MAX_OPS + 1) + FBY_MAX_OPS * FBY_MAX_STEPS };

struct fby_need;

/* One link of a chain: a pass, or a step. */
struct fby_chain_link {
    const struct fby_pass *pass; /* points into chain->passes; NULL: a step */
    struct fby_step        step; /* if `pass` is NULL */
    struct fby_size        in_size, out_size;
    bool                   needs_output; /* writes another picture than it
                                            reads; false: works in place */
};

/* The links of one picture, in order, and their progress. Links point into the
 * struct, so it must not be copied. */
struct fby_chain {
    struct fby_planned_ops ops;
    struct fby_passes      passes;
    uint32_t               channels; /* bytes of a pixel: 3, or 1 in a mask */
    bool                   ycbcr;    /* the 3 channels are Y, Cb, Cr */
    struct fby_chain_link  links[FBY_MAX_LINKS]; /* the first is a pass */
    uint32_t               n_links;
    uint32_t               n_outputs;    /* links with needs_output */
    uint32_t               outputs_used; /* outputs given to links so far */
    struct fby_image       out; /* output of the last link that needs one */
    struct fby_image       first_out; /* output of the first link */
};

/* The form of a picture before its ops. */
struct fby_chain_input {
    struct fby_size size;
    uint32_t        channels; /* bytes of a pixel: 3, or 1 in a mask */
    bool            ycbcr;    /* the 3 channels are Y, Cb, Cr */
};

/* Plan the chain that turns the picture `in` into `out`. Pure.
 * Errors: FBY_USAGE as fby_transform_run_ops. */
FBY_CHECKED fby_err fby_chain_plan(const struct fby_planned_ops *ops,
    struct fby_chain_input in, const struct fby_image *out,
    struct fby_chain *chain, struct fby_error_detail *why);

/* For each buffer, raise the bytes in `need` to those that the links need, if
 * these are more. `scale` is the scale of the decoder's rows (passes.h).
 * Pure. */
void fby_chain_raise_need(const struct fby_chain *chain,
    const struct fby_source_scale *scale, struct fby_need *need);

/* Returns the part of the full-size picture that the first pass reads. It is
 * smaller than the box of the pass if the ops crop the scaled result. Each of
 * its sides is between two decoded pixels, or is a side of the box. Pure. */
struct fby_box fby_chain_source_box(
    const struct fby_chain *chain, const struct fby_source_scale *scale);

/* Run a chain on a picture that arrives row by row. Begin the first pass, add
 * all rows of fby_chain_source_box, then end it, which also runs the other
 * links. `scale` is the scale of the rows. FBY_RESIZE_ROW_SLACK bytes after
 * each row must be readable.
 * Errors: FBY_FULL when memory is short. */
FBY_CHECKED fby_err fby_chain_begin(struct fby_transform *self,
    struct fby_chain *chain, const struct fby_source_scale *scale);
void fby_chain_add_rows(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_image *rows);
FBY_CHECKED fby_err fby_chain_end(
    struct fby_transform *self, struct fby_chain *chain);

#endif
