/* expansion.h - the plan by which one field's raw bytes become tensors.
 *
 * It is made once, at open, from the content (normalisation, one-hot,
 * smoothing) and the trainer's choice of dtype and layout. It is constant
 * afterwards, so any thread may use it. A device only executes it.
 *
 * A field is ragged here if its rows may differ in length: padded and ragged
 * arrays, sparse rows, lengths of documents. */
#ifndef FBY_CLIENT_EXPAND_EXPANSION_H
#define FBY_CLIENT_EXPAND_EXPANSION_H

#include "common/err.h"
#include "pipeline/types.h"
#include "trainer_client/expand/ops_plan.h"

enum {
    FBY_EXPAND_DIMS = 5, /* of a tensor: the rows and those of a sample */
    FBY_TENSORS     = 3  /* of one field, at most */
};

struct fby_ragged_offsets;

struct fby_tensor_plan {
    const char   *suffix; /* of its name: "" for values, or ".lengths" etc. */
    enum fby_type type;
    uint64_t      row_bytes;  /* most bytes per row */
    uint64_t      more_bytes; /* added once per tensor */
};

enum fby_expand_kind {
    FBY_EXPAND_COPY,       /* bytes unchanged */
    FBY_EXPAND_AFFINE,     /* u8, through the table of its channel */
    FBY_EXPAND_CAST,       /* any type to any other */
    FBY_EXPAND_SCALE,      /* any type to a real one, scaled by channel */
    FBY_EXPAND_PLANAR,     /* copy, cast or scale, channel after channel */
    FBY_EXPAND_ONE_HOT,    /* an id becomes a row of `classes` numbers */
    FBY_EXPAND_BITS,       /* a bit becomes a number, 0 or 1 */
    FBY_EXPAND_OPS,        /* a picture, through the device's ops */
    FBY_EXPAND_MIX,        /* one-hot rows, mixed as their pictures are */
    FBY_EXPAND_PADDED,     /* ragged rows: padded values, lengths */
    FBY_EXPAND_RAGGED,     /* ragged rows: values, offsets of rows */
    FBY_EXPAND_DENSE,      /* sparse rows with all their zeros */
    FBY_EXPAND_CSR,        /* sparse rows: values, offsets of rows, indices */
    FBY_EXPAND_COO,        /* sparse rows: values, coordinates */
    FBY_EXPAND_CU_SEQLENS, /* documents: the offset of each */
    FBY_EXPAND_POSITIONS,  /* documents: each token's position in its own */
    FBY_EXPAND_MASK,       /* documents: the tokens that count in the loss */
};

struct fby_expansion {
    const char            *name; /* of the field; borrowed from the content */
    enum fby_expand_kind   kind;
    enum fby_type          from;
    enum fby_type          to;
    enum fby_layout        layout;
    struct fby_shape       shape;     /* of one raw sample, bits packed */
    bool                   yuv420;    /* affine: raw samples are YUV planes */
    uint32_t               pixels;    /* affine, planar: values per channel;
                                         bits: per map */
    uint32_t               plane;     /* affine, planar result: values from one
                                         channel to the next */
    bool                   scaled;    /* scale and offset are applied */
    uint32_t               channels;  /* affine, scaled; 1: one for all */
    uint64_t               raw_bytes; /* of one sample, at most */
    uint64_t               out_bytes; /* of one sample, at most */
    float                  scale[FBY_MAX_FACTORS];
    float                  offset[FBY_MAX_FACTORS];
    uint32_t               max_length;  /* ragged: entries of a row, at most */
    uint64_t               entry_bytes; /* ragged: of one raw entry */
    uint32_t               index_bytes; /* of one raw index; 0: not sparse */
    bool                   longest;     /* padded: to the batch's longest row */
    uint64_t               pad;         /* padded: bits in `to` */
    enum fby_type          offsets;     /* ragged, csr: also of csr's indices */
    struct fby_tensor_plan tensors[FBY_TENSORS]; /* values first */
    uint32_t               n_tensors;
    uint32_t               classes;
    uint32_t               maps;      /* bits: per pixel */
    bool                   documents; /* raw values are lengths of documents */
    uint32_t               shift;     /* mask, 1: last tokens do not count */
    uint32_t               on; /* one-hot, bits, mask: the two values' bits */
    uint32_t               off;
    const struct fby_field_content *ops_field; /* ops, mix: the field whose ops
                                                  are drawn; borrowed */
    struct fby_ops_plan             ops;       /* ops: plan of its list */
    float                           on_value;  /* mix: before mixing */
    float                           off_value;
    /* affine, flips: bits in `to` of each u8 value of each channel */
    uint32_t table[FBY_MAX_CHANNELS][256];
};

/* Plan a field's expansion.
 *
 * Scale and offset of an array: as given, rounded once to binary32. The value
 * is rounded to binary32 first, then the product and the sum once each, see
 * value.h.
 * Normalisation: scale = 1 / (255 std), offset = -mean / std, computed in
 * binary64 and rounded once to binary32.
 * One-hot: on = 1 - s + s / classes, off = s / classes, likewise, then rounded
 * to `to`.
 *
 * Errors: FBY_CONFIG  the dtype cannot hold the result, or the field does not
 *                     have the requested form or layout; `why` has the field
 *                     and the reason */
FBY_CHECKED fby_err fby_expansion_init(struct fby_expansion *self,
    const struct fby_field_content                          *field,
    const struct fby_field_delivery *delivery, struct fby_why *why);

/* Turn a one-hot plan into one that mixes labels as `image` mixes its pictures.
 * Errors: FBY_CONFIG  the dtype cannot hold mixed values */
FBY_CHECKED fby_err fby_expansion_mix(struct fby_expansion *self,
    const struct fby_field_content                         *label,
    const struct fby_field_content *image, struct fby_why *why);

/* Set the tensor's shape and strides (in elements) for `rows` samples; returns
 * the number of dimensions. */
uint32_t fby_expansion_tensor(const struct fby_expansion *self, uint32_t rows,
    int64_t shape[FBY_EXPAND_DIMS], int64_t strides[FBY_EXPAND_DIMS]);

/* The same for tensor `i` of a ragged field. */
uint32_t fby_expansion_rows_tensor(const struct fby_expansion *self, uint32_t i,
    const struct fby_ragged_offsets *rows, int64_t shape[FBY_EXPAND_DIMS],
    int64_t strides[FBY_EXPAND_DIMS]);

/* Padded: entries of every row in the tensor. */
uint64_t fby_expansion_padded_to(
    const struct fby_expansion *self, const struct fby_ragged_offsets *rows);

/* True for all kinds from FBY_EXPAND_PADDED on. */
static inline bool fby_expansion_is_ragged(const struct fby_expansion *self)
{
    return self->kind >= FBY_EXPAND_PADDED && self->kind <= FBY_EXPAND_MASK;
}

#endif
