/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/sample_lengths.h"

#include <stdlib.h>

#include "common/mem.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/npy_reader.h"
#include "worker/source/row_reader.h"

enum {
    BLOCK_ROWS = 8192,   /* rows whose offsets are read at a time */
    MAX_ROWS   = 1 << 29 /* of a shard: 2 GiB of lengths in its manifest */
};

static uint32_t clamp_to_u32(uint64_t length)
{
    return length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

/* ---- rows of a column ---------------------------------------------------- */

struct offset_file {
    const struct fby_column *column;  /* the values, or CSR */
    struct fby_file_array    offsets; /* position and type in the file */
    struct fby_object        object;  /* the file of the offsets */
    uint8_t *block; /* BLOCK_ROWS + 1 offsets; row i ends at offset i + 1 */
};

/* Returns the length of a row. `at` is the address of its first offset, and the
 * second one follows. Returns 0 if the offsets are wrong. */
static uint32_t row_length(const struct offset_file *file, const uint8_t *at)
{
    const uint8_t *next  = at + file->offsets.item_size;
    int64_t        begin = fby_ragged_load_offset(&file->offsets, at);
    int64_t        end   = fby_ragged_load_offset(&file->offsets, next);
    return fby_ragged_within(file->column, begin, end)
               ? clamp_to_u32((uint64_t)(end - begin))
               : 0;
}

static fby_err read_row_lengths(const struct offset_file *file, uint32_t rows,
    uint32_t *out, const atomic_bool *stop, struct fby_error_detail *why)
{
    uint32_t width = file->offsets.item_size;
    uint32_t n     = 0;
    for (uint32_t row = 0; row < rows; row += n) {
        if (atomic_load(stop)) {
            return FBY_GONE;
        }
        n           = rows - row < BLOCK_ROWS ? rows - row : BLOCK_ROWS;
        uint64_t at = file->offsets.offset + (uint64_t)row * width;
        FBY_TRY(fby_object_read(
            &file->object, at, file->block, ((size_t)n + 1) * width, why));
        for (uint32_t i = 0; i < n; i++) {
            out[row + i] = row_length(file, file->block + (size_t)i * width);
        }
    }
    return FBY_OK;
}

fby_err fby_row_lengths_read(const struct fby_index *index,
    struct fby_shard *shard, const struct fby_field_content *field,
    const atomic_bool *stop, struct fby_error_detail *why)
{
    uint16_t           column = 0;
    struct offset_file file   = {.block = NULL};
    if (shard->n_samples > MAX_ROWS) {
        return fby_error_set(why, FBY_CONFIG,
            "bucket_by keeps the lengths of at most %d rows a shard, and the "
            "shard has %u; cut it into several",
            MAX_ROWS, shard->n_samples);
    }
    FBY_TRY(fby_shard_pick_column(shard, field, &column, why));
    file.column            = &shard->columns[column];
    bool     is_csr        = file.column->role == FBY_COLUMN_CSR;
    uint16_t offset_column = is_csr ? column : file.column->partner;
    FBY_TRY(fby_index_open(index, shard, offset_column, &file.object, why));
    file.offsets = fby_ragged_offsets(shard, file.column);
    file.block = fby_zalloc(((size_t)BLOCK_ROWS + 1) * file.offsets.item_size);
    shard->lengths = fby_zalloc(shard->n_samples * sizeof(*shard->lengths));
    fby_err err =
        read_row_lengths(&file, shard->n_samples, shard->lengths, stop, why);
    free(file.block);
    fby_object_close(&file.object);
    return fby_error_prefix(why, err, "column %s", file.column->name);
}

/* ---- members ------------------------------------------------------------- */

/* Set *out to the first dimension of a NumPy file. A file that is damaged or of
 * another type is no error here, and leaves *out unchanged. */
static fby_err read_length(const struct fby_object *object,
    struct fby_extent extent, uint32_t *out, struct fby_error_detail *why)
{
    struct fby_npy npy;
    size_t         head_size = 0;
    fby_err err = fby_npy_file_read_head(object, extent, &npy, &head_size, why);
    if (err != FBY_OK) {
        return err == FBY_BAD_SAMPLE ? FBY_OK : err;
    }
    uint64_t bytes       = npy.n_values * fby_npy_type_bytes(npy.type);
    bool     is_complete = bytes == extent.size - head_size;
    if (npy.n_dims > 0 && npy.n_values > 0 && is_complete) {
        *out = clamp_to_u32(npy.dims[0]);
    }
    return FBY_OK;
}

/* Read the length of a member that is a file of its own. */
static fby_err read_file_length(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t member, uint32_t *out,
    struct fby_error_detail *why)
{
    struct fby_object       object;
    const struct fby_stamp *stamp = &shard->stamps[member];
    const struct fby_extent whole = {0, stamp->size};
    FBY_TRY(fby_index_open(index, shard, member, &object, why));
    fby_err err = fby_stamp_check(&object, stamp, why);
    if (err == FBY_OK) {
        err = read_length(&object, whole, out, why);
    }
    if (err == FBY_OK) {
        err = fby_stamp_check(&object, stamp, why);
    }
    fby_object_close(&object);
    return err;
}

static fby_err read_sample_length(const struct fby_length_source *source,
    const struct fby_shard *shard, uint32_t sample,
    struct fby_error_detail *why)
{
    const struct fby_field_content *field  = source->field;
    uint32_t                       *out    = &shard->lengths[sample];
    uint32_t                        member = 0;
    if (!fby_shard_find_member(
            shard, sample, field->from, field->n_from, &member) ||
        fby_shard_is_value(shard, member)) { /* text is not a NumPy file */
        return FBY_OK;
    }
    const struct fby_extent extent = {
        fby_shard_offset(shard, member), shard->member_bytes[member]};
    fby_err err = source->index != NULL
                      ? read_file_length(source->index, shard, member, out, why)
                      : read_length(source->object, extent, out, why);
    return fby_error_prefix(why, err, "member %.200s.%s",
        fby_shard_key(shard, sample), fby_shard_suffix(shard, member));
}

fby_err fby_member_lengths_read(const struct fby_length_source *source,
    struct fby_shard *shard, struct fby_error_detail *why)
{
    shard->lengths = fby_zalloc(shard->n_samples * sizeof(*shard->lengths));
    for (uint32_t i = 0; i < shard->n_samples; i++) {
        if (atomic_load(source->stop)) {
            return FBY_GONE;
        }
        FBY_TRY(read_sample_length(source, shard, i, why));
    }
    return FBY_OK;
}
