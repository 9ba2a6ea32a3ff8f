/* layout.h - how a batch's raw bytes are cut into chunks.
 *
 * The raw layout follows from the fields' types and shapes and the number of
 * rows alone, so that worker and client compute the same one and need not
 * trust each other. A field's raw bytes are its rows, one after another. A
 * chunk holds whole rows while 2 MiB hold at least one; of larger rows it
 * holds whole units (32 lines of an image, one entry of the first dimension
 * of other arrays, 2 MiB of a list) and never crosses a row.
 *
 * Where rows vary in length, all places are those of rows as long as they may
 * be, so that the layout does not depend on the values: a chunk is a fixed run
 * of rows and has so many bytes at most. What it holds: the rows' lengths,
 * zeros up to a multiple of 16, of sparse rows their indices and zeros
 * likewise, the rows' values without gaps.
 * PROTOCOL.md, "Frames", is the definition. */
#ifndef FBY_PROTO_LAYOUT_H
#define FBY_PROTO_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"

#define FBY_CHUNK_RAW   (UINT32_C(2) << 20)  /* bytes aimed at */
#define FBY_UNIT_MAX    (UINT32_C(32) << 20) /* raw bytes of one unit */
#define FBY_ROW_BYTES   (UINT64_C(1) << 30)  /* raw bytes of a field's row */
#define FBY_BATCH_BYTES (UINT64_C(1) << 40)  /* raw bytes of a batch */
#define FBY_SLOT_ALIGN  UINT64_C(64)         /* of each field in a slot */
#define FBY_IMAGE_LINES UINT32_C(32)         /* lines of an image in a unit */
#define FBY_VARYING_RAW (UINT32_C(8) << 20)  /* of rows that vary, at most */

struct fby_raw_field {
    enum fby_type    type;
    struct fby_shape shape;  /* of one row; ragged: of the longest; sparse: of
                                a dense one */
    bool             yuv420; /* u8 [h, w, 3] in planes, see common/yuv420.h */
    enum fby_form    form;
    uint32_t         max_length; /* entries of a row; dense: 0 */

    uint64_t row_bytes;    /* of values; where they vary, at most */
    uint32_t entry_bytes;  /* of one entry; dense: 0 */
    uint32_t length_bytes; /* of a row's length; dense: 0 */
    uint32_t index_bytes;  /* sparse: of a value's index; else 0 */
    uint64_t raw_bytes;    /* of all rows; where they vary, at most */
    uint64_t slot_offset;  /* where it starts in a slot */
    uint32_t first_chunk;  /* position of chunk 0 among the batch's */
    uint32_t n_chunks;
    uint32_t chunk_bytes;    /* raw bytes of every chunk but a row's last;
                                where rows vary, at most */
    uint32_t rows_per_chunk; /* 0: a chunk is a part of one row */
    uint32_t chunks_per_row; /* 0: a chunk holds whole rows */
};

struct fby_raw_layout {
    uint32_t             rows;
    uint32_t             n_fields;
    uint32_t             n_chunks;   /* of all fields */
    uint64_t             raw_bytes;  /* of all fields */
    uint64_t             slot_bytes; /* with the gaps of alignment */
    struct fby_raw_field fields[FBY_MAX_FIELDS];
};

/* Lay out `rows` rows. In: fields[i].type, .shape, .yuv420, .form and
 * .max_length, n_fields and rows of *layout; out: everything else. Pure; any
 * thread.
 * Errors: FBY_CONFIG  a limit above is exceeded, or a shape is not whole;
 *                     `why` names the field's position and both numbers. */
FBY_CHECKED fby_err fby_layout_finish(
    struct fby_raw_layout *layout, struct fby_why *why);

/* The layout of the fields of `content` that `selected` names (bit i: field i;
 * 0: all). Errors: FBY_CONFIG also for a bit without a field. */
FBY_CHECKED fby_err fby_layout_of_content(const struct fby_content *content,
    uint64_t selected, uint32_t rows, struct fby_raw_layout *out,
    struct fby_why *why);

/* What filters and codecs know of a field's rows. */
struct fby_codec_params fby_layout_params(const struct fby_raw_field *field);

/* Where a chunk lies in its field. */
struct fby_raw_span {
    uint64_t raw_offset;      /* in the field */
    uint32_t raw_bytes;       /* where rows vary in length, at most */
    uint32_t first_row, rows; /* touched; rows is 1 for a part of a row */
};

/* Chunk `number` (< n_chunks) of a field. */
struct fby_raw_span fby_layout_chunk(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number);

/* The chunks that hold bytes of `row`: *n of them from *first on. */
void fby_layout_row_chunks(const struct fby_raw_field *field, uint32_t row,
    uint32_t *first, uint32_t *n);

/* Position of a chunk among all of the batch's: fields in order, chunks in
 * order; 0 .. n_chunks - 1. For arrays of hashes and bitmaps. */
uint32_t fby_layout_index(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number);

/* Where rows vary in length: where the values of a chunk of `rows` rows begin,
 * behind the lengths; of sparse rows the indices. */
static inline uint32_t fby_varying_values(
    const struct fby_raw_field *field, uint32_t rows)
{
    return (rows * field->length_bytes + 15) / 16 * 16;
}

/* The same where the rows are sparse and have `n` values in all: they stand
 * behind the indices, which begin where values do else. */
static inline uint64_t fby_sparse_values(
    const struct fby_raw_field *field, uint32_t rows, uint64_t n)
{
    return fby_varying_values(field, rows) +
           (n * field->index_bytes + 15) / 16 * 16;
}

struct fby_chunk_sent { /* what a chunk's prefix says of its raw bytes */
    uint64_t raw_hash;
    uint32_t raw_bytes;
};

/* END's sum of a field: XXH3-128 over, for each chunk in order, raw offset
 * u64, raw bytes u32, raw hash u64. `sent` holds one for each of the field's
 * chunks. */
struct fby_sum fby_field_sum(const struct fby_raw_layout *layout,
    uint32_t field, const struct fby_chunk_sent *sent);

#endif
