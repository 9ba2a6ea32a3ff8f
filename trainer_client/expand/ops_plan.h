/* ops_plan.h - what the device's ops do: the plan of a field, and the random
 * parameters of each row.
 *
 * Plain structs that a GPU reads as they are. ops_draw.h fills them, ops.h
 * applies them. */
#ifndef FBY_CLIENT_EXPAND_OPS_PLAN_H
#define FBY_CLIENT_EXPAND_OPS_PLAN_H

#include <stdint.h>

enum fby_ops_stage { /* an op on levels, in the order of the list */
    FBY_OPS_ERASE     = 1,
    FBY_OPS_JITTER    = 2,
    FBY_OPS_NORMALIZE = 3
};
enum { FBY_OPS_STAGES = 3 };

/* The ops of a field, the same for every row. */
struct fby_ops_plan {
    uint32_t width, height;
    uint32_t n_stages;
    uint8_t  stages[FBY_OPS_STAGES];
    uint8_t  plain;      /* only flips and normalize: done by the table */
    uint8_t  normalized; /* else levels are delivered as 0 to 255 */
    float    value[3];   /* of erased pixels */
    float    mean[3];
    float    std[3];
};

enum fby_ops_jitter { /* kinds of steps, as in pipeline/step.h */
    FBY_OPS_BRIGHTNESS = 4,
    FBY_OPS_CONTRAST   = 5,
    FBY_OPS_SATURATION = 6,
    FBY_OPS_HUE        = 7
};

enum fby_ops_pair { FBY_OPS_ALONE, FBY_OPS_MIXUP, FBY_OPS_CUTMIX };

struct fby_ops_box { /* of pixels of the result; empty where left == right */
    uint32_t left, top, right, bottom;
};

/* The random parameters of one row. */
struct fby_ops_row {
    uint8_t            mirror_x, mirror_y;
    uint8_t            n_jitter;
    uint8_t            jitter[4]; /* enum fby_ops_jitter, in order */
    float              factor[4];
    float              grey; /* mean before contrast; computed, not drawn */
    struct fby_ops_box erase;
    uint8_t            pair;        /* enum fby_ops_pair */
    uint32_t           partner;     /* a row of this batch */
    struct fby_ops_box cut;         /* cutmix: filled from the partner */
    float              share;       /* mixup: weight of the row's picture */
    float              rest;        /* mixup: weight of its partner's */
    float              label_share; /* the same for labels */
    float              label_rest;
};

#endif
