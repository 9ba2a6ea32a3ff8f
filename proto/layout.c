/* SPDX-License-Identifier: Apache-2.0 */
/* Cut the rows of a batch into chunks (layout.h). The offset of a chunk is its
 * number times the size of a chunk, so nothing is stored per chunk. Sizes are
 * checked before they are multiplied, so that no product overflows. */
#include "proto/layout.h"

#include <inttypes.h>
#include <string.h>

#include "common/bytes.h"
#include "common/yuv420.h"
#include "pipeline/derived.h"
#include "proto/wire.h"

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t div_up(uint64_t dividend, uint64_t divisor)
{
    return dividend / divisor + (dividend % divisor != 0);
}

/* Returns the bytes of a yuv420 picture; 0 if the field is no picture, or the
 * picture is larger than FBY_ROW_BYTES_MAX. */
static uint64_t yuv_row_bytes(const struct fby_raw_field *field)
{
    const uint32_t *dims = field->shape.dims;
    if (field->type != FBY_U8 || field->shape.n_dims != 3 || dims[2] != 3 ||
        dims[0] > FBY_ROW_BYTES_MAX) { /* fby_yuv_bytes would overflow */
        return 0;
    }
    uint64_t bytes = fby_yuv_bytes(dims[1], dims[0]);
    return bytes <= FBY_ROW_BYTES_MAX ? bytes : 0;
}

/* Returns the bytes of one row; 0 if the type or a dimension is invalid, or a
 * row has more than FBY_ROW_BYTES_MAX. For a sparse row with more it returns
 * FBY_ROW_BYTES_MAX, which cut_ragged refuses. */
static uint64_t row_bytes(const struct fby_raw_field *field)
{
    uint64_t bytes = fby_type_bytes(field->type);
    if (field->shape.n_dims > FBY_MAX_DIMS) {
        return 0;
    }
    if (field->form == FBY_FORM_SPARSE) {
        return min_u64(bytes * field->max_length, FBY_ROW_BYTES_MAX);
    }
    if (field->yuv420) {
        return yuv_row_bytes(field);
    }
    for (uint32_t i = 0; i < field->shape.n_dims; i++) {
        bytes *= field->shape.dims[i]; /* at most 2^30 x 2^32 */
        if (bytes > FBY_ROW_BYTES_MAX) {
            return 0;
        }
    }
    return bytes;
}

/* Returns the bytes of a unit (layout.h) of a large row. */
static uint64_t unit_bytes(const struct fby_raw_field *field)
{
    const uint32_t *dims = field->shape.dims;
    if (field->yuv420) {
        return min_u64(
            fby_yuv_bytes(dims[1], FBY_IMAGE_LINES), field->row_bytes);
    }
    uint64_t line = field->row_bytes / dims[0];
    return field->shape.n_dims == 3
               ? min_u64(FBY_IMAGE_LINES * line, field->row_bytes)
               : line;
}

static void cut_into_whole_rows(struct fby_raw_field *field, uint32_t rows)
{
    field->rows_per_chunk = (uint32_t)(FBY_CHUNK_RAW / field->row_bytes);
    field->chunks_per_row = 0;
    field->chunk_bytes = (uint32_t)(field->rows_per_chunk * field->row_bytes);
    field->n_chunks    = (uint32_t)div_up(rows, field->rows_per_chunk);
}

/* Cut each row into chunks of whole units; false if a unit is too large. */
static bool cut_into_units(struct fby_raw_field *field, uint32_t rows)
{
    uint64_t unit = unit_bytes(field);
    if (unit > FBY_CHUNK_BYTES_MAX) {
        return false;
    }
    uint64_t units        = unit < FBY_CHUNK_RAW ? FBY_CHUNK_RAW / unit : 1;
    field->rows_per_chunk = 0;
    field->chunk_bytes    = (uint32_t)(units * unit);
    field->chunks_per_row =
        (uint32_t)div_up(field->row_bytes, field->chunk_bytes);
    /* No overflow: at most 2^16 rows of 2^30 bytes, in chunks of over 1 MiB. */
    field->n_chunks = rows * field->chunks_per_row;
    return true;
}

/* Returns the bytes of the indices of a sparse row of max_length values. */
static uint64_t index_row_bytes(const struct fby_raw_field *field)
{
    return (uint64_t)field->max_length * field->index_bytes;
}

/* Returns the bytes of a chunk of `rows` rows of max_length: lengths, indices
 * and values, each rounded up to 16, so that all chunks are aligned to 16. */
static uint64_t max_chunk_bytes(
    const struct fby_raw_field *field, uint64_t rows)
{
    return div_up(rows * field->length_bytes, 16) * 16 +
           div_up(rows * index_row_bytes(field), 16) * 16 +
           div_up(rows * field->row_bytes, 16) * 16;
}

/* True if max_length suits the shape. In a sparse field it is not 0, because
 * then row_bytes would be 0, which compute_field refuses. */
static bool is_max_length_valid(const struct fby_raw_field *field)
{
    if (field->form == FBY_FORM_SPARSE) {
        return field->max_length <= fby_dense_values(&field->shape);
    }
    return field->shape.n_dims > 0 && field->max_length == field->shape.dims[0];
}

/* Cut a ragged or sparse field. Returns false if max_length is invalid, or a
 * chunk is too large. */
static bool cut_ragged(struct fby_raw_field *field, uint32_t rows)
{
    if (!is_max_length_valid(field)) {
        return false;
    }
    bool sparse         = field->form == FBY_FORM_SPARSE;
    field->index_bytes  = sparse ? fby_bytes_per_index(&field->shape) : 0;
    field->entry_bytes  = (uint32_t)(field->row_bytes / field->max_length);
    field->length_bytes = fby_smallest_uint_bytes(field->max_length);
    uint64_t rows_that_fit =
        FBY_RAGGED_RAW / (field->row_bytes + index_row_bytes(field));
    field->rows_per_chunk =
        (uint32_t)min_u64(rows_that_fit > 0 ? rows_that_fit : 1, FBY_ROWS_MAX);
    field->chunks_per_row = 0;
    if (max_chunk_bytes(field, field->rows_per_chunk) > FBY_CHUNK_BYTES_MAX) {
        return false;
    }
    field->chunk_bytes =
        (uint32_t)max_chunk_bytes(field, field->rows_per_chunk);
    field->n_chunks      = (uint32_t)div_up(rows, field->rows_per_chunk);
    uint32_t full_chunks = field->n_chunks - 1; /* all but the last one */
    uint32_t last_rows   = rows - full_chunks * field->rows_per_chunk;
    field->raw_bytes     = (uint64_t)full_chunks * field->chunk_bytes +
                       max_chunk_bytes(field, last_rows);
    return true;
}

static fby_err cut_field(
    struct fby_raw_layout *layout, uint32_t index, struct fby_error_detail *why)
{
    struct fby_raw_field *field = &layout->fields[index];
    field->raw_bytes            = field->row_bytes * layout->rows;
    if (field->form != FBY_FORM_DENSE) {
        return cut_ragged(field, layout->rows)
                   ? FBY_OK
                   : fby_error_set(why, FBY_CONFIG,
                         "field %" PRIu32 ": a row may have %" PRIu64
                         " bytes in %" PRIu32 " entries: at most %" PRIu32
                         " bytes can be sent",
                         index, field->row_bytes, field->max_length,
                         (uint32_t)FBY_MAX_RAGGED);
    }
    if (field->row_bytes <= FBY_CHUNK_RAW) {
        cut_into_whole_rows(field, layout->rows);
    } else if (!cut_into_units(field, layout->rows)) {
        return fby_error_set(why, FBY_CONFIG,
            "field %" PRIu32 ": the smallest part that can be sent has %" PRIu64
            " bytes, more than %" PRIu32,
            index, unit_bytes(field), FBY_CHUNK_BYTES_MAX);
    }
    return FBY_OK;
}

static fby_err compute_field(
    struct fby_raw_layout *layout, uint32_t index, struct fby_error_detail *why)
{
    struct fby_raw_field *field = &layout->fields[index];
    field->row_bytes            = row_bytes(field);
    if (field->row_bytes == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "field %" PRIu32 ": one row must be an array of a known type with "
            "1 to %" PRIu64 " bytes",
            index, FBY_ROW_BYTES_MAX);
    }
    FBY_TRY(cut_field(layout, index, why));
    field->slot_offset = layout->slot_bytes;
    field->first_chunk = layout->n_chunks;
    layout->raw_bytes += field->raw_bytes;
    layout->n_chunks += field->n_chunks;
    layout->slot_bytes +=
        div_up(field->raw_bytes, FBY_SLOT_ALIGN) * FBY_SLOT_ALIGN;
    return FBY_OK;
}

fby_err fby_layout_compute(
    struct fby_raw_layout *layout, struct fby_error_detail *why)
{
    if (layout->rows == 0 || layout->rows > FBY_ROWS_MAX) {
        return fby_error_set(why, FBY_CONFIG,
            "%" PRIu32 " rows: expected 1 to %d", layout->rows, FBY_ROWS_MAX);
    }
    if (layout->n_fields == 0 || layout->n_fields > FBY_MAX_FIELDS) {
        return fby_error_set(why, FBY_CONFIG,
            "%" PRIu32 " fields: expected 1 to %d", layout->n_fields,
            FBY_MAX_FIELDS);
    }
    layout->n_chunks   = 0;
    layout->raw_bytes  = 0;
    layout->slot_bytes = 0;
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        FBY_TRY(compute_field(layout, i, why));
    }
    if (layout->raw_bytes > FBY_BATCH_BYTES_MAX) {
        return fby_error_set(why, FBY_CONFIG,
            "a batch of %" PRIu64 " bytes is more than %" PRIu64,
            layout->raw_bytes, FBY_BATCH_BYTES_MAX);
    }
    return FBY_OK;
}

fby_err fby_layout_of_content(const struct fby_content *content,
    uint64_t selected, uint32_t rows, struct fby_raw_layout *out,
    struct fby_error_detail *why)
{
    struct fby_raw_layout layout = {.rows = rows};
    if (content->n_fields > FBY_MAX_FIELDS ||
        selected >> content->n_fields != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "fields %#" PRIx64 " are selected, but there are %" PRIu32,
            selected, content->n_fields);
    }
    for (uint32_t i = 0; i < content->n_fields; i++) {
        const struct fby_field_content *content_field = &content->fields[i];
        if (selected == 0 || (selected >> i & 1) != 0) {
            struct fby_raw_field *field = &layout.fields[layout.n_fields++];
            field->type                 = content_field->wire_type;
            field->shape                = content_field->shape;
            field->yuv420               = fby_field_is_yuv420(content_field);
            field->form                 = fby_field_form(content_field);
            field->max_length           = content_field->max_length;
        }
    }
    FBY_TRY(fby_layout_compute(&layout, why));
    *out = layout;
    return FBY_OK;
}

struct fby_raw_span fby_layout_chunk_span(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number)
{
    const struct fby_raw_field *f = &layout->fields[field];
    if (f->rows_per_chunk > 0) {
        uint32_t first = number * f->rows_per_chunk;
        uint32_t rows =
            (uint32_t)min_u64(f->rows_per_chunk, layout->rows - first);
        return (struct fby_raw_span){
            .raw_offset = (uint64_t)number * f->chunk_bytes,
            .raw_bytes  = (uint32_t)(f->form == FBY_FORM_DENSE
                                         ? rows * f->row_bytes
                                         : max_chunk_bytes(f, rows)),
            .first_row  = first,
            .rows       = rows};
    }
    uint32_t row           = number / f->chunks_per_row;
    uint32_t chunk_in_row  = number % f->chunks_per_row;
    uint64_t offset_in_row = (uint64_t)chunk_in_row * f->chunk_bytes;
    return (struct fby_raw_span){
        .raw_offset = row * f->row_bytes + offset_in_row,
        .raw_bytes =
            (uint32_t)min_u64(f->chunk_bytes, f->row_bytes - offset_in_row),
        .first_row = row,
        .rows      = 1};
}

void fby_layout_row_chunks(const struct fby_raw_field *field, uint32_t row,
    uint32_t *first, uint32_t *n_chunks)
{
    if (field->rows_per_chunk > 0) {
        *first    = row / field->rows_per_chunk;
        *n_chunks = 1;
        return;
    }
    *first    = row * field->chunks_per_row;
    *n_chunks = field->chunks_per_row;
}

uint32_t fby_layout_chunk_index(
    const struct fby_raw_layout *layout, uint32_t field, uint32_t number)
{
    return layout->fields[field].first_chunk + number;
}

/* Filters see a sparse row as a list of numbers, and a ragged row as a list of
 * entries. Neither is a picture, so the filter `photo` does not suit them. */
struct fby_codec_params fby_layout_codec_params(
    const struct fby_raw_field *field)
{
    static const struct fby_shape list = {.n_dims = 1, .dims = {1}};
    if (field->form == FBY_FORM_SPARSE) {
        return fby_codec_params_of(field->type, &list);
    }
    struct fby_codec_params params =
        field->yuv420 ? fby_codec_params_of_yuv420(&field->shape)
                      : fby_codec_params_of(field->type, &field->shape);
    if (field->form != FBY_FORM_DENSE) {
        params.channels = 0; /* not a picture */
    }
    return params;
}

struct fby_checksum fby_field_checksum(const struct fby_raw_layout *layout,
    uint32_t field, const struct fby_chunk_sent *sent)
{
    struct fby_checksum_state state;
    fby_checksum_begin(&state);
    for (uint32_t i = 0; i < layout->fields[field].n_chunks; i++) {
        struct fby_raw_span span = fby_layout_chunk_span(layout, field, i);
        uint8_t             bytes[20]; /* 8 + 4 + 8 */
        fby_store_le(bytes, span.raw_offset, 8);
        fby_store_le(bytes + 8, sent[i].raw_bytes, 4);
        fby_store_le(bytes + 12, sent[i].raw_hash, 8);
        fby_checksum_add(&state, bytes, sizeof(bytes));
    }
    return fby_checksum_end(&state);
}
