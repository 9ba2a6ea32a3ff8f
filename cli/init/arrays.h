/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - what the .npy files of samples have in common, and the wire types
 * of NumPy's types. */
#ifndef FBY_CLI_INIT_ARRAYS_H
#define FBY_CLI_INIT_ARRAYS_H

#include "cli/init/member.h"
#include "common/err.h"
#include "worker/npy/npy.h"

/* The smallest wire type for all values of a type. Exceptions: u64 becomes i64,
 * which holds most values, and f64 becomes f32. */
enum fby_type fby_init_wire_type(enum fby_npy_type type);

/* Update the array with the head of one more .npy file, which has `file_size`
 * bytes.
 * Errors: FBY_CONFIG  no field can read this file, or not it and those before:
 *                     the end of a sentence that begins with "NAME is". */
FBY_CHECKED fby_err fby_init_add_array(struct fby_init_array *self,
    const uint8_t *head, size_t size, uint64_t file_size,
    struct fby_error_detail *why);

/* True if one field can read the files of both. */
bool fby_init_are_alike(
    const struct fby_init_array *a, const struct fby_init_array *b);

/* Make `self` an array that can also hold the files of `other`, which is alike. */
void fby_init_merge_arrays(
    struct fby_init_array *self, const struct fby_init_array *other);

#endif
