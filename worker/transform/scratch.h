/* scratch.h - the members of a fby_transform. Internal to worker/transform.
 *
 * A thread keeps its buffers for the next picture while their sum is within its
 * share. If a picture needs more, the excess is taken from the quota shared by
 * all threads. It is taken at once, before the picture is decoded, and returned
 * when the picture is done. */
#ifndef FBY_WORKER_TRANSFORM_SCRATCH_H
#define FBY_WORKER_TRANSFORM_SCRATCH_H

#include "worker/transform/passes.h"
#include "worker/transform/resize/nearest.h"
#include "worker/transform/transform.h"

struct fby_field_job;

enum { FBY_COST_DECODE = 0, FBY_N_COSTS = 64 };

struct fby_transform {
    struct fby_transform_limits limits;
    uint64_t                    borrowed;   /* bytes of the quota */
    struct fby_scratch          decoded[2]; /* rows; a picture to orient */
    struct fby_scratch          made[2];    /* results of ops, alternating */
    struct fby_scratch          whole;      /* pixels before yuv420 */
    struct fby_scratch          steps;      /* working memory of a step */
    struct fby_scratch          plane;      /* one mask of a stack; kept
                                               while its files are decoded */
    struct fby_resizer          resizer;
    struct fby_nearest_resize   nearest;
    struct fby_cost             costs[FBY_N_COSTS]; /* by op id; 0: decoding */
};

/* Bytes that one sample needs, for each scratch buffer. */
struct fby_need {
    uint64_t decoded[2], made[2], whole, steps, resize;
    uint64_t libraries; /* allocated and freed inside libraries */
};

enum { FBY_MAX_LINKS = (FBY_MAX_OPS + 1) + FBY_MAX_OPS * FBY_MAX_STEPS };

struct fby_chain_link {          /* a pass, or a step */
    const struct fby_pass *pass; /* of the chain; NULL: a step */
    struct fby_step        step;
    uint32_t               op; /* index of the op that is charged its cost */
    struct fby_size        in, out;
    bool                   moves; /* writes another picture, not in place */
};

/* The passes and steps of one picture, in order, and their progress. Links
 * point into the struct, so it must not be copied. */
struct fby_chain {
    struct fby_op_run run;
    struct fby_passes passes;
    uint32_t          channels; /* 3; 1: a mask, which is never interpolated */
    bool              ycbcr;    /* the 3 channels are Y, Cb, Cr */
    struct fby_chain_link
                     links[FBY_MAX_LINKS]; /* in order; the first is a pass */
    uint32_t         n_links;
    uint32_t         n_moves;  /* links with `moves` */
    uint32_t         moved;    /* of these, the number that has begun */
    struct fby_image out;      /* output of the last of them */
    struct fby_image first;    /* output of the first of them */
    int64_t          first_ns; /* wall time of the first pass */
};

struct fby_source { /* a picture before its ops */
    struct fby_size size;
    uint32_t        channels; /* 3; 1: a mask */
    bool            ycbcr;    /* the 3 channels are Y, Cb, Cr */
};

/* Plan the chain of links that makes `out` of the picture `in`. Pure.
 * Errors: FBY_USAGE as fby_transform_run. */
FBY_CHECKED fby_err fby_chain_plan(const struct fby_op_run *run,
    struct fby_source in, const struct fby_image *out, struct fby_chain *chain,
    struct fby_why *why);

/* Raise `need` to what the links need. The source pixels are of `grain`. Pure.
 */
void fby_chain_need(const struct fby_chain *chain,
    const struct fby_grain *grain, struct fby_need *need);

/* The part of the picture that the first pass reads, for source pixels of
 * `grain`. It is smaller than the pass' box if only a window of the scaled
 * result is kept. It begins and ends at borders of source pixels. Pure. */
struct fby_box fby_chain_part(
    const struct fby_chain *chain, const struct fby_grain *grain);

/* Run a chain on a picture that arrives row by row: begin the first pass, pass
 * it all rows of its part, then end it and run the other links. Rows consist of
 * pixels of `grain`; FBY_RESIZE_ROW_SLACK bytes after each may be read.
 * Errors: FBY_FULL when memory is short. */
FBY_CHECKED fby_err fby_chain_begin(struct fby_transform *self,
    struct fby_chain *chain, const struct fby_grain *grain);
void fby_chain_rows(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_image *rows);
FBY_CHECKED fby_err fby_chain_end(
    struct fby_transform *self, struct fby_chain *chain);

/* Reserve `need` until fby_transform_release, from the quota if it exceeds the
 * thread's share.
 *
 * Blocks: while other threads use the quota.
 * Errors: FBY_FULL  more than share and quota together
 *         FBY_GONE  the quota was closed */
FBY_CHECKED fby_err fby_transform_reserve(struct fby_transform *self,
    const struct fby_need *need, struct fby_why *why);

/* Call after each sample: free buffers beyond the thread's share, and return
 * the quota. */
void fby_transform_release(struct fby_transform *self);

/* Decode one picture or mask, run its ops, write it to `out`.
 * Errors: as fby_field_write. */
FBY_CHECKED fby_err fby_picture_write(struct fby_transform *transform,
    const struct fby_field_job *job, struct fby_image out, struct fby_why *why);

/* Decode the masks of a stack and write one bit of each a pixel (stack.c).
 * Errors: as fby_field_write. */
FBY_CHECKED fby_err fby_stack_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* Add a call of `cpu_ns` to the cost of an op, or of decoding (op_id 0). */
void fby_transform_charge(
    struct fby_transform *self, uint32_t op_id, int64_t cpu_ns);

#endif
