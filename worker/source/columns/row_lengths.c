#include "worker/source/columns/row_lengths.h"

#include <stdlib.h>

#include "common/mem.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/object.h"
#include "worker/source/run.h"

enum {
    BLOCK     = 8192,   /* offsets that are read at a time */
    MOST_ROWS = 1 << 29 /* of a shard: a manifest holds 4 bytes of each */
};

struct offsets {
    const struct fby_column *column;  /* whose they are */
    struct fby_numbers       numbers; /* what they are */
    struct fby_object        object;
    uint8_t                 *block; /* BLOCK of them, and one more */
};

static uint32_t length_of(const struct offsets *from, const uint8_t *at)
{
    int64_t begin = fby_ragged_offset(&from->numbers, at);
    int64_t end   = fby_ragged_offset(&from->numbers, at + from->numbers.width);
    if (!fby_ragged_within(from->column, begin, end)) {
        return 0;
    }
    uint64_t n = (uint64_t)(end - begin);
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static fby_err read_all(const struct offsets *from, uint32_t rows,
    uint32_t *out, const atomic_bool *stop, struct fby_why *why)
{
    uint32_t width = from->numbers.width;
    fby_err  err   = FBY_OK;
    for (uint32_t row = 0; row < rows && err == FBY_OK;) {
        if (atomic_load(stop)) {
            return FBY_GONE;
        }
        uint32_t n  = rows - row < BLOCK ? rows - row : BLOCK;
        uint64_t at = from->numbers.offset + (uint64_t)row * width;
        err         = fby_object_read(
                    &from->object, at, from->block, ((size_t)n + 1) * width, why);
        for (uint32_t i = 0; i < n && err == FBY_OK; i++) {
            out[row + i] = length_of(from, from->block + (size_t)i * width);
        }
        row += n;
    }
    return err;
}

/* The file that they lie in. */
static fby_err open_file(const struct fby_index *index,
    const struct fby_shard *shard, uint16_t column, struct fby_object *out,
    struct fby_why *why)
{
    char     path[FBY_PATH_SIZE];
    bool     csr  = shard->columns[column].part == FBY_COLUMN_CSR;
    uint16_t file = csr ? column : shard->columns[column].partner;
    fby_err  err  = fby_index_path(index, shard, file, path, why);
    return err == FBY_OK ? fby_object_open(index->root, path, out, why) : err;
}

fby_err fby_row_lengths_read(const struct fby_index *index,
    struct fby_shard *shard, const struct fby_field_content *field,
    const atomic_bool *stop, struct fby_why *why)
{
    uint16_t       column = 0;
    struct offsets from   = {.block = NULL};
    if (shard->samples > MOST_ROWS) {
        return fby_because(why, FBY_CONFIG,
            "bucket_by keeps the lengths of at most %d rows a shard, and it "
            "has %u; cut it into several",
            MOST_ROWS, shard->samples);
    }
    fby_err err = fby_column_pick(shard, field, &column, why);
    if (err == FBY_OK) {
        err = open_file(index, shard, column, &from.object, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    from.column    = &shard->columns[column];
    from.numbers   = fby_ragged_offsets(shard, from.column);
    from.block     = fby_zalloc(((size_t)BLOCK + 1) * from.numbers.width);
    shard->lengths = fby_zalloc(shard->samples * sizeof(*shard->lengths));
    err            = read_all(&from, shard->samples, shard->lengths, stop, why);
    free(from.block);
    fby_object_close(&from.object);
    return err == FBY_OK
               ? FBY_OK
               : fby_because_in(why, err, "column %s", from.column->name);
}
