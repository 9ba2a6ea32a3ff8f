/* SPDX-License-Identifier: Apache-2.0 */
/* expansion.h - the plan that turns the raw bytes of a field into tensors.
 *
 * A plan is made once, at open, from the field's settings in the pipeline
 * (normalisation, one-hot, smoothing) and from the trainer's choice of type and
 * layout. The plan is constant afterwards, so any thread may read it. The host
 * (host.h) or a GPU (segments.h) executes the plan.
 *
 * A field is ragged here if its rows may differ in length: padded and ragged
 * arrays, sparse rows, lengths of documents. An entry of a row is what its
 * length counts: one value, or a fixed number of values. */
#ifndef FBY_CLIENT_EXPAND_EXPANSION_H
#define FBY_CLIENT_EXPAND_EXPANSION_H

#include "common/err.h"
#include "pipeline/types.h"
#include "trainer_client/expand/ops_plan.h"

enum {
    FBY_EXPAND_DIMS = 5, /* most dimensions of a tensor, rows included */
    FBY_TENSORS     = 3  /* most tensors of one field */
};

struct fby_ragged_offsets;

struct fby_tensor_plan {
    const char   *suffix; /* end of the tensor's name: "", ".lengths" ... */
    enum fby_type type;
    uint64_t      row_bytes;        /* most bytes of a row */
    uint64_t      bytes_after_rows; /* bytes after the rows: the last offset */
};

/* The ragged kinds come last (fby_expansion_is_ragged), and among them the
 * kinds of documents (fby_segments_can_expand, device_host.c). */
enum fby_expand_kind {
    FBY_EXPAND_COPY,    /* bytes unchanged */
    FBY_EXPAND_AFFINE,  /* u8 pictures, through a table for each channel */
    FBY_EXPAND_CAST,    /* any type to any other */
    FBY_EXPAND_SCALE,   /* any type to floating point, scaled by channel */
    FBY_EXPAND_PLANAR,  /* copy, cast or scale to one channel after another */
    FBY_EXPAND_ONE_HOT, /* labels to rows of `classes` numbers */
    FBY_EXPAND_BITS,    /* bits to numbers that are 0 or 1 */
    FBY_EXPAND_OPS,     /* pictures, through ops of the device (ops.h) */
    FBY_EXPAND_MIX,     /* labels to one-hot rows, mixed like their pictures */
    FBY_EXPAND_PADDED,  /* ragged rows: padded values, lengths */
    FBY_EXPAND_RAGGED,  /* ragged rows: values, offsets of rows */
    FBY_EXPAND_DENSE,   /* sparse rows with all their zeros */
    FBY_EXPAND_CSR,     /* sparse rows: values, offsets of rows, indices */
    FBY_EXPAND_COO,     /* sparse rows: values, coordinates */
    FBY_EXPAND_CU_SEQLENS, /* documents: offset of each document */
    FBY_EXPAND_POSITIONS,  /* documents: position of each token */
    FBY_EXPAND_MASK,       /* documents: the tokens that count in the loss */
};

struct fby_expansion {
    const char          *name; /* of the field; borrowed from the content */
    enum fby_expand_kind kind;
    enum fby_type        from; /* type of raw values */
    enum fby_type        to;   /* type of tensor values */
    enum fby_layout      layout;
    struct fby_shape     shape; /* of a raw sample, in values; bits: in bytes */
    bool                 yuv420; /* affine, ops: raw pictures are YUV planes */
    uint32_t             pixels; /* affine, planar, ops, bits: of a sample */
    uint32_t             plane;  /* affine, ops: values from one channel to the
                                      next in a planar output */
    bool bypass_cache; /* copy, affine: stores bypass the cache, so that they do
                          not evict data that is still in use */
    bool scaled;       /* arrays: scale[] and offset[] are applied */
    uint32_t      channels;  /* affine, ops: of a pixel. scaled: number
                                         of scales; 1: one for all values */
    uint64_t      raw_bytes; /* most raw bytes of a sample */
    uint64_t      out_bytes; /* most bytes of a sample in the tensor */
    float         scale[FBY_MAX_FACTORS];  /* of each channel */
    float         offset[FBY_MAX_FACTORS]; /* of each channel */
    uint32_t      max_length;              /* ragged: most entries of a row */
    uint64_t      entry_bytes;             /* ragged: bytes of one raw entry */
    uint32_t      index_bytes; /* bytes of one raw index; 0: not sparse */
    bool          longest;     /* padded: rows are padded to the longest row
                                       of the batch, else to max_length */
    uint64_t      pad;         /* padded: bits of the padding in `to` */
    enum fby_type offset_type; /* ragged, csr: type of offsets, and of the
                                       indices of csr */
    struct fby_tensor_plan tensors[FBY_TENSORS]; /* [0] has the values */
    uint32_t               n_tensors;
    uint32_t               classes;   /* labels: number of classes; 0: unknown,
                                         and not one-hot or mix */
    uint32_t               maps;      /* bits: number of maps of a pixel */
    bool                   documents; /* raw values are lengths of documents */
    uint32_t               shift; /* mask: 1: the last token of a document does
                                    not count in the loss */
    /* one-hot, bits, mask: bits in `to` of the two values. `on` is for the
     * label's class, a bit 1, or a token that counts. */
    uint32_t on, off;
    /* ops, mix: the picture field with the list of device ops, borrowed. Other
     * kinds: NULL. */
    const struct fby_field_content *ops_field;
    struct fby_ops_plan             ops; /* ops: plan of that list */
    float on_value;                      /* mix: value of the label's class */
    float off_value;                     /* mix: value of other classes */
    /* affine, flips: [c][v]: bits in `to` of level v of channel c */
    uint32_t table[FBY_MAX_CHANNELS][256];
    /* affine, flips: a level, scaled, is halfway between two bfloat16 */
    bool has_ties;
};

/* Plan the expansion of a field.
 *
 * Scale and offset of an array are the given numbers, rounded to binary32.
 * Normalisation has scale = 1 / (255 std) and offset = -mean / std. One-hot
 * rows with smoothing s have the values 1 - s + s / classes and s / classes.
 * All these are computed in binary64, then rounded to binary32. value.h defines
 * how values are scaled and rounded to the tensor's type.
 *
 * Errors: FBY_CONFIG  the dtype cannot hold the result, or the field does not
 *                     have the requested form or layout; `why` has the field
 *                     and the reason */
FBY_CHECKED fby_err fby_expansion_init(struct fby_expansion *self,
    const struct fby_field_content                          *field,
    const struct fby_field_delivery *delivery, struct fby_error_detail *why);

/* Turn a one-hot plan into a plan that mixes labels like the pictures of the
 * field `image`.
 * Errors: FBY_CONFIG  the dtype cannot hold mixed values */
FBY_CHECKED fby_err fby_expansion_set_mix(struct fby_expansion *self,
    const struct fby_field_content                             *label,
    const struct fby_field_content *image, struct fby_error_detail *why);

/* Tell the plan that a batch has at most `rows` rows: stores to large tensors
 * bypass the cache. Without the call they do not. */
void fby_expansion_set_max_rows(struct fby_expansion *self, uint32_t rows);

/* Set the shape and the strides (in elements) of a tensor of `rows` samples.
 * Returns the number of dimensions. */
uint32_t fby_expansion_compute_shape(const struct fby_expansion *self,
    uint32_t rows, int64_t shape[FBY_EXPAND_DIMS],
    int64_t strides[FBY_EXPAND_DIMS]);

/* Do the same for tensor number `i` of a ragged field. */
uint32_t fby_expansion_compute_ragged_shape(const struct fby_expansion *self,
    uint32_t i, const struct fby_ragged_offsets *rows,
    int64_t shape[FBY_EXPAND_DIMS], int64_t strides[FBY_EXPAND_DIMS]);

/* Returns the number of entries of each row of a padded tensor. */
uint64_t fby_expansion_padded_entries(
    const struct fby_expansion *self, const struct fby_ragged_offsets *rows);

/* Returns the number of values of an entry of a ragged field. */
static inline uint64_t fby_expansion_entry_values(
    const struct fby_expansion *self)
{
    return self->entry_bytes / fby_type_bytes(self->from);
}

static inline bool fby_expansion_is_ragged(const struct fby_expansion *self)
{
    return self->kind >= FBY_EXPAND_PADDED && self->kind <= FBY_EXPAND_MASK;
}

#endif
