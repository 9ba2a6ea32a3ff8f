/* scratch.h - what a fby_transform consists of; for this folder alone.
 *
 * All its memory is scratch memory that stays for the next picture, as long as
 * it is within the thread's own share. What one picture takes beyond the share
 * comes out of the quota that the threads have in common: all of it before
 * the picture is decoded, and it goes back when the picture is done. */
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
    struct fby_scratch          decoded[2]; /* rows; a picture to be turned */
    struct fby_scratch          made[2];    /* by ops, in turn */
    struct fby_scratch          whole;      /* result before it is planes */
    struct fby_scratch          steps;      /* a step's own */
    struct fby_scratch          plane;      /* one mask of a stack; stays
                                               while its files are decoded */
    struct fby_resizer          resizer;
    struct fby_nearest_resize   nearest;
    struct fby_cost             costs[FBY_N_COSTS]; /* by op id; 0: decoding */
};

/* Bytes that one sample needs, each scratch memory by itself. */
struct fby_need {
    uint64_t decoded[2], made[2], whole, steps, resize;
    uint64_t libraries; /* take and give back by themselves */
};

enum { FBY_MAX_LINKS = (FBY_MAX_OPS + 1) + FBY_MAX_OPS * FBY_MAX_STEPS };

struct fby_chain_link {          /* a pass, or a step */
    const struct fby_pass *pass; /* of the chain; NULL: a step */
    struct fby_step        step;
    uint32_t               op; /* whom its cost is charged to */
    struct fby_size        in, out;
    bool                   moves; /* from one picture to another */
};

/* A picture on its way through its passes and steps. Stays where it is. */
struct fby_chain {
    struct fby_op_run run;
    struct fby_passes passes;
    uint32_t          channels; /* 3; 1: a mask, which is never interpolated */
    bool              ycbcr;    /* the three are Y, Cb, Cr */
    struct fby_chain_link
                     links[FBY_MAX_LINKS]; /* in order; the first is a pass */
    uint32_t         n_links;
    uint32_t         n_moves;  /* links that need another picture */
    uint32_t         moved;    /* of these, done */
    struct fby_image out;      /* where the last of them writes to */
    struct fby_image first;    /* and the first one */
    int64_t          first_ns; /* what that took, while rows came */
};

struct fby_source { /* a picture before its ops */
    struct fby_size size;
    uint32_t        channels; /* 3; 1: a mask */
    bool            ycbcr;    /* the three are Y, Cb, Cr */
};

/* Plan such a picture to become `out`. Pure.
 * Errors: FBY_USAGE as fby_transform_run. */
FBY_CHECKED fby_err fby_chain_plan(const struct fby_op_run *run,
    struct fby_source in, const struct fby_image *out, struct fby_chain *chain,
    struct fby_why *why);

/* Add what the passes need, whose first one gets pixels of `grain`. Pure. */
void fby_chain_need(const struct fby_chain *chain,
    const struct fby_grain *grain, struct fby_need *need);

/* What the first pass takes of its box, which is the picture's, when it gets
 * pixels of `grain`: less, where only a window of what it scales is kept. It
 * begins and ends where pixels do. Pure. */
struct fby_box fby_chain_part(
    const struct fby_chain *chain, const struct fby_grain *grain);

/* Begin the first pass, give it all rows of its part, end it and do the others.
 * Rows are pixels of `grain`; FBY_RESIZE_ROW_SLACK bytes behind each may be
 * read. Errors: FBY_FULL when memory is short. */
FBY_CHECKED fby_err fby_chain_begin(struct fby_transform *self,
    struct fby_chain *chain, const struct fby_grain *grain);
void fby_chain_rows(struct fby_transform *self, struct fby_chain *chain,
    const struct fby_image *rows);
FBY_CHECKED fby_err fby_chain_end(
    struct fby_transform *self, struct fby_chain *chain);

/* See to it that `need` may be taken until fby_transform_rest.
 *
 * Blocks: while others use the quota.
 * Errors: FBY_FULL  more than there can ever be; FBY_GONE  it was closed. */
FBY_CHECKED fby_err fby_transform_reserve(struct fby_transform *self,
    const struct fby_need *need, struct fby_why *why);

/* Between samples: give back what goes beyond the thread's own share. */
void fby_transform_rest(struct fby_transform *self);

/* Decode one picture or mask, do its ops, write it to `out`.
 * Errors: those of fby_field_write. */
FBY_CHECKED fby_err fby_picture_write(struct fby_transform *transform,
    const struct fby_field_job *job, struct fby_image out, struct fby_why *why);

/* Decode the masks of a stack, write a bit of each (stack.c).
 * Errors: those of fby_field_write. */
FBY_CHECKED fby_err fby_stack_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why);

/* Note `cpu_ns` more for decoding (0) or an op. */
void fby_transform_charge(
    struct fby_transform *self, uint32_t op_id, int64_t cpu_ns);

#endif
