/* layout.h - how the raw bytes of a batch are cut into chunks.
 *
 * The raw layout depends only on the types and shapes of the fields and the
 * number of rows, so worker and client compute it independently. The raw bytes
 * of a field are its rows, one after another. If a row has up to 2 MiB, a chunk
 * holds whole rows. Otherwise a chunk holds whole units of one row: 32 lines of
 * an image, or one entry of the first dimension of another array.
 *
 * Rows that vary in length (ragged, sparse) get the offsets of rows of maximum
 * length, so that the layout does not depend on the values. A chunk of them
 * holds a fixed number of rows, and its size has a maximum. It consists of the
 * rows' lengths, then for sparse rows the indices of their values, then the
 * values without gaps. Zeros pad each section to a multiple of 16 bytes, except
 * the last one. PROTOCOL.md, "Frames", is the definition. */
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
#define FBY_RAGGED_RAW  (UINT32_C(8) << 20)  /* the same for ragged rows */
#define FBY_UNIT_MAX    (UINT32_C(32) << 20) /* most raw bytes of a chunk */
#define FBY_ROW_BYTES   (UINT64_C(1) << 30)  /* most raw bytes of a row */
#define FBY_BATCH_BYTES (UINT64_C(1) << 40)  /* most raw bytes of a batch */
#define FBY_SLOT_ALIGN  UINT64_C(64)         /* of a field's slot_offset */
#define FBY_IMAGE_LINES UINT32_C(32)         /* lines of an image in a unit */

struct fby_raw_field {
    enum fby_type    type;
    struct fby_shape shape;  /* of one row; ragged: of the longest row; sparse:
                                of a dense row */
    bool             yuv420; /* u8 [h, w, 3] in planes, see common/yuv420.h */
    enum fby_form    form;
    uint32_t         max_length; /* entries of a row; dense: 0 */

    uint64_t row_bytes;    /* values of a row; ragged, sparse: maximum */
    uint32_t entry_bytes;  /* of one entry; dense: 0 */
    uint32_t length_bytes; /* of a row's length; dense: 0 */
    uint32_t index_bytes;  /* sparse: of a value's index; else 0 */
    uint64_t raw_bytes;    /* of all rows; ragged, sparse: maximum */
    uint64_t slot_offset;  /* in the memory of a batch (slot) */
    uint32_t first_chunk;  /* see fby_layout_chunk_index */
    uint32_t n_chunks;
    uint32_t chunk_bytes;    /* raw bytes of a full chunk (the last chunk of
                                the field or row may have fewer); ragged,
                                sparse: maximum */
    uint32_t rows_per_chunk; /* 0: a chunk is a part of one row */
    uint32_t chunks_per_row; /* 0: a chunk holds whole rows */
};

struct fby_raw_layout {
    uint32_t             rows;
    uint32_t             n_fields;
    uint32_t             n_chunks;   /* of all fields */
    uint64_t             raw_bytes;  /* of all fields */
    uint64_t             slot_bytes; /* of all fields, with alignment */
    struct fby_raw_field fields[FBY_MAX_FIELDS];
};

/* Compute the layout. The caller sets rows and n_fields of *layout, and type,
 * shape, yuv420, form and max_length of each field. The function sets all other
 * members. Pure; any thread.
 * Errors: FBY_CONFIG  a limit above is exceeded, or a type or shape is invalid;
 *                     `why` names the field's position and both numbers. */
FBY_CHECKED fby_err fby_layout_compute(
    struct fby_raw_layout *layout, struct fby_error_detail *why);

/* Compute the layout of the fields of `content` that `selected` names (bit i:
 * field i; 0: all fields).
 * Errors: FBY_CONFIG  as above, or a bit without a field. */
FBY_CHECKED fby_err fby_layout_of_content(const struct fby_content *content,
    uint64_t selected, uint32_t rows, struct fby_raw_layout *out,
    struct fby_error_detail *why);

/* The parameters of filter and codec for a field. */
struct fby_codec_params fby_layout_codec_params(
    const struct fby_raw_field *field);

/* The part of a field that a chunk holds. */
struct fby_raw_span {
    uint64_t raw_offset;      /* in the raw bytes of the field */
    uint32_t raw_bytes;       /* ragged, sparse: maximum */
    uint32_t first_row, rows; /* rows is 1 for a part of a row */
};

/* The part of a field that chunk `number` (< n_chunks) holds. */
struct fby_raw_span fby_layout_chunk_span(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number);

/* Find the chunks that hold bytes of `row`: *n chunks from number *first on. */
void fby_layout_row_chunks(const struct fby_raw_field *field, uint32_t row,
    uint32_t *first, uint32_t *n);

/* The index of chunk `number` of a field among the n_chunks chunks of the
 * batch, which are ordered by field, then by number. For arrays and bitmaps. */
uint32_t fby_layout_chunk_index(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number);

/* The offset of the values in a ragged chunk of `rows` rows, or of the indices
 * in a sparse chunk: they follow the lengths. */
static inline uint32_t fby_ragged_values_offset(
    const struct fby_raw_field *field, uint32_t rows)
{
    return (rows * field->length_bytes + 15) / 16 * 16;
}

/* The offset of the values in a sparse chunk of `rows` rows, which have `n`
 * values together: the values follow the indices. */
static inline uint64_t fby_sparse_values_offset(
    const struct fby_raw_field *field, uint32_t rows, uint64_t n)
{
    return fby_ragged_values_offset(field, rows) +
           (n * field->index_bytes + 15) / 16 * 16;
}

struct fby_chunk_sent { /* members of the prefix of a chunk */
    uint64_t raw_hash;
    uint32_t raw_bytes;
};

/* The checksum of a field in the message END: XXH3-128 over the raw offset
 * (u64), raw bytes (u32) and raw hash (u64) of each chunk in order. `sent` has
 * an entry for each chunk of the field. */
struct fby_checksum fby_field_checksum(const struct fby_raw_layout *layout,
    uint32_t field, const struct fby_chunk_sent *sent);

#endif
