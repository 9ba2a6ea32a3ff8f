/* SPDX-License-Identifier: Apache-2.0 */
/* ops_plan.h - the parameters of the ops of the device (ops.h): the plan of a
 * field, and the random parameters of each row.
 *
 * ops_draw.h sets the structs. They have no pointers, since they are copied to
 * a GPU. */
#ifndef FBY_CLIENT_EXPAND_OPS_PLAN_H
#define FBY_CLIENT_EXPAND_OPS_PLAN_H

#include <stdint.h>

enum fby_ops_stage { /* an op that changes pixel values */
    FBY_OPS_ERASE     = 1,
    FBY_OPS_JITTER    = 2,
    FBY_OPS_NORMALIZE = 3
};
enum { FBY_OPS_STAGES = 3 };

/* The ops of a field, the same for every row. */
struct fby_ops_plan {
    uint32_t width, height; /* pixels */
    uint32_t n_stages;
    uint8_t  stages[FBY_OPS_STAGES]; /* enum fby_ops_stage, in the order of the
                                        field's list of ops */
    uint8_t  plain;          /* 1: flips and normalize are the only ops */
    uint8_t  normalized;     /* 0: the output has levels from 0 to 255 */
    float    erase_value[3]; /* random_erasing: level for each channel */
    float    mean[3];        /* of normalize, for each channel */
    float    std[3];
};

enum fby_ops_jitter { /* steps of colour_jitter, as in pipeline/step.h */
    FBY_OPS_BRIGHTNESS = 4,
    FBY_OPS_CONTRAST   = 5,
    FBY_OPS_SATURATION = 6,
    FBY_OPS_HUE        = 7
};

/* The op that mixes a row with its partner, another row of the batch. */
enum fby_ops_pair { FBY_OPS_ALONE, FBY_OPS_MIXUP, FBY_OPS_CUTMIX };

struct fby_ops_box { /* pixels of the output; empty if left == right */
    uint32_t left, top, right, bottom;
};

/* The random parameters of one row. */
struct fby_ops_row {
    uint8_t            mirror_x, mirror_y; /* 1: reversed */
    uint8_t            n_jitter;           /* number of steps in jitter[] */
    uint8_t            jitter[4];          /* enum fby_ops_jitter, in order */
    float              factor[4];          /* of each step in jitter[] */
    float              grey;    /* mean grey level of the picture before its
                                     contrast step; not random, set later */
    struct fby_ops_box erase;   /* random_erasing: pixels to overwrite */
    uint8_t            pair;    /* enum fby_ops_pair */
    uint32_t           partner; /* number of the row to mix with */
    struct fby_ops_box cut;     /* cutmix: pixels taken from the partner */
    float              share;   /* mixup: weight of the row's picture */
    float partner_share;        /* mixup: weight of the partner's picture */
    float label_share;          /* weight of the row's label */
    float label_partner_share;  /* weight of the partner's label */
};

#endif
