/* expansion.h - the plan of one field's way from raw bytes to a tensor.
 *
 * Made once at open from what the content says (the recipe: normalisation,
 * one-hot, smoothing) and what the trainer wants (dtype and layout); constant
 * afterwards, so any thread may use it. A device only carries it out. */
#ifndef FBY_CLIENT_EXPAND_EXPANSION_H
#define FBY_CLIENT_EXPAND_EXPANSION_H

#include "common/err.h"
#include "pipeline/types.h"
#include "trainer_client/expand/ops_plan.h"

enum {
    FBY_EXPAND_DIMS = 5, /* of a tensor: rows and a sample's own */
    FBY_TENSORS     = 3  /* that one field may become */
};

struct fby_ragged_offsets;

struct fby_tensor_plan {
    const char   *suffix; /* of its name: "" of the values, ".lengths" */
    enum fby_type type;
    uint64_t      row_bytes;  /* so many a row at most, */
    uint64_t      more_bytes; /* and so many more */
};

enum fby_expand_kind {
    FBY_EXPAND_COPY,       /* bytes as they are */
    FBY_EXPAND_AFFINE,     /* u8, through the table of its channel */
    FBY_EXPAND_CAST,       /* any type to any other */
    FBY_EXPAND_SCALE,      /* any type to a real one, scaled by channel */
    FBY_EXPAND_PLANAR,     /* copy, cast or scale, channel after channel */
    FBY_EXPAND_ONE_HOT,    /* an id becomes a row of `classes` numbers */
    FBY_EXPAND_BITS,       /* a bit becomes a number, 0 or 1 */
    FBY_EXPAND_OPS,        /* a picture, through the device's ops */
    FBY_EXPAND_MIX,        /* one-hot rows, mixed as their pictures are */
    FBY_EXPAND_PADDED,     /* rows of several lengths, padded; and lengths */
    FBY_EXPAND_RAGGED,     /* their values; and where each row begins */
    FBY_EXPAND_DENSE,      /* sparse rows with all their zeros */
    FBY_EXPAND_CSR,        /* their values; where rows begin; indices */
    FBY_EXPAND_COO,        /* their values; the place of each */
    FBY_EXPAND_CU_SEQLENS, /* lengths of documents: where each begins */
    FBY_EXPAND_POSITIONS,  /* of each token in its document */
    FBY_EXPAND_MASK,       /* the tokens that count */
};

struct fby_expansion {
    const char            *name; /* of the field; borrowed from the content */
    enum fby_expand_kind   kind;
    enum fby_type          from;
    enum fby_type          to;
    enum fby_layout        layout;
    struct fby_shape       shape;     /* of one raw sample, bits packed */
    bool                   yuv420;    /* affine: raw samples are planes */
    uint32_t               pixels;    /* affine, planar: values a channel;
                                         bits: a map */
    uint32_t               plane;     /* affine: values from one channel to
                                         the next where the result is planes */
    bool                   scaled;    /* there are scale and offset */
    uint32_t               channels;  /* affine, scaled: 1 is one for all */
    uint64_t               raw_bytes; /* of one sample, at most */
    uint64_t               out_bytes; /* of one sample, at most */
    float                  scale[FBY_MAX_FACTORS];
    float                  offset[FBY_MAX_FACTORS];
    uint32_t               max_length;  /* of a row, where they vary */
    uint64_t               entry_bytes; /* of one raw entry, where rows vary */
    uint32_t               index_bytes; /* of one raw index; 0: not sparse */
    bool                   longest;     /* padded: to the batch's longest */
    uint64_t               pad;         /* padded: bits in `to` */
    enum fby_type          offsets;     /* ragged; csr, indices too */
    struct fby_tensor_plan tensors[FBY_TENSORS]; /* the values first */
    uint32_t               n_tensors;
    uint32_t               classes;
    uint32_t               maps;      /* bits: in a pixel's bytes */
    bool                   documents; /* its values are lengths of documents */
    uint32_t               shift; /* mask: 1: their last tokens do not count */
    uint32_t               on; /* one-hot, bits, mask: the two values' bits */
    uint32_t               off;
    const struct fby_field_content
                       *ops_field; /* ops, mix: whose list is drawn; borrowed */
    struct fby_ops_plan ops;       /* ops: of its list */
    float               on_value;  /* mix: before they are mixed */
    float               off_value;
    /* affine, flips: bits in `to` of each u8 value of each channel */
    uint32_t table[FBY_MAX_CHANNELS][256];
};

/* Scale and offset of an array: as said, rounded once to binary32; the value is
 * rounded to binary32 first, the product and the sum each once, see value.h.
 * Normalisation: scale = 1 / (255 std), offset = -mean / std, both computed in
 * binary64 and rounded once to binary32. One-hot: on = 1 - s + s / classes,
 * off = s / classes, likewise, then rounded to `to`.
 *
 * Errors: FBY_CONFIG, with the field and the reason in `why`, when the dtype
 *         cannot hold what the recipe asks for, or a form is asked of a
 *         field that has none such: a layout of what has no three
 *         dimensions. */
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

/* The same of tensor `i` of a field whose rows vary in length. */
uint32_t fby_expansion_rows_tensor(const struct fby_expansion *self, uint32_t i,
    const struct fby_ragged_offsets *rows, int64_t shape[FBY_EXPAND_DIMS],
    int64_t strides[FBY_EXPAND_DIMS]);

/* Padded: entries that every row gets. */
uint64_t fby_expansion_padded_to(
    const struct fby_expansion *self, const struct fby_ragged_offsets *rows);

static inline bool fby_expansion_is_ragged(const struct fby_expansion *self)
{
    return self->kind >= FBY_EXPAND_PADDED && self->kind <= FBY_EXPAND_MASK;
}

#endif
