/* layout.h - how the raw bytes of a batch are cut into chunks.
 *
 * The raw layout depends only on the types and shapes of the fields and the
 * number of rows, so worker and client compute it independently. The raw bytes
 * of a field are its rows, one after another. Rows of up to 2 MiB: a chunk
 * holds whole rows. Larger rows: a chunk holds whole units of one row (32 lines
 * of an image, one entry of the first dimension of other arrays, 2 MiB of a
 * list).
 *
 * Rows that vary in length (ragged, sparse) have the offsets of rows of maximum
 * length, so that the layout does not depend on the values: a chunk holds a
 * fixed number of rows and has a maximum of bytes. It consists of the rows'
 * lengths, zeros up to a multiple of 16, for sparse rows their indices and
 * zeros likewise, and the rows' values without gaps.
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

#define FBY_CHUNK_RAW   (UINT32_C(2) << 20)  /* target raw bytes of a chunk */
#define FBY_UNIT_MAX    (UINT32_C(32) << 20) /* raw bytes of one unit */
#define FBY_ROW_BYTES   (UINT64_C(1) << 30)  /* raw bytes of a field's row */
#define FBY_BATCH_BYTES (UINT64_C(1) << 40)  /* raw bytes of a batch */
#define FBY_SLOT_ALIGN  UINT64_C(64)         /* bytes, of a field in a slot */
#define FBY_IMAGE_LINES UINT32_C(32)         /* lines of an image in a unit */
#define FBY_VARYING_RAW (UINT32_C(8) << 20)  /* FBY_CHUNK_RAW of ragged rows */

struct fby_raw_field {
    enum fby_type    type;
    struct fby_shape shape;  /* of one row; ragged: of the longest row; sparse:
                                of a dense row */
    bool             yuv420; /* u8 [h, w, 3] in planes, see common/yuv420.h */
    enum fby_form    form;
    uint32_t         max_length; /* entries of a row; dense: 0 */

    uint64_t row_bytes;    /* of the values; ragged, sparse: maximum */
    uint32_t entry_bytes;  /* of one entry; dense: 0 */
    uint32_t length_bytes; /* of a row's length; dense: 0 */
    uint32_t index_bytes;  /* sparse: of a value's index; else 0 */
    uint64_t raw_bytes;    /* of all rows; ragged, sparse: maximum */
    uint64_t slot_offset;  /* of the field in a slot */
    uint32_t first_chunk;  /* fby_layout_index of chunk 0 */
    uint32_t n_chunks;
    uint32_t chunk_bytes;    /* raw bytes of every chunk but a row's last;
                                ragged, sparse: maximum */
    uint32_t rows_per_chunk; /* 0: a chunk is a part of one row */
    uint32_t chunks_per_row; /* 0: a chunk holds whole rows */
};

struct fby_raw_layout {
    uint32_t             rows;
    uint32_t             n_fields;
    uint32_t             n_chunks;   /* of all fields */
    uint64_t             raw_bytes;  /* of all fields */
    uint64_t             slot_bytes; /* with gaps for alignment */
    struct fby_raw_field fields[FBY_MAX_FIELDS];
};

/* Compute the layout. Input: rows and n_fields of *layout, and type, shape,
 * yuv420, form and max_length of each field. Output: all other members. Pure;
 * any thread.
 * Errors: FBY_CONFIG  a limit above is exceeded, or a type or shape is invalid;
 *                     `why` names the field's position and both numbers. */
FBY_CHECKED fby_err fby_layout_finish(
    struct fby_raw_layout *layout, struct fby_why *why);

/* The layout of the fields of `content` in `selected` (bit i: field i; 0: all).
 * Errors: FBY_CONFIG  as above, or a bit without a field. */
FBY_CHECKED fby_err fby_layout_of_content(const struct fby_content *content,
    uint64_t selected, uint32_t rows, struct fby_raw_layout *out,
    struct fby_why *why);

/* The parameters of filters and codecs for a field. */
struct fby_codec_params fby_layout_params(const struct fby_raw_field *field);

/* The position of a chunk in its field. */
struct fby_raw_span {
    uint64_t raw_offset;      /* in the field */
    uint32_t raw_bytes;       /* ragged, sparse: maximum */
    uint32_t first_row, rows; /* rows is 1 for a part of a row */
};

/* The position of chunk `number` (< n_chunks) of a field. */
struct fby_raw_span fby_layout_chunk(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number);

/* The chunks that hold bytes of `row`: *n chunks, from *first on. */
void fby_layout_row_chunks(const struct fby_raw_field *field, uint32_t row,
    uint32_t *first, uint32_t *n);

/* The index of a chunk among all chunks of the batch, 0 .. n_chunks - 1, in
 * order of fields, then of numbers. For arrays of hashes and bitmaps. */
uint32_t fby_layout_index(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number);

/* The offset of the values in a ragged chunk of `rows` rows, after the lengths;
 * in a sparse chunk the offset of the indices. */
static inline uint32_t fby_varying_values(
    const struct fby_raw_field *field, uint32_t rows)
{
    return (rows * field->length_bytes + 15) / 16 * 16;
}

/* The offset of the values in a sparse chunk of `rows` rows with `n` values in
 * all: they follow the indices. */
static inline uint64_t fby_sparse_values(
    const struct fby_raw_field *field, uint32_t rows, uint64_t n)
{
    return fby_varying_values(field, rows) +
           (n * field->index_bytes + 15) / 16 * 16;
}

struct fby_chunk_sent { /* from the prefix of a chunk */
    uint64_t raw_hash;
    uint32_t raw_bytes;
};

/* The sum of a field in END: XXH3-128 over raw offset u64, raw bytes u32 and
 * raw hash u64 of each chunk in order. `sent` has an entry for each chunk of
 * the field. */
struct fby_sum fby_field_sum(const struct fby_raw_layout *layout,
    uint32_t field, const struct fby_chunk_sent *sent);

#endif
