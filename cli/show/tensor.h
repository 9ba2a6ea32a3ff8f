/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - read the values of tensors of any type. */
#ifndef FBY_CLI_SHOW_TENSOR_H
#define FBY_CLI_SHOW_TENSOR_H

#include <stddef.h>

#include "forebay/forebay.h"

/* Returns the bytes of one element. */
size_t fby_tensor_element_bytes(const DLTensor *tensor);

/* Returns the elements of one row: the product of all dimensions but [0]. */
size_t fby_tensor_row_elements(const DLTensor *tensor);

/* Copy row `i` to `out`, without gaps: the last dimension varies fastest. `out`
 * must hold fby_tensor_row_elements elements. */
void fby_tensor_copy_row(const DLTensor *tensor, uint32_t i, void *out);

/* Returns a value of the tensor's type as a double. */
double fby_tensor_real(const DLTensor *tensor, const void *value);

enum { FBY_TENSOR_TEXT = 32 }; /* bytes of a number as text */
/* Write such a value as text, integers with all digits. Returns `out`. */
char *fby_tensor_text(
    const DLTensor *tensor, const void *value, char out[FBY_TENSOR_TEXT]);

#endif
