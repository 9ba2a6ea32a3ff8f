#include "trainer_client/expand/sparse.h"

#include "trainer_client/expand/cast.h"

static void store_whole(enum fby_type type, void *out, uint64_t i, uint64_t x)
{
    if (type == FBY_I64) {
        ((int64_t *)out)[i] = (int64_t)x;
    } else {
        ((int32_t *)out)[i] = (int32_t)x;
    }
}

static void expand_dense(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint8_t *out)
{
    uint64_t dense = fby_dense_values(&plan->shape);
    uint32_t width = fby_type_bytes(plan->to);
    memset(out, 0, rows->n * dense * width);
    for (uint32_t i = 0; i < rows->n; i++) {
        const uint8_t *indices = raw + rows->indices[i];
        const uint8_t *values  = raw + rows->values[i];
        for (uint32_t k = 0; k < rows->lengths[i]; k++) {
            uint32_t index = fby_sparse_index(indices, plan->index_bytes, k);
            uint64_t index_in_all = fby_dense_index(i, dense, index);
            fby_expand_values(plan, values + k * plan->entry_bytes, 1,
                out + index_in_all * width);
        }
    }
}

/* The values of all rows, one after another. */
static void expand_values(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint8_t *out)
{
    uint32_t width = fby_type_bytes(plan->to);
    for (uint32_t i = 0; i < rows->n; i++) {
        fby_expand_values(plan, raw + rows->values[i], rows->lengths[i], out);
        out += (uint64_t)rows->lengths[i] * width;
    }
}

static void expand_csr(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS])
{
    uint64_t first = 0;
    store_whole(plan->offsets, out[1], 0, 0);
    for (uint32_t i = 0; i < rows->n; i++) {
        const uint8_t *indices = raw + rows->indices[i];
        for (uint32_t k = 0; k < rows->lengths[i]; k++) {
            store_whole(plan->offsets, out[2], first + k,
                fby_sparse_index(indices, plan->index_bytes, k));
        }
        first += rows->lengths[i];
        store_whole(plan->offsets, out[1], i + 1, first);
    }
}

/* Write the coordinates of one value, which belongs to row i. */
static void write_coordinates(const struct fby_expansion *plan, uint32_t i,
    uint32_t index, uint64_t total, int64_t *out)
{
    const struct fby_shape *shape = &plan->shape;
    out[0]                        = i;
    for (uint32_t d = 0; d < shape->n_dims; d++) {
        out[fby_coo_index(d + 1, total, 0)] =
            fby_coordinate(index, shape->dims, shape->n_dims, d);
    }
}

static void expand_coo(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, int64_t *out)
{
    for (uint32_t i = 0; i < rows->n; i++) {
        const uint8_t *indices = raw + rows->indices[i];
        for (uint32_t k = 0; k < rows->lengths[i]; k++) {
            write_coordinates(plan, i,
                fby_sparse_index(indices, plan->index_bytes, k), rows->total,
                out++);
        }
    }
}

void fby_expand_sparse(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS])
{
    if (plan->kind == FBY_EXPAND_DENSE) {
        expand_dense(plan, rows, raw, out[0]);
        return;
    }
    expand_values(plan, rows, raw, out[0]);
    if (plan->kind == FBY_EXPAND_CSR) {
        expand_csr(plan, rows, raw, out);
    } else {
        expand_coo(plan, rows, raw, out[1]);
    }
}
