/* tensor.h - reading the tensors of a batch, whatever their type. */
#ifndef FBY_CLI_SHOW_TENSOR_H
#define FBY_CLI_SHOW_TENSOR_H

#include <stddef.h>

#include "forebay/forebay.h"

/* Bytes of one element. */
size_t fby_tensor_element(const DLTensor *tensor);

/* Elements of one row: all dimensions but the first. */
size_t fby_tensor_row_elements(const DLTensor *tensor);

/* Row `i` of the batch in the order of its shape, compact, to `out`, which has
 * room for the row's bytes. */
void fby_tensor_copy_row(const DLTensor *tensor, uint32_t i, void *out);

/* One element at `at`, as a real number. */
double fby_tensor_real(const DLTensor *tensor, const void *at);

/* The same as text; whole numbers in full. Returns `out`. */
enum { FBY_TENSOR_TEXT = 32 };
char *fby_tensor_text(
    const DLTensor *tensor, const void *at, char out[FBY_TENSOR_TEXT]);

#endif
