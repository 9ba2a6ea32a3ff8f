/* expansion.h - the plan of one field's way from raw bytes to a tensor.
 *
 * Made once at open from what the content says (the recipe: normalisation,
 * one-hot, smoothing) and what the trainer wants (dtype and layout); constant
 * afterwards, so any thread may use it. A device only carries it out. */
#ifndef FBY_CLIENT_EXPANSION_H
#define FBY_CLIENT_EXPANSION_H

#include "common/err.h"
#include "common/pipeline/types.h"
#include "trainer_client/ops_draw.h"

enum { FBY_EXPAND_DIMS = 5 }; /* of a tensor: rows and a sample's own */

enum fby_expand_kind {
    FBY_EXPAND_COPY,    /* bytes as they are */
    FBY_EXPAND_AFFINE,  /* u8, through the table of its channel */
    FBY_EXPAND_CAST,    /* any type to any other */
    FBY_EXPAND_SCALE,   /* any type to a real one, scaled by channel */
    FBY_EXPAND_ONE_HOT, /* an id becomes a row of `classes` numbers */
    FBY_EXPAND_BITS,    /* a bit becomes a number, 0 or 1 */
    FBY_EXPAND_OPS,     /* a picture, through the device's ops */
    FBY_EXPAND_MIX      /* one-hot rows, mixed as their pictures are */
};

struct fby_expansion {
    const char          *name; /* of the field; borrowed from the content */
    enum fby_expand_kind kind;
    enum fby_type        from;
    enum fby_type        to;
    enum fby_layout      layout;
    struct fby_shape     shape;     /* of one raw sample, bits packed */
    bool                 yuv420;    /* affine: raw samples are planes */
    uint32_t             pixels;    /* affine: values a channel; bits: a map */
    uint32_t             plane;     /* affine: values from one channel to the
                                       next where the result is planes */
    uint32_t             channels;  /* affine, scale: 1 is one for all */
    uint64_t             raw_bytes; /* of one sample */
    uint64_t             out_bytes; /* of one sample */
    float                scale[FBY_MAX_CHANNELS];
    float                offset[FBY_MAX_CHANNELS];
    uint32_t             classes;
    uint32_t             maps; /* bits: in a pixel's bytes */
    uint32_t             on;   /* one-hot, bits: the two values' bits in `to` */
    uint32_t             off;
    const struct fby_field_content
                       *drawn_by; /* ops, mix: whose list is drawn; borrowed */
    struct fby_ops_plan ops;      /* ops: of its list */
    float               on_value; /* mix: before they are mixed */
    float               off_value;
    /* affine, flips: bits in `to` of each u8 value of each channel */
    uint32_t table[FBY_MAX_CHANNELS][256];
};

/* Scale and offset of an array: as said, rounded once to binary32; the value is
 * rounded to binary32 first, the product and the sum each once, see expand.h.
 * Normalisation: scale = 1 / (255 std), offset = -mean / std, both computed in
 * binary64 and rounded once to binary32. One-hot: on = 1 - s + s / classes,
 * off = s / classes, likewise, then rounded to `to`.
 *
 * Errors: FBY_CONFIG, with the field and the reason in `why`, when the dtype
 *         cannot hold what the recipe asks for, or a layout is asked of a
 *         field that is no image. */
FBY_CHECKED fby_err fby_expansion_init(struct fby_expansion *self,
    const struct fby_field_content                          *field,
    const struct fby_field_delivery *delivery, struct fby_why *why);

/* Mix the label of this plan as `image` mixes its pictures.
 * Errors: FBY_CONFIG when the dtype cannot hold that. */
FBY_CHECKED fby_err fby_expansion_mix(struct fby_expansion *self,
    const struct fby_field_content                         *label,
    const struct fby_field_content *image, struct fby_why *why);

/* The tensor's shape and strides (in elements) for `rows` samples; returns
 * the number of dimensions. */
uint32_t fby_expansion_tensor(const struct fby_expansion *self, uint32_t rows,
    int64_t shape[FBY_EXPAND_DIMS], int64_t strides[FBY_EXPAND_DIMS]);

#endif
