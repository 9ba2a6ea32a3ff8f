/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/tensor.h"

#include <inttypes.h>
#include <stdio.h>

#include "trainer_client/expand/value.h"

enum { MAX_DIMS = 8 }; /* no tensor of a batch has more */

size_t fby_tensor_element_bytes(const DLTensor *tensor)
{
    return tensor->dtype.bits / 8U;
}

size_t fby_tensor_row_elements(const DLTensor *tensor)
{
    size_t n = 1;
    for (int32_t d = 1; d < tensor->ndim; d++) {
        n *= (size_t)tensor->shape[d];
    }
    return n;
}

/* Advance `index` to the next element within the row. */
static void next_index(const DLTensor *tensor, int64_t index[MAX_DIMS])
{
    for (int32_t d = tensor->ndim - 1; d > 0; d--) {
        if (++index[d] < tensor->shape[d]) {
            return;
        }
        index[d] = 0;
    }
}

/* The offset of an element, in elements. */
static int64_t offset_of(const DLTensor *tensor, const int64_t index[MAX_DIMS])
{
    int64_t offset = 0;
    for (int32_t d = 0; d < tensor->ndim; d++) {
        offset += index[d] * tensor->strides[d];
    }
    return offset;
}

void fby_tensor_copy_row(const DLTensor *tensor, uint32_t i, void *out)
{
    const uint8_t *data  = (const uint8_t *)tensor->data + tensor->byte_offset;
    size_t         bytes = fby_tensor_element_bytes(tensor);
    size_t         n     = fby_tensor_row_elements(tensor);
    uint8_t       *to    = out;
    int64_t        index[MAX_DIMS] = {i};
    for (size_t k = 0; k < n; k++) {
        int64_t offset = offset_of(tensor, index);
        memcpy(to + k * bytes, data + (size_t)offset * bytes, bytes);
        next_index(tensor, index);
    }
}

/* The bits of an value, and zeros above them. Hosts are little-endian. */
static uint64_t bits_of(const DLTensor *tensor, const void *value)
{
    uint64_t bits = 0;
    memcpy(&bits, value, fby_tensor_element_bytes(tensor));
    return bits;
}

static int64_t integer_of(const DLTensor *tensor, const void *value)
{
    /* Shifting left and right by `unused` repeats the sign bit above it. */
    unsigned unused = 64U - tensor->dtype.bits;
    uint64_t bits   = bits_of(tensor, value);
    return tensor->dtype.code == kDLInt ? (int64_t)(bits << unused) >> unused
                                        : (int64_t)bits;
}

static bool is_real(const DLTensor *tensor)
{
    return tensor->dtype.code == kDLFloat || tensor->dtype.code == kDLBfloat;
}

double fby_tensor_real(const DLTensor *tensor, const void *value)
{
    uint64_t bits = bits_of(tensor, value);
    if (!is_real(tensor)) {
        return (double)integer_of(tensor, value);
    }
    if (tensor->dtype.code == kDLBfloat) {
        return (double)fby_bf16_to_f32((uint16_t)bits);
    }
    return (double)(tensor->dtype.bits == 16
                        ? fby_f16_to_f32((uint16_t)bits)
                        : fby_f32_from_bits((uint32_t)bits));
}

char *fby_tensor_text(
    const DLTensor *tensor, const void *value, char out[FBY_TENSOR_TEXT])
{
    if (is_real(tensor)) {
        snprintf(out, FBY_TENSOR_TEXT, "%.6g", fby_tensor_real(tensor, value));
    } else {
        snprintf(out, FBY_TENSOR_TEXT, "%" PRId64, integer_of(tensor, value));
    }
    return out;
}
