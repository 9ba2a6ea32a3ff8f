/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - compute how the raw bytes of a batch are cut into chunks.
 *
 * The layout depends only on the types and shapes of the fields and the number
 * of rows, so worker and client compute it independently. The raw bytes of a
 * field are its rows, one after another. If a row has at most 2 MiB, a chunk
 * holds whole rows, else whole units of one row: 32 lines of an image, or one
 * entry of the first dimension of another array.
 *
 * Ragged rows (lists of entries) and sparse rows (values with indices) vary in
 * length. Their chunks get the offsets that rows of maximum length would need,
 * so that the layout does not depend on the values. Such a chunk has a fixed
 * number of rows: their lengths, then the indices (sparse), then the values
 * without gaps. Zeros pad each section, except the last, to a multiple of 16
 * bytes. PROTOCOL.md, "Frames", is the definition. */
#ifndef FBY_PROTO_LAYOUT_H
#define FBY_PROTO_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "common/err.h"
#include "common/hash.h"
#include "pipeline/types.h"

#define FBY_CHUNK_RAW       (UINT32_C(2) << 20) /* target bytes, dense chunk */
#define FBY_RAGGED_RAW      (UINT32_C(8) << 20) /* the same, ragged or sparse */
#define FBY_CHUNK_BYTES_MAX (UINT32_C(32) << 20) /* most bytes of any chunk */
#define FBY_ROW_BYTES_MAX   (UINT64_C(1) << 30)  /* most raw bytes of a row */
#define FBY_BATCH_BYTES_MAX (UINT64_C(1) << 40)  /* most raw bytes of a batch */
#define FBY_SLOT_ALIGN      UINT64_C(64) /* alignment of slot_offset, bytes */
#define FBY_IMAGE_LINES     UINT32_C(32) /* lines of an image in one unit */

struct fby_raw_field { /* one field of a batch, and its cut into chunks */
    enum fby_type    type;
    struct fby_shape shape;  /* shape of a row; ragged: of the longest row;
                                sparse: of a row with its zeros */
    bool             yuv420; /* u8 [h, w, 3] in planes, see common/yuv420.h */
    enum fby_form    form;
    uint32_t         max_length; /* most entries of a row; dense: 0 */

    uint64_t row_bytes;   /* bytes of a row's values; ragged, sparse: maximum */
    uint32_t entry_bytes; /* bytes of one entry; dense: 0 */
    uint32_t length_bytes; /* bytes of the length of a row; dense: 0 */
    uint32_t index_bytes;  /* sparse: bytes of one index; else 0 */
    uint64_t raw_bytes;    /* bytes of all rows; ragged, sparse: maximum */
    uint64_t slot_offset;  /* offset in the slot, which is the client's memory
                              for a batch */
    uint32_t first_chunk;  /* number of chunks of all previous fields */
    uint32_t n_chunks;
    uint32_t chunk_bytes;    /* raw bytes of a chunk. The last chunk of the
                                field or row may have fewer; if ragged or
                                sparse, every chunk may. */
    uint32_t rows_per_chunk; /* 0: a chunk is a part of one row */
    uint32_t chunks_per_row; /* 0: a chunk holds whole rows */
};

struct fby_raw_layout {
    uint32_t             rows;
    uint32_t             n_fields;
    uint32_t             n_chunks;   /* sum over all fields */
    uint64_t             raw_bytes;  /* sum over all fields */
    uint64_t             slot_bytes; /* the same, aligned to FBY_SLOT_ALIGN */
    struct fby_raw_field fields[FBY_MAX_FIELDS];
};

/* Compute the layout. The caller sets rows and n_fields of *layout, and type,
 * shape, yuv420, form and max_length of each field. The function sets all other
 * members. Pure; any thread.
 * Errors: FBY_CONFIG  a limit above is exceeded, or a type or shape is invalid;
 *                     `why` has the index of the field */
FBY_CHECKED fby_err fby_layout_compute(
    struct fby_raw_layout *layout, struct fby_error_detail *why);

/* Compute the layout of the selected fields of `content`. Bit i of `selected`
 * selects field i; 0 selects all fields.
 * Errors: FBY_CONFIG  as above, or a bit has no field */
FBY_CHECKED fby_err fby_layout_of_content(const struct fby_content *content,
    uint64_t selected, uint32_t rows, struct fby_raw_layout *out,
    struct fby_error_detail *why);

/* Returns the parameters that filter and codec need for the field. */
struct fby_codec_params fby_layout_codec_params(
    const struct fby_raw_field *field);

struct fby_raw_span {         /* the part of a field that a chunk holds */
    uint64_t raw_offset;      /* offset of the part in the field's raw bytes */
    uint32_t raw_bytes;       /* ragged, sparse: maximum */
    uint32_t first_row, rows; /* rows is 1 if the part is less than a row */
};

/* Returns the part of a field that its chunk `number` (from 0) holds. */
struct fby_raw_span fby_layout_chunk_span(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number);

/* Find the chunks that hold bytes of `row`: the *n_chunks from *first on. */
void fby_layout_row_chunks(const struct fby_raw_field *field, uint32_t row,
    uint32_t *first, uint32_t *n_chunks);

/* Returns the index of chunk `number` of a field among all chunks of the batch,
 * which are ordered by field, then by number. */
uint32_t fby_layout_chunk_index(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number);

/* Returns the aligned end of the lengths in a chunk of `rows` rows. There the
 * next section begins: the values (ragged) or the indices (sparse). */
static inline uint32_t fby_ragged_lengths_end(
    const struct fby_raw_field *field, uint32_t rows)
{
    return (rows * field->length_bytes + 15) / 16 * 16;
}

/* Returns the offset of the values, which follow the indices, in a sparse chunk
 * of `rows` rows and `n` values. */
static inline uint64_t fby_sparse_values_offset(
    const struct fby_raw_field *field, uint32_t rows, uint64_t n)
{
    return fby_ragged_lengths_end(field, rows) +
           (n * field->index_bytes + 15) / 16 * 16;
}

struct fby_chunk_sent { /* hash and size, as in the prefix of a chunk */
    uint64_t raw_hash;
    uint32_t raw_bytes;
};

/* Returns the checksum of a field for the message END: XXH3-128 over the raw
 * offset (u64), raw_bytes (u32) and raw_hash (u64) of each chunk in order.
 * `sent` has an entry for each chunk of the field. */
struct fby_checksum fby_field_checksum(const struct fby_raw_layout *layout,
    uint32_t field, const struct fby_chunk_sent *sent);

#endif
