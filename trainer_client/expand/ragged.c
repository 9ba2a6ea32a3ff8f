#include "trainer_client/expand/ragged.h"

#include "trainer_client/expand/cast.h"

/* Values of one entry. */
static uint64_t values_of_entry(const struct fby_expansion *plan)
{
    return plan->entry_bytes / fby_type_bytes(plan->from);
}

/* Fill with `n` values: write one, then double what is written. */
static void fill(uint8_t *out, uint64_t value, uint32_t width, uint64_t n)
{
    uint64_t bytes = n * width;
    uint64_t done  = bytes > 0 ? width : 0;
    memcpy(out, &value, done);
    while (done < bytes) {
        uint64_t more = done < bytes - done ? done : bytes - done;
        memcpy(out + done, out, more);
        done += more;
    }
}

void fby_expand_padded(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS])
{
    uint64_t entry   = values_of_entry(plan);
    uint32_t width   = fby_type_bytes(plan->to);
    uint64_t to      = fby_expansion_padded_to(plan, rows);
    uint8_t *values  = out[0];
    int32_t *lengths = out[1];
    for (uint32_t i = 0; i < rows->n; i++) {
        uint64_t n    = rows->lengths[i];
        uint64_t row  = fby_padded_index(i, to, 0) * entry * width;
        uint64_t rest = fby_padded_index(i, to, n) * entry * width;
        fby_expand_values(plan, raw + rows->values[i], n * entry, values + row);
        fill(values + rest, plan->pad, width, (to - n) * entry);
        lengths[i] = (int32_t)n;
    }
}

static void store_offset(
    const struct fby_expansion *plan, void *offsets, uint32_t i, uint64_t value)
{
    if (plan->offsets == FBY_I64) {
        ((int64_t *)offsets)[i] = (int64_t)value;
    } else {
        ((int32_t *)offsets)[i] = (int32_t)value;
    }
}

void fby_expand_ragged(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS])
{
    uint64_t entry = values_of_entry(plan);
    uint32_t width = fby_type_bytes(plan->to);
    uint8_t *to    = out[0];
    uint64_t first = 0;
    store_offset(plan, out[1], 0, 0);
    for (uint32_t i = 0; i < rows->n; i++) {
        uint64_t n  = rows->lengths[i];
        uint64_t at = fby_ragged_index(first, 0) * entry * width;
        fby_expand_values(plan, raw + rows->values[i], n * entry, to + at);
        first += n;
        store_offset(plan, out[1], i + 1, first);
    }
}
