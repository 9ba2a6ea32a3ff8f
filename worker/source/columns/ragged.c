/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/columns/ragged.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"

static const char offsets_ending[] = ".offsets";
static const char values_ending[]  = ".values";

/* Does `name` end with `ending`, ignoring case, after at least one byte? Then
 * *stem is the number of bytes before the ending. */
static bool has_ending(const char *name, const char *ending, size_t *stem)
{
    size_t size        = strlen(name);
    size_t ending_size = strlen(ending);
    if (size <= ending_size ||
        !fby_equal_ignoring_case(name + size - ending_size, ending)) {
        return false;
    }
    *stem = size - ending_size;
    return true;
}

enum fby_column_role fby_ragged_role(const char *name, size_t *stem)
{
    if (has_ending(name, offsets_ending, stem)) {
        return FBY_COLUMN_OFFSETS;
    }
    return has_ending(name, values_ending, stem) ? FBY_COLUMN_VALUES
                                                 : FBY_COLUMN_WHOLE;
}

bool fby_ragged_has_values_name(
    const struct fby_column *column, const char *name)
{
    char full[FBY_NAME_SIZE];
    int  n = snprintf(full, sizeof(full), "%s%s", name, values_ending);
    return column->role == FBY_COLUMN_VALUES && n < (int)sizeof(full) &&
           fby_equal_ignoring_case(column->name, full);
}

/* ---- pairs --------------------------------------------------------------- */

/* Returns the column of this name, ignoring case; NULL if there is none. A
 * binary search is impossible, because columns are in byte order. */
static const struct fby_column *find_column(
    const struct fby_shard *shard, const char *name)
{
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        if (fby_equal_ignoring_case(shard->columns[i].name, name)) {
            return &shard->columns[i];
        }
    }
    return NULL;
}

static fby_err set_partner(struct fby_shard *shard, struct fby_column *column,
    struct fby_error_detail *why)
{
    char                 name[FBY_NAME_SIZE + sizeof(offsets_ending)];
    size_t               stem      = 0;
    bool                 is_values = column->role == FBY_COLUMN_VALUES;
    const char          *ending    = is_values ? offsets_ending : values_ending;
    enum fby_column_role partner_role =
        is_values ? FBY_COLUMN_OFFSETS : FBY_COLUMN_VALUES;
    if (fby_ragged_role(column->name, &stem) != column->role) {
        return fby_error_set(why, FBY_CONFIG,
            "%s does not have the name of offsets or values", column->name);
    }
    snprintf(name, sizeof(name), "%.*s%s", (int)stem, column->name, ending);
    const struct fby_column *partner = find_column(shard, name);
    if (partner == NULL || partner->role != partner_role) {
        return fby_error_set(why, FBY_CONFIG,
            "%s.npy has no %s.npy beside it; a ragged column is both",
            column->name, name);
    }
    column->partner = (uint16_t)(partner - shard->columns);
    return FBY_OK;
}

fby_err fby_ragged_pair(struct fby_shard *shard, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        enum fby_column_role role = shard->columns[i].role;
        if (role == FBY_COLUMN_OFFSETS || role == FBY_COLUMN_VALUES) {
            FBY_TRY(set_partner(shard, &shard->columns[i], why));
        }
    }
    return FBY_OK;
}

/* ---- offsets ------------------------------------------------------------- */

/* Load an unsigned number of `width` bytes. */
static inline uint64_t load(const uint8_t *at, unsigned width, bool big_endian)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < width; i++) { /* from the lowest byte on */
        bits |= (uint64_t)at[big_endian ? width - 1 - i : i] << 8 * i;
    }
    return bits;
}

/* With a constant width the compiler turns load() into one instruction. */
static uint64_t load_fast(const uint8_t *at, size_t width, bool big_endian)
{
    switch (width) {
    case 1:
        return at[0];
    case 2:
        return load(at, 2, big_endian);
    case 4:
        return load(at, 4, big_endian);
    default:
        return load(at, 8, big_endian);
    }
}

static bool is_signed(enum fby_npy_type type)
{
    return type == FBY_NPY_I1 || type == FBY_NPY_I2 || type == FBY_NPY_I4 ||
           type == FBY_NPY_I8;
}

struct fby_file_array fby_column_as_file_array(const struct fby_column *offsets)
{
    return (struct fby_file_array){
        .type       = offsets->type,
        .big_endian = offsets->big_endian,
        .item_size  = (uint32_t)offsets->row_bytes,
        .offset     = offsets->offset,
    };
}

struct fby_file_array fby_ragged_offsets(
    const struct fby_shard *shard, const struct fby_column *column)
{
    return column->role == FBY_COLUMN_CSR
               ? column->indptr
               : fby_column_as_file_array(&shard->columns[column->partner]);
}

int64_t fby_ragged_load_offset(
    const struct fby_file_array *offsets, const uint8_t *at)
{
    size_t   width = offsets->item_size;
    uint64_t bits  = load_fast(at, width, offsets->big_endian);
    if (is_signed(offsets->type)) {
        /* The sign is moved to bit 63, and copied by the shift back. */
        unsigned unused_bits = 64 - 8 * (unsigned)width;
        return (int64_t)(bits << unused_bits) >> unused_bits;
    }
    return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
}

fby_err fby_ragged_read_ends(const struct fby_object *object,
    const struct fby_file_array *offsets, uint64_t n, struct fby_column *column,
    struct fby_error_detail *why)
{
    uint8_t  first[8] = {0}; /* as stored */
    uint8_t  last[8]  = {0};
    uint32_t width    = offsets->item_size;
    uint64_t last_at  = offsets->offset + (n - 1) * width;
    FBY_TRY(fby_object_read(object, offsets->offset, first, width, why));
    FBY_TRY(fby_object_read(object, last_at, last, width, why));
    column->first_offset = fby_ragged_load_offset(offsets, first);
    column->last_offset  = fby_ragged_load_offset(offsets, last);
    return FBY_OK;
}

struct fby_shown_offset fby_ragged_offset_text(int64_t offset)
{
    struct fby_shown_offset shown;
    snprintf(shown.text, sizeof(shown.text), "%" PRId64 "%s", offset,
        offset == INT64_MAX ? " or more" : "");
    return shown;
}

fby_err fby_ragged_refuse(const struct fby_column *values, int64_t begin,
    int64_t end, struct fby_error_detail *why)
{
    if (begin > end) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "its offsets decrease, from %s to %s",
            fby_ragged_offset_text(begin).text,
            fby_ragged_offset_text(end).text);
    }
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "its offsets are %s and %s; %s has %" PRIu64 " entries",
        fby_ragged_offset_text(begin).text, fby_ragged_offset_text(end).text,
        values->name, values->rows);
}
